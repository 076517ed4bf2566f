"""The program over many entangled items: which rows it finds, and what it needs."""

from itertools import combinations, permutations

import numpy as np
import pytest

from riskrank.engine.aggregation import order_program
from riskrank.engine.aggregation.kemeny import _solve_by_subsets
from riskrank.engine.aggregation.order_program import CUT_TOLERANCE, OrderProgram, Work, cost_of
from riskrank.engine.aggregation.rank_aggregation import aggregate_rankings
from tests.memory import memory_below


def disagreements(rankings):
    """Twice how many rankings contradict "u before v", a tie by half."""
    return sum(1 + np.sign(row[:, None] - row[None, :]).astype(int) for row in rankings) - len(
        rankings
    ) * np.eye(rankings.shape[1], dtype=int)


def similar_rankings(k, lists, noise, seed):
    rng = np.random.default_rng(seed)
    return np.argsort(np.argsort(np.arange(k) + noise * rng.standard_normal((lists, k)))) + 1


def test_rows_found_are_the_violated_triangles():
    rng = np.random.default_rng(0)
    for rankings in (similar_rankings(12, 5, 3, 1), similar_rankings(12, 4, 30, 2)):
        program = OrderProgram(disagreements(rankings))
        x = rng.choice([0, 0.3, 0.5, 1], size=len(program.pairs[0]))
        before = np.full((12, 12), np.nan)
        for u, v in combinations(range(12), 2):
            agreed = np.unique(np.sign(rankings[:, v] - rankings[:, u]))
            before[u, v] = x[program.index[u, v]] if len(agreed) > 1 else agreed[0] == 1
        plain = [
            (u, v, w)
            for u, v, w in combinations(range(12), 3)
            if not -CUT_TOLERANCE <= before[u, v] + before[v, w] - before[u, w] <= 1 + CUT_TOLERANCE
        ]
        found = program._violated(program._before(x))
        assert [*zip(*map(np.ndarray.tolist, program._corners(found)), strict=True)] == plain
        assert len(plain) > 10


def test_pairs_that_all_rankings_order_alike_are_no_variables():
    rankings = similar_rankings(40, 5, 3, 3)
    program = OrderProgram(disagreements(rankings))
    plain = [
        (u, v)
        for u, v in combinations(range(40), 2)
        if len(np.unique(np.sign(rankings[:, v] - rankings[:, u]))) > 1
    ]
    assert [*zip(*map(np.ndarray.tolist, program.pairs), strict=True)] == plain
    assert len(plain) < 40 * 39 / 4


def test_entangled_items_are_solved_within_the_memory_of_their_pairs():
    rankings = similar_rankings(100, 8, 6, 4)
    aggregate_rankings(rankings)  # so that no module's own code is counted
    with memory_below(
        15e6
    ):  # the pairs of 100 items are 0.08 MB of numbers; the corners of all triples 24 MB
        assert aggregate_rankings(rankings).gap == 0


def unlike_rankings(k, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(k) + 1 for _ in range(5)])


@pytest.fixture
def whole(monkeypatch):
    """Costs of the integer programs that were solved."""
    solved = []
    original = OrderProgram._integral

    def watched(self, *given):
        solved.append(original(self, *given))
        return solved[-1]

    monkeypatch.setattr(OrderProgram, "_integral", watched)
    return solved


@pytest.mark.slow
def test_what_programs_of_many_items_leave_open_is_told_and_more_work_never_makes_it_worse():
    """The first node of an integer program over these 60 items takes a minute."""
    found = [aggregate_rankings(unlike_rankings(60, 0), work_limit=limit) for limit in (500, 4_000, 4_000)]
    assert all(0 < one.gap < 0.05 and one.unique is None and "may be up to" in one.choice for one in found)
    assert found[0].gap > found[1].gap == found[2].gap
    assert found[1].order.tobytes() == found[2].order.tobytes()


def test_as_many_items_as_allowed_are_an_integer_program_and_one_more_are_not(whole, monkeypatch):
    rng = np.random.default_rng(5)
    lower = np.triu(rng.integers(0, 2, (16, 16)), 1) * 2
    against = 1 + lower + np.tril(2 - lower.T, -1)
    np.fill_diagonal(against, 0)
    for most in (16, 15):
        monkeypatch.setattr(order_program, "MOST_INTEGRAL", most)
        order, bound = OrderProgram(against).minimise(against, Work(10**6), start=np.arange(16))
        assert (cost_of(against, order) > bound) == (most == 15)
    assert len(whole) == 1


def test_integer_programs_end_at_the_least_cost(whole):
    """Where triangles alone leave halves, as among 16 items whose pairs are decided by coin."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        lower = np.triu(rng.integers(0, 2, (16, 16)), 1) * 2
        against = 1 + lower + np.tril(2 - lower.T, -1)
        np.fill_diagonal(against, 0)
        order, bound = OrderProgram(against).minimise(against, Work(10**6), start=np.arange(16))
        by_subsets = _solve_by_subsets(against, np.arange(16), np.arange(16), 1)
        assert cost_of(against, order) == bound == cost_of(against, by_subsets.order)
    assert whole


def test_the_best_order_but_one():
    rng = np.random.default_rng(6)
    for _ in range(15):
        against = rng.integers(1, 6, (6, 6))
        np.fill_diagonal(against, 0)
        costs = sorted((cost_of(against, np.array(order)), order) for order in permutations(range(6)))
        best, second = np.array(costs[0][1]), costs[1][0]
        other, bound = OrderProgram(against).minimise(against, Work(10**6), unlike=best, enough=second + 1)
        assert other is not None
        assert cost_of(against, other) == second <= bound
        _, bound = OrderProgram(against).minimise(against, Work(10**6), unlike=best, enough=second)
        assert bound >= second


def test_a_second_cost_is_kept():
    rng = np.random.default_rng(7)
    for _ in range(10):
        against, towards = rng.integers(1, 9, (2, 6, 6))
        for costs in (against, towards):
            np.fill_diagonal(costs, 0)
        orders = [np.array(order) for order in permutations(range(6))]
        most = int(np.quantile([cost_of(against, order) for order in orders], 0.05))
        allowed = [order for order in orders if cost_of(against, order) <= most]
        found, bound = OrderProgram(against).minimise(towards, Work(10**6), within=(against, most))
        assert found is not None
        assert cost_of(against, found) <= most
        assert cost_of(towards, found) == bound == min(cost_of(towards, order) for order in allowed)
