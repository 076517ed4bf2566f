import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, norm, t

from riskrank.engine.dominance.stopping import FEWEST_IN_TAIL, ClaimFamily, ResampleCounts, extrapolate_tail
from riskrank.engine.family import Family


def family(m, *, n=100, floor=0.0, alpha=0.05, correction="holm", most=None):
    most = int(5 * m / alpha) if most is None else most
    return ClaimFamily(
        np.full(m, n), np.full(m, float(floor)), family=Family(alpha, correction), max_resamples=most
    )


def expanded(crossings, resamples, n):
    """Return the widened p-value of rule 1."""
    return t.cdf(np.sqrt((n - 1) / n) * norm.ppf((1 + crossings) / (resamples + 1)), n - 1)


def holm(p_values, level):
    """Return Holm's step-down rejections, computed by a loop."""
    rejected = set()
    for step, pair in enumerate(np.argsort(p_values, kind="stable")):
        if p_values[pair] * (len(p_values) - step) > level:
            break
        rejected.add(int(pair))
    return rejected


@given(st.lists(st.integers(0, 200), min_size=1, max_size=8), st.integers(10, 60))
@settings(max_examples=60)
def test_single_round_is_holm_on_expanded_counts(crossings, n):
    tests = family(len(crossings), n=n)
    tests.update(ResampleCounts(1000, np.array(crossings)), last=True)
    p_values = np.array([expanded(c, 1000, n) for c in crossings])
    np.testing.assert_allclose(tests.p_value, p_values, rtol=1e-9)
    assert set(np.flatnonzero(tests.dominates).tolist()) == holm(p_values, 0.05)
    np.testing.assert_array_equal(tests.dominates, tests.p_adjusted <= 0.05)
    assert tests.closed.all()
    assert np.all(tests.resamples == 1000)


def test_an_earlier_round_takes_half_the_level():
    # p = 0.0305 before the last round, one test: above half the level, below all of it.
    crossings = np.array([30])
    early = family(1, n=10**6, most=100_000)
    early.update(ResampleCounts(1000, crossings), last=False)
    assert not early.closed.any()
    early.update(ResampleCounts(1000, crossings), last=True)
    assert early.dominates.all()
    sure = family(1, n=10**6, most=100_000)
    sure.update(ResampleCounts(1000, np.array([20])), last=False)
    assert sure.closed.all()
    assert sure.dominates.all()


def test_a_closed_pair_keeps_its_p_value():
    tests = family(2, most=100_000)
    tests.update(ResampleCounts(1000, np.array([0, 40])), last=False)
    assert tests.closed.tolist() == [True, False]
    before = tests.p_value[0], tests.p_adjusted[0]
    tests.update(ResampleCounts(5000, np.array([400, 300])), last=True)
    assert (tests.p_value[0], tests.p_adjusted[0]) == before
    assert tests.resamples.tolist() == [1000, 5000]
    assert tests.dominates.tolist() == [True, False]


