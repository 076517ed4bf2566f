"""Score tests of two rates compared with numerical maximisation, SciPy, and their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize_scalar

from riskrank.engine.evidence.mean_differences import SuccessCounts


def likeliest(log_likelihood, least, most):
    """Return the rate that maximises a likelihood."""
    ends = {"bounds": (least + 1e-12, most - 1e-12), "method": "bounded", "options": {"xatol": 1e-13}}
    return minimize_scalar(lambda rate: -log_likelihood(rate), **ends).x


@pytest.mark.parametrize(
    ("wins", "losses", "n", "margin"), [(9, 3, 40, 0.1), (2, 7, 25, -0.3), (5, 5, 50, -0.05)]
)
def test_paired_score_uses_the_likeliest_rates(wins, losses, n, margin):
    def log_likelihood(rate):
        rest = (n - wins - losses) * np.log(1 - 2 * rate - margin)
        return wins * np.log(rate + margin) + losses * np.log(rate) + rest

    rate = likeliest(log_likelihood, max(0.0, -margin), (1 - margin) / 2)
    score = ((wins - losses) / n - margin) / np.sqrt((2 * rate + margin * (1 - margin)) / n)
    counts = SuccessCounts(wins, losses, (n, n), True)
    assert counts.p_value(margin) == pytest.approx(stats.norm.sf(score), rel=1e-6)


@given(st.integers(0, 15), st.integers(0, 30), st.sampled_from([-0.6, -0.1, 0.05, 0.4]))
def test_unpaired_score_uses_the_likeliest_rates(first, second, margin):
    n, m = 15, 30

    def log_likelihood(rate):
        return stats.binom.logpmf(first, n, rate + margin) + stats.binom.logpmf(second, m, rate)

    rate = likeliest(log_likelihood, max(0.0, -margin), min(1.0, 1 - margin))
    other = rate + margin
    variance = (other * (1 - other) / n + rate * (1 - rate) / m) * (n + m) / (n + m - 1)
    score = (first / n - second / m - margin) / np.sqrt(variance)
    counts = SuccessCounts(first, second, (n, m), False)
    assert counts.p_value(margin) == pytest.approx(stats.norm.sf(score), rel=1e-4, abs=1e-9)


def test_without_margin_the_larger_of_score_and_mid_p_counts():
    paired, unpaired = SuccessCounts(9, 3, (40, 40), True), SuccessCounts(9, 4, (12, 20), False)
    signs, marginal = stats.binom(12, 0.5), stats.hypergeom(32, 13, 12)
    mcnemar = stats.norm.sf(6 / np.sqrt(12))
    assert paired.p_value() == pytest.approx(max(signs.sf(9) + signs.pmf(9) / 2, mcnemar))
    pooled = 13 / 32
    score = (9 / 12 - 4 / 20) / np.sqrt(pooled * (1 - pooled) * (1 / 12 + 1 / 20) * 32 / 31)
    expected = max(marginal.sf(9) + marginal.pmf(9) / 2, stats.norm.sf(score))
    assert unpaired.p_value() == pytest.approx(expected)


COUNTS = st.tuples(st.integers(0, 20), st.integers(0, 20), st.booleans()).map(
    lambda given: SuccessCounts(given[0], given[1], (40, 40) if given[2] else (20, 25), given[2])
)


@given(COUNTS, st.sampled_from([0.01, 0.05, 0.2]))
def test_intervals_contain_what_is_not_rejected(counts, level):
    low, high = counts.interval(level)
    assert -1 <= low <= counts.estimate <= high <= 1
    for margin in (-0.5, -0.1, 0.0, 0.2):
        inside = counts.p_value(margin) > level / 2 and counts.p_value(margin, -1) > level / 2
        assert inside == (low - 1e-12 <= margin <= high + 1e-12)
    swapped = SuccessCounts(counts.second, counts.first, counts.sizes[::-1], counts.paired)
    assert swapped.interval(level) == pytest.approx((-high, -low))
    if counts.first != counts.second:  # to the last digit
        assert swapped.interval(level) == (-high, -low)
    assert swapped.p_value(0.1) == pytest.approx(counts.p_value(-0.1, -1))


def test_agreement_on_all_samples_leaves_room_for_losses():
    low, high = SuccessCounts(0, 0, (30, 30), True).interval(0.05)
    z = stats.norm.isf(0.025)
    assert high == -low == pytest.approx(z**2 / (30 + z**2))


@pytest.mark.parametrize("successes", [0, 7, 20])
def test_a_single_rate_has_wilsons_interval(successes):
    low, high = SuccessCounts(successes, 0, (20, 0), False).interval(0.1)
    expected = stats.binomtest(successes, 20).proportion_ci(0.9, "wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
