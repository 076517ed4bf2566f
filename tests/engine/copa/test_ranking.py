import numpy as np
import pytest

from riskrank.engine.copa.population import build_population
from riskrank.engine.copa.ranking import choosing_weights, explain_model, rank_models


@pytest.mark.parametrize("levels", [4, 1000])
def test_p_infinity_can_choose_every_front_model(levels):
    objectives = np.random.default_rng(levels).integers(0, levels, (60, 4)).astype(float)
    models = build_population(objectives)
    seen = set()
    for model in range(60):
        weights = choosing_weights(models, model, p=np.inf)
        # The first of several identical models is chosen.
        first_copy = tuple(objectives[model]) not in seen
        seen.add(tuple(objectives[model]))
        assert (weights is not None) == (models.front[model] and first_copy)
        if weights is not None:
            assert weights.sum() == pytest.approx(1)
            assert rank_models(models, weights, p=np.inf).chosen == model


def test_p_1_chooses_models_on_the_convex_hull():
    # Two objectives: scan a fine grid of directions for the models that minimise some weighted sum.
    first, noise = np.random.default_rng(2).normal(size=(2, 80))
    objectives = np.column_stack([first, -first + noise / 3])
    models = build_population(objectives)
    angles = np.linspace(0, 1, 20_001)
    sums = np.outer(angles, models.u[:, 0]) + np.outer(1 - angles, models.u[:, 1])
    unique = (sums <= sums.min(axis=1, keepdims=True) + 1e-9).sum(axis=1) == 1
    reached = set(sums.argmin(axis=1)[unique])
    assert {i for i in range(80) if choosing_weights(models, i, p=1) is not None} == reached
    assert 1 < len(reached) < models.front.sum()


@pytest.mark.parametrize("p", [1, 2, 8, 100])
def test_choosing_weights_select_the_model(p):
    rng = np.random.default_rng(4)
    models = build_population(rng.normal(size=(100, 3)))
    choosing = {i: choosing_weights(models, i, p=p) for i in range(100)}
    for model, weights in choosing.items():
        if weights is not None:
            assert rank_models(models, weights, p=p).chosen == model
    for weights in rng.dirichlet(np.ones(3), 300):
        assert choosing[rank_models(models, weights, p=p).chosen] is not None


def test_hand_computed_explanation():
    models = build_population(np.array([[3.0, 1.0], [2.0, 0.0], [1.0, 2.0], [0.0, 3.0]]))
    explanation = explain_model(models, 1, rank_models(models, [3, 1], p=2))
    np.testing.assert_allclose(explanation.weighted, [0.25, 0.25])
    np.testing.assert_allclose(explanation.contribution, [0.5, 0.5])
    assert explanation.binding.tolist() == [0, 1]
    assert explanation.dominators.tolist() == [0]
    assert explanation.weights is None
    other = explain_model(models, 3, rank_models(models, p=np.inf))
    np.testing.assert_allclose(other.contribution, [1, 0])
    assert other.binding.tolist() == [0]
    assert other.dominators.size == 0
    assert rank_models(models, other.weights, p=np.inf).chosen == 3


def test_best_model_has_no_binding_objective():
    models = build_population(np.array([[1.0, 1.0], [0.0, 0.0]]))
    explanation = explain_model(models, 0, rank_models(models, p=2))
    assert explanation.contribution.tolist() == [0, 0]
    assert explanation.binding.size == 0
    assert rank_models(models, explanation.weights, p=2).chosen == 0


def test_infeasible_models_neither_win_nor_dominate():
    objectives = np.array([[3.0, 3.0], [2.0, 2.0], [1.0, 1.0]])
    models = build_population(objectives, feasible=np.array([False, True, True]))
    assert choosing_weights(models, 0, p=1) is None
    explanation = explain_model(models, 2, rank_models(models, p=1))
    assert explanation.dominators.tolist() == [1]
    assert explain_model(models, 1, rank_models(models, p=1)).weights is not None
