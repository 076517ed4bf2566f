"""The criteria side by side, against the functions they are made of and by hand."""

import numpy as np
import pytest

from riskrank.engine.copa.comparison import BASELINES, compare_scalarizations
from riskrank.engine.copa.population import build_population
from riskrank.engine.copa.ranking import rank_models
from riskrank.engine.copa.scalarizations import Scalarizations, outer_weighted_norm
from riskrank.errors import InputError

UPWARD = np.array([True, True, False])
SIGNS = np.where(UPWARD, 1.0, -1.0)


@pytest.fixture
def values():
    return np.random.default_rng(0).uniform(1, 2, (12, 3))


def compare(values, weights=(0.2, 0.3, 0.5), *, feasible=None, orders=(np.inf, 2.0), **options):
    models = build_population(values * SIGNS, feasible=feasible)
    return models, compare_scalarizations(models, values, UPWARD, np.array(weights), orders=orders, **options)


def test_every_criterion_is_there_with_its_scores(values):
    weights = np.array([0.2, 0.3, 0.5])
    models, found = compare(values)
    usual = "p-norm(p=2)"
    assert found.names == (
        "copa(p=inf)",
        "copa(p=2)",
        "average",
        "delta",
        "min-max",
        usual,
        "saw",
        "ahp",
        "mew",
    )
    score = dict(zip(found.names, found.scores, strict=True))
    here = found.models
    np.testing.assert_array_equal(here, rank_models(models, weights, p=np.inf).order)
    np.testing.assert_allclose(score["copa(p=2)"], rank_models(models, weights, p=2).norm[here])
    table = Scalarizations(values * SIGNS, UPWARD, weights, models.metrics)
    np.testing.assert_allclose(score["average"], table.weighted_sum()[here])
    np.testing.assert_allclose(score["min-max"], table.min_max()[here])
    np.testing.assert_allclose(score[usual], outer_weighted_norm(models.u, weights, 2)[here])
    shares = [
        (values[:, k].max() / values[:, k] if up else values[:, k] / values[:, k].min())
        for k, up in enumerate(UPWARD)
    ]
    np.testing.assert_allclose(score["saw"], (np.array(shares).T @ weights)[here])


def test_ranks_of_copa_are_those_after_tie_breaking():
    values = np.array([[1.0, 4.0, 1.0], [4.0, 1.0, 1.0], [2.0, 3.0, 1.0], [3.0, 2.0, 1.0]])
    _, found = compare(values, (0.5, 0.5, 0.0))
    np.testing.assert_array_equal(np.sort(found.comparison.rank[0]), [1, 2, 3, 4])
    np.testing.assert_array_equal(found.comparison.rank[0], [1, 2, 3, 4])


def test_constraints_filter_after_scoring(values):
    feasible = values[:, 0] > 1.4
    _, free = compare(values)
    _, bound = compare(values, feasible=feasible)
    assert set(bound.models) == set(np.flatnonzero(feasible))
    everywhere = dict(zip(free.models, free.scores.T, strict=True))
    for model, scores in zip(bound.models, bound.scores.T, strict=True):
        np.testing.assert_array_equal(scores, everywhere[model])
    assert bound.comparison.rank.max() <= feasible.sum()


def test_zeros_leave_out_the_criteria_that_divide(values):
    values[3, 1] = 0
    _, found = compare(values)
    assert list(found.excluded) == ["delta", "saw", "ahp", "mew"]
    assert all("column 2" in error.what for error in found.excluded.values())
    with pytest.raises(InputError, match="SAW divides"):
        compare(values, baselines=["saw"], lenient=False)


def test_missing_values_leave_only_rankings_by_rank(values):
    values[0, 0] = np.nan
    _, found = compare(values)
    assert found.names == ("copa(p=inf)", "copa(p=2)", "p-norm(p=2)")
    assert set(found.excluded) == set(BASELINES) - {"p-norm"}


@pytest.mark.parametrize(("orders", "usual"), [((np.inf, 8.0, 2.0, 1.0), 8), ((3.0,), 3), ((1.0, np.inf), 8)])
def test_the_usual_norm_takes_the_largest_finite_order(values, orders, usual):
    _, found = compare(values, orders=orders, baselines=["p-norm"])
    assert found.names[-1] == f"p-norm(p={usual})"
