"""Kemeny orders of a table of disagreements: against all orders, and on optima known by hand."""

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
    """Twice the weight of the rankings that contradict "u before v", a tie by half."""
    k = len(rankings[0])
    against = np.zeros((k, k), dtype=np.int64)
    for ranks, weight in zip(rankings, weights, strict=True):
        for u, v in permutations(range(k), 2):
            against[u, v] += weight * (2 if ranks[u] > ranks[v] else 1 if ranks[u] == ranks[v] else 0)
    return against


def paid(against, order):
    return sum(int(against[u, v]) for u, v in combinations(order, 2))


def drawn_apart(order, pull):
    return sum(place * int(pull[item]) for place, item in enumerate(order, start=1))


def solved(against, pull=None, by_name=None, **limits):
    items = np.arange(len(against))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(kemeny, name, value)
        return solve_kemeny(
            np.asarray(against),
            items if pull is None else np.asarray(pull),
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
    pull = draw(st.lists(st.integers(0, 4), min_size=k, max_size=k))
    return disagreements(rankings, weights), np.array(pull), np.array(draw(st.permutations(range(k))))


@settings(max_examples=60, deadline=None)
@given(tables())
def test_few_items_against_all_orders(table):
    against, pull, by_name = table
    costs = {order: paid(against, order) for order in permutations(range(len(pull)))}
    optima = [order for order, cost in costs.items() if cost == min(costs.values())]
    result = solve_by_subsets(against, pull, by_name)
    nearest = min(
        optima, key=lambda order: (-drawn_apart(order, pull), [int(by_name[item]) for item in order])
    )
    assert tuple(result.order.tolist()) == nearest
    assert (result.optima_count, result.unique, result.gap) == (len(optima), len(optima) == 1, 0)
    assert result.optima is None if len(optima) > kemeny.LISTED else sorted(result.optima) == optima


@settings(max_examples=60, deadline=None)
@given(tables())
def test_programs_against_all_orders(table):
    against, pull, by_name = table
    key = {
        order: (paid(against, order), -drawn_apart(order, pull), -drawn_apart(order, by_name))
        for order in permutations(range(len(pull)))
    }
    optima = [order for order, (cost, *_) in key.items() if cost == min(key.values())[0]]
    result = solve_by_program(against, pull, by_name)
    assert key[tuple(result.order.tolist())] == min(key.values())
    assert (result.unique, result.gap) == (len(optima) == 1, 0)


@pytest.mark.parametrize("work", [0, 100, 10_000, 10**9])
def test_other_numbers_for_the_items_are_the_same_order_however_little_is_done(work):
    rng = np.random.default_rng(8)
    rankings = [rng.permutation(14) for _ in range(5)]
    # Items of equal mean rank, so that nothing but names could put them in an order to begin with.
    against, pull, by_name = disagreements(rankings, [1] * 5), np.zeros(14, dtype=int), rng.permutation(14)
    old = rng.permutation(14)
    limits = {"MOST_ITEMS": 1, "MOST_WORK": work}
    first = solved(against, pull, by_name, **limits)
    second = solved(against[np.ix_(old, old)], pull[old], by_name[old], **limits)
    assert old[second.order].tolist() == first.order.tolist()
    assert (second.gap, second.unique) == (first.gap, first.unique)


def test_weights_may_be_large_numbers():
    rng = np.random.default_rng(2)
    against = disagreements([rng.permutation(6) for _ in range(4)], [1, 2, 1, 3])
    small, large = solved(against), solved(against << 36)
    assert large.order.tolist() == small.order.tolist()
    assert large.optima == small.optima


def ring(k, back=1, forward=5):
    """u beats every later v by 2 · `forward`, but the last beats the first by `back`.

    All items are entangled: 0 beats 1 beats ... beats k - 1 beats 0. An order that contradicts nothing
    but the first and the last pays `back` above what pairs cost at least; any other order contradicts a
    forward pair, and pays more.
    """
    against = np.triu(np.full((k, k), 3), 1) + np.tril(np.full((k, k), 3 + 2 * forward), -1)
    against[0, -1], against[-1, 0] = 3 + back, 3
    return against


def least_of_pairs(against):
    return sum(min(int(against[u, v]), int(against[v, u])) for u, v in combinations(range(len(against)), 2))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_only_optimum_of_more_than_eighteen_items_is_known_to_be_it(seed):
    old = np.random.default_rng(seed).permutation(20)
    against, pull = ring(20)[np.ix_(old, old)], old[::-1]
    found = solved(against, pull)
    assert old[found.order].tolist() == list(range(20))
    assert found.unique is True
    assert found.gap == 0
    assert (found.optima_count, found.optima) == (None, None)


def blocks_in_a_circle(size):
    """Three blocks, each beating the next by 2, and within a block every item the later ones.

    As many triangles as there are pairs of two blocks share no pair, and each costs 2 above its least: so do
    the three orders that begin with one block and follow the circle.
    """
    block = np.repeat(np.arange(3), size)
    ahead = (block[None, :] - block[:, None]) % 3
    item = np.arange(3 * size)
    wins = (ahead == 1) | ((ahead == 0) & (item[:, None] < item[None, :]))
    against = np.where(wins, 1, 3)
    np.fill_diagonal(against, 0)
    return against


@pytest.mark.parametrize("first", [0, 1, 2])
def test_of_several_optima_of_more_than_eighteen_items_the_nearest_to_the_mean_ranks(first):
    against = blocks_in_a_circle(7)
    order = np.roll(np.arange(21), -7 * first)
    pull = np.argsort(order)
    found = solved(against, pull)
    assert found.order.tolist() == order.tolist()
    assert paid(against, found.order) == least_of_pairs(against) + 2 * 49
    assert found.unique is False
    assert found.gap == 0
    assert found.optima_count is None


def test_neighbours_that_cost_the_same_either_way_are_another_optimum():
    against = ring(20)
    against[10, 9] = against[9, 10] = 3
    found = solved(against, np.arange(20))
    assert found.order.tolist() == list(range(20))
    assert found.unique is False
    swapped = solved(against, np.r_[0:9, 10, 9, 11:20])
    assert swapped.order.tolist() == [*range(9), 10, 9, *range(11, 20)]


def test_eighteen_entangled_items_are_counted_and_nineteen_are_not():
    assert solved(ring(18)).optima_count == 1
    assert solved(ring(19)).optima_count is None


def in_a_row(*tables):
    """Several tables, every item of one beating all items of the later ones in all rankings."""
    sizes = [len(table) for table in tables]
    against = np.tril(np.full((sum(sizes),) * 2, 6), -1)
    for table, end in zip(tables, np.cumsum(sizes), strict=True):
        against[end - len(table) : end, end - len(table) : end] = table
    return against


CYCLE = blocks_in_a_circle(1)


def test_groups_that_majorities_split_are_ordered_one_by_one():
    found = solved(in_a_row(CYCLE, np.zeros((1, 1), dtype=int), CYCLE), np.zeros(7, dtype=int))
    turns = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    expected = [(*a, 3, *(item + 4 for item in b)) for a in turns for b in turns]
    assert sorted(found.optima) == expected
    assert (found.optima_count, found.unique, found.gap) == (9, False, 0)
    assert found.order.tolist() == list(range(7))


def test_as_many_optima_are_listed_as_asked_for():
    table = in_a_row(CYCLE, CYCLE)
    assert len(solved(table, LISTED=9).optima) == 9
    fewer = solved(table, LISTED=8)
    assert (fewer.optima_count, fewer.optima) == (9, None)
    assert len(solved(CYCLE, LISTED=3).optima) == 3
    assert solved(CYCLE, LISTED=2).optima is None


def test_one_group_with_several_optima_is_enough_not_to_be_unique():
    assert solved(in_a_row(ring(4), CYCLE)).unique is False
    assert solved(in_a_row(ring(4), ring(4))).unique is True
    half = solved(in_a_row(ring(4), CYCLE), MOST_ITEMS=3)
    assert (half.unique, half.optima_count, half.optima) == (False, None, None)
    # Too little work to know about the ring; the cycle's three optima settle it all the same.
    assert solved(in_a_row(ring(4), CYCLE), MOST_ITEMS=3, MOST_WORK=0).unique is False
    assert solved(in_a_row(ring(4), np.zeros((1, 1), int)), MOST_ITEMS=3, MOST_WORK=0).unique is None


@pytest.mark.parametrize("back", [1, 3])
def test_without_work_the_gap_is_to_what_pairs_cost_at_least(back):
    against = ring(20, back)
    result = solved(against, MOST_WORK=0)
    assert result.order.tolist() == list(range(20))
    assert result.unique is None
    cost = paid(against, range(20))
    assert result.gap == pytest.approx(back / cost, rel=1e-12)
    twice = solved(in_a_row(against, against), MOST_WORK=0)
    assert twice.order.tolist() == list(range(40))
    assert twice.gap == pytest.approx(back / cost, rel=1e-12)
    # A group that is solved has cost but no gap.
    row = in_a_row(against, ring(5))
    both = solved(row, MOST_WORK=0)
    assert both.gap == pytest.approx(back / paid(row, range(25)), rel=1e-12)


@pytest.mark.parametrize("work", [0, 1, 1_000, 10_000, 100_000])
def test_what_a_limit_of_work_leaves_open_is_never_claimed(work):
    lone, shared = (solved(table, MOST_WORK=work) for table in (ring(20), blocks_in_a_circle(7)))
    assert lone.unique in (True, None)
    assert shared.unique in (False, None)
    # An order that may not be the best cannot be known to be the only one.
    assert not (lone.gap > 0 and lone.unique)
    least = paid(ring(20), range(20))
    cost = paid(ring(20), lone.order)
    assert (1 - lone.gap) * cost <= least + 1e-9
    assert least <= cost


def test_as_many_disputed_pairs_as_allowed_are_a_program_and_one_more_is_not():
    against = ring(20)
    pairs = 20 * 19 // 2
    exact = solved(against, MOST_DISPUTED=pairs)
    assert (exact.gap, exact.unique) == (0, True)
    moved = solved(against, pull=np.arange(20)[::-1], MOST_DISPUTED=pairs - 1)
    assert moved.order.tolist() == list(range(20))
    assert moved.gap == pytest.approx(1 / paid(against, range(20)), rel=1e-12)
    assert moved.unique is None


def test_rankings_that_agree_cost_nothing():
    against = np.tril(np.full((25, 25), 8), -1)
    found = solved(against, pull=np.zeros(25, dtype=int), by_name=np.arange(25)[::-1])
    assert found.order.tolist() == list(range(25))
    assert (found.optima_count, found.optima) == (1, [tuple(range(25))])
    assert (found.unique, found.gap) == (True, 0)


def similar_rankings(k, lists, noise, seed):
    rng = np.random.default_rng(seed)
    return np.argsort(np.argsort(np.arange(k) + noise * rng.standard_normal((lists, k)))) + 1


@pytest.mark.parametrize("noise", [3, 30])
def test_rows_found_are_the_violated_triangles(noise):
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
    assert program.violated(before).tolist() == plain
    assert len(plain) > 10


def test_pairs_that_all_rankings_order_alike_are_fixed():
    rankings = similar_rankings(40, 5, 3, 3)
    program = OrderProgram(disagreements(rankings, [1] * 5))
    for low, high, u, v in zip(*program.bounds, *program.pairs, strict=True):
        signs = {*np.sign(rankings[:, v] - rankings[:, u]).tolist()}
        assert (low, high) == {(1,): (1, 1), (-1,): (0, 0)}.get((*signs,), (0, 1))
    assert np.ptp(program.bounds, axis=0).sum() < 40 * 39 / 4


def test_entangled_items_are_solved_within_the_memory_of_their_pairs():
    rankings = similar_rankings(100, 8, 6, 4)
    aggregate_rankings(rankings)  # so that no module's own code is counted
    # The pairs of 100 items are 0.08 MB of numbers; the corners of all triples 24 MB.
    with memory_below(15e6):
        assert aggregate_rankings(rankings).gap == 0


def coins(size, seed=5):
    """Pairs decided by coin, so that triangles alone leave halves."""
    lower = np.triu(np.random.default_rng(seed).integers(0, 2, (size, size)), 1) * 2
    against = 1 + lower + np.tril(2 - lower.T, -1)
    np.fill_diagonal(against, 0)
    return against


@pytest.mark.parametrize("seed", range(5))
def test_integer_programs_end_at_the_least_cost(seed):
    against, items = coins(16, seed), np.arange(16)
    result, exact = solve_by_program(against, items, items), solve_by_subsets(against, items, items)
    assert order_cost(against, result.order) == order_cost(against, exact.order)
    assert drawn_apart(result.order, items) == drawn_apart(exact.order, items)
    assert (result.gap, result.unique) == (0, exact.unique)


def test_more_open_pairs_than_allowed_are_no_integer_program():
    assert solved(coins(16), MOST_ITEMS=1).gap == 0
    assert solved(coins(16), MOST_ITEMS=1, MOST_OPEN=1).gap > 0


def test_an_earlier_cost_stays_as_low_as_possible():
    rng = np.random.default_rng(7)
    for _ in range(10):
        against, towards = rng.integers(1, 4, (2, 6, 6))
        orders = [np.array(order) for order in permutations(range(6))]
        least = min(paid(against, order) for order in orders)
        optima = [order for order in orders if paid(against, order) == least]
        order, bound = OrderProgram(against).minimise(towards, optima[0], [(against, least)])
        assert paid(against, order) == least
        assert paid(towards, order) == bound == min(paid(towards, optimum) for optimum in optima)


@pytest.mark.parametrize("seed", range(8))
def test_no_single_move_helps_where_local_search_ends(seed):
    first, second = np.random.default_rng(seed).integers(0, 3, (2, 12, 12))
    order = local_search([first, second], np.arange(12)[::-1]).tolist()
    cost = paid(first, order), paid(second, order)
    assert cost[0] == order_cost(first, np.array(order))
    for item in range(12):
        rest = [other for other in order if other != item]
        moved = [[*rest[:at], item, *rest[at:]] for at in range(12)]
        assert min((paid(first, one), paid(second, one)) for one in moved) == cost
