"""The dominance relation, and its polytope: only valid solutions of a linear program are accepted."""

import itertools

import highspy
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from riskrank.engine.gsd import relabelling
from riskrank.engine.gsd.preference_system import Threshold, preference_system, quality_table
from riskrank.engine.gsd.relabelling import Relabelling, dominance_relation
from riskrank.engine.gsd.relation import Utilities, UtilityPolytope, hasse_diagram
from riskrank.errors import InputError, NumericalError


def full_rows(vectors, ordinal, delta_on):
    """Yield constraints (coefficients, slack coefficient, is equality): coefficients @ u >= slack."""
    d, ordinal = len(vectors), list(ordinal)
    cardinals = [j for j, is_ordinal in enumerate(ordinal) if not is_ordinal]
    ordinals = [j for j, is_ordinal in enumerate(ordinal) if is_ordinal]

    def at_least(a, b):
        return all(a[j] >= b[j] for j in range(len(ordinal)))

    def at_least_as_strong(p, q):
        (a, b), (c, e) = p, q
        return all(a[j] - b[j] >= c[j] - e[j] for j in cardinals) and all(
            a[j] >= c[j] >= e[j] >= b[j] for j in ordinals
        )

    pairs = [(a, b) for a in range(d) for b in range(d) if at_least(vectors[a], vectors[b])]
    rows = []
    for a, b in pairs:
        row = np.zeros(d)
        row[a] += 1
        row[b] -= 1
        equal = (b, a) in pairs
        rows.append((row, 0 if equal else 1, equal))
    for (a, b), (c, e) in itertools.product(pairs, pairs):
        p, q = (vectors[a], vectors[b]), (vectors[c], vectors[e])
        if at_least_as_strong(p, q):
            row = np.zeros(d)
            for place, sign in ((a, 1), (b, -1), (c, -1), (e, 1)):
                row[place] += sign
            equal = at_least_as_strong(q, p)
            rows.append((row, 0 if equal else float(delta_on == "r1+r2"), equal))
    return rows


class FullModel:
    """Reference solver for the optimum and the largest slack; vectors are lists of integers."""

    def __init__(self, vectors, ordinal, delta_on="r1"):
        self.vectors = [tuple(v) for v in vectors]
        rows = full_rows(self.vectors, ordinal, delta_on)
        matrix = np.array([row for row, _, _ in rows])
        slack = np.array([s for _, s, _ in rows], dtype=float)
        equal = np.array([e for _, _, e in rows])
        self.upper = np.column_stack([-matrix[~equal], slack[~equal]])
        self.equal = np.column_stack([matrix[equal], np.zeros(equal.sum())])
        n = len(ordinal)
        lowest = [min(v[j] for v in self.vectors) for j in range(n)]
        highest = [max(v[j] for v in self.vectors) for j in range(n)]
        self.box = []
        for v in self.vectors:
            low, high = (0, 1) if list(v) != highest else (1, 1)
            self.box.append((low, 0) if list(v) == lowest else (low, high))

    def _solve(self, costs, slack_range):
        answer = linprog(
            costs,
            A_ub=self.upper,
            b_ub=np.zeros(len(self.upper)),
            A_eq=self.equal if len(self.equal) else None,
            b_eq=np.zeros(len(self.equal)) if len(self.equal) else None,
            bounds=[*self.box, slack_range],
            method="highs",
        )
        assert answer.status == 0, answer.message
        return answer.fun

    def optimum(self, weights, delta=0.0):
        """Minimise the sum of weights[v] · u(v) over all vectors v."""
        costs = [weights.get(v, 0.0) for v in self.vectors]
        return self._solve([*costs, 0.0], (delta, delta))

    def largest_slack(self):
        return -self._solve([0.0] * len(self.vectors) + [-1.0], (0, 1))


def weights_of(first, second):
    """Return the difference of two empirical distributions, given as lists of integer vectors."""
    weights = {}
    for vectors, sign in ((first, 1), (second, -1)):
        for v in vectors:
            weights[tuple(v)] = weights.get(tuple(v), 0.0) + sign / len(vectors)
    return weights


SCALES = {"cardinal": st.just(False), "ordinal": st.just(True), "mixed": st.booleans()}


