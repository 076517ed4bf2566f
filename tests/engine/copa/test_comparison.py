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
from riskrank.engine.copa.ranking import rank_models, rank_norm
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


# Accuracy (larger is better) and cost (smaller is better, hence negated) of three models.
OBJECTIVES = np.array([[0.8, -2.0], [0.4, -1.0], [0.2, -4.0]])
DIRECTIONS = [True, False]


def table(objectives=OBJECTIVES, upward=DIRECTIONS, weights=None):
    k = objectives.shape[1]
    shares = np.ones(k) if weights is None else np.asarray(weights, dtype=float)
    names = ["accuracy", "cost", *map(str, range(2, k))][:k]
    return Scalarizations(objectives, np.array(upward), shares / shares.sum(), names)


def ahp_by_dense_eigenvectors(z, weights):
    """Compute the equations of COPA App. A literally, with NumPy's eigenvectors."""
    scores = np.zeros(len(z))
    for k, weight in enumerate(weights):
        column = z[:, k]
        spread = np.log(column.max()) - np.log(column.min())
        A = np.ones((len(z), len(z)))
        for i in range(len(z)):
            for j in range(len(z)):
                if column[i] >= column[j] and spread > 0:
                    A[i, j] = (np.log(column[i]) - np.log(column[j])) / spread * (9 - 1) + 1
                    A[j, i] = 1 / A[i, j]
        values, vectors = np.linalg.eig(A)
        v = vectors[:, values.real.argmax()].real
        scores += weight * v / v.sum()
    return scores


def test_weighted_sum_hand_computed():
    np.testing.assert_allclose(table(weights=[3, 1]).weighted_sum(), [-0.1, -0.05, 0.85])
    np.testing.assert_allclose(table().weighted_sum(), [0.6, 0.3, 1.9])


def test_delta_hand_computed():
    # (0.8 - x) / 0.8 and (x - 1) / 1
    np.testing.assert_allclose(table().delta(), [(0 + 1) / 2, (0.5 + 0) / 2, (0.75 + 3) / 2])


def test_min_max_hand_computed():
    np.testing.assert_allclose(table().min_max(), [1 / 6, 1 / 3, 1])
    constant = np.column_stack([OBJECTIVES, np.ones(3)])
    np.testing.assert_allclose(table(constant, weights=[1, 1, 2]).min_max(), [1 / 12, 1 / 6, 1 / 2])


def test_saw_hand_computed():
    # 0.8 / x: 1, 2, 4; x / 1: 2, 1, 4.
    np.testing.assert_allclose(table(weights=[3, 1]).simple_additive_weighting(), [5 / 4, 7 / 4, 4])


def test_saw_in_the_minimisation_form_differs_from_the_textbook():
    # Two losses, 1:10 against 2:2. Relative to the least, 1 and 5 (mean 3) lose to 2 and 1 (1.5); the
    # textbook adds 1 and 1/5 (0.6) against 1/2 and 1 (0.75); a third model tells the forms apart.
    losses = np.array([[1.0, 10.0], [5.0, 1.0], [2.0, 3.0]])
    scores = table(-losses, [False, False]).simple_additive_weighting()
    np.testing.assert_allclose(scores, [5.5, 3.0, 2.5])
    textbook = (losses.min(axis=0) / losses).mean(axis=1)
    np.testing.assert_allclose(textbook, [0.55, 0.6, 5 / 12])
    assert scores.argmin() == 2
    assert textbook.argmax() == 1


def test_mew_hand_computed():
    expected = [1**0.75 * 2**0.25, 2**0.75, 4]
    np.testing.assert_allclose(table(weights=[3, 1]).multiplicative_exponent_weighting(), expected)


@pytest.mark.parametrize("n", [2, 7, 60])
def test_ahp_matches_dense_eigenvectors(n):
    rng = np.random.default_rng(n)
    values = np.exp(rng.normal(size=(n, 4)))
    values[:, 2] = rng.integers(1, 4, n)
    values[:, 3] = 2.5
    upward = np.array([True, False, False, True])
    z = np.where(upward, values.max(axis=0) / values, values / values.min(axis=0))
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    scores = table(np.where(upward, values, -values), upward, weights).analytic_hierarchy_process()
    np.testing.assert_allclose(scores, ahp_by_dense_eigenvectors(z, weights), rtol=1e-10)


def test_ahp_of_many_models_matches_power_iteration():
    z = np.exp(np.random.default_rng(3).normal(size=(1200, 1)))
    t = 8 * (np.log(z[:, 0]) - np.log(z.min())) / (np.log(z.max()) - np.log(z.min()))
    gap = t[:, None] - t[None, :]
    A = np.where(gap >= 0, 1 + gap, 1 / (1 + np.abs(gap)))
    v = np.ones(len(t))
    for _ in range(40):
        v = A @ v
        v /= v.sum()
    np.testing.assert_allclose(table(-z, [False]).analytic_hierarchy_process(), v, rtol=1e-11)


def test_outer_weighted_norm_matches_loops():
    u = np.random.default_rng(1).random((10, 3))
    weights = np.array([0.5, 0.3, 0.2])
    for p in (1, 2, 8):
        expected = [sum(w * x**p for w, x in zip(weights, row, strict=True)) ** (1 / p) for row in u]
        np.testing.assert_allclose(outer_weighted_norm(u, weights, p), expected)
    np.testing.assert_allclose(
        outer_weighted_norm(u, np.array([0.5, 0, 0.5]), np.inf), u[:, [0, 2]].max(axis=1)
    )
    np.testing.assert_allclose(outer_weighted_norm(u, weights, 1), rank_norm(u, weights, 1))


RATIO_METHODS = [
    Scalarizations.delta,
    Scalarizations.simple_additive_weighting,
    Scalarizations.multiplicative_exponent_weighting,
    Scalarizations.analytic_hierarchy_process,
]


@pytest.mark.parametrize("method", RATIO_METHODS)
def test_invariance_under_the_units_of_a_column(method):
    rescaled = OBJECTIVES * [100.0, 3.6e6]
    np.testing.assert_allclose(method(table(rescaled)), method(table()))


@pytest.mark.parametrize("method", RATIO_METHODS)
@pytest.mark.parametrize("value", [0.0, -0.3])
def test_error_names_the_column_of_zeros_and_negatives(method, value):
    objectives = OBJECTIVES.copy()
    objectives[1, 1] = -value
    with pytest.raises(InputError, match="'cost'") as caught:
        method(table(objectives))
    assert caught.value.found == f"zeros: {int(value == 0)}, negative values: {int(value < 0)}"


@pytest.mark.parametrize("method", [Scalarizations.weighted_sum, Scalarizations.min_max])
def test_error_names_the_column_of_missing_values(method):
    with pytest.raises(InputError, match="'cost' must be finite"):
        method(table(np.array([[1.0, np.nan]])))
