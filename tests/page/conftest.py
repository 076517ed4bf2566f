"""Reports to open in a browser: small tables, some with hostile names."""

import numpy as np
import polars as pl
import pytest

from riskrank.api import read, report
from tests.tables import of_rows

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "[link](javascript:alert(1)) `code` **bold** | pipe",
    "</style></svg><svg onload=alert(1)>",
    "a\x1b[31m\x07b & c' --> ]]>",
)


def scores(names, metrics=("acc", "f1"), n=40, seed=0) -> pl.DataFrame:
    """Return a long table in which earlier models are slightly better."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, len(metrics)))
    return of_rows(
        (name, f"s{sample}", metric, float(base[sample, m] + rng.normal() - 0.2 * place))
        for place, name in enumerate(names)
        for sample in range(n)
        for m, metric in enumerate(metrics)
    )


@pytest.fixture(scope="session")
def make_report():
    """Return a function that builds a report; keyword arguments are options of the command."""

    def make(frame, **options):
        options = {"resamples": 60, "jobs": 1} | options
        return report(read(frame, higher="*"), **options)

    return make


@pytest.fixture(scope="session")
def usual(make_report):
    """Return a report of twelve models and two metrics with all sections."""
    names = [f"model {number:02d}" for number in range(12)]
    return make_report(scores(names), copa=True)
