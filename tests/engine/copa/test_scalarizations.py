import numpy as np
import pytest

from riskrank.engine.copa.choice import rank_norm
from riskrank.engine.copa.scalarizations import (
    analytic_hierarchy_process,
    delta,
    min_max,
    multiplicative_exponent_weighting,
    outer_weighted_norm,
    simple_additive_weighting,
    weighted_sum,
)
from riskrank.errors import InputError, UsageError

# Accuracy (larger is better) and cost (smaller is better, hence negated) of three models.
OBJECTIVES = np.array([[0.8, -2.0], [0.4, -1.0], [0.2, -4.0]])
UPWARD = [True, False]


def ahp_by_dense_eigenvectors(z, weights):
    """Equations of COPA App. A to the letter, with NumPy's eigenvectors."""
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
    np.testing.assert_allclose(weighted_sum(OBJECTIVES, [3, 1]), [-0.1, -0.05, 0.85])
    np.testing.assert_allclose(weighted_sum(OBJECTIVES), [0.6, 0.3, 1.9])


def test_delta_hand_computed():
    # (0.8 - x) / 0.8 and (x - 1) / 1
    np.testing.assert_allclose(delta(OBJECTIVES, UPWARD), [(0 + 1) / 2, (0.5 + 0) / 2, (0.75 + 3) / 2])


def test_min_max_hand_computed():
    np.testing.assert_allclose(min_max(OBJECTIVES, [1, 1]), [1 / 6, 1 / 3, 1])
    constant = np.column_stack([OBJECTIVES, np.ones(3)])
    np.testing.assert_allclose(min_max(constant, [1, 1, 2]), [1 / 12, 1 / 6, 1 / 2])


def test_saw_hand_computed():
    # 0.8 / x: 1, 2, 4; x / 1: 2, 1, 4.
    np.testing.assert_allclose(simple_additive_weighting(OBJECTIVES, UPWARD, [3, 1]), [5 / 4, 7 / 4, 4])


def test_saw_in_the_minimisation_form_differs_from_the_textbook():
    # Two losses, 1:10 against 2:2. Relative to the least, 1 and 5 (mean 3) lose to 2 and 1 (1.5); the
    # textbook adds 1 and 1/5 (0.6) against 1/2 and 1 (0.75); a third model tells the forms apart.
    losses = np.array([[1.0, 10.0], [5.0, 1.0], [2.0, 3.0]])
    scores = simple_additive_weighting(-losses, [False, False])
    np.testing.assert_allclose(scores, [5.5, 3.0, 2.5])
    textbook = (losses.min(axis=0) / losses).mean(axis=1)
    np.testing.assert_allclose(textbook, [0.55, 0.6, 5 / 12])
    assert scores.argmin() == 2
    assert textbook.argmax() == 1


def test_mew_hand_computed():
    expected = [1**0.75 * 2**0.25, 2**0.75, 4]
    np.testing.assert_allclose(multiplicative_exponent_weighting(OBJECTIVES, UPWARD, [3, 1]), expected)


@pytest.mark.parametrize("n", [2, 7, 60])
def test_ahp_against_dense_eigenvectors(n):
    rng = np.random.default_rng(n)
    values = np.exp(rng.normal(size=(n, 4)))
    values[:, 2] = rng.integers(1, 4, n)
    values[:, 3] = 2.5
    upward = np.array([True, False, False, True])
    z = np.where(upward, values.max(axis=0) / values, values / values.min(axis=0))
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    scores = analytic_hierarchy_process(np.where(upward, values, -values), upward, weights)
    np.testing.assert_allclose(scores, ahp_by_dense_eigenvectors(z, weights), rtol=1e-10)


def test_ahp_against_dense_power_iteration_for_thousands_of_models():
    z = np.exp(np.random.default_rng(3).normal(size=(1200, 1)))
    t = 8 * (np.log(z[:, 0]) - np.log(z.min())) / (np.log(z.max()) - np.log(z.min()))
    gap = t[:, None] - t[None, :]
    A = np.where(gap >= 0, 1 + gap, 1 / (1 + np.abs(gap)))
    v = np.ones(len(t))
    for _ in range(40):
        v = A @ v
        v /= v.sum()
    np.testing.assert_allclose(analytic_hierarchy_process(-z, [False]), v, rtol=1e-11)


def test_outer_weighted_norm_against_loops():
    u = np.random.default_rng(1).random((10, 3))
    weights = np.array([0.5, 0.3, 0.2])
    for p in (1, 2, 8):
        expected = [sum(w * x**p for w, x in zip(weights, row, strict=True)) ** (1 / p) for row in u]
        np.testing.assert_allclose(outer_weighted_norm(u, weights, p=p), expected)
    np.testing.assert_allclose(outer_weighted_norm(u, [1, 0, 1], p=np.inf), u[:, [0, 2]].max(axis=1))
    np.testing.assert_allclose(outer_weighted_norm(u, weights, p=1), rank_norm(u, weights, 1))


RATIO_METHODS = [
    delta,
    simple_additive_weighting,
    multiplicative_exponent_weighting,
    analytic_hierarchy_process,
]


@pytest.mark.parametrize("method", RATIO_METHODS)
def test_invariance_under_the_units_of_a_column(method):
    rescaled = OBJECTIVES * [100.0, 3.6e6]
    np.testing.assert_allclose(method(rescaled, UPWARD), method(OBJECTIVES, UPWARD))


@pytest.mark.parametrize("method", RATIO_METHODS)
@pytest.mark.parametrize("value", [0.0, -0.3])
def test_zeros_and_negatives_name_the_column(method, value):
    objectives = OBJECTIVES.copy()
    objectives[1, 1] = -value
    with pytest.raises(InputError, match="'cost'") as caught:
        method(objectives, UPWARD, metrics=["accuracy", "cost"])
    assert caught.value.found == f"zeros: {int(value == 0)}, negative values: {int(value < 0)}"


@pytest.mark.parametrize("method", RATIO_METHODS)
def test_one_direction_per_objective(method):
    with pytest.raises(UsageError, match="direction"):
        method(OBJECTIVES, [True])


@pytest.mark.parametrize("method", [weighted_sum, min_max])
def test_bad_tables(method):
    with pytest.raises(InputError, match="'b' must be finite"):
        method(np.array([[1.0, np.nan]]), metrics=["a", "b"])
    with pytest.raises(InputError, match="table of models"):
        method(np.ones(3))
    with pytest.raises(UsageError):
        method(OBJECTIVES, [-1, 2])
