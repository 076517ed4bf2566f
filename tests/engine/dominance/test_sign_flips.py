"""Sign flips and relabellings compared with their definitions."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.dominance.sign_flips import (
    flip_p_values,
    mean_utility,
    standardised_differences,
    tail_utility,
)
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign

PAIR = [(0, 1)]
SETTINGS = {"level": 0.025, "seed": 0}


def utility_by_hand(x, pooled, order):
    """Return the score (order 1), or the integral of the pooled survival function up to it (order 2)."""
    if order == 1:
        return x
    grid = np.sort(pooled)
    return sum((pooled > low).mean() * (min(high, x) - low) for low, high in pairwise(grid) if low < x)


def utilities(a, b, order):
    pooled = np.r_[a, b]
    return [np.array([utility_by_hand(x, pooled, order) for x in side]) for side in (a, b)]


def flipped_shares(differences):
    """Return the shares of all sign flips with a sum at least, and at most, the observed sum."""
    sums = np.array([np.dot(signs, differences) for signs in product((-1, 1), repeat=len(differences))])
    observed = sum(differences)
    return np.mean(sums >= observed - 1e-9), np.mean(sums <= observed + 1e-9)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("draws", [1, 2])
def test_flips_of_few_units_are_enumerated(order, draws):
    rng = np.random.default_rng(order)
    table = np.round(rng.normal([[0.0], [0.5], [1.0]], 1.0, (3, 11 * draws)), 1)
    clusters = np.repeat(np.arange(11), draws)
    result = flip_p_values(
        ClusteredScores.build(list(table), [clusters] * 3), [(0, 1), (2, 1)], mean_utility(order), **SETTINGS
    )
    for i, j in ((0, 1), (1, 2)):
        first, second = utilities(table[i], table[j], order)
        expected = flipped_shares(np.bincount(clusters, first - second))
        assert (result[i, j], result[j, i]) == pytest.approx(expected)
    assert result[0, 2] == result[2, 0] == 1


def test_flips_of_weighted_tasks():
    rng = np.random.default_rng(3)
    task, weights = np.array([0] * 4 + [1] * 7), np.array([0.6, 0.4])
    a, b = rng.normal(size=(2, 11))
    tasks = TaskDesign.build(["x", "y"], [task] * 2, weights=weights)
    result = flip_p_values(ClusteredScores.build([a, b], tasks=tasks), PAIR, mean_utility(1), **SETTINGS)
    expected = flipped_shares((a - b) * (weights / [4, 7])[task])
    assert (result[0, 1], result[1, 0]) == pytest.approx(expected)


@pytest.mark.parametrize("order", [1, 2])
def test_unpaired_units_are_dealt_to_both_models(order):
    rng = np.random.default_rng(4)
    a, b = np.round(rng.normal(0.8, 1.0, 5), 1), np.round(rng.normal(size=7), 1)
    pooled = np.concatenate(utilities(a, b, order))
    effects = []
    for chosen in combinations(range(12), 5):
        inside = np.isin(np.arange(12), chosen)
        effects.append(pooled[inside].mean() - pooled[~inside].mean())
    observed = pooled[:5].mean() - pooled[5:].mean()
    scores = ClusteredScores.build([a, b], paired=False)
    z = standardised_differences(scores, PAIR, mean_utility(order))
    assert z[0, 1] == pytest.approx(observed / np.std(effects))
    assert z[1, 0] == -z[0, 1]
    result = flip_p_values(scores, PAIR, mean_utility(order), level=0.001, seed=1)
    expected = np.mean(np.array(effects) >= observed - 1e-9)
    assert result[0, 1] == pytest.approx(expected, abs=4 * np.sqrt(expected / 10_000))


def test_unpaired_units_stay_in_their_tasks():
    """All units of the second task equal its level, so only the first task contributes."""
    a, b = np.r_[np.arange(8.0) + 3, np.full(20, 50.0)], np.r_[np.arange(8.0), np.full(20, 50.0)]
    tasks = TaskDesign.build(["x", "y"], [np.repeat([0, 1], [8, 20])] * 2)
    together = ClusteredScores.build([a, b], paired=False, tasks=tasks)
    alone = ClusteredScores.build([a[:8], b[:8]], paired=False)
    z = [standardised_differences(scores, PAIR, mean_utility(1))[0, 1] for scores in (together, alone)]
    assert z[0] == pytest.approx(z[1])


@pytest.mark.parametrize("n", [40, 4000])
def test_random_flips_agree_with_the_normal_limit(n):
    rng = np.random.default_rng(5)
    a = rng.normal(0.2 * np.sqrt(40 / n), 1.0, n)
    b = rng.normal(size=n)
    result = flip_p_values(ClusteredScores.build([a, b]), PAIR, mean_utility(1), level=0.001, seed=0)
    expected = stats.norm.sf((a - b).sum() / np.sqrt(((a - b) ** 2).sum()))
    assert result[0, 1] == pytest.approx(expected, rel=0.1)
    assert result[1, 0] == pytest.approx(1 - expected, rel=0.1)


def test_clear_differences_need_no_flips():
    """The Gaussian bound on random signs replaces counts that are too small to observe."""
    rng = np.random.default_rng(6)
    a, b = rng.normal(2.0, 1.0, 60), rng.normal(size=60)
    d = a - b
    result = flip_p_values(ClusteredScores.build([a, b]), PAIR, mean_utility(1), **SETTINGS)
    z = d.sum() / np.sqrt((d**2).sum())
    assert result[0, 1] == pytest.approx(stats.norm.sf(z) / (4 * stats.norm.sf(np.sqrt(2))))


@pytest.mark.parametrize(("gains", "losses"), [(9, 1), (30, 12), (300, 240)])
def test_paired_binary_scores_have_the_larger_of_mid_p_and_score_test(gains, losses):
    n = gains + losses + 50
    a, b = np.zeros((2, n))
    a[:gains], b[gains : gains + losses] = 1.0, 1.0
    result = flip_p_values(ClusteredScores.build([a, b]), PAIR, mean_utility(2), level=0.0005, seed=0)
    number = gains + losses
    mid_p = stats.binom.sf(gains, number, 0.5) + stats.binom.pmf(gains, number, 0.5) / 2
    score = stats.norm.sf((gains - losses) / np.sqrt(number))
    assert result[0, 1] == pytest.approx(max(mid_p, score), rel=0.25)
    assert result[0, 1] > score - 1e-9


def test_clusters_of_different_sizes_gain_nothing_from_their_number():
    repeated = ClusteredScores.build([np.ones(12), np.ones(20)], [np.arange(12), np.sort(np.arange(20) % 12)])
    result = flip_p_values(repeated, PAIR, mean_utility(2), **SETTINGS)
    assert result[0, 1] == result[1, 0] == 1


def test_additional_models_change_nothing():
    rng = np.random.default_rng(0)
    pair = [rng.normal(size=50), rng.normal(size=50) + 0.3]
    for utility in (mean_utility(1), mean_utility(2), tail_utility(0.1)):
        alone, company = (
            flip_p_values(ClusteredScores.build(models), PAIR, utility, **SETTINGS)
            for models in (pair, [*pair, rng.exponential(size=50)])
        )
        assert alone[1, 0] == company[1, 0]


@pytest.mark.parametrize("paired", [True, False])
def test_units_and_offsets_change_nothing(paired):
    rng = np.random.default_rng(1)
    table = np.round(rng.normal(size=(2, 30)), 3)
    results = [
        flip_p_values(
            ClusteredScores.build(list(values), paired=paired), PAIR, mean_utility(order), **SETTINGS
        )[0, 1]
        for values in (table, table * 1e300, table * 1e-3, table + 5.0)
        for order in (1, 2)
    ]
    assert results[::2] == pytest.approx([results[0]] * 4)
    assert results[1::2] == pytest.approx([results[1]] * 4)


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_rare_disasters_hold_their_level(paired):
    """For identical models that score −20 with probability .05, the level holds within 3 standard errors."""
    rng, runs = np.random.default_rng(4), 400
    for order in (1, 2):
        p_values = []
        for _ in range(runs):
            values = rng.normal(size=(2, 24)) - 20 * (rng.random((2, 24)) < 0.05)
            scores = ClusteredScores.build(list(values), paired=paired)
            p_values.append(flip_p_values(scores, PAIR, mean_utility(order), level=0.05, seed=0)[0, 1])
        assert 0.01 < np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_rare_disasters_are_detected(paired):
    """A score of −5 with probability .05 at equal means is detected only by a concave utility."""
    rng = np.random.default_rng(0)
    safe = rng.normal(size=2000)
    risky = np.where(rng.random(2000) < 0.05, -5.0, rng.normal(0.26, 1, size=2000))
    scores = ClusteredScores.build([safe, risky], paired=paired)
    assert flip_p_values(scores, PAIR, mean_utility(2), level=0.001, seed=0)[0, 1] < 0.01
    assert flip_p_values(scores, PAIR, tail_utility(0.05), level=0.001, seed=0)[0, 1] < 0.001


def test_tail_utility_is_the_shortfall_below_the_pooled_quantile():
    values = np.arange(10.0)
    cumulated = np.cumsum(np.full(10, 0.1))
    assert tail_utility(0.3)(values, cumulated) == pytest.approx(np.minimum(values - 2, 0) / 0.3)
    assert tail_utility(0.31)(values, cumulated) == pytest.approx(np.minimum(values - 3, 0) / 0.31)
