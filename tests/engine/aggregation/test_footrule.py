"""Footrule aggregation compared with all permutations, and with assignments where cells are forbidden."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from riskrank.engine.aggregation import rank_aggregation
from riskrank.engine.aggregation.rank_aggregation import solve_footrule


def midrank(ranks):
    return [sum(r < x for r in ranks) + (sum(r == x for r in ranks) + 1) / 2 for x in ranks]


def displacements(rankings, weights):
    """Return twice the weighted distance of item x at place p from its mid-ranks; the best rank is 1."""
    k = len(rankings[0])
    cost = np.zeros((k, k), dtype=np.int64)
    for ranks, weight in zip(rankings, weights, strict=True):
        for x, mid in enumerate(midrank(list(ranks))):
            for place in range(k):
                cost[x, place] += round(weight * 2 * abs(mid - (place + 1)))
    return cost


def order_cost(cost, order):
    return sum(int(cost[item, place]) for place, item in enumerate(order))


def tie_break_cost(order, tie_break):
    return sum(place * int(tie_break[item]) for place, item in enumerate(order, start=1))


def solved(cost, tie_break=None, by_name=None, *, listed=1000):
    items = np.arange(len(cost))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_aggregation, "MAX_LISTED", listed)
        return solve_footrule(
            np.asarray(cost), items if tie_break is None else tie_break, items if by_name is None else by_name
        )


@st.composite
def tables(draw):
    """Draw distance tables of several rankings, or arbitrary costs."""
    k, m = draw(st.integers(2, 6)), draw(st.integers(1, 5))
    if draw(st.booleans()):
        ranks = st.lists(st.lists(st.integers(1, k), min_size=k, max_size=k), min_size=m, max_size=m)
        weights = draw(st.lists(st.sampled_from([0, 1, 1, 2, 5]), min_size=m, max_size=m))
        cost = displacements(draw(ranks), weights)
    else:
        k = min(k, 5)
        cost = np.array(draw(st.lists(st.integers(0, 2), min_size=k * k, max_size=k * k))).reshape(k, k)
    tie_break = draw(st.lists(st.integers(0, 4), min_size=k, max_size=k))
    return cost, np.array(tie_break), np.array(draw(st.permutations(range(k))))


@settings(max_examples=60, deadline=None)
@given(tables())
def test_ties_and_weights_match_enumeration(table):
    cost, tie_break, by_name = table
    costs = {order: order_cost(cost, order) for order in permutations(range(len(tie_break)))}
    least = min(costs.values())
    optima = [order for order, value in costs.items() if value == least]
    chosen = min(
        optima, key=lambda order: (-tie_break_cost(order, tie_break), [int(by_name[item]) for item in order])
    )
    order, count, listed, unique = solved(cost, tie_break, by_name)
    assert tuple(order.tolist()) == chosen
    assert count == len(optima)
    assert sorted(listed) == sorted(optima)
    assert unique == (len(optima) == 1)


@settings(max_examples=25, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_orders_are_invariant_to_relabelling(table, random):
    cost, tie_break, by_name = table
    old = list(range(len(tie_break)))
    random.shuffle(old)
    first, second = solved(cost, tie_break, by_name), solved(cost[old], tie_break[old], by_name[old])
    assert [old[item] for item in second[0]] == first[0].tolist()
    assert second[1] == first[1]
    assert sorted(tuple(old[item] for item in order) for order in second[2]) == sorted(first[2])


@pytest.mark.parametrize(("k", "lists"), [(19, 5), (30, 4), (30, 7), (45, 3)])
def test_many_items_match_constrained_assignments(k, lists):
    rng = np.random.default_rng(k + lists)
    cost = displacements([rng.permutation(k) for _ in range(lists)], rng.choice([1, 2, 3], lists))
    order, count, _, unique = solved(cost, tie_break=rng.integers(0, 50, k))
    assert sorted(order.tolist()) == list(range(k))
    least = cost[linear_sum_assignment(cost)].sum()
    assert order_cost(cost, order) == least
    # Any other optimum has some item at a different place.
    alternatives = []
    for place, item in enumerate(order.tolist()):
        forbidden = cost.copy()
        forbidden[item, place] = 10 * least
        alternatives.append(forbidden[linear_sum_assignment(forbidden)].sum())
    assert unique == (min(alternatives) > least)
    assert count is None or (count == 1) == unique


def test_uniqueness_for_many_items():
    """With one cheap cell per item the optimum is unique; two items with equal costs make it two."""
    rng = np.random.default_rng(3)
    k = 25
    places = rng.permutation(k)
    cost = np.full((k, k), 4)
    cost[np.arange(k), places] = 1
    order, count, optima, unique = solved(cost)
    assert places[order].tolist() == list(range(k))
    assert (count, optima, unique) == (1, [tuple(order.tolist())], True)
    cost[7] = cost[11] = np.minimum(cost[7], cost[11])
    order, count, optima, unique = solved(cost)
    assert (count, len(optima), unique) == (2, 2, False)
    assert sorted(optima)[0] != sorted(optima)[1]
    assert {order_cost(cost, optimum) for optimum in optima} == {k}


@pytest.mark.parametrize("k", [2, 3, 5])
def test_constant_costs_make_every_order_optimal(k):
    by_name = np.arange(k)[::-1]
    order, count, optima, unique = solved(np.full((k, k), 3), np.ones(k, dtype=int), by_name)
    assert order.tolist() == list(range(k))[::-1]
    assert count == factorial(k)
    assert sorted(optima) == list(permutations(range(k)))
    assert unique is False


def test_mean_ranks_break_ties_before_names():
    cost, by_name = np.zeros((4, 4), dtype=int), np.array([0, 1, 2, 3])
    assert solved(cost, np.array([5, 1, 7, 1]), by_name)[0].tolist() == [1, 3, 0, 2]
    assert solved(cost, np.array([5, 1, 7, 1]), by_name[::-1])[0].tolist() == [3, 1, 0, 2]


def test_listed_optima_are_limited():
    cost = np.zeros((3, 3), dtype=int)
    assert len(solved(cost, listed=6)[2]) == 6
    order, count, optima, unique = solved(cost, listed=5)
    assert (order.tolist(), count, optima, unique) == ([0, 1, 2], 6, None, False)


def block_costs(*sizes):
    """Return costs that are 0 for items placed within their block and 1 elsewhere."""
    block = np.repeat(np.arange(len(sizes)), sizes)
    return (block[:, None] != block[None, :]).astype(int)


def test_optima_are_counted_up_to_eighteen_entangled_items():
    assert solved(block_costs(18), listed=24)[1] == factorial(18)
    assert solved(block_costs(19), listed=24)[1] is None


def test_cyclic_shift_of_equal_cost_is_detected():
    """A cyclic shift of all items costs the same, although no two items can be exchanged."""
    k = 6
    cost = np.full((k, k), 9)
    items = np.arange(k)
    cost[items, items] = 2 + items
    cost[items, (items + 1) % k] = 2 + items
    _, count, optima, unique = solved(cost)
    assert sorted(optima) == sorted([tuple(range(k)), tuple(np.roll(items, 1).tolist())])
    assert (count, unique) == (2, False)
    cost[3, 4] += 1
    assert solved(cost)[1:] == (1, [tuple(range(k))], True)


def test_ties_between_optima_are_broken_by_name():
    """A greedy choice by name would leave the last item only a forbidden place."""
    cost = np.zeros((3, 3), dtype=int)
    cost[2, 2] = 1
    order, count, optima, _ = solved(cost, np.zeros(3, dtype=int))
    assert order.tolist() == [0, 2, 1]
    assert (count, sorted(optima)) == (4, [(0, 2, 1), (1, 2, 0), (2, 0, 1), (2, 1, 0)])


def test_order_is_invariant_to_the_scale_of_mean_ranks():
    """Large mean ranks must not make a suboptimal order the result."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        cost, tie_break = rng.integers(0, 2, (5, 5)), rng.integers(0, 9, 5)
        small, large = solved(cost, tie_break), solved(cost, tie_break << 40)
        assert large[0].tolist() == small[0].tolist()
        assert order_cost(cost, large[0]) == cost[linear_sum_assignment(cost)].sum()
