"""Counts and tests of single cases, against SciPy and brute force."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest, fisher_exact

from riskrank.engine.changes.cases import (
    LEVEL_SHARES,
    Repeats,
    case_p_values,
    evidence_of_differences,
    family_of_look,
    count_flips,
    expected_losses,
    permanent_loss,
    sign_test,
)
from riskrank.engine.evidence.student import mean_difference
from riskrank.engine.family import Family


def runs(*samples):
    """Runs of each sample."""
    numbers = np.repeat(np.arange(len(samples)), [len(one) for one in samples])
    return Repeats(np.concatenate([np.asarray(one, dtype=float) for one in samples]), numbers)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_the_exact_binomial(wins, losses):
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    gains = np.repeat([1.0, -2.0, 0.0], [wins, losses, 3])
    assert sign_test(gains, np.arange(len(gains))) == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([-1.5, 0, 0.2])), min_size=1, max_size=30))
def test_the_sign_test_of_clusters_exchanges_models_on_whole_clusters(drawn):
    units, gains = (np.array(one) for one in zip(*drawn, strict=True))
    sums = [int(np.sign(gains[units == unit]).sum()) for unit in set(units.tolist())]
    ways = [abs(sum(way)) for way in product(*((one, -one) for one in sums))]
    expected = np.mean([way >= abs(sum(sums)) for way in ways])
    assert sign_test(gains, units) == pytest.approx(expected, rel=1e-12)


def plain_p_value(new, old):
    """Share of all splits whose difference of means is at least as large, one by one."""
    pooled, found = [*new, *old], []
    for chosen in combinations(range(len(pooled)), len(new)):
        rest = [at for at in range(len(pooled)) if at not in chosen]
        found.append(abs(np.mean([pooled[at] for at in chosen]) - np.mean([pooled[at] for at in rest])))
    return np.mean(np.array(found) >= abs(np.mean(new) - np.mean(old)) - 1e-12)


SCORES = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=4)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=4))
def test_a_case_is_tested_over_all_splits_of_its_runs(cases):
    found = case_p_values(runs(*(new for new, _ in cases)), runs(*(old for _, old in cases)))
    assert found == pytest.approx([plain_p_value(new, old) for new, old in cases])


@pytest.mark.parametrize(("passed", "before"), [(0, 6), (1, 5), (2, 6), (3, 3)])
def test_passes_of_equally_many_runs_are_fishers(passed, before):
    new, old = [1] * passed + [0] * (6 - passed), [1] * before + [0] * (6 - before)
    expected = fisher_exact([[passed, 6 - passed], [before, 6 - before]]).pvalue
    assert case_p_values(runs(new), runs(old))[0] == pytest.approx(expected)


def test_many_runs_are_close_to_the_exact_test():
    rng = np.random.default_rng(0)
    new, old = rng.random(40) < 0.4, rng.random(40) < 0.7
    expected = fisher_exact([[new.sum(), 40 - new.sum()], [old.sum(), 40 - old.sum()]]).pvalue
    assert case_p_values(runs(new), runs(old))[0] == pytest.approx(expected, rel=0.6)


def test_equal_runs_are_no_change():
    assert case_p_values(runs([0.3] * 30, [1, 0]), runs([0.3] * 30, [0, 1])).tolist() == [1.0, 1.0]


@given(
    st.lists(st.tuples(SCORES, st.lists(st.integers(0, 4), min_size=2, max_size=4)), min_size=1, max_size=4)
)
def test_losses_are_counted_over_pairs_of_runs(cases):
    found, chance = expected_losses(runs(*(new for new, _ in cases)), runs(*(old for _, old in cases)))
    plain = sum(np.mean([n < o for n in new for o in old]) for new, old in cases)
    by_chance = sum(np.mean([one < other for one, other in permutations(old, 2)]) for _, old in cases)
    assert found == pytest.approx(plain)
    assert chance == pytest.approx(by_chance)


def test_chance_is_unknown_where_a_sample_ran_once():
    assert expected_losses(runs([1, 0], [0]), runs([1, 0], [1]))[1] is None


def test_losses_by_chance_are_unbiased_for_any_number_of_runs():
    rng, share = np.random.default_rng(1), 0.3
    for count in (2, 5):
        old = runs(*(rng.random((4000, count)) < share))
        _, chance = expected_losses(old, old)
        # p(1 − p) of 4,000 cases; two standard errors are about 40.
        assert chance == pytest.approx(4000 * share * (1 - share), abs=60)


def test_all_looks_there_will_ever_be_spend_the_level():
    spent = [family_of_look(Family(0.05), look, 1.0).alpha / 2 for look in range(1, 10_001)]
    assert spent[0] == pytest.approx(0.025)
    assert sum(spent) == pytest.approx(0.05 * (1 - 1 / 10_001))
    assert sum(LEVEL_SHARES.values()) == 1


def test_evidence_is_a_paired_t_where_nothing_is_skewed():
    rng = np.random.default_rng(3)
    half = rng.normal(size=(2, 20))
    gain = half[0] - half[1]
    new = np.concatenate([0.3 + gain, 0.3 - gain])  # symmetrical about .3
    units = np.arange(40)
    found = evidence_of_differences([mean_difference((new, units), (np.zeros(40), units), paired=True)])
    known = stats.ttest_1samp(new, 0)
    assert found.p_value[0] == pytest.approx(known.pvalue)
    assert [float(end[0]) for end in found.ends(0.01)] == pytest.approx([*known.confidence_interval(0.99)])


@pytest.mark.parametrize("text", ["1110", "110100", "1101000", "0110", "111", "000", "1010100"])
def test_a_loss_for_good_is_as_likely_as_orders_say(text):
    passed = np.array([one == "1" for one in text])
    last = len(text) - len(text.rstrip("0"))
    orders = {*permutations(text)}
    as_long = sum(set(order[len(text) - last :]) <= {"0"} for order in orders)
    assert permanent_loss(passed) == (last, pytest.approx(as_long / len(orders) if "1" in text else 1.0))


def test_flips_count_where_nothing_changed():
    passed = np.array([True, False, True, True, False])
    assert count_flips(passed, np.ones(4, dtype=bool)) == 3
    assert count_flips(passed, np.array([True, True, True, False])) == 2


@pytest.mark.slow
def test_forty_runs_seldom_say_worse_and_soon_where_it_is_true(monkeypatch):
    """With 200 tables: ± .013 at .035; the page has figures of more."""
    monkeypatch.syspath_prepend("tests/benchmarks")
    from trend_simulation import NEVER, simulate

    assert (simulate(200, 0.8, 0.8, NEVER) < NEVER).mean() <= 0.05 + 2 * 0.015
    assert np.median(simulate(200, 0.8, 0.75, 20, seed=1)) <= 24
