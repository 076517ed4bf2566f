from dataclasses import replace

import numpy as np
import pytest

from riskrank.engine.copa.population import build_population
from riskrank.engine.copa.ranking import rank_models, rank_norm
from riskrank.engine.copa.sweep import (
    Sweep,
    interval_of_choice,
    sweep_all_weights,
    sweep_p,
    sweep_weight,
    weight_ranges,
)
from riskrank.errors import UsageError

ORDERS = [1, 1.5, 2, 8, 40, np.inf]


def synthetic_front(n=1000, seed=0):
    """Return the curve of COPA §5.1, eq. 18, with two losses."""
    first = np.random.default_rng(seed).uniform(0.02, 0.2, n)
    return np.column_stack([first, 0.25 * np.cos(39 * first**0.85) - np.log(first) - 0.46])


def weights_at(alpha, K, objective, other_weights=None):
    other_weights = np.ones(K) if other_weights is None else np.array(other_weights, dtype=float)
    other_weights[objective] = 0
    weights = (1 - alpha) * other_weights / other_weights.sum()
    weights[objective] = alpha
    return weights


@pytest.mark.parametrize(("p", "levels"), [*((p, 4) for p in ORDERS), (ORDERS[0], 1000), (ORDERS[-1], 1000)])
def test_weight_sweep_matches_separate_rankings(p, levels):
    rng = np.random.default_rng(levels)
    objectives = rng.integers(0, levels, (60, 4)).astype(float)
    models = build_population(objectives, feasible=rng.random(60) < 0.7)
    other_weights = [1.0, 2.0, 0.0, 3.0]
    sweep = sweep_weight(models, 2, p=p, other_weights=other_weights, steps=300)
    expected = [rank_models(models, weights_at(a, 4, 2, other_weights), p=p).chosen for a in sweep.grid]
    assert sweep.choice.tolist() == expected


@pytest.mark.parametrize("p", ORDERS)
def test_weight_sweep_intervals_match_a_finer_grid(p):
    models = build_population(np.random.default_rng(3).normal(size=(100, 3)))
    sweep = sweep_weight(models, 0, p=p, steps=500)
    assert sweep.low[0] == 0
    assert sweep.high[-1] == 1
    assert (sweep.low[1:] == sweep.high[:-1]).all()
    assert (sweep.model[1:] != sweep.model[:-1]).all()
    assert sweep.share.sum() == pytest.approx(1)
    for low, high, model in zip(sweep.low, sweep.high, sweep.model, strict=True):
        for alpha in (low + 1e-9, (low + high) / 2, high - 1e-9):
            assert rank_models(models, weights_at(alpha, 3, 0), p=p).chosen == model


def test_weight_sweep_edges_in_closed_form():
    # Three models on two objectives, ranks (0, 1), (1/2, 1/2), (1, 0): for p = 2 the neighbours' norms
    # meet where α² (1 - 1/4) = (1 - α)² / 4, that is α / (1 - α) = 1 / sqrt(3).
    models = build_population(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]]))
    sweep = sweep_weight(models, 0, p=2, steps=7)
    edge = 1 / (1 + np.sqrt(3))
    assert sweep.model.tolist() == [2, 1, 0]
    np.testing.assert_allclose(sweep.high, [edge, 1 - edge, 1], atol=1e-12)
    assert sweep.coverage == 1
    share = np.array([edge, 1 - 2 * edge, edge])
    assert sweep.evenness == pytest.approx(np.exp(-(share * np.log(share)).sum()) / 3)


def test_change_in_the_last_step_is_detected():
    sweep = sweep_weight(build_population(np.array([[2.0, 0.0], [0.0, 2.0]])), 0, p=2, steps=2)
    assert sweep.model.tolist() == [1, 0]
    np.testing.assert_allclose(sweep.high, [0.5, 1], atol=1e-12)