@st.composite
def small_problems(draw, models=2, scale="mixed"):
    """Draw integer scores with few levels, so that ties and duplicate vectors are common."""
    n = draw(st.integers(1, 3))
    samples = draw(st.integers(1, 4))
    levels = draw(st.integers(2, 6))
    cell = st.tuples(*[st.integers(0, levels)] * n)
    row = st.lists(cell, min_size=samples, max_size=samples)
    scores = np.array(draw(st.lists(row, min_size=models, max_size=models)))
    assume(len(np.unique(scores.reshape(-1, n), axis=0)) > 1)
    return scores, np.array(draw(st.lists(SCALES[scale], min_size=n, max_size=n)))


def full_model(scores, ordinal, on):
    n = scores.shape[2]
    vectors = {tuple(v) for v in scores.reshape(-1, n).tolist()}
    vectors |= {tuple(scores.min(axis=(0, 1)).tolist()), tuple(scores.max(axis=(0, 1)).tolist())}
    return FullModel(sorted(vectors), ordinal, on)


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("on", ["r1", "r1+r2"])
@settings(max_examples=25)
@given(data=st.data())
def test_optima_and_largest_slack_match_the_full_model(scale, on, data):
    scores, ordinal = data.draw(small_problems(scale=scale))
    share = data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    oracle = full_model(scores, ordinal, on)
    largest = oracle.largest_slack()
    # Scores in tenths: their differences tie as integers do, not as floats.
    table = quality_table(scores / 10, ordinal=ordinal)
    delta = share * largest * (1 - 1e-12)
    relation, _ = dominance_relation(Utilities(table, Threshold(delta, slack_on=on)))
    assert relation.largest_slack[0, 1] == pytest.approx(largest, abs=1e-8)
    for i, j in ((0, 1), (1, 0)):
        weights = weights_of(scores[i].tolist(), scores[j].tolist())
        assert relation.optimum[i, j] == pytest.approx(oracle.optimum(weights, delta), abs=1e-8)


def test_optimum_with_declared_bounds_matches_the_full_model():
    rng = np.random.default_rng(1)
    for _ in range(5):
        scores = rng.integers(2, 8, size=(2, 4, 2))
        corners = [(0, 0), (9, 9)]
        vectors = sorted({tuple(v) for v in scores.reshape(-1, 2).tolist()} | set(corners))
        oracle = FullModel(vectors, [False, True])
        table = quality_table(scores / 10, ordinal=[False, True], bounds=[[0, 0.9], [0, 0.9]])
        relation, _ = dominance_relation(Utilities(table))
        for i, j in ((0, 1), (1, 0)):
            weights = weights_of(scores[i].tolist(), scores[j].tolist())
            assert relation.optimum[i, j] == pytest.approx(oracle.optimum(weights), abs=1e-8)


def test_regularization_by_share_is_delta_on_both_orders():
    scores = np.random.default_rng(2).integers(0, 9, size=(2, 6, 2)) / 10
    table = quality_table(scores, ordinal=[False, True])
    by_share, _ = dominance_relation(Utilities(table, Threshold(share=0.4)))
    xi = by_share.delta_max
    by_delta, _ = dominance_relation(Utilities(table, Threshold(0.4 * xi, slack_on="r1+r2")))
    np.testing.assert_allclose(by_share.optimum, by_delta.optimum, atol=1e-9)
    np.testing.assert_allclose(by_share.slack[0, 1], 0.4 * xi)


@settings(max_examples=30)
@given(problem=small_problems(scale="ordinal"))
def test_ordinal_optimum_matches_all_up_sets(problem):
    scores, ordinal = problem
    n = scores.shape[2]
    vectors = sorted({tuple(v) for v in scores.reshape(-1, n).tolist()})
    corners = [tuple(scores.min(axis=(0, 1))), tuple(scores.max(axis=(0, 1)))]
    vectors = sorted(set(vectors) | set(corners))
    assume(len(vectors) <= 9)
    weights = weights_of(scores[0].tolist(), scores[1].tolist())
    least = np.inf
    for inside in itertools.product([False, True], repeat=len(vectors)):
        up_set = {v for v, chosen in zip(vectors, inside, strict=True) if chosen}
        closed = all(
            w in up_set for v in up_set for w in vectors if all(a >= b for a, b in zip(w, v, strict=True))
        )
        if closed and corners[1] in up_set and corners[0] not in up_set:
            least = min(least, sum(weights.get(v, 0.0) for v in up_set))
    relation, _ = dominance_relation(Utilities(quality_table(scores, ordinal=ordinal)))
    assert relation.optimum[0, 1] == pytest.approx(least, abs=1e-9)


