from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from riskrank.engine.copa import population
from riskrank.engine.copa.population import (
    Constraint,
    build_population,
    ccdf_quantiles,
    constant_objectives,
    dominators,
    duplicated_models,
    feasible_models,
    pareto_front,
)
from riskrank.engine.copa.ranking import complete_weights, power_norm, rank_models, rank_norm
from riskrank.errors import InputError, UsageError

ORDERS = [1, 1.5, 2, 8, np.inf]
TIED_TABLES = hnp.arrays(
    np.float64, st.tuples(st.integers(2, 15), st.integers(1, 4)), elements=st.integers(0, 4).map(float)
)
WEIGHTS = st.lists(st.floats(0.01, 1), min_size=4, max_size=4)


def ranks_by_loops(objectives, ties, denominator):
    N, K = objectives.shape
    u = np.zeros((N, K))
    for i in range(N):
        for k in range(K):
            for j in range(N):
                if objectives[j, k] > objectives[i, k]:
                    u[i, k] += 1
                elif j != i and objectives[j, k] == objectives[i, k]:
                    u[i, k] += {"min": 0, "average": 0.5, "max": 1}[ties]
    return u / (N - 1 if denominator == "n-1" else N)


def norm_by_loops(u, weights, p):
    norms = []
    for row in u:
        terms = [w * x for w, x in zip(weights, row, strict=True)]
        norms.append(max(terms) if p == np.inf else sum(t**p for t in terms) ** (1 / p))
    return np.array(norms)


def front_by_loops(objectives):
    return [
        not any((other >= row).all() and (other > row).any() for other in objectives) for row in objectives
    ]


@pytest.mark.parametrize("ties", ["min", "average", "max"])
@pytest.mark.parametrize("denominator", ["n-1", "n"])
@settings(max_examples=25)
@given(objectives=TIED_TABLES)
def test_ranks_match_double_loops(objectives, ties, denominator):
    u = build_population(objectives, ties=ties, denominator=denominator).u
    np.testing.assert_allclose(u, ranks_by_loops(objectives, ties, denominator), atol=1e-15)


@pytest.mark.parametrize("p", ORDERS)
@settings(max_examples=25)
@given(objectives=TIED_TABLES, weights=WEIGHTS)
def test_norm_front_and_choice_match_double_loops(objectives, weights, p):
    models = build_population(objectives)
    weights = np.array(weights[: objectives.shape[1]])
    ranking = rank_models(models, weights, p=p)
    expected = norm_by_loops(ranks_by_loops(objectives, "min", "n-1"), weights / weights.sum(), p)
    np.testing.assert_allclose(ranking.norm, expected, rtol=1e-12)
    assert models.front.tolist() == front_by_loops(objectives)
    assert expected[ranking.chosen] <= expected.min() * (1 + 1e-12)
    assert models.front[ranking.chosen]
    assert (np.diff(expected[ranking.order]) >= -1e-12).all()
    assert ranking.rank[ranking.order].tolist() == list(range(1, len(objectives) + 1))


def test_front_models_win_ties_with_weakly_dominated_models():
    # For p = inf both have the norm of their first rank; the first row is dominated by the second.
    objectives = np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 2.0], [3.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    ranking = rank_models(build_population(objectives), [1, 0.01, 0.01], p=np.inf)
    place = ranking.rank
    assert ranking.tie[0] == ranking.tie[1]
    assert place[1] < place[0]


def test_ties_are_broken_by_p_8_then_p_1_then_name():
    models = build_population(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), names=["c", "b", "a"])
    ranking = rank_models(models, p=1)
    assert ranking.norm.tolist() == [0.5, 0.5, 0.5]
    assert [models.names[i] for i in ranking.order] == ["b", "a", "c"]
    assert ranking.tied_with(1).tolist() == [2, 0]


def with_ranks(*rows):
    """Return a population with the given ranks and no dominated models."""
    models = build_population(np.column_stack([np.arange(len(rows)), -np.arange(len(rows))]).astype(float))
    return replace(models, u=np.array(rows), metrics=("a", "b", "c"))


def test_p_8_comes_before_p_1():
    ranking = rank_models(with_ranks([0.8, 0, 0.6], [0.8, 0.4, 0.4]), p=np.inf)
    assert ranking.tied_with(0).tolist() == [1]
    assert ranking.order.tolist() == [1, 0]


