"""Score tables in memory, read as the Python API reads them."""

import numpy as np
import pytest

from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores
from tests.screens import screens  # noqa: F401


def long_scores(models="ABC", metrics=("acc", "f1"), n=40, gap=0.5, draws=1) -> dict[str, list]:
    """Return a long table with a clear leader; scores have two decimals, so some are tied."""
    rng = np.random.default_rng(7)
    rows = [
        (model, f"s{sample:03d}", metric, draw, round(rng.normal() - gap * place, 2))
        for place, model in enumerate(models)
        for sample in range(n)
        for draw in range(draws)
        for metric in metrics
    ]
    names = ("model", "sample", "metric", "draw", "score")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    return columns if draws > 1 else {name: columns[name] for name in columns if name != "draw"}


@pytest.fixture
def scores():
    """Columns of a long table."""
    return long_scores


@pytest.fixture
def table():
    """Read columns, or generated ones; keywords are those of ReadOptions."""

    def read(columns=None, **options):
        return read_scores([FrameSource(columns or long_scores())], ReadOptions(**options))

    return read
