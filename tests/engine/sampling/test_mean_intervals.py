"""Intervals of single means against SciPy's own."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.sampling.mean_intervals import mean_intervals, share_intervals


def test_a_mean_against_students_t():
    scores = np.random.default_rng(0).normal(3, 2, size=(4, 17))
    error = scores.std(axis=1, ddof=1) / np.sqrt(17)
    found = mean_intervals(scores.mean(axis=1), error, np.full(4, 16.0))
    for model, (low, high) in enumerate(zip(*found, strict=True)):
        expected = stats.ttest_1samp(scores[model], 0).confidence_interval(0.95)
        assert (low, high) == pytest.approx(tuple(expected))


@pytest.mark.parametrize("right", [0, 1, 700, 1999, 2000])
def test_a_share_against_wilson(right):
    """Of many samples, where t is the normal but for a thousandth."""
    n = 2000
    share = np.array([right / n])
    error = np.sqrt(share * (1 - share) / (n - 1))
    low, high = share_intervals(share, error, np.array([n - 1.0]))
    expected = stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert (low[0], high[0]) == pytest.approx(tuple(expected), rel=3e-3, abs=3e-6)
    assert low[0] <= share[0] <= high[0]


def test_clusters_widen_a_share():
    """Twice the standard error is a fourth of the samples."""
    share, freedom = np.array([0.3]), np.array([1e9])
    low, high = share_intervals(share, 2 * np.sqrt(share * 0.7 / 400), freedom)
    expected = stats.binomtest(30, 100).proportion_ci(0.95, method="wilson")
    assert (low[0], high[0]) == pytest.approx(tuple(expected), rel=1e-6)


def test_nothing_is_known_of_one_cluster():
    for intervals in (mean_intervals, share_intervals):
        low, high = intervals(np.array([0.5]), np.array([np.nan]), np.array([0.0]))
        assert np.isnan([low, high]).all()
