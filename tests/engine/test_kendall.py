"""Kendall's tau against a pair-by-pair count, published values and degenerate rankings."""

from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine import kendall
from riskrank.engine.kendall import kendall_matrix, kendall_tau
from riskrank.errors import InputError


def tau_b(first, second):
    """Kendall (1945), pair by pair."""
    agree = untied_first = untied_second = 0
    for (a, b), (c, d) in combinations(zip(first, second, strict=True), 2):
        one, other = np.sign(a - c), np.sign(b - d)
        agree += one * other
        untied_first += one != 0
        untied_second += other != 0
    return agree / sqrt(untied_first * untied_second)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_against_pairs_with_ties(pairs):
    first, second = np.array(pairs).T
    tau = kendall_tau(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert np.isnan(tau)
    else:
        assert tau == pytest.approx(tau_b(first, second), abs=1e-12)


def test_against_the_published_values():
    # RAB Table 2 and appendix A: rankings of 12 models, their similarity printed as 0.848 and 0.878.
    aggregate_ssd = [1, 7, 2, 5, 12, 10, 4, 9, 6, 3, 8, 11]
    portfolio_ssd = [1, 6, 3, 5, 12, 11, 4, 7, 8, 2, 9, 10]
    aggregate_fsd = [1, 6, 2, 5, 8, 11, 4, 10, 7, 3, 9, 12]
    portfolio_fsd = [1, 6, 2, 5, 11, 10, 4, 8, 7, 3, 9, 12]
    assert kendall_tau(aggregate_ssd, portfolio_ssd) == pytest.approx(0.848, abs=0.001)
    assert kendall_tau(aggregate_fsd, portfolio_fsd) == pytest.approx(0.878, abs=0.001)


def test_matrix_against_pairs_in_any_blocks(monkeypatch):
    table = np.random.default_rng(0).integers(0, 6, (5, 40))
    whole = kendall_matrix(table)
    assert np.array_equal(whole, whole.T)
    assert np.diag(whole) == pytest.approx(1)
    assert whole[1, 3] == pytest.approx(tau_b(table[1], table[3]))
    monkeypatch.setattr(kendall, "PAIRS_AT_ONCE", 1)
    assert kendall_matrix(table) == pytest.approx(whole, abs=1e-12)


def test_reversal_is_minus_one():
    assert kendall_tau([1, 2, 3, 4], [4, 3, 2, 1]) == -1


@pytest.mark.parametrize("rankings", [[[1, 2, np.nan]], [[1], [1]], [1, 2, 3]])
def test_bad_input(rankings):
    with pytest.raises(InputError, match="complete rankings"):
        kendall_matrix(rankings)


def test_rankings_of_different_items():
    with pytest.raises(InputError, match="different items"):
        kendall_tau([1, 2], [1, 2, 3])