def test_the_front_comes_before_p_8():
    # Ranks times three: (0, 2, 2), (2, 0, 0), (2, 1, 0), (0, 3, 3); the second dominates the third.
    objectives = -np.array([[0.0, 2, 2], [2, 0, 0], [2, 1, 0], [0, 3, 3]])
    ranking = rank_models(build_population(objectives), p=np.inf)
    assert ranking.order.tolist() == [1, 0, 2, 3]
    assert ranking.tied_with(1).tolist() == [0, 2]


def test_norms_that_differ_by_rounding_are_ties():
    ranks = [0.3, 0.2, 0.1], [0.1, 0.2, 0.3], [0.2, 0.3, 0.1], [0.1, 0.2, 0.4]
    models = with_ranks(*ranks)
    assert len(set(rank_norm(models.u, np.ones(3), 1))) > 2
    ranking = rank_models(models, p=1)
    assert ranking.tied_with(0).tolist() == [1, 2]
    assert ranking.order.tolist() == [0, 1, 2, 3]


def test_ranks_use_the_full_population():
    objectives = np.random.default_rng(1).normal(size=(50, 3))
    feasible = objectives[:, 0] < 0
    full, constrained = build_population(objectives), build_population(objectives, feasible=feasible)
    assert (full.u == constrained.u).all()
    ranking = rank_models(constrained, p=2)
    assert (ranking.norm == rank_models(full, p=2).norm).all()
    assert set(ranking.order) == set(np.flatnonzero(feasible))
    assert (ranking.rank[~feasible] == 0).all()
    assert (ranking.tie[~feasible] == -1).all()
    assert ranking.tied_with(int(np.flatnonzero(~feasible)[0])).size == 0
    assert constrained.front[feasible].tolist() == front_by_loops(objectives[feasible])
    assert not constrained.front[~feasible].any()


def test_missing_values_are_the_worst():
    objectives = np.array([[1.0, 5.0], [np.nan, 4.0], [2.0, np.nan], [0.0, np.nan]])
    models = build_population(objectives)
    np.testing.assert_allclose(models.u, [[1 / 3, 0], [1, 1 / 3], [0, 1], [2 / 3, 1]])
    assert models.front.tolist() == [True, False, True, False]


