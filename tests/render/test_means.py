"""Bars in table cells: positions of interval ends on the scale of the column."""

import numpy as np
import pytest

from riskrank.render.mean_tables import BarScale, with_interval_bars
from riskrank.render.view import Column
from riskrank.studies.metric_means import MetricMeans

NAN, INF = float("nan"), float("inf")


def over(*means, half=0.0):
    values = np.array(means, dtype=float)
    return BarScale.from_intervals(values, values - half, values + half)


def test_limits_match_the_numbers():
    axis = BarScale.from_intervals(
        np.array([2.0, NAN, 6.0]), np.array([2.0, NAN, -INF]), np.array([INF, NAN, 6.0])
    )
    assert axis == BarScale(2.0, 6.0)
    bar = axis.bar(4.0, 3.0, 6.0)
    assert (bar.low, bar.at, bar.high, bar.beyond) == (0.25, 0.5, 1.0, 0)


def test_infinite_and_unknown_limits():
    axis = BarScale(0.0, 1.0)
    assert (axis.bar(0.5, -INF, INF).low, axis.bar(0.5, -INF, INF).high) == (0.0, 1.0)
    assert (axis.bar(0.5, NAN, NAN).low, axis.bar(0.5, NAN, NAN).high) == (0.5, 0.5)
    assert over(3.0, 3.0).bar(3.0, 3.0, 3.0).at == 0.5


@pytest.mark.parametrize("near", [281.0, 4441.0])
@pytest.mark.parametrize(("sign", "end"), [(1, 1.0), (-1, 0.0)])
def test_an_outlier_is_clipped(sign, end, near):
    """The other models use the whole axis if one or two of six are far away, for numbers of either sign."""
    means = sign * np.array([280.0, 328.0, 391.0, 450.0, near, 4442.0])
    axis = over(*means, half=1.0)
    assert sorted((sign * axis.low, sign * axis.high)) == [279.0, 451.0]
    places = [axis.bar(mean, mean - 1, mean + 1) for mean in means]
    assert [bar.beyond for bar in places] == [0, 0, 0, 0, sign * (near > 450), sign]
    assert (places[-1].at, places[-1].low, places[-1].high) == (end, end, end)
    assert np.abs(np.diff([bar.at for bar in places[:4]])).min() > 0.1


def test_nothing_is_clipped_without_need():
    assert over(1.0, 2.0, 5.0) == BarScale(1.0, 5.0)
    assert over(1.0, 5.0) == BarScale(1.0, 5.0)
    # Nor if the intervals are as wide as the differences between models.
    assert over(0.0, 1.0, 100.0, half=30.0) == BarScale(-30.0, 130.0)


def test_positive_numbers_of_many_sizes_have_a_logarithmic_scale():
    axis = over(0.1, 1.0, 10.0, 100.0, 1000.0)
    assert axis == BarScale(0.1, 1000.0, logarithmic=True)
    assert [axis.bar(x, x, x).at for x in (0.1, 1.0, 10.0, 1000.0)] == pytest.approx([0, 0.25, 0.5, 1])
    # Only a model that is far away on this scale, too, is beyond its end.
    assert over(1.0, 1.1, 100.0) == BarScale(1.0, 1.1)
    assert not over(-0.1, 1.0, 10.0, 100.0).logarithmic
    mean = MetricMeans("ms", True, True, False, np.array([1.0, 7.0, 50.0]), np.zeros(3), 0, np.full(3, 9.0))
    assert with_interval_bars((Column("ms"), mean.format_mean), mean, [0, 1, 2])[0].axis == ("1", "log", "50")


def test_a_scale_covers_the_listed_models():
    error, freedom = np.array([0.1, 0.1, 0.1]), np.full(3, 1e9)
    mean = MetricMeans("q", True, True, False, np.array([1.0, 2.0, 50.0]), error, 2, freedom)
    head, cell = with_interval_bars((Column("q"), mean.format_mean), mean, [0, 1])
    assert head.axis == ("0.80", "2.20")
    assert cell(0).text == "1.00"
    assert cell(0).bar.low == 0.0
    assert cell(1).bar.high == pytest.approx(1.0)
