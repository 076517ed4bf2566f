"""Proportions of resamples: exact intervals, and the number that makes a decision independent of the seed."""

import numpy as np
import pytest
from scipy.stats import binomtest

from riskrank.engine.evidence.evidence import Evidence, worst_case_evidence
from riskrank.engine.sampling.monte_carlo import p_value_interval, required_resamples


@pytest.mark.parametrize(("beyond", "resamples"), [(0, 20), (7, 300), (25, 1000), (999, 1000), (40, 40)])
def test_interval_matches_clopper_pearson(beyond, resamples):
    share, low, high = p_value_interval(beyond, resamples)
    exact = binomtest(beyond, resamples).proportion_ci(0.99, method="exact")
    assert share == (beyond + 1) / (resamples + 1)
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def _needed(beyond, resamples, level=0.025):
    p_value, low, high = p_value_interval(beyond, resamples)
    return float(required_resamples(p_value, low, high, level, resamples))


def test_level_far_from_the_p_value_needs_no_more_resamples():
    assert [_needed(beyond, 1000) for beyond in (0, 5, 60)] == [0, 0, 0]
    assert all(_needed(beyond, 1000) >= 10_000 for beyond in (14, 20, 30, 36))
    assert _needed(24, 999) == 99_900


@pytest.mark.parametrize("resamples", [300, 1000, 2000])
def test_stable_p_values_survive_another_seed(resamples):
    """For shares near the level, stable decisions rarely change, and the hint settles 3 of 4 others."""
    rng, level, stable, reversed_decisions, unstable, settled = np.random.default_rng(0), 0.025, 0, 0, 0, 0
    for share in rng.uniform(0.1, 3, 2000) * level:
        beyond, repeated = rng.binomial(resamples, share, 2)
        needed = _needed(beyond, resamples)
        if not needed:
            stable += 1
            reversed_decisions += ((1 + beyond) / (resamples + 1) <= level) != (
                (1 + repeated) / (resamples + 1) <= level
            )
        else:
            unstable += 1
            more = beyond + rng.binomial(int(needed) - resamples, share)
            settled += not _needed(more, int(needed))
    assert reversed_decisions <= 0.02 * stable
    assert settled >= 0.7 * unstable


def test_bounds_of_both_sides_are_separate():
    low = Evidence.build([0.0], [0.01], [0.99])
    assert [end.tolist() for end in low.p_value_bounds(1)] == [[0.01], [0.01]]
    other = Evidence.build([0.0], 0.5, 0.5, mc_bounds=np.array([[[0.0, 0.1], [0.004, 0.006]]]), resamples=300)
    both = worst_case_evidence(low, other)
    assert both.resamples == 300
    assert [end.tolist() for end in both.p_value_bounds(2)] == [[0.008], [0.012]]
