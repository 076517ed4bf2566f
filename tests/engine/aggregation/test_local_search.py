"""Moving one item at a time until no move helps, against trying all moves plainly."""

import numpy as np
import pytest

from riskrank.engine.aggregation.local_search import cost_of, local_search


def disagreements(k, seed):
    rng = np.random.default_rng(seed)
    against = rng.integers(0, 10, size=(k, k))
    np.fill_diagonal(against, 0)
    return against


def plain_cost(against, order):
    return sum(against[u, v] for at, u in enumerate(order) for v in order[at + 1 :])


@pytest.mark.parametrize("seed", range(8))
def test_no_single_move_helps_where_it_ends(seed):
    against = disagreements(12, seed)
    start = np.arange(12)[::-1].copy()
    found = local_search(against, start)
    assert sorted(found.tolist()) == list(range(12))
    cost = plain_cost(against, found.tolist())
    assert cost == cost_of(against, found)
    assert cost <= plain_cost(against, start.tolist())
    for item in range(12):
        rest = [other for other in found.tolist() if other != item]
        moved = [plain_cost(against, [*rest[:at], item, *rest[at:]]) for at in range(12)]
        assert min(moved) == cost
