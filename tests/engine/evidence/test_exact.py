"""Shares of runs against a least one: exact tails, limits, and the runs it takes."""

import math

import numpy as np
import pytest

from riskrank.engine.evidence.exact import exact_shares, runs_needed
from riskrank.engine.family import Family


def tail(passed, runs, p):
    """P(X ≥ c) as a sum."""
    return sum(math.comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(passed, runs + 1))


@pytest.mark.parametrize("runs", [1, 5, 12])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_tails_against_sums(runs, p):
    for passed in range(runs + 1):
        one = exact_shares([passed], [runs], p)
        assert one.p_above[0] == pytest.approx(tail(passed, runs, p), rel=1e-9)
        assert one.p_below[0] == pytest.approx(1 - tail(passed + 1, runs, p), rel=1e-9)


@pytest.mark.parametrize("passed", [0, 3, 7, 10])
def test_limits_are_where_the_tails_are_half_the_level(passed):
    (low,), (high,) = exact_shares([passed], [10], 0.5).ends(0.05)
    if passed:
        assert tail(passed, 10, low) == pytest.approx(0.025)
    else:
        assert low == 0
    if passed < 10:
        assert 1 - tail(passed + 1, 10, high) == pytest.approx(0.025)
    else:
        assert high == 1


def test_the_runs_it_takes():
    # 2·0.9^r at most .05/50.
    assert runs_needed(1.0, 0.9, 0.05 / 50) == math.ceil(math.log(0.05 / 100) / math.log(0.9)) == 73
    assert runs_needed(0.0, 0.9, 0.05) == 2
    assert runs_needed(0.9, 0.9, 0.05) is None
    needed = runs_needed(0.5, 0.75, 0.05)
    even = needed + needed % 2
    assert exact_shares([even // 2], [even], 0.75).p_value[0] <= 0.05
    assert exact_shares([even // 2 - 2], [even - 4], 0.75).p_value[0] > 0.05


def test_samples_at_the_boundary_are_seldom_decided():
    """Exact tests hold their level for the family: wrong answers about samples that pass just so often."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(200):
        evidence = exact_shares(rng.binomial(30, 0.8, 20), [30] * 20, 0.8)
        wrong += bool(Family().answer(evidence).side.any())
    assert wrong <= 15
