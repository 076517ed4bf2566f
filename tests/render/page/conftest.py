"""A small report that is built once per session."""

import numpy as np
import polars as pl
import pytest

from riskrank.api import read, report
from tests.tables import of_rows


def scores(names, metrics=("acc", "f1"), n=30, seed=0, spread=0.2) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return of_rows(
        (name, f"s{sample}", metric, float(rng.normal() - spread * place))
        for place, name in enumerate(names)
        for sample in range(n)
        for metric in metrics
    )


@pytest.fixture(scope="session")
def make():
    """Return a function that builds a report of a table with the given models."""

    def make_report(frame, **options):
        return report(read(frame, higher="*"), **({"resamples": 40, "jobs": 1} | options))

    return make_report


@pytest.fixture(scope="session")
def small(make):
    return make(scores(["left", "middle", "right"]), copa=True)


@pytest.fixture(scope="session")
def make_scores():
    return scores