def test_too_many_crossings_close_a_pair_for_good():
    """Even the most favourable later counts could not make a closed pair significant."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        m = int(rng.integers(2, 12))
        most = 100 * m
        crossings = rng.integers(0, 120, size=m)
        tests = family(m, n=50, most=most)
        tests.update(ResampleCounts(1000, crossings), last=False)
        lost = tests.closed & ~tests.dominates
        # No later resample crosses for any pair.
        best = np.array([expanded(c, max(most, 1000), 50) for c in crossings])
        assert not holm(np.where(tests.dominates, 0.0, best), 0.05) & set(np.flatnonzero(lost).tolist())


def test_a_null_family_closes_in_the_first_round():
    rng = np.random.default_rng(0)
    half = rng.integers(60, 500, size=66)
    tests = family(132)
    tests.update(ResampleCounts(1000, np.r_[half, 1000 - half]), last=False)
    assert tests.closed.all()
    assert not tests.dominates.any()


def test_too_few_resamples_decide_nothing():
    n, m = 200, 132
    tests = family(m, n=n)
    crossings = np.full(m, 500)
    crossings[:3] = [0, 0, 4]
    tests.update(ResampleCounts(1000, crossings), last=True)
    assert tests.decided.tolist() == [False] * 2 + [True] * (m - 2)
    assert not tests.dominates.any()
    needed = int(tests.needed[0])
    # This number of resamples decides the pair; 1 % fewer do not.
    enough = family(m, n=n)
    enough.update(ResampleCounts(needed, crossings * (needed // 1000 + 1) * (crossings > 0)), last=True)
    assert enough.dominates[:2].all()
    fewer = family(m, n=n)
    fewer.update(
        ResampleCounts(int(0.99 * needed) - 2, crossings * (needed // 1000) * (crossings > 0)), last=True
    )
    assert not fewer.decided[:2].any()


def test_pair_with_possibly_few_crossings_is_undecided():
    # m = 30: a share of 1/600 is needed; one crossing in 500 is compatible with it, four are not.
    for crossings, decided in ((0, False), (1, False), (3, False), (4, True)):
        tests = family(30, n=10**6)
        tests.update(ResampleCounts(500, np.array([crossings] + [250] * 29)), last=True)
        assert tests.decided[0] == decided


def test_the_lower_bound_decides():
    tests = family(1, floor=0.09, n=1000)
    tests.update(ResampleCounts(1000, np.array([0])), last=True)
    assert tests.p_value[0] == pytest.approx(0.09)
    assert tests.decided[0]
    assert not tests.dominates[0]
    larger = family(1, floor=0.001, n=1000)
    larger.update(ResampleCounts(1000, np.array([20])), last=True)
    assert larger.p_value[0] == pytest.approx(expanded(20, 1000, 1000))


@pytest.mark.parametrize(("tail", "closed"), [(1e-9, True), (2e-5, True), (1e-4, False), (np.nan, False)])
def test_extrapolated_tail_closes_clear_pairs(tail, closed):
    m = 132
    crossings = np.r_[0, np.full(m - 1, 500)]
    tests = family(m, n=10**6)
    tests.update(ResampleCounts(1000, crossings, np.r_[tail, np.full(m - 1, np.nan)]), last=True)
    assert tests.dominates[0] == tests.extrapolated[0] == closed
    assert tests.decided[0] == closed
    if closed:
        assert tests.p_adjusted[0] == pytest.approx(tail * m, rel=1e-3)
        assert tests.p_adjusted[0] <= 0.005


def test_tail_is_not_used_if_a_resample_crosses():
    tests = family(1)
    tests.update(ResampleCounts(1000, np.array([200]), np.array([1e-12])), last=True)
    assert not tests.dominates.any()
    assert not tests.extrapolated.any()


def test_a_pair_that_counting_closes_is_not_called_extrapolated():
    tests = family(2, n=1000)
    tests.update(ResampleCounts(1000, np.array([0, 500]), np.array([1e-12, np.nan])), last=True)
    assert tests.dominates.tolist() == [True, False]
    assert not tests.extrapolated.any()


def test_pairs_closed_by_the_tail_leave_a_milder_level():
    # Alone, one crossing of 1000 is too many among 60 tests; with 55 of them closed it is not.
    m = 60
    tail = np.r_[np.full(55, 1e-9), np.full(5, np.nan)]
    crossings = np.r_[np.zeros(55, dtype=int), 1, np.full(4, 500)]
    tests = family(m, n=10**6)
    tests.update(ResampleCounts(1000, crossings, tail), last=True)
    assert tests.extrapolated[:55].all()
    assert tests.dominates[55]
    assert not tests.extrapolated[55]


@pytest.mark.parametrize("correction", ["bonferroni", "bh", "none"])
def test_other_corrections(correction):
    rng = np.random.default_rng(3)
    crossings = rng.integers(0, 40, size=10)
    p_values = np.array([expanded(c, 5000, 80) for c in crossings])
    tests = family(10, n=80, correction=correction)
    tests.update(ResampleCounts(5000, crossings), last=True)
    if correction == "bh":
        ordered = np.sort(p_values)
        passed = [r for r in range(1, 11) if ordered[r - 1] <= 0.05 * r / 10]
        expected = p_values <= (ordered[max(passed) - 1] if passed else -1)
    else:
        expected = p_values * (10 if correction == "bonferroni" else 1) <= 0.05
    np.testing.assert_array_equal(tests.dominates, expected)


@pytest.mark.parametrize(
    ("floor", "tail", "last", "won"),
    [
        (1e-8, np.nan, True, True),
        (1e-8, np.nan, False, False),  # a later round may count
        (1e-4, np.nan, True, False),  # not far enough beyond doubt
        (0.0, np.nan, True, False),  # no bound
        (1e-8, None, True, False),  # a claim that only the count may close
    ],
)
def test_lower_bound_decides_if_counts_cannot(floor, tail, last, won):
    tests = family(600, floor=floor, most=1000)
    tails = None if tail is None else np.full(600, tail)
    crossings = np.where(np.arange(600) < 5, 0, 500)
    tests.update(ResampleCounts(1000, crossings, tails), last=last)
    assert tests.dominates[:5].all() == won
    assert tests.dominates[:5].any() == won
    assert not tests.dominates[5:].any()
    assert (tests.extrapolated == tests.dominates).all()
    if won:
        assert tests.decided.all()
        np.testing.assert_allclose(tests.p_value[:5], floor * 10)


def test_the_fewest_resamples_that_can_show_a_p_value():
    # One of twenty tests: the level is 0.05 / 20, which B resamples show if 1/(B + 1) is small enough.
    level, n = 0.05 / 20, 40
    share = float(norm.cdf(np.sqrt(n / (n - 1)) * t.ppf(level, n - 1)))
    fewest = int(np.ceil(1 / share)) - 1
    for resamples, crossings, decided, dominates in (
        (fewest - 1, 0, False, False),
        (fewest, 0, True, True),
        (fewest, 1, True, False),
    ):
        tests = family(20, n=n, correction="bonferroni")
        counts = np.full(20, resamples)
        counts[0] = crossings
        tests.update(ResampleCounts(resamples, counts), last=True)
        assert (tests.decided[0], tests.dominates[0]) == (decided, dominates)


def test_a_p_value_at_the_level_is_significant():
    for last, level in ((True, 1.0), (False, 0.5)):
        p_value = float(expanded(10, 1000, 50))
        tests = family(1, n=50, alpha=p_value / level, most=10_000)
        tests.update(ResampleCounts(1000, np.array([10])), last=last)
        p_exact = float(tests.p_value[0]) if tests.closed.all() else p_value
        at_level = family(1, n=50, alpha=p_exact / level, most=10_000)
        at_level.update(ResampleCounts(1000, np.array([10])), last=last)
        assert at_level.dominates.all()


@pytest.mark.parametrize(
    ("mass", "floor", "decided"), [(0.0, 0.0, False), (6.0**-6, 0.0, True), (0.0, 1.0, True)]
)
def test_enumeration_leaves_only_zero_mass_pairs_undecided(mass, floor, decided):
    """The rarest resample of six tasks has probability .007, so a level of .001 cannot be reached."""
    tests = family(1, n=6, floor=floor, alpha=0.001)
    tests.close_all(462, np.array([mass]), 6.0**-6)
    assert tests.closed.all()
    assert not tests.dominates.any()
    assert tests.decided.tolist() == [decided]


def by_hand(replicates):
    """Return the p-value of rule 3 for one pair, computed step by step."""
    s = sorted(np.arcsin(np.sqrt((1 + value) / 2)) for value in replicates)
    q = np.quantile(s, 0.95)
    above = [value for value in s if value > q]
    if len(set(above)) < 20:
        return None
    excess = np.mean([value - q for value in above])
    return 0.05 * np.exp(-(np.arcsin(np.sqrt(0.5)) - q) / excess)


@pytest.mark.parametrize("count", [400, 1000, 1001, 2640])
def test_the_tail_against_its_definition(count):
    rng = np.random.default_rng(count)
    replicates = -rng.beta(8, 3, size=(count, 5))
    p_value = extrapolate_tail(replicates)
    np.testing.assert_allclose(p_value, [by_hand(column) for column in replicates.T], rtol=1e-9)


def test_no_tail_from_fewer_than_twenty_values():
    rng = np.random.default_rng(0)
    few = -rng.beta(8, 3, size=(380, 1))  # 19 values lie above the 95 % quantile
    assert np.isnan(extrapolate_tail(few)).all()
    enough = -rng.beta(8, 3, size=(400, 1))
    assert np.isfinite(extrapolate_tail(enough)).all()
    lumps = np.round(-rng.beta(8, 3, size=(1000, 1)), 2)
    assert len(np.unique(lumps[lumps > np.quantile(lumps, 0.95)])) < FEWEST_IN_TAIL
    assert np.isnan(extrapolate_tail(lumps)).all()


def test_a_point_mass_has_no_tail():
    assert np.isnan(extrapolate_tail(np.full((1000, 2), -0.75))).all()


@given(st.integers(0, 2**32 - 1))
def test_farther_replicates_have_smaller_tails(seed):
    near = -0.5 * np.random.default_rng(seed).beta(8, 3, size=(500, 1))
    assert extrapolate_tail(near - 0.4)[0] < extrapolate_tail(near)[0] <= 0.05


def test_a_far_tail_stays_above_zero():
    replicates = -1 + 1e-12 * np.random.default_rng(0).random((1000, 1))
    assert extrapolate_tail(replicates)[0] > 0


def test_monte_carlo_limits_contain_the_p_value_and_allow_for_flips():
    tests = family(4, n=50)
    tests.update(ResampleCounts(1000, np.array([0, 3, 25, 400])), last=True)
    low, high = tests.monte_carlo_limits(0)
    assert (low <= tests.p_value).all()
    assert (tests.p_value <= high).all()
    assert low[0] < 1e-300  # an upper bound
    assert low[1] == high[1] == tests.p_value[1]  # too few to compare with a level
    exact = beta.ppf([0.005, 0.995], [25, 26], [976, 975])
    np.testing.assert_allclose([low[2], high[2]], t.cdf(np.sqrt(49 / 50) * norm.ppf(exact), 49), rtol=1e-9)
