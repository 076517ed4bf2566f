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
    """Choose with the tie rule of the method page, one model after the other."""

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


@pytest.mark.parametrize("ties", ["min", "average", "max"])
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("levels", [3, 1000])
def test_leave_one_out_against_smaller_tables(levels, p, ties):
    objectives = table(levels)
    objectives[[3, 9], [0, 2]] = np.nan
    feasible = np.random.default_rng(1).random(25) < 0.8
    weights = [3, 2, 1]
    models = build_population(objectives, feasible=feasible, ties=ties)
    influence = leave_one_out(models, rank_models(models, weights, p=p))
    for left_out in range(25):
        rest = np.delete(np.arange(25), left_out)
        smaller = build_population(objectives[rest], feasible=feasible[rest], ties=ties)
        assert influence.choice[left_out] == rest[rank_models(smaller, weights, p=p).chosen]
    assert influence.successor == influence.choice[influence.chosen]


@pytest.mark.parametrize("ties", ["min", "average", "max"])
def test_leave_one_out_against_smaller_tables_full_of_ties(ties):
    rng = np.random.default_rng(2)
    for _ in range(60):
        objectives = rng.integers(0, 3, (6, 3)).astype(float)
        objectives[rng.random((6, 3)) < 0.1] = np.nan
        p = rng.choice(ORDERS)
        models = build_population(objectives, ties=ties)
        influence = leave_one_out(models, rank_models(models, p=p))
        for left_out in range(6):
            rest = np.delete(np.arange(6), left_out)
            smaller = build_population(objectives[rest], ties=ties)
            assert influence.choice[left_out] == rest[rank_models(smaller, p=p).chosen]


def test_leave_one_out_does_not_depend_on_the_block(monkeypatch):
    models = build_population(table(10, n=40))
    whole = leave_one_out(models, rank_models(models, p=2)).choice
    monkeypatch.setattr(copa_stability, "_CELLS", 1)
    assert leave_one_out(models, rank_models(models, p=2)).choice.tolist() == whole.tolist()


def test_who_can_never_be_chosen_is_not_looked_at(monkeypatch):
    found, original = [], copa_stability._possible_choices
    watched = lambda *given: found.append(original(*given)) or found[-1]  # noqa: E731
    monkeypatch.setattr(copa_stability, "_possible_choices", watched)
    models = build_population(table(1000, n=60))
    influence = leave_one_out(models, rank_models(models, p=2))
    assert {influence.chosen, *influence.choice.tolist()} <= set(found[0].tolist())
    assert found[0].size < 10


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


def test_leave_one_out_with_one_feasible_model():
    models = build_population(table(9), feasible=np.arange(25) == 4)
    influence = leave_one_out(models, rank_models(models, p=2))
    assert influence.choice.tolist() == [4] * 4 + [-1] + [4] * 20
    assert influence.successor == -1
    assert influence.influential.size == 0


@pytest.mark.parametrize("ties", ["min", "average", "max"])
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("levels", [3, 1000])
def test_bootstrap_against_loops(levels, p, ties):
    objectives = table(levels, n=12)
    objectives[5] = levels, np.nan, -1  # on the front, and the worst where it has no value
    feasible = np.arange(12) != 2
    models = build_population(objectives, feasible=feasible, ties=ties)
    weights = np.array([2.0, 1.0, 1.0])
    result = bootstrap_choice(models, rank_models(models, weights, p=p), resamples=40, seed=7)
    expected = np.zeros(12, dtype=int)
    share = {"min": 0, "average": 0.5, "max": 1}[ties]
    for size, stream in zip((32, 8), np.random.SeedSequence(7).spawn(2), strict=True):
        for drawn in np.random.default_rng(stream).integers(0, 12, (size, 12)):
            u = np.zeros((12, 3))
            for i in range(12):
                for k in range(3):
                    others = models.objectives[drawn, k]
                    own = models.objectives[i, k]
                    u[i, k] = ((others > own).sum() + share * (others == own).sum()) / 12
            u[5, 1] = 1
            expected[choice_by_loops(u, models.objectives, feasible, weights, p)] += 1
    assert result.count.tolist() == expected.tolist()
    assert result.chosen == rank_models(models, weights, p=p).chosen
    assert result.survival == expected[result.chosen] / 40


def test_a_model_best_on_everything_survives_every_resample():
    models = build_population(np.arange(60.0)[:, None] * [1, 2])
    result = bootstrap_choice(models, rank_models(models, p=2), resamples=100)
    assert result.chosen == 59
    assert result.survival == 1
    assert result.runners_up.size == 0


def test_bootstrap_of_a_close_call_is_split_and_counts_all_resamples():
    models = build_population(np.random.default_rng(5).normal(size=(200, 4)))
    result = bootstrap_choice(models, rank_models(models, p=2), resamples=300)
    assert result.count.sum() == 300
    assert models.front[np.flatnonzero(result.count)].all()
    assert (np.diff(result.count[result.runners_up]) <= 0).all()
    assert result.chosen not in result.runners_up


def test_bootstrap_depends_on_the_seed_only():
    models = build_population(np.random.default_rng(6).normal(size=(50, 4)))
    ranking = rank_models(models, p=2)
    first, again, other = (bootstrap_choice(models, ranking, resamples=100, seed=s).count for s in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_one_resample_is_enough():
    models = build_population(table(5))
    assert bootstrap_choice(models, rank_models(models, p=2), resamples=1).count.sum() == 1
