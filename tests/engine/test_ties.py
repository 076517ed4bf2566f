"""Ranks of tables with scores 0, 1 and 2, compared with fractions: exact ties share a rank."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.numeric import competition_ranks, merge_nearly_equal, tie_codes
from riskrank.engine.portfolio.mean_risk import mean_risk
from riskrank.engine.portfolio.risks import risk_columns
from riskrank.engine.portfolio.score_tables import independent_copula
from riskrank.engine.sampling.design import ClusteredScores
from tests.engine.dominance.helpers import study_ranking


def exact_ranks(values):
    return [1 + sum(other > value for other in values) for value in values]


def exact_ratio(first, second, order):
    """Return the violation ratio of "first dominates second" for samples of equal size, as a fraction."""
    gaps = [Fraction(int(b) - int(a)) for a, b in zip(sorted(first), sorted(second), strict=True)]
    if order == 1:
        total, positive = sum(g * g for g in gaps), sum(g * g for g in gaps if g > 0)
    else:
        total = positive = start = Fraction(0)
        for gap in gaps:
            a, b = start, start + gap
            start = b
            total += (a * a + a * b + b * b) / 3
            if a >= 0 and b >= 0:
                positive += (a * a + a * b + b * b) / 3
            elif a > 0 > b:
                positive += a**3 / (3 * (a - b))
            elif b > 0 > a:
                positive += b**3 / (3 * (b - a))
    return Fraction(1, 2) if total == 0 else positive / total


def exact_rankings(table):
    k = len(table)
    rivals = [[j for j in range(k) if j != i] for i in range(k)]
    sums = [int(row.sum()) for row in table]
    ratios = {
        order: [-sum(exact_ratio(table[i], table[j], order) for j in rivals[i]) for i in range(k)]
        for order in (1, 2)
    }
    pairwise = [
        sum(2 * int((table[i] > table[j]).sum()) + int((table[i] == table[j]).sum()) for j in rivals[i])
        for i in range(k)
    ]
    best = [int((table[i] == table.max(axis=0)).sum()) for i in range(k)]
    return {
        "R-FSD": exact_ranks(ratios[1]),
        "R-SSD": exact_ranks(ratios[2]),
        "MWR": exact_ranks([sum(sums[j] <= sums[i] for j in rivals[i]) for i in range(k)]),
        "MWR(pairwise)": exact_ranks(pairwise),
        "MWR(sample)": exact_ranks(best),
    }


def estimated_rankings(table, unit=1.0):
    study = study_ranking(
        ClusteredScores.build(list(table * unit)), [Claim(1), Claim(2)], Inference(test=False)
    )
    return {name: ranking.rank.tolist() for name, ranking in study.rankings.items()}


@pytest.mark.parametrize("tables", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_rankings_match_exact_fractions(tables):
    rng = np.random.default_rng(0)
    for _ in range(tables):
        table = rng.integers(0, 3, (int(rng.integers(2, 7)), int(rng.integers(1, 8)))).astype(float)
        expected = exact_rankings(table)
        assert estimated_rankings(table) == expected
        assert estimated_rankings(table, unit=0.1) == expected  # 0.1 + 0.2 is not 0.3


@pytest.mark.slow
def test_equal_fractions_tie_despite_rounding():
    """Means of the same shares in another order differ in their last bit, but must have equal ranks."""
    rng = np.random.default_rng(1)
    matches = 0
    for _ in range(100):
        table = rng.integers(0, 2, (6, 3)).astype(float)
        expected = exact_rankings(table)["MWR(pairwise)"]
        matches += len(set(expected)) < 6
        assert estimated_rankings(table)["MWR(pairwise)"] == expected
    assert matches > 66


@pytest.mark.parametrize("times", [2, 3, 7])
def test_ranks_are_invariant_to_duplicated_samples(times):
    rng = np.random.default_rng(2)
    for _ in range(20):
        table = rng.integers(0, 3, (5, 8)) / 3
        repeated = np.repeat(table, times, axis=1)
        assert estimated_rankings(table) == estimated_rankings(repeated)
        columns = risk_columns(levels=(0.25, 0.5))
        first, second = (mean_risk(list(rows), columns).rank for rows in (table, repeated))
        assert np.array_equal(first, second)


def test_equal_products_give_equal_portfolios():
    """Shares are ninths under three metrics: 1/9 · 4/9 · 1 equals 2/9 · 2/9 · 1 despite rounding."""
    rows = np.array(list(product(range(1, 10), repeat=3)), dtype=float)
    result = independent_copula(rows)
    exact = np.prod(rows.astype(int), axis=1)
    for at in np.unique(exact):
        assert len(set(result[exact == at].tolist())) == 1
    assert len(np.unique(result)) == len(np.unique(exact))


def test_nearly_equal_values():
    values = np.array([0.3, 0.1 + 0.2, 0.1, 0.3 + 1e-9])
    assert competition_ranks(values).tolist() == [2, 2, 1, 4]
    assert tie_codes(values).tolist() == [1, 1, 0, 2]
    assert merge_nearly_equal(values).tolist() == [0.3, 0.3, 0.1, 0.3 + 1e-9]
    assert competition_ranks(1e9 * values, scale=1e9).tolist() == [2, 2, 1, 4]
    assert competition_ranks(np.array([1.7e308, -1.7e308]), scale=1.7e308).tolist() == [2, 1]
