"""Pairs compared on their common tasks: SciPy, least squares, and brute force over graphs."""

import numpy as np
import pytest
from scipy.stats import ttest_rel

from riskrank.engine.evidence.mean_differences import (
    additive_means,
    connected_groups,
    cyclic_wins,
    shared_differences,
    topological_order,
)
from riskrank.engine.family import Family


def scores(k=5, n=30, missing=0.4, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, (k, n)) + rng.normal(0, 5, n)
    values[rng.random((k, n)) < missing] = np.nan
    return values


def differences_of(values):
    return shared_differences(values, np.arange(values.shape[1]))


def test_pairs_match_the_paired_t_test():
    values = scores()
    result = differences_of(values)
    p = result.p_above()
    low, high = result.interval(0.1)
    for i, j in ((0, 1), (2, 4), (3, 0)):
        both = np.isfinite(values[i]) & np.isfinite(values[j])
        oracle = ttest_rel(values[i][both], values[j][both], alternative="greater")
        assert p[i, j] == pytest.approx(oracle.pvalue)
        interval = ttest_rel(values[i][both], values[j][both]).confidence_interval(0.9)
        assert (low[i, j], high[i, j]) == pytest.approx((interval.low, interval.high))


def test_five_shared_tasks_are_too_few():
    values = np.full((2, 12), np.nan)
    values[0, :8], values[1, 3:] = 1.0, 2.0
    assert np.isnan(differences_of(values).value[0, 1])
    values[0, 8] = 1.5
    assert np.isfinite(differences_of(values).value[0, 1])


def test_votes_are_clustered_by_person():
    """With equal numbers of votes, the test equals that of the means per person."""
    values, people = scores(k=3, n=60, missing=0.0), np.repeat(np.arange(12), 5)
    order = np.random.default_rng(1).permutation(60)
    result = shared_differences(values[:, order], people[order])
    by_person = differences_of(values.reshape(3, 12, 5).mean(axis=2))
    for name in ("value", "error", "df"):
        np.testing.assert_allclose(getattr(result, name), getattr(by_person, name), atol=1e-12)
    assert np.isnan(shared_differences(values, people // 3).value[0, 1])


def test_additive_means_match_least_squares():
    values = scores()
    model, task = np.nonzero(np.isfinite(values))
    design = np.zeros((model.size, values.shape[0] + values.shape[1]))
    design[np.arange(model.size), model] = design[np.arange(model.size), 5 + task] = 1
    fitted = np.linalg.lstsq(design, values[model, task], rcond=None)[0]
    np.testing.assert_allclose(additive_means(values), fitted[:5] + fitted[5:].mean(), atol=1e-9)
    complete = scores(missing=0.0)
    np.testing.assert_allclose(additive_means(complete), complete.mean(axis=1), atol=1e-9)


def test_groups_cycles_and_orders():
    edges = np.zeros((6, 6), dtype=bool)
    for i, j in ((0, 3), (3, 5), (1, 2)):
        edges[i, j] = edges[j, i] = True
    assert connected_groups(edges) == [[0, 3, 5], [1, 2], [4]]
    wins = np.zeros((4, 4), dtype=bool)
    wins[0, 1] = wins[1, 2] = wins[3, 0] = True
    assert cyclic_wins(wins) == []
    assert topological_order(wins, np.array([0.0, 5.0, 9.0, 1.0])).tolist() == [3, 0, 1, 2]
    wins[2, 0] = True
    assert cyclic_wins(wins) == [(0, 1), (1, 2), (2, 0)]


@pytest.mark.slow
def test_equal_models_are_rarely_separated_in_a_leaderboard():
    family, leaderboards = Family(), 400
    wrong, detected = 0, 0
    for seed in range(leaderboards):
        values = scores(k=6, n=24, seed=seed)
        compared = np.isfinite(differences_of(values).value) & ~np.eye(6, dtype=bool)
        wrong += bool((family.adjust_p_values(differences_of(values).p_above(), compared) <= 0.05).any())
        values[0] += 2.5
        detected += int((family.adjust_p_values(differences_of(values).p_above(), compared) <= 0.05)[0].sum())
    assert wrong / leaderboards <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / leaderboards)
    assert detected / leaderboards >= 3
