import numpy as np
import pytest

from riskrank.engine.copa.comparison import Scalarizations, outer_weighted_norm
from riskrank.engine.copa.ranking import rank_norm
from riskrank.errors import InputError

# Accuracy (larger is better) and cost (smaller is better, hence negated) of three models.
OBJECTIVES = np.array([[0.8, -2.0], [0.4, -1.0], [0.2, -4.0]])
UPWARD = [True, False]


def table(objectives=OBJECTIVES, upward=UPWARD, weights=None):
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
