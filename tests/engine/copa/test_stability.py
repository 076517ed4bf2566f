import numpy as np
import pytest

from riskrank.engine.copa import stability as copa_stability
from riskrank.engine.copa.population import build_population
from riskrank.engine.copa.ranking import rank_models
from riskrank.engine.copa.stability import bootstrap_choice, leave_one_out

ORDERS = [1, 2, 8, np.inf]


def table(levels, n=25, k=3, seed=0):
    return np.random.default_rng(seed).integers(0, levels, (n, k)).astype(float)


def choice_by_loops(u, objectives, feasible, weights, p):
    """Choose a model with the tie rule of the method page, by a loop over models."""

    def norm(row, q):
        terms = row * weights / np.sum(weights)
        return terms.max() if q == np.inf else (terms**q).sum() ** (1 / q)

    dominated = [
        any((objectives[j] >= x).all() and (objectives[j] > x).any() for j in np.flatnonzero(feasible))
        for x in objectives
    ]
    keys = {
        i: (round(norm(u[i], p), 11), dominated[i], round(norm(u[i], 8), 11), round(norm(u[i], 1), 11), i)
        for i in np.flatnonzero(feasible)
    }
    return min(keys, key=keys.get)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize(("levels", "ties"), [(3, "min"), (3, "average"), (3, "max"), (1000, "average")])
def test_leave_one_out_matches_smaller_tables(levels, p, ties):
    objectives = table(levels)
    objectives[[3, 9], [0, 2]] = np.nan
    feasible = np.random.default_rng(1).random(25) < 0.8
    weights = [3, 2, 1]
    models = build_population(objectives, feasible=feasible, ties=ties)
    influence = leave_one_out(models, rank_models(models, weights, p=p))
    for left_out in range(25):
        remaining = np.delete(np.arange(25), left_out)
        smaller = build_population(objectives[remaining], feasible=feasible[remaining], ties=ties)
        assert influence.choice[left_out] == remaining[rank_models(smaller, weights, p=p).chosen]
    assert influence.successor == influence.choice[influence.chosen]


@pytest.mark.parametrize("ties", ["min", "average", "max"])
def test_leave_one_out_matches_smaller_tables_with_ties(ties):
    rng = np.random.default_rng(2)
    for _ in range(20):
        objectives = rng.integers(0, 3, (6, 3)).astype(float)
        objectives[rng.random((6, 3)) < 0.1] = np.nan
        p = rng.choice(ORDERS)
        models = build_population(objectives, ties=ties)
        influence = leave_one_out(models, rank_models(models, p=p))
        for left_out in range(6):
            remaining = np.delete(np.arange(6), left_out)
            smaller = build_population(objectives[remaining], ties=ties)
            assert influence.choice[left_out] == remaining[rank_models(smaller, p=p).chosen]


def test_leave_one_out_is_invariant_to_block_size(monkeypatch):
    models = build_population(table(10, n=40))
    full = leave_one_out(models, rank_models(models, p=2)).choice
    monkeypatch.setattr(copa_stability, "_CELLS", 1)
    assert leave_one_out(models, rank_models(models, p=2)).choice.tolist() == full.tolist()


def test_impossible_choices_are_excluded_early(monkeypatch):
    results, original = [], copa_stability._candidate_choices
    wrapper = lambda *arguments: results.append(original(*arguments)) or results[-1]  # noqa: E731
    monkeypatch.setattr(copa_stability, "_candidate_choices", wrapper)
    models = build_population(table(1000, n=60))
    influence = leave_one_out(models, rank_models(models, p=2))
    assert {influence.chosen, *influence.choice.tolist()} <= set(results[0].tolist())
    assert results[0].size < 10


def test_independence_of_irrelevant_alternatives_does_not_hold():
    # B beats C on everything, yet takes part of its lead over A from it: without C, A is chosen.
    # By counts times weights: A 10 · 3, B 11 · 2; without C: A 10 · 2, B 11 · 2.
    a, b, c, d, e = [4.0, 1.0], [2.0, 4.0], [1.0, 2.0], [0.0, 3.0], [3.0, 0.0]
    models = build_population(np.array([a, b, c, d, e]))
    influence = leave_one_out(models, rank_models(models, [11, 10], p=1))
    assert influence.chosen == 1
    assert influence.choice.tolist() == [1, 0, 0, 0, 1]
    assert influence.influential.tolist() == [2, 3]
    assert not models.front[2]


def test_leave_one_out_with_a_single_feasible_model():
    models = build_population(table(9), feasible=np.arange(25) == 4)
    influence = leave_one_out(models, rank_models(models, p=2))
    assert influence.choice.tolist() == [4] * 4 + [-1] + [4] * 20
    assert influence.successor == -1
    assert influence.influential.size == 0


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize(("levels", "ties"), [(3, "min"), (3, "average"), (3, "max"), (1000, "average")])
def test_bootstrap_matches_loops(levels, p, ties):
    objectives = table(levels, n=12)
    objectives[5] = levels, np.nan, -1  # on the front, and the worst where it has no value
    feasible = np.arange(12) != 2
    models = build_population(objectives, feasible=feasible, ties=ties)
    weights = np.array([2.0, 1.0, 1.0])
    result = bootstrap_choice(models, rank_models(models, weights, p=p), resamples=40, seed=7)
    expected = np.zeros(12, dtype=int)
    share = {"min": 0, "average": 0.5, "max": 1}[ties]
    for size, stream in zip((32, 8), np.random.SeedSequence(7).spawn(2), strict=True):
        for picks in np.random.default_rng(stream).integers(0, 12, (size, 12)):
            u = np.zeros((12, 3))
            for i in range(12):
                for k in range(3):
                    resampled = models.objectives[picks, k]
                    value = models.objectives[i, k]
                    u[i, k] = ((resampled > value).sum() + share * (resampled == value).sum()) / 12
            u[5, 1] = 1
            expected[choice_by_loops(u, models.objectives, feasible, weights, p)] += 1
    assert result.count.tolist() == expected.tolist()
    assert result.chosen == rank_models(models, weights, p=p).chosen
    assert result.survival == expected[result.chosen] / 40


def test_best_model_is_chosen_in_every_resample():
    models = build_population(np.arange(60.0)[:, None] * [1, 2])
    result = bootstrap_choice(models, rank_models(models, p=2), resamples=100)
    assert result.chosen == 59
    assert result.survival == 1
    assert result.runners_up.size == 0


def test_bootstrap_of_close_models_is_split():
    models = build_population(np.random.default_rng(5).normal(size=(200, 4)))
    result = bootstrap_choice(models, rank_models(models, p=2), resamples=300)
    assert result.count.sum() == 300
    assert models.front[np.flatnonzero(result.count)].all()
    assert (np.diff(result.count[result.runners_up]) <= 0).all()
    assert result.chosen not in result.runners_up


def test_bootstrap_depends_on_the_seed_only():
    models = build_population(np.random.default_rng(6).normal(size=(50, 4)))
    ranking = rank_models(models, p=2)
    first, repeated, other = (
        bootstrap_choice(models, ranking, resamples=100, seed=s).count for s in (1, 1, 2)
    )
    assert first.tolist() == repeated.tolist()
    assert first.tolist() != other.tolist()


def test_single_resample_is_accepted():
    models = build_population(table(5))
    assert bootstrap_choice(models, rank_models(models, p=2), resamples=1).count.sum() == 1
