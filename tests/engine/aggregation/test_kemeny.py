"""Kemeny orders of disagreement tables, compared with all permutations and with known optima."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.engine.aggregation import kemeny
from riskrank.engine.aggregation.kemeny import (
    TOLERANCE,
    OrderProgram,
    local_search,
    order_cost,
    solve_by_program,
    solve_by_subsets,
    solve_kemeny,
)
from riskrank.engine.aggregation.rank_aggregation import aggregate_rankings
from tests.memory import memory_below


def disagreements(rankings, weights):
    """Return twice the weight of the rankings that contradict "u before v"; a tie counts half."""
    k = len(rankings[0])
    against = np.zeros((k, k), dtype=np.int64)
    for ranks, weight in zip(rankings, weights, strict=True):
        for u, v in permutations(range(k), 2):
            against[u, v] += weight * (2 if ranks[u] > ranks[v] else 1 if ranks[u] == ranks[v] else 0)
    return against


def plain_cost(against, order):
    return sum(int(against[u, v]) for u, v in combinations(order, 2))


def tie_break_cost(order, tie_break):
    return sum(place * int(tie_break[item]) for place, item in enumerate(order, start=1))


def solved(against, tie_break=None, by_name=None, **limits):
    items = np.arange(len(against))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(kemeny, name, value)
        return solve_kemeny(
            np.asarray(against),
            items if tie_break is None else np.asarray(tie_break),
            items if by_name is None else np.asarray(by_name),
        )


@st.composite
def tables(draw):
    k, m = draw(st.integers(2, 6)), draw(st.integers(1, 5))
    rankings = draw(st.lists(st.lists(st.integers(1, k), min_size=k, max_size=k), min_size=m, max_size=m))
    weights = [
        draw(st.sampled_from([1, 2, 5])),
        *draw(st.lists(st.sampled_from([0, 1, 2, 5]), min_size=m - 1, max_size=m - 1)),
    ]
    tie_break = draw(st.lists(st.integers(0, 4), min_size=k, max_size=k))
    return disagreements(rankings, weights), np.array(tie_break), np.array(draw(st.permutations(range(k))))


@settings(max_examples=60, deadline=None)
@given(tables())
def test_few_items_match_enumeration(table):
    against, tie_break, by_name = table
    costs = {order: plain_cost(against, order) for order in permutations(range(len(tie_break)))}
    optima = [order for order, cost in costs.items() if cost == min(costs.values())]
    result = solve_by_subsets(against, tie_break, by_name)
    nearest = min(
        optima, key=lambda order: (-tie_break_cost(order, tie_break), [int(by_name[item]) for item in order])
    )
    assert tuple(result.order.tolist()) == nearest
    assert (result.optima_count, result.unique, result.gap) == (len(optima), len(optima) == 1, 0)
    assert result.optima is None if len(optima) > kemeny.MAX_LISTED else sorted(result.optima) == optima


@settings(max_examples=25, deadline=None)
@given(tables())
def test_integer_programs_match_enumeration(table):
    against, tie_break, by_name = table
    key = {
        order: (
            plain_cost(against, order),
            -tie_break_cost(order, tie_break),
            -tie_break_cost(order, by_name),
        )
        for order in permutations(range(len(tie_break)))
    }
    optima = [order for order, (cost, *_) in key.items() if cost == min(key.values())[0]]
    result = solve_by_program(against, tie_break, by_name)
    assert key[tuple(result.order.tolist())] == min(key.values())
    assert (result.unique, result.gap) == (len(optima) == 1, 0)


@pytest.mark.parametrize("work", [0, 100, 10_000, 10**9])
def test_order_is_invariant_to_relabelling_at_any_work_limit(work):
    rng = np.random.default_rng(8)
    rankings = [rng.permutation(14) for _ in range(5)]
    # Items of equal mean rank, so that nothing but names could put them in an order to begin with.
    against, tie_break, by_name = (
        disagreements(rankings, [1] * 5),
        np.zeros(14, dtype=int),
        rng.permutation(14),
    )
    old = rng.permutation(14)
    limits = {"MAX_ITEMS": 1, "MAX_WORK": work}
    first = solved(against, tie_break, by_name, **limits)
    second = solved(against[np.ix_(old, old)], tie_break[old], by_name[old], **limits)
    assert old[second.order].tolist() == first.order.tolist()
    assert (second.gap, second.unique) == (first.gap, first.unique)


def test_large_weights_are_supported():
    rng = np.random.default_rng(2)
    against = disagreements([rng.permutation(6) for _ in range(4)], [1, 2, 1, 3])
    small, large = solved(against), solved(against << 36)
    assert large.order.tolist() == small.order.tolist()
    assert large.optima == small.optima


def ring(k, back=1, forward=5):
    """Return a table where u beats every later v by 2 · `forward`, but the last beats the first by `back`.

    All items are on one cycle: 0 beats 1 beats ... beats k - 1 beats 0. An order that contradicts only the
    last pair pays `back` above the lower bound; any other order contradicts a forward pair, and pays more.
    """
    against = np.triu(np.full((k, k), 3), 1) + np.tril(np.full((k, k), 3 + 2 * forward), -1)
    against[0, -1], against[-1, 0] = 3 + back, 3
    return against


def pairwise_bound(against):
    return sum(min(int(against[u, v]), int(against[v, u])) for u, v in combinations(range(len(against)), 2))


@pytest.mark.parametrize("seed", [0, 1])
def test_unique_optimum_of_twenty_items_is_recognised(seed):
    old = np.random.default_rng(seed).permutation(20)
    against, tie_break = ring(20)[np.ix_(old, old)], old[::-1]
    result = solved(against, tie_break)
    assert old[result.order].tolist() == list(range(20))
    assert result.unique is True
    assert result.gap == 0
    assert (result.optima_count, result.optima) == (None, None)


def cyclic_blocks(size):
    """Return three blocks that beat each other cyclically by 2; within a block, items beat all later ones.

    There are as many disjoint triangles as pairs of items from two blocks, and each costs 2 above its lower
    bound. The three orders that start with one block and follow the cycle attain this cost.
    """
    block = np.repeat(np.arange(3), size)
    ahead = (block[None, :] - block[:, None]) % 3
    item = np.arange(3 * size)
    wins = (ahead == 1) | ((ahead == 0) & (item[:, None] < item[None, :]))
    against = np.where(wins, 1, 3)
    np.fill_diagonal(against, 0)
    return against


@pytest.mark.parametrize("first", [0, 1, 2])
def test_mean_ranks_break_ties_between_many_optima(first):
    against = cyclic_blocks(7)
    order = np.roll(np.arange(21), -7 * first)
    tie_break = np.argsort(order)
    result = solved(against, tie_break)
    assert result.order.tolist() == order.tolist()
    assert plain_cost(against, result.order) == pairwise_bound(against) + 2 * 49
    assert result.unique is False
    assert result.gap == 0
    assert result.optima_count is None


def test_adjacent_swap_of_equal_cost_is_another_optimum():
    against = ring(20)
    against[10, 9] = against[9, 10] = 3
    result = solved(against, np.arange(20))
    assert result.order.tolist() == list(range(20))
    assert result.unique is False
    swapped = solved(against, np.r_[0:9, 10, 9, 11:20])
    assert swapped.order.tolist() == [*range(9), 10, 9, *range(11, 20)]


def test_optima_are_counted_up_to_eighteen_entangled_items():
    assert solved(ring(18)).optima_count == 1
    assert solved(ring(19)).optima_count is None


def block_triangular(*tables):
    """Combine tables so that the items of each table beat all items of the later ones."""
    sizes = [len(table) for table in tables]
    against = np.tril(np.full((sum(sizes),) * 2, 6), -1)
    for table, end in zip(tables, np.cumsum(sizes), strict=True):
        against[end - len(table) : end, end - len(table) : end] = table
    return against


CYCLE = cyclic_blocks(1)


def test_groups_split_by_majorities_are_ordered_separately():
    result = solved(block_triangular(CYCLE, np.zeros((1, 1), dtype=int), CYCLE), np.zeros(7, dtype=int))
    rotations = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    expected = [(*a, 3, *(item + 4 for item in b)) for a in rotations for b in rotations]
    assert sorted(result.optima) == expected
    assert (result.optima_count, result.unique, result.gap) == (9, False, 0)
    assert result.order.tolist() == list(range(7))


def test_listed_optima_are_limited():
    table = block_triangular(CYCLE, CYCLE)
    assert len(solved(table, MAX_LISTED=9).optima) == 9
    fewer = solved(table, MAX_LISTED=8)
    assert (fewer.optima_count, fewer.optima) == (9, None)
    assert len(solved(CYCLE, MAX_LISTED=3).optima) == 3
    assert solved(CYCLE, MAX_LISTED=2).optima is None


def test_group_with_several_optima_makes_the_result_ambiguous():
    assert solved(block_triangular(ring(4), CYCLE)).unique is False
    assert solved(block_triangular(ring(4), ring(4))).unique is True
    half = solved(block_triangular(ring(4), CYCLE), MAX_ITEMS=3)
    assert (half.unique, half.optima_count, half.optima) == (False, None, None)
    # The work limit is too small for the ring, but the cycle's three optima suffice.
    assert solved(block_triangular(ring(4), CYCLE), MAX_ITEMS=3, MAX_WORK=0).unique is False
    assert solved(block_triangular(ring(4), np.zeros((1, 1), int)), MAX_ITEMS=3, MAX_WORK=0).unique is None


@pytest.mark.parametrize("back", [1, 3])
def test_gap_without_work_uses_the_pairwise_bound(back):
    against = ring(20, back)
    result = solved(against, MAX_WORK=0)
    assert result.order.tolist() == list(range(20))
    assert result.unique is None
    cost = plain_cost(against, range(20))
    assert result.gap == pytest.approx(back / cost, rel=1e-12)
    twice = solved(block_triangular(against, against), MAX_WORK=0)
    assert twice.order.tolist() == list(range(40))
    assert twice.gap == pytest.approx(back / cost, rel=1e-12)
    # A group that is solved has cost but no gap.
    row = block_triangular(against, ring(5))
    both = solved(row, MAX_WORK=0)
    assert both.gap == pytest.approx(back / plain_cost(row, range(25)), rel=1e-12)


@pytest.mark.parametrize("work", [0, 1, 1_000, 10_000, 100_000])
def test_work_limit_leaves_uniqueness_undecided(work):
    single, shared = (solved(table, MAX_WORK=work) for table in (ring(20), cyclic_blocks(7)))
    assert single.unique in (True, None)
    assert shared.unique in (False, None)
    # An order that is not proven optimal cannot be proven unique.
    assert not (single.gap > 0 and single.unique)
    least = plain_cost(ring(20), range(20))
    cost = plain_cost(ring(20), single.order)
    assert (1 - single.gap) * cost <= least + 1e-9
    assert least <= cost


def test_limit_of_disputed_pairs_selects_the_program():
    against = ring(20)
    pairs = 20 * 19 // 2
    exact = solved(against, MAX_DISPUTED=pairs)
    assert (exact.gap, exact.unique) == (0, True)
    moved = solved(against, tie_break=np.arange(20)[::-1], MAX_DISPUTED=pairs - 1)
    assert moved.order.tolist() == list(range(20))
    assert moved.gap == pytest.approx(1 / plain_cost(against, range(20)), rel=1e-12)
    assert moved.unique is None


def test_rankings_that_agree_cost_nothing():
    against = np.tril(np.full((25, 25), 8), -1)
    result = solved(against, tie_break=np.zeros(25, dtype=int), by_name=np.arange(25)[::-1])
    assert result.order.tolist() == list(range(25))
    assert (result.optima_count, result.optima) == (1, [tuple(range(25))])
    assert (result.unique, result.gap) == (True, 0)


def similar_rankings(k, lists, noise, seed):
    rng = np.random.default_rng(seed)
    return np.argsort(np.argsort(np.arange(k) + noise * rng.standard_normal((lists, k)))) + 1


@pytest.mark.parametrize("noise", [3, 30])
def test_generated_rows_are_the_violated_triangles(noise):
    rankings = similar_rankings(12, 5, noise, 1)
    program = OrderProgram(disagreements(rankings, [1] * 5))
    x = np.random.default_rng(0).choice([0, 0.3, 0.5, 1], size=len(program.pairs[0]))
    before = np.zeros((12, 12))
    before[program.pairs] = np.clip(x, *program.bounds)
    before.T[program.pairs] = 1 - before[program.pairs]
    plain = [
        (u * 12 + v) * 12 + w
        for u, v, w in combinations(range(12), 3)
        if not -TOLERANCE <= before[u, v] + before[v, w] - before[u, w] <= 1 + TOLERANCE
    ]
    assert program.violated_triangles(before).tolist() == plain
    assert len(plain) > 10


def test_unanimous_pairs_are_fixed():
    rankings = similar_rankings(40, 5, 3, 3)
    program = OrderProgram(disagreements(rankings, [1] * 5))
    for low, high, u, v in zip(*program.bounds, *program.pairs, strict=True):
        signs = {*np.sign(rankings[:, v] - rankings[:, u]).tolist()}
        assert (low, high) == {(1,): (1, 1), (-1,): (0, 0)}.get((*signs,), (0, 1))
    assert np.ptp(program.bounds, axis=0).sum() < 40 * 39 / 4


@pytest.mark.slow
def test_entangled_items_are_solved_in_little_memory():
    rankings = similar_rankings(100, 8, 6, 4)
    aggregate_rankings(rankings)  # so that no module's own code is counted
    # The pairs of 100 items are 0.08 MB of numbers; the corners of all triples 24 MB.
    with memory_below(15e6):
        assert aggregate_rankings(rankings).gap == 0


def coins(size, seed=5):
    """Return pairs decided by coin flips; triangle inequalities alone leave fractional solutions."""
    lower = np.triu(np.random.default_rng(seed).integers(0, 2, (size, size)), 1) * 2
    against = 1 + lower + np.tril(2 - lower.T, -1)
    np.fill_diagonal(against, 0)
    return against


@pytest.mark.parametrize("seed", range(5))
def test_integer_programs_reach_the_minimum_cost(seed):
    against, items = coins(16, seed), np.arange(16)
    result, exact = solve_by_program(against, items, items), solve_by_subsets(against, items, items)
    assert order_cost(against, result.order) == order_cost(against, exact.order)
    assert tie_break_cost(result.order, items) == tie_break_cost(exact.order, items)
    assert (result.gap, result.unique) == (0, exact.unique)


def test_limit_of_open_pairs_prevents_an_integer_program():
    assert solved(coins(16), MAX_ITEMS=1).gap == 0
    assert solved(coins(16), MAX_ITEMS=1, MAX_OPEN=1).gap > 0


def test_an_earlier_cost_stays_as_low_as_possible():
    rng = np.random.default_rng(7)
    for _ in range(10):
        against, towards = rng.integers(1, 4, (2, 6, 6))
        orders = [np.array(order) for order in permutations(range(6))]
        least = min(plain_cost(against, order) for order in orders)
        optima = [order for order in orders if plain_cost(against, order) == least]
        order, bound = OrderProgram(against).minimise(towards, optima[0], [(against, least)])
        assert plain_cost(against, order) == least
        assert plain_cost(towards, order) == bound == min(plain_cost(towards, optimum) for optimum in optima)


@pytest.mark.parametrize("seed", range(8))
def test_local_search_stops_at_a_local_optimum(seed):
    first, second = np.random.default_rng(seed).integers(0, 3, (2, 12, 12))
    order = local_search([first, second], np.arange(12)[::-1]).tolist()
    cost = plain_cost(first, order), plain_cost(second, order)
    assert cost[0] == order_cost(first, np.array(order))
    for item in range(12):
        remaining = [other for other in order if other != item]
        moved = [[*remaining[:at], item, *remaining[at:]] for at in range(12)]
        assert (
            min((plain_cost(first, neighbour), plain_cost(second, neighbour)) for neighbour in moved) == cost
        )