@settings(max_examples=30)
@given(problem=small_problems(scale="ordinal"))
def test_ordinal_largest_slack_matches_the_longest_chain(problem):
    scores, ordinal = problem
    n = scores.shape[2]
    cells = scores.reshape(-1, n)
    vectors = np.unique(np.vstack([cells, cells.min(axis=0), cells.max(axis=0)]), axis=0)
    height = np.zeros(len(vectors), dtype=int)
    for a, b in itertools.product(range(len(vectors)), repeat=2):
        # Lexicographic order: what lies below a vector comes before it.
        if b < a and np.all(vectors[a] >= vectors[b]):
            height[a] = max(height[a], height[b] + 1)
    relation, _ = dominance_relation(Utilities(quality_table(scores, ordinal=ordinal)))
    assert relation.delta_max == pytest.approx(1 / height.max(), abs=1e-9)


@pytest.mark.slow
@settings(max_examples=15)
@given(problem=small_problems(models=4))
def test_relation_is_transitive_and_nested_in_delta(problem):
    scores, ordinal = problem
    table = quality_table(scores, ordinal=ordinal)
    free, _ = dominance_relation(Utilities(table, system="all"))
    largest = free.delta_max
    smaller = free
    for delta in (0.0, 0.3 * largest, 0.8 * largest):
        larger, _ = dominance_relation(Utilities(table, Threshold(delta), "all"))
        assert np.all(larger.dominates >= smaller.dominates)
        assert not larger.dominates.diagonal().any()
        reflexive = larger.dominates | np.eye(4, dtype=bool)
        np.testing.assert_array_equal((reflexive.astype(int) @ reflexive) > 0, reflexive)
        smaller = larger


def test_repeats_share_the_weight_of_their_sample():
    # One model drew one sample twice: halves of each vector.
    absent = [np.nan, np.nan]
    scores = np.array([[[[1, 5], [3, 2]], [[4, 4], absent]], [[[2, 2], absent], [[1, 1], absent]]])
    relation, _ = dominance_relation(Utilities(quality_table(scores, ordinal=[False, False])))
    oracle = FullModel([(1, 1), (1, 5), (2, 2), (3, 2), (4, 4), (4, 5)], [False, False])
    weights = {(1, 5): 0.25, (3, 2): 0.25, (4, 4): 0.5, (2, 2): -0.5, (1, 1): -0.5}
    assert relation.optimum[0, 1] == pytest.approx(oracle.optimum(weights), abs=1e-9)


def test_models_that_never_differ_dominate_mutually():
    scores = np.full((2, 3, 2), 0.5)
    relation, _ = dominance_relation(Utilities(quality_table(scores, ordinal=[False, True])))
    off_diagonal = ~np.eye(2, dtype=bool)
    np.testing.assert_array_equal(relation.dominates, off_diagonal)
    np.testing.assert_array_equal(relation.optimum[off_diagonal], 0.0)
    assert np.isnan(relation.optimum.diagonal()).all()
    assert relation.delta_max == 1.0


@pytest.mark.slow
def test_jobs_do_not_change_the_relation():
    scores = np.random.default_rng(4).normal(size=(3, 10, 2)).round(3)
    table = quality_table(scores, ordinal=[False, False])
    serial, parallel = (
        dominance_relation(Utilities(table, Threshold(1e-5)), jobs=jobs)[0] for jobs in (1, 2)
    )
    np.testing.assert_array_equal(serial.optimum, parallel.optimum)
    assert serial.lps_solved == parallel.lps_solved
    assert serial.rows_generated == parallel.rows_generated


def test_error_of_large_delta_names_the_maximum(monkeypatch):
    monkeypatch.setattr(relabelling, "_test_pair", lambda *_: pytest.fail("a pair was tested"))
    # The pair compared first, that of 0 and 1, has room for 1, the others for 1/5.
    table = quality_table(np.array([[0, 1, 0, 1], [0, 1, 1, 1], [2, 3, 4, 5]])[:, :, None], ordinal=[True])
    with pytest.raises(InputError, match=r"delta_max 0\.2\b"):
        dominance_relation(Utilities(table, Threshold(0.5)), Relabelling(pairs="all"))


