"""The comparison of criteria, against the functions it calls and manual results."""

import numpy as np
import pytest

from riskrank.engine.copa.comparison import (
    BASELINES,
    Scalarizations,
    compare_scalarizations,
    outer_weighted_norm,
)
from riskrank.engine.copa.population import build_population
from riskrank.engine.copa.ranking import rank_models
from riskrank.errors import InputError

UPWARD = np.array([True, True, False])
SIGNS = np.where(UPWARD, 1.0, -1.0)


@pytest.fixture
def values():
    return np.random.default_rng(0).uniform(1, 2, (12, 3))


def compare(values, weights=(0.2, 0.3, 0.5), *, feasible=None, orders=(np.inf, 2.0), **options):
    models = build_population(values * SIGNS, feasible=feasible)
    return models, compare_scalarizations(models, values, UPWARD, np.array(weights), orders=orders, **options)


def test_all_criteria_have_scores(values):
    weights = np.array([0.2, 0.3, 0.5])
    models, result = compare(values)
    norm = "p-norm(p=2)"
    assert result.names == (
        "copa(p=inf)",
        "copa(p=2)",
        "average",
        "delta",
        "min-max",
        norm,
        "saw",
        "ahp",
        "mew",
    )
    score = dict(zip(result.names, result.scores, strict=True))
    population = result.models
    np.testing.assert_array_equal(population, rank_models(models, weights, p=np.inf).order)
    np.testing.assert_allclose(score["copa(p=2)"], rank_models(models, weights, p=2).norm[population])
    table = Scalarizations(values * SIGNS, UPWARD, weights, models.metrics)
    np.testing.assert_allclose(score["average"], table.weighted_sum()[population])
    np.testing.assert_allclose(score["min-max"], table.min_max()[population])
    np.testing.assert_allclose(score[norm], outer_weighted_norm(models.u, weights, 2)[population])
    shares = [
        (values[:, k].max() / values[:, k] if up else values[:, k] / values[:, k].min())
        for k, up in enumerate(UPWARD)
    ]
    np.testing.assert_allclose(score["saw"], (np.array(shares).T @ weights)[population])


def test_copa_ranks_include_tie_breaking():
    values = np.array([[1.0, 4.0, 1.0], [4.0, 1.0, 1.0], [2.0, 3.0, 1.0], [3.0, 2.0, 1.0]])
    _, result = compare(values, (0.5, 0.5, 0.0))
    np.testing.assert_array_equal(np.sort(result.comparison.rank[0]), [1, 2, 3, 4])
    np.testing.assert_array_equal(result.comparison.rank[0], [1, 2, 3, 4])


def test_constraints_filter_after_scoring(values):
    feasible = values[:, 0] > 1.4
    _, unconstrained = compare(values)
    _, bound = compare(values, feasible=feasible)
    assert set(bound.models) == set(np.flatnonzero(feasible))
    everywhere = dict(zip(unconstrained.models, unconstrained.scores.T, strict=True))
    for model, scores in zip(bound.models, bound.scores.T, strict=True):
        np.testing.assert_array_equal(scores, everywhere[model])
    assert bound.comparison.rank.max() <= feasible.sum()


def test_zeros_exclude_criteria_that_divide(values):
    values[3, 1] = 0
    _, result = compare(values)
    assert list(result.excluded) == ["delta", "saw", "ahp", "mew"]
    assert all("column 2" in error.problem for error in result.excluded.values())
    with pytest.raises(InputError, match="SAW divides"):
        compare(values, baselines=["saw"], lenient=False)


def test_missing_values_keep_rank_based_criteria(values):
    values[0, 0] = np.nan
    _, result = compare(values)
    assert result.names == ("copa(p=inf)", "copa(p=2)", "p-norm(p=2)")
    assert set(result.excluded) == set(BASELINES) - {"p-norm"}


@pytest.mark.parametrize(
    ("orders", "expected_order"), [((np.inf, 8.0, 2.0, 1.0), 8), ((3.0,), 3), ((1.0, np.inf), 8)]
)
def test_baseline_norm_uses_the_largest_finite_order(values, orders, expected_order):
    _, result = compare(values, orders=orders, baselines=["p-norm"])
    assert result.names[-1] == f"p-norm(p={expected_order})"