def test_large_orders_neither_under_nor_overflow():
    u = np.array([[1e-6, 1e-6], [1e-3, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(power_norm(u, 500.0), [1e-6 * 2 ** (1 / 500), 1e-3, 0], rtol=1e-12)
    assert rank_norm(u, np.array([2.0, 1.0]), np.inf).tolist() == [2e-6, 2e-3, 0]


def test_constants_and_duplicates_are_detected():
    models = build_population(np.array([[1.0, 0, 3], [2, 0, 3], [1, 0, 3], [2, 0, 3], [5, 0, 3]]))
    assert constant_objectives(models).tolist() == [1, 2]
    assert [group.tolist() for group in duplicated_models(models)] == [[0, 2], [1, 3]]


def test_ccdf_quantiles_are_ranks_of_the_model():
    u = np.array([[0.0, 0.1, 0.2, 0.3, 1.0]])
    quantiles, mean = ccdf_quantiles(u, (0, 0.2, 0.5, 1))
    np.testing.assert_allclose(quantiles, [[0, 0, 0.8, 1]])
    np.testing.assert_allclose(mean, [0.68])


def test_missing_weights_share_the_remainder():
    metrics = ["a", "b", "c"]
    np.testing.assert_allclose(complete_weights(metrics, {"b": 0.5}), [0.25, 0.5, 0.25])
    np.testing.assert_allclose(complete_weights(metrics, {}), [1 / 3] * 3)
    np.testing.assert_allclose(complete_weights(metrics, {"a": 2, "b": 1, "c": 1}), [0.5, 0.25, 0.25])
    np.testing.assert_allclose(complete_weights(metrics, {"a": 1}), [1, 0, 0])


@pytest.mark.parametrize("requested_weights", [{"x": 0.1}, {"a": 0.7, "b": 0.6}, {"a": 0, "b": 0, "c": 0}])
def test_invalid_weights_are_refused(requested_weights):
    with pytest.raises(UsageError):
        complete_weights(["a", "b", "c"], requested_weights)


VALUES = np.array([[0.9, 4.0], [0.8, 2.0], [0.5, np.nan], [0.1, 1.0]])
LABELS = {"names": ["a", "b", "c", "d"], "metrics": ["acc", "co2"]}


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("<=", [False, True, False, True]),
        ("<", [False, False, False, True]),
        (">=", [True, True, False, False]),
        (">", [True, False, False, False]),
        ("==", [False, True, False, False]),
    ],
)
def test_relations_never_hold_for_missing_values(relation, expected):
    assert feasible_models(VALUES, [Constraint(1, relation, 2.0)], **LABELS).tolist() == expected


def test_all_constraints_must_hold():
    constraints = [Constraint(1, "<=", 2.0), Constraint(0, ">", 0.2)]
    assert feasible_models(VALUES, constraints, **LABELS).tolist() == [False, True, False, False]
    assert feasible_models(VALUES, [], **LABELS).all()


def test_infeasible_constraints_report_the_nearest_model():
    with pytest.raises(InputError, match=r"no model meets acc >= 0\.85 and co2 <= 1\.5") as caught:
        feasible_models(VALUES, [Constraint(0, ">=", 0.85), Constraint(1, "<=", 1.5)], **LABELS)
    # In ranges of the columns: a 2.5/3, b 0.05/0.8 + 0.5/3, d 0.75/0.8.
    assert caught.value.found == ("the nearest model, b, has acc = 0.8, off by 0.05, co2 = 2, off by 0.5")
    assert caught.value.hint == "loosen acc >= 0.85 or co2 <= 1.5"


def test_nearest_model_has_a_value():
    with pytest.raises(InputError) as caught:
        feasible_models(VALUES[[2, 0]], [Constraint(1, "<", 0.0)], names=["c", "a"], metrics=["acc", "co2"])
    assert "the nearest model, a," in caught.value.found


SMALL_TABLES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 25), st.integers(1, 4)),
    elements=st.sampled_from([-np.inf, -1.0, 0.0, 1.0, 2.0, np.inf]),
)


@given(SMALL_TABLES)
def test_front_matches_double_loops(objectives):
    assert pareto_front(objectives).tolist() == front_by_loops(objectives)


@pytest.mark.parametrize("seed", range(10))
def test_front_in_small_blocks_matches_double_loops(monkeypatch, seed):
    monkeypatch.setattr(population, "_PAIRS", 300)
    rng = np.random.default_rng(seed)
    objectives = rng.integers(0, 2 + seed, (120, 1 + seed % 5)).astype(float)
    assert pareto_front(objectives).tolist() == front_by_loops(objectives)


def test_front_of_a_large_table_matches_a_staircase():
    rng = np.random.default_rng(1)
    objectives = rng.integers(0, 20_000, (50_000, 2)).astype(float)
    order = np.lexsort((-objectives[:, 1], -objectives[:, 0]))
    expected = np.zeros(len(objectives), dtype=bool)
    highest, last = -1.0, None
    for i in order:
        row = tuple(objectives[i])
        if objectives[i, 1] > highest or row == last:
            expected[i], highest, last = True, objectives[i, 1], row
    assert (pareto_front(objectives) == expected).all()


def test_large_front_without_dominated_models():
    first = np.random.default_rng(2).random(6_000)
    assert pareto_front(np.column_stack([first, -first, np.zeros_like(first)])).all()


def test_front_keeps_duplicates():
    objectives = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    assert pareto_front(objectives).tolist() == [True, True, True, False]
    assert pareto_front(np.repeat(objectives, 1000, axis=0)).sum() == 3_000


def test_dominators_match_loops():
    objectives = np.random.default_rng(4).integers(0, 4, (60, 3)).astype(float)
    for i, row in enumerate(objectives):
        expected = [j for j, x in enumerate(objectives) if (x >= row).all() and (x > row).any()]
        assert dominators(objectives, i).tolist() == expected
    assert pareto_front(objectives).tolist() == [not dominators(objectives, i).size for i in range(60)]


def test_empty_table_has_an_empty_front():
    assert pareto_front(np.empty((0, 3))).shape == (0,)
