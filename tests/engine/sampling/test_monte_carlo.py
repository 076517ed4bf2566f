"""Shares counted in resamples: exact intervals, and how many resamples another seed agrees at."""

import numpy as np
import pytest
from scipy.stats import binomtest

from riskrank.engine.evidence.evidence import Evidence, either_way
from riskrank.engine.sampling.monte_carlo import counted_share, resamples_to_settle


@pytest.mark.parametrize(("beyond", "resamples"), [(0, 20), (7, 300), (25, 1000), (999, 1000), (40, 40)])
def test_the_interval_is_that_of_clopper_and_pearson(beyond, resamples):
    share, low, high = counted_share(beyond, resamples)
    exact = binomtest(beyond, resamples).proportion_ci(0.99, method="exact")
    assert share == (beyond + 1) / (resamples + 1)
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def _needed(beyond, resamples, level=0.025):
    found, low, high = counted_share(beyond, resamples)
    return float(resamples_to_settle(found, low, high, level, resamples))


def test_a_level_far_from_the_count_is_settled():
    assert [_needed(beyond, 1000) for beyond in (0, 5, 60)] == [0, 0, 0]
    assert all(_needed(beyond, 1000) >= 10_000 for beyond in (14, 20, 30, 36))
    assert _needed(24, 999) == 99_900


@pytest.mark.parametrize("resamples", [300, 1000, 2000])
def test_another_seed_seldom_says_otherwise_where_nobody_doubts(resamples):
    """Shares anywhere near the level; of those in doubt the hint settles three in four, and most agree."""
    rng, level, unsaid, turned, doubts, settled = np.random.default_rng(0), 0.025, 0, 0, 0, 0
    for share in rng.uniform(0.1, 3, 2000) * level:
        beyond, again = rng.binomial(resamples, share, 2)
        needed = _needed(beyond, resamples)
        if not needed:
            unsaid += 1
            turned += ((1 + beyond) / (resamples + 1) <= level) != ((1 + again) / (resamples + 1) <= level)
        else:
            doubts += 1
            more = beyond + rng.binomial(int(needed) - resamples, share)
            settled += not _needed(more, int(needed))
    assert turned <= 0.02 * unsaid
    assert settled >= 0.7 * doubts


def test_sides_are_told_apart():
    low = Evidence.of([0.0], [0.01], [0.99])
    assert [end.tolist() for end in low.p_value_ends(1)] == [[0.01], [0.01]]
    other = Evidence.of([0.0], 0.5, 0.5, between=np.array([[[0.0, 0.1], [0.004, 0.006]]]), resamples=300)
    both = either_way(low, other)
    assert both.resamples == 300
    assert [end.tolist() for end in both.p_value_ends(2)] == [[0.008], [0.012]]