@pytest.mark.parametrize("levels", [4, 1000])
def test_p_sweep_matches_separate_rankings(levels):
    rng = np.random.default_rng(levels)
    models = build_population(rng.integers(0, levels, (80, 5)).astype(float))
    weights = [1, 2, 3, 4, 5]
    sweep = sweep_p(models, weights, steps=150)
    assert sweep.grid[0] == 1
    assert np.isinf(sweep.grid[-1])
    assert sweep.choice.tolist() == [rank_models(models, weights, p=p).chosen for p in sweep.grid]
    for low, high, model in zip(sweep.low, sweep.high, sweep.model, strict=True):
        middle = 2 / (1 / low + 1 / high)
        assert rank_models(models, weights, p=middle).chosen == model
    assert sweep.share.sum() == pytest.approx(1)


def test_p_of_1_favours_the_extremes_of_the_front():
    losses = synthetic_front()
    sweep = sweep_weight(build_population(-losses), 0, p=1, steps=2000)
    extremes = losses[:, 0].argsort()[[0, -1]]
    assert sweep.share[extremes].sum() > 0.9
    # The dent of the curve leaves a few models beside the ends on the convex hull of the ranks.
    assert np.unique(sweep.model).size <= 5


def test_synthetic_front_p_infinity_spreads_over_the_front():
    losses = synthetic_front()
    models = build_population(-losses)
    sweep = sweep_weight(models, 0, p=np.inf, steps=2000)
    assert sweep.coverage > 0.95
    assert sweep.evenness > 0.7
    # α moves steadily along the front: each fifth of the curve has its part of the range.
    fifths = np.searchsorted(np.quantile(losses[models.front, 0], [0.2, 0.4, 0.6, 0.8]), losses[:, 0])
    assert min(sweep.share[fifths == part].sum() for part in range(5)) > 0.08
    # Equal importance is the middle of the front, not an end.
    middle = rank_models(models, p=np.inf).chosen
    assert 0.3 < models.u[middle, 0] < 0.7


def test_synthetic_front_spread_grows_with_p():
    models = build_population(-synthetic_front())
    spread = [sweep_weight(models, 0, p=p, steps=1000).evenness for p in (1, 2, 8, np.inf)]
    assert spread == sorted(spread)


def test_synthetic_front_raw_tchebycheff_ignores_the_first_objective():
    losses = synthetic_front()
    best_second = losses[:, 1].argmin()
    for alpha in np.arange(0, 0.75, 0.01):
        assert rank_norm(losses, np.array([alpha, 1 - alpha]), np.inf).argmin() == best_second
    assert rank_norm(losses, np.array([0.9, 0.1]), np.inf).argmin() != best_second
    assert rank_models(build_population(-losses), [0.5, 0.5], p=np.inf).chosen != best_second


def test_chosen_models_are_on_the_front():
    models = build_population(np.random.default_rng(5).normal(size=(300, 5)))
    for p in ORDERS:
        assert models.front[sweep_weight(models, 0, p=p, steps=100).choice].all()


def test_sweeps_of_all_weights_match_single_sweeps():
    models = build_population(np.random.default_rng(2).normal(size=(40, 3)))
    weights = np.array([0.5, 0.3, 0.2])
    for objective, sweep in enumerate(
        sweep_all_weights(models, rank_models(models, weights, p=2), steps=100)
    ):
        alone = sweep_weight(models, objective, p=2, other_weights=weights, steps=100)
        assert sweep.objective == objective
        np.testing.assert_array_equal(sweep.choice, alone.choice)


def test_sweeps_start_from_a_single_positive_weight():
    models = build_population(np.random.default_rng(2).normal(size=(40, 3)))
    first, second, _ = sweep_all_weights(models, rank_models(models, [1, 0, 0], p=np.inf), steps=100)
    np.testing.assert_array_equal(first.choice, sweep_weight(models, 0, steps=100).choice)
    assert second.choice[0] == rank_models(models, [1, 0, 0], p=np.inf).chosen


