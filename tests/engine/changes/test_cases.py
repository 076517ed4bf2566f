"""Counts and tests of single cases, compared with SciPy and brute force."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import fisher_exact

from riskrank.engine.changes import (
    LEVEL_SHARES,
    Repeats,
    case_p_values,
    count_flips,
    expected_losses,
    family_at_look,
    sign_test,
    trailing_failures,
)
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores


def runs(*samples):
    """Return the runs of each sample."""
    numbers = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    return Repeats(np.concatenate([np.asarray(sample, dtype=float) for sample in samples]), numbers)


@pytest.mark.parametrize(("wins", "losses"), [(5, 0), (8, 1), (20, 8), (300, 240)])
def test_sign_test_is_mcnemars_or_the_mid_p_test(wins, losses):
    gains = np.repeat([1.0, -2.0, 0.0], [wins, losses, 3])
    total = stats.binom(wins + losses, 0.5)
    mid_p = 2 * total.sf(wins) + total.pmf(wins)
    mcnemar = 2 * stats.norm.sf((wins - losses) / np.sqrt(wins + losses))
    assert sign_test(gains, np.arange(len(gains))) == pytest.approx(max(mid_p, mcnemar))
    assert sign_test(-gains, np.arange(len(gains))) == sign_test(gains, np.arange(len(gains)))
    assert sign_test(0 * gains, np.arange(len(gains))) == 1


def test_clusters_count_once():
    gains = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], p=[0.2, 0.3, 0.5], size=40)
    contrast = MeanContrast.from_mean(ClusteredScores.build([np.sign(gains)]), 0)
    clustered = sign_test(np.repeat(gains, 5), np.repeat(np.arange(40), 5))
    assert clustered == pytest.approx(mean_evidence([contrast]).p_value[0])


def plain_p_value(new, old):
    """Return the share of all splits with at least as large a difference of means, by enumeration."""
    pooled, statistics = [*new, *old], []
    for chosen in combinations(range(len(pooled)), len(new)):
        remaining = [at for at in range(len(pooled)) if at not in chosen]
        statistics.append(
            abs(np.mean([pooled[at] for at in chosen]) - np.mean([pooled[at] for at in remaining]))
        )
    return np.mean(np.array(statistics) >= abs(np.mean(new) - np.mean(old)) - 1e-12)


SCORES = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=4)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=4))
def test_case_p_values_match_all_permutations(cases):
    result = case_p_values(runs(*(new for new, _ in cases)), runs(*(old for _, old in cases)))
    assert result == pytest.approx([plain_p_value(new, old) for new, old in cases])


@pytest.mark.parametrize(("passed", "before"), [(0, 6), (1, 5), (2, 6), (3, 3)])
def test_balanced_passes_match_fishers_exact_test(passed, before):
    new, old = [1] * passed + [0] * (6 - passed), [1] * before + [0] * (6 - before)
    expected = fisher_exact([[passed, 6 - passed], [before, 6 - before]]).pvalue
    assert case_p_values(runs(new), runs(old))[0] == pytest.approx(expected)


def test_many_runs_approximate_the_exact_test():
    rng = np.random.default_rng(0)
    new, old = rng.random(40) < 0.4, rng.random(40) < 0.7
    expected = fisher_exact([[new.sum(), 40 - new.sum()], [old.sum(), 40 - old.sum()]]).pvalue
    assert case_p_values(runs(new), runs(old))[0] == pytest.approx(expected, rel=0.6)


def test_equal_runs_show_no_change():
    assert case_p_values(runs([0.3] * 30, [1, 0]), runs([0.3] * 30, [0, 1])).tolist() == [1.0, 1.0]


@given(
    st.lists(st.tuples(SCORES, st.lists(st.integers(0, 4), min_size=2, max_size=4)), min_size=1, max_size=4)
)
def test_losses_are_counted_over_pairs_of_runs(cases):
    result, chance = expected_losses(runs(*(new for new, _ in cases)), runs(*(old for _, old in cases)))
    plain = sum(np.mean([n < o for n in new for o in old]) for new, old in cases)
    by_chance = sum(np.mean([first < second for first, second in permutations(old, 2)]) for _, old in cases)
    assert result == pytest.approx(plain)
    assert chance == pytest.approx(by_chance)


def test_chance_losses_need_repeated_runs():
    assert expected_losses(runs([1, 0], [0]), runs([1, 0], [1]))[1] is None


def test_chance_losses_are_unbiased():
    rng, share = np.random.default_rng(1), 0.3
    for count in (2, 5):
        old = runs(*(rng.random((4000, count)) < share))
        _, chance = expected_losses(old, old)
        # p(1 − p) of 4,000 cases; two standard errors are about 40.
        assert chance == pytest.approx(4000 * share * (1 - share), abs=60)


def test_alpha_spending_sums_to_the_level():
    spent = [family_at_look(Family(0.05), look, 1.0).alpha / 2 for look in range(1, 10_001)]
    assert spent[0] == pytest.approx(0.025)
    assert sum(spent) == pytest.approx(0.05 * (1 - 1 / 10_001))
    assert sum(LEVEL_SHARES.values()) == 1


@pytest.mark.parametrize("text", ["1110", "110100", "1101000", "0110", "111", "000", "1010100"])
def test_permanent_loss_matches_permutations(text):
    passed = np.array([character == "1" for character in text])
    last = len(text) - len(text.rstrip("0"))
    orders = {*permutations(text)}
    matches = sum(set(order[len(text) - last :]) <= {"0"} for order in orders)
    assert trailing_failures(passed) == (last, pytest.approx(matches / len(orders) if "1" in text else 1.0))


def test_flips_are_counted_between_unchanged_runs():
    passed = np.array([True, False, True, True, False])
    assert count_flips(passed, np.ones(4, dtype=bool)) == 3
    assert count_flips(passed, np.array([True, True, True, False])) == 2


@pytest.mark.slow
def test_trend_keeps_the_level_and_detects_a_loss(monkeypatch):
    """With 200 tables the error is ± .015 at .05 and ± .035 at .5; docs/trend.md has figures from more."""
    monkeypatch.syspath_prepend("tests/benchmarks")
    from trend_simulation import NEVER, simulate

    assert (simulate(200, 0.8, 0.8, NEVER) < NEVER).mean() <= 0.05 + 2 * 0.015
    assert (simulate(200, 0.8, 0.75, 20, seed=1) <= 24).mean() >= 0.55 - 2 * 0.035