def reachable(nodes, edges):
    """Return the pairs of nodes that are connected by a path."""
    below = {node: {node} for node in range(len(nodes))}
    for _ in nodes:
        for upper, lower in edges:
            below[upper] |= below[lower]
    return {(a, b) for node, lows in below.items() for low in lows for a in nodes[node] for b in nodes[low]}


@st.composite
def pre_orders(draw):
    """Draw component-wise orders on points that may coincide."""
    points = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8))
    points = np.array(points)
    return np.all(points[:, None] >= points[None], axis=2)


@settings(max_examples=60)
@given(pre_orders())
def test_edges_are_the_transitive_reduction(relation):
    diagram = hasse_diagram(relation)
    expected = {(a, b) for a, b in np.argwhere(relation).tolist()}
    assert sorted(itertools.chain(*diagram.nodes)) == list(range(len(relation)))
    assert reachable(diagram.nodes, diagram.edges) == expected
    for edge in diagram.edges:
        assert reachable(diagram.nodes, [e for e in diagram.edges if e != edge]) != expected
    assert diagram.implied == ()


@settings(max_examples=60)
@given(pre_orders())
def test_levels_match_the_longest_path(relation):
    diagram = hasse_diagram(relation)

    def longest(node):
        return max((1 + longest(upper) for upper, lower in diagram.edges if lower == node), default=0)

    assert diagram.levels == tuple(longest(node) for node in range(len(diagram.nodes)))


def test_equals_share_a_node():
    relation = [[1, 1, 1], [1, 1, 1], [0, 0, 1]]
    diagram = hasse_diagram(relation)
    assert diagram.nodes == ((0, 1), (2,))
    assert diagram.edges == ((0, 1),)


def test_pairs_related_by_transitivity_are_reported():
    relation = [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    diagram = hasse_diagram(relation)
    assert diagram.edges == ((0, 1), (1, 2))
    assert diagram.implied == ((0, 2),)


def test_invalid_solution_is_an_error(monkeypatch):
    scores = np.random.default_rng(5).normal(size=(2, 10, 2)).round(3)
    polytope = UtilityPolytope(preference_system(quality_table(scores, ordinal=[False, False])))
    objective = np.zeros(polytope.system.size)
    objective[[3, 7]] = 1.0, -1.0

    good = polytope.minimise(objective).utility
    monkeypatch.setattr(
        UtilityPolytope, "_run_solver", lambda self, strategy: np.append(np.full_like(good, 0.5), 0.0)
    )
    with pytest.raises(NumericalError, match="violates a row"):
        polytope.minimise(objective)
    # A feasible point that is optimal for another objective.
    monkeypatch.setattr(UtilityPolytope, "_run_solver", lambda self, strategy: np.append(good, 0.0))
    with pytest.raises(NumericalError, match="above its lower bound"):
        polytope.minimise(-objective)


def test_solver_failure_is_an_error(monkeypatch):
    scores = np.random.default_rng(5).normal(size=(2, 10, 2)).round(3)
    polytope = UtilityPolytope(preference_system(quality_table(scores, ordinal=[False, False])))
    monkeypatch.setattr(
        highspy.Highs, "getModelStatus", lambda self: highspy.HighsModelStatus.kIterationLimit
    )
    with pytest.raises(NumericalError, match="solver status"):
        polytope.minimise(np.zeros(polytope.system.size))


def test_cache_is_cleared_for_another_slack():
    # They would bound the optima of relabelled data from the wrong side.
    scores = np.random.default_rng(5).normal(size=(2, 10, 2)).round(3)
    polytope = UtilityPolytope(preference_system(quality_table(scores, ordinal=[False, False])))
    objective = np.zeros(polytope.system.size)
    objective[[7, 3]] = 1.0, -1.0
    free = polytope.minimise(objective)
    assert len(polytope.utilities) == 1
    polytope.fix_slack(0.5 * polytope.largest_slack())
    assert len(polytope.utilities) == 0
    assert polytope.minimise(objective).value > free.value