@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_range_of_choice_matches_rankings_on_a_grid(p):
    models = build_population(np.random.default_rng(4).normal(size=(60, 3)))
    weights = np.array([0.2, 0.3, 0.5])
    ranking = rank_models(models, weights, p=p)
    chosen = ranking.chosen
    for objective, sweep in enumerate(sweep_all_weights(models, ranking)):
        low, high = interval_of_choice(sweep, chosen, weights[objective])
        assert low <= weights[objective] <= high
        for alpha in np.linspace(0.001, 0.999, 200):
            chosen_model = rank_models(models, weights_at(alpha, 3, objective, weights), p=p).chosen
            assert not (low < alpha < high) or chosen_model == chosen
        for end, beyond in ((low, low - 1e-6), (high, high + 1e-6)):
            if 0 < end < 1:
                other = rank_models(models, weights_at(beyond, 3, objective, weights), p=p).chosen
                assert other != chosen


def test_range_of_choice_between_grid_points_is_a_point():
    sweep = sweep_weight(build_population(np.eye(2)), 0, steps=10)
    absent = 1 - sweep.choice[2]
    assert interval_of_choice(sweep, absent, sweep.grid[2]) == (sweep.grid[2], sweep.grid[2])


def test_invalid_sweeps_are_refused():
    for call in (
        lambda m: sweep_weight(m, 0, steps=0),
        lambda m: sweep_p(m, steps=0),
        lambda m: sweep_p(m, steps=10**9),
    ):
        with pytest.raises(UsageError, match="1 to 100000 steps"):
            call(build_population(np.eye(2)))


def sweep():
    """Sweep that chooses model 2 up to 0.25, model 0 up to 0.5, and model 2 again up to 1."""
    return Sweep(
        objective=0,
        grid=np.linspace(0, 1, 5),
        choice=np.array([2, 0, 0, 2, 2]),
        low=np.array([0.0, 0.25, 0.5]),
        high=np.array([0.25, 0.5, 1.0]),
        model=np.array([2, 0, 2]),
        share=np.array([0.25, 0.0, 0.75]),
        front_size=2,
    )


def test_widths_are_uniform_on_the_grid():
    assert sweep().widths.tolist() == [0.25, 0.25, 0.5]
    over_p = replace(
        sweep(), objective=None, low=np.array([1.0, 2.0, 4.0]), high=np.array([2.0, 4.0, np.inf])
    )
    assert over_p.widths.tolist() == [0.5, 0.25, 0.25]


@pytest.mark.parametrize(
    ("model", "at", "expected"),
    [
        (2, 0.0, (0, 0.25)),
        (2, 0.25, (0, 0.25)),  # at an edge both choices are accepted
        (0, 0.25, (0.25, 0.5)),
        (0, 0.5, (0.25, 0.5)),
        (2, 0.5, (0.5, 1)),
        (2, 0.7, (0.5, 1)),
        (2, 1.0, (0.5, 1)),
        (2, 0.3, (0.3, 0.3)),  # the choice only between two points of the grid
        (1, 0.3, (0.3, 0.3)),
    ],
)
def test_range_around_a_value(model, at, expected):
    assert interval_of_choice(sweep(), model, at) == expected


def test_moved_weight_keeps_other_proportions():
    rng = np.random.default_rng(0)
    models = build_population(rng.normal(size=(9, 3)), names=list("abcdefghi"), metrics=["x", "y", "z"])
    weights = np.array([0.0, 1.0, 0.0])
    sweeps = sweep_all_weights(models, rank_models(models, weights, p=np.inf), steps=20)
    assert [entry.objective for entry in sweeps] == [0, 1, 2]
    chosen = int(sweeps[1].choice[-1])  # all the weight on y
    ranges = weight_ranges(sweeps, chosen, weights)
    assert [entry.models_chosen for entry in ranges] == [entry.models_chosen for entry in sweeps]
    assert all(entry.low <= weight <= entry.high for entry, weight in zip(ranges, weights, strict=True))
    assert weight_ranges((), chosen, weights) == ()
