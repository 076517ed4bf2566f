"""Bars in cells: where their ends lie on the scale of the column."""

import numpy as np
import pytest

from riskrank.shown.bars import Axis, with_bars
from riskrank.shown.view import Column
from riskrank.studies.metric_means import MetricMeans

NAN, INF = float("nan"), float("inf")


def test_ends_lie_where_the_numbers_say():
    axis = Axis.over([2.0, NAN, 6.0, INF])
    assert axis == Axis(2.0, 6.0)
    bar = axis.bar(4.0, 3.0, 6.0, tone="lead")
    assert (bar.low, bar.at, bar.high, bar.tone) == (0.25, 0.5, 1.0, "lead")


def test_open_and_unknown_ends():
    axis = Axis(0.0, 1.0)
    assert (axis.bar(0.5, -INF, INF).low, axis.bar(0.5, -INF, INF).high) == (0.0, 1.0)
    assert (axis.bar(0.5, NAN, NAN).low, axis.bar(0.5, NAN, NAN).high) == (0.5, 0.5)
    assert Axis.over([3.0, 3.0]).bar(3.0, 3.0, 3.0).at == 0.5


def test_a_column_reaches_over_the_models_that_are_shown():
    error, freedom = np.array([0.1, 0.1, 0.1]), np.full(3, 1e9)
    mean = MetricMeans("q", True, True, False, np.array([1.0, 2.0, 50.0]), error, 2, freedom)
    head, cell = with_bars((Column("q"), mean.of), mean, [0, 1], ["lead", "", "risk"])
    assert head.axis == ("0.80", "2.20")
    assert cell(0).text == "1.00"
    assert cell(0).bar.low == 0.0
    assert cell(1).bar.high == pytest.approx(1.0)
    assert (cell(0).bar.tone, cell(1).bar.tone) == ("lead", "")
