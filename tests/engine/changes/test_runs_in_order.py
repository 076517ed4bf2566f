"""Looks after every run, and cases that are lost for good, against closed forms and brute force."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.changes.runs_in_order import SHARES, evidence_of, family_of_look, flips, lost_for_good
from riskrank.engine.evidence.johnson import mean_difference
from riskrank.engine.family import Family


def test_all_looks_there_will_ever_be_spend_the_level():
    spent = [family_of_look(Family(0.05), look, 1.0).alpha / 2 for look in range(1, 10_001)]
    assert spent[0] == pytest.approx(0.025)
    assert sum(spent) == pytest.approx(0.05 * (1 - 1 / 10_001))
    assert sum(SHARES.values()) == 1


def test_evidence_is_a_paired_t_where_nothing_is_skewed():
    rng = np.random.default_rng(3)
    half = rng.normal(size=(2, 20))
    gain = half[0] - half[1]
    new = np.concatenate([0.3 + gain, 0.3 - gain])  # symmetrical about .3
    units = np.arange(40)
    found = evidence_of([mean_difference((new, units), (np.zeros(40), units), paired=True)])
    known = stats.ttest_1samp(new, 0)
    assert found.p_value[0] == pytest.approx(known.pvalue)
    assert [float(end[0]) for end in found.ends(0.01)] == pytest.approx([*known.confidence_interval(0.99)])


@pytest.mark.parametrize("text", ["1110", "110100", "1101000", "0110", "111", "000", "1010100"])
def test_a_loss_for_good_is_as_likely_as_orders_say(text):
    passed = np.array([one == "1" for one in text])
    last = len(text) - len(text.rstrip("0"))
    orders = {*permutations(text)}
    as_long = sum(set(order[len(text) - last :]) <= {"0"} for order in orders)
    assert lost_for_good(passed) == (last, pytest.approx(as_long / len(orders) if "1" in text else 1.0))


def test_flips_count_where_nothing_changed():
    passed = np.array([True, False, True, True, False])
    assert flips(passed, np.ones(4, dtype=bool)) == 3
    assert flips(passed, np.array([True, True, True, False])) == 2


@pytest.mark.slow
def test_forty_runs_seldom_say_worse_and_soon_where_it_is_true(monkeypatch):
    """With 200 tables: ± .013 at .035; the page has figures of more."""
    monkeypatch.syspath_prepend("tests/benchmarks")
    from trend_simulation import NEVER, simulate

    assert (simulate(200, 0.8, 0.8, NEVER) < NEVER).mean() <= 0.05 + 2 * 0.015
    assert np.median(simulate(200, 0.8, 0.75, 20, seed=1)) <= 24
