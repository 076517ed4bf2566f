"""Kemeny orders of a table of disagreements: against all orders, and on optima known by hand."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.engine.aggregation import kemeny
from riskrank.engine.aggregation.kemeny import _other_optimum, solve_kemeny
from riskrank.engine.aggregation.order_program import OrderProgram, Work

PLENTY = 500_000


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


def solved(against, pull=None, by_name=None, *, listed=1000, work=PLENTY):
    items = np.arange(len(against))
    pull = items if pull is None else np.asarray(pull)
    by_name = items if by_name is None else np.asarray(by_name)
    return solve_kemeny(np.asarray(against), pull, by_name, listed=listed, work_limit=work)


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


@settings(max_examples=25, deadline=None)
@given(tables())
def test_the_integer_program_finds_what_all_orders_do(table):
    against, pull, by_name = table
    costs = {order: paid(against, order) for order in permutations(range(len(pull)))}
    least = min(costs.values())
    optima = [order for order, cost in costs.items() if cost == least]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kemeny, "MOST_ITEMS", 1)
        found = solved(against, pull, by_name)
    order = tuple(found.order.tolist())
    assert order in optima
    assert drawn_apart(order, pull) == max(drawn_apart(optimum, pull) for optimum in optima)
    assert found.unique == (len(optima) == 1)
    assert found.gap == 0


@pytest.mark.parametrize("work", [0, 1, 40, 200, PLENTY])
def test_other_numbers_for_the_items_are_the_same_order_however_little_is_done(monkeypatch, work):
    monkeypatch.setattr(kemeny, "MOST_ITEMS", 1)
    rng = np.random.default_rng(8)
    rankings = [rng.permutation(14) for _ in range(5)]
    # Items of equal mean rank, so that nothing but names could put them in an order to begin with.
    against, pull, by_name = disagreements(rankings, [1] * 5), np.zeros(14, dtype=int), rng.permutation(14)
    old = rng.permutation(14)
    first = solved(against, pull, by_name, work=work)
    second = solved(against[np.ix_(old, old)], pull[old], by_name[old], work=work)
    assert old[second.order].tolist() == first.order.tolist()
    assert (second.gap, second.unique) == (first.gap, first.unique)


def test_the_program_changes_the_optimum_it_met_for_one_nearer_to_the_mean_ranks(monkeypatch):
    monkeypatch.setattr(kemeny, "MOST_ITEMS", 1)
    rankings = [[3, 0, 1, 2, 4], [0, 1, 4, 2, 3], [0, 4, 2, 3, 1]]
    against, pull = disagreements(rankings, [1] * 3), np.array([3, 1, 4, 0, 4])
    costs = {order: paid(against, order) for order in permutations(range(5))}
    optima = [order for order, cost in costs.items() if cost == min(costs.values())]
    furthest, *_, nearest = sorted(optima, key=lambda order: drawn_apart(order, pull))
    found = solved(against, pull)
    assert drawn_apart(found.order, pull) == drawn_apart(nearest, pull) > drawn_apart(furthest, pull)
    assert found.unique is False


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
    assert len(solved(table, listed=9).optima) == 9
    fewer = solved(table, listed=8)
    assert (fewer.optima_count, fewer.optima) == (9, None)
    assert len(solved(CYCLE, listed=3).optima) == 3
    assert solved(CYCLE, listed=2).optima is None


def test_one_group_with_several_optima_is_enough_not_to_be_unique(monkeypatch):
    assert solved(in_a_row(ring(4), CYCLE)).unique is False
    assert solved(in_a_row(ring(4), ring(4))).unique is True
    monkeypatch.setattr(kemeny, "MOST_ITEMS", 3)
    half = solved(in_a_row(ring(4), CYCLE))
    assert (half.unique, half.optima_count, half.optima) == (False, None, None)
    # Too little work to know about the ring; the cycle's three optima settle it all the same.
    assert solved(in_a_row(ring(4), CYCLE), work=0).unique is False
    assert solved(in_a_row(ring(4), np.zeros((1, 1), dtype=int)), work=0).unique is None


@pytest.mark.parametrize("back", [1, 3])
def test_without_work_the_gap_is_to_what_pairs_cost_at_least(back):
    against = ring(20, back)
    found = solved(against, work=0)
    assert found.order.tolist() == list(range(20))
    assert found.unique is None
    cost = paid(against, range(20))
    assert found.gap == pytest.approx(back / cost, rel=1e-12)
    twice = solved(in_a_row(against, against), work=0)
    assert twice.order.tolist() == list(range(40))
    assert twice.gap == pytest.approx(back / cost, rel=1e-12)
    # A group that is solved has cost but no gap.
    row = in_a_row(against, ring(5))
    both = solved(row, work=0)
    assert both.gap == pytest.approx(back / paid(row, range(25)), rel=1e-12)


def test_programs_share_the_work_allowed():
    """What one group's program has used up, the next group's cannot use: the last group is left open."""
    against = ring(20)
    alone, limit = solved(against, work=1), 1
    while alone.unique is not True:
        limit *= 2
        alone = solved(against, work=limit)
    groups = solved(in_a_row(*[against] * 40), work=limit)
    assert groups.gap > 0 or groups.unique is None


@pytest.mark.parametrize("work", [0, 1, 10, 100, 1000])
def test_what_a_limit_of_work_leaves_open_is_never_claimed(work):
    lone, shared = solved(ring(20), work=work), solved(blocks_in_a_circle(7), work=work)
    assert lone.unique in (True, None)
    assert shared.unique in (False, None)
    # An order that may not be the best cannot be known to be the only one.
    assert not (lone.gap > 0 and lone.unique)
    least = paid(ring(20), range(20))
    cost = paid(ring(20), lone.order)
    assert (1 - lone.gap) * cost <= least + 1e-9
    assert least <= cost


def test_another_optimum_is_open_without_work():
    against = ring(5)
    order = np.arange(5)
    assert _other_optimum(OrderProgram(against), against, order, Work(0)) is None
    assert len(_other_optimum(OrderProgram(against), against, order, Work(PLENTY))) == 0
    shared = blocks_in_a_circle(2)
    order = np.array([0, 1, 2, 3, 4, 5])
    other = _other_optimum(OrderProgram(shared), shared, order, Work(PLENTY))
    assert paid(shared, other) == paid(shared, order)
    assert other.tolist() != order.tolist()
    # What the pairs cost at least is no proof that another order costs more.
    agreed = np.tril(np.full((4, 4), 2), -1) + np.triu(np.full((4, 4), 1), 1)
    assert _other_optimum(OrderProgram(agreed), agreed, np.arange(4), Work(0)) is None
    agreed[1, 2] = agreed[2, 1] = 1
    assert _other_optimum(OrderProgram(agreed), agreed, np.arange(4), Work(0)).tolist() == [0, 2, 1, 3]


def test_an_optimum_whose_rivals_were_not_looked_for_is_not_called_the_only_one(monkeypatch):
    monkeypatch.setattr(kemeny, "_other_optimum", lambda *_: None)
    found = solved(ring(20))
    assert found.order.tolist() == list(range(20))
    assert (found.gap, found.unique, found.optima_count) == (0, None, None)


def test_as_many_disputed_pairs_as_allowed_are_a_program_and_one_more_is_not(monkeypatch):
    against = ring(20)
    pairs = 20 * 19 // 2
    monkeypatch.setattr(kemeny, "MOST_DISPUTED", pairs)
    assert (solved(against).gap, solved(against).unique) == (0, True)
    monkeypatch.setattr(kemeny, "MOST_DISPUTED", pairs - 1)
    moved = solved(against, pull=np.arange(20)[::-1])
    assert moved.order.tolist() == list(range(20))
    assert moved.gap == pytest.approx(1 / paid(against, range(20)), rel=1e-12)
    assert moved.unique is None


def test_rankings_that_agree_cost_nothing():
    against = np.tril(np.full((25, 25), 8), -1)
    found = solved(against, pull=np.zeros(25, dtype=int), by_name=np.arange(25)[::-1])
    assert found.order.tolist() == list(range(25))
    assert (found.optima_count, found.optima) == (1, [tuple(range(25))])
    assert (found.unique, found.gap) == (True, 0)
