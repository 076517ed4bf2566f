"""Orders of least total displacement, as an assignment problem: one of them, how many, and all when few."""

import numpy as np

from riskrank.engine.aggregation.kemeny import LISTED, MOST_ITEMS, subsets_by_size
from riskrank.engine.types import Booleans, Floats, Integers


def solve_footrule(
    cost: np.ndarray, pull: np.ndarray, by_name: np.ndarray
) -> tuple[np.ndarray, int | None, list[tuple[int, ...]] | None, bool]:
    """The chosen optimal order, the number of optima, all of them when few, and uniqueness.

    Parameters
    ----------
    cost : ndarray of int, shape (k, k)
        Cost of item x at place p.
    pull : ndarray of int, shape (k,)
        Weighted mean ranks on any scale: among optima, the one with the largest Σ place · pull is taken.
    by_name : ndarray of int, shape (k,)
        Place of each item in the order of names, the last tie-break.

    Returns
    -------
    order, count, optima, unique
        The count is None when more than `MOST_ITEMS` items are entangled.
    """
    allowed = _optimal_cells(cost.astype(float))
    unique = bool(allowed.sum() == len(cost))
    count = _count_matchings(allowed)
    place = np.arange(1, len(cost) + 1)
    second = np.where(allowed, -np.multiply.outer(pull, place).astype(float), np.inf)
    order = _first_by_name(_optimal_cells(second), by_name)
    optima = _every_matching(allowed) if count is not None and count <= LISTED else None
    return order, count, optima, unique


def _optimal_cells(cost: Floats) -> Booleans:
    """Which cells (x, p) belong to some assignment of least cost: shape (k, k), bool.

    Exchanging places along a cycle of items is free exactly if the cycle's cost changes sum to zero, and no
    cycle is negative at an optimum; every perfect matching of such cells is an optimum too.
    """
    from scipy.optimize import linear_sum_assignment

    _, place = linear_sum_assignment(cost)
    step = cost[:, place] - np.diag(cost[:, place])[:, None]
    way = step.copy()
    for via in range(len(way)):
        np.minimum(way, way[:, via, None] + way[None, via, :], out=way)
    # inf stands for "never": a cell without a way back is on no cycle, so it is never free.
    free = np.empty_like(cost, dtype=bool)
    free[:, place] = step + way.T == 0
    return free


def _count_matchings(allowed: Booleans) -> int | None:
    """The number of perfect matchings of `allowed`, or None if a block of it is too large."""
    count = 1
    for rows in _blocks(allowed):
        columns = np.flatnonzero(allowed[rows].any(axis=0))
        if len(rows) > MOST_ITEMS:
            return None
        count *= _permanent(allowed[np.ix_(rows, columns)])
    return count


def _blocks(allowed: Booleans) -> list[Integers]:
    """The groups of items that can trade places with each other."""
    from scipy.sparse.csgraph import connected_components

    shared = (allowed.astype(np.int64) @ allowed.T.astype(np.int64)) > 0
    blocks, label = connected_components(shared, directed=False)
    return [np.flatnonzero(label == block) for block in range(blocks)]


def _permanent(allowed: Booleans) -> int:
    size = len(allowed)
    ways = np.zeros(1 << size, dtype=np.int64)
    ways[0] = 1
    for column, masks in enumerate(subsets_by_size(size)):
        for row in np.flatnonzero(allowed[:, column]):
            held = masks[(masks >> row) & 1 == 1]
            ways[held] += ways[held ^ (1 << row)]
    return int(ways[-1])


def _first_by_name(allowed: Booleans, by_name: Integers) -> Integers:
    """The matching of `allowed` that comes first by name, place after place."""
    order = []
    open_cells = allowed.copy()
    for place in range(len(allowed)):
        candidates = np.flatnonzero(open_cells[:, place])
        for item in candidates[np.argsort(by_name[candidates])].tolist():
            trial = _placed(open_cells, item, place)
            if len(candidates) == 1 or _matchable(trial):
                open_cells = trial
                order.append(item)
                break
    return np.array(order, dtype=np.int64)


def _every_matching(allowed: Booleans, place: int = 0) -> list[tuple[int, ...]]:
    """Every perfect matching of `allowed` as an order of items, one per place."""
    if place == len(allowed):
        return [tuple(int(np.flatnonzero(allowed[:, p])[0]) for p in range(len(allowed)))]
    found = []
    for item in np.flatnonzero(allowed[:, place]).tolist():
        trial = _placed(allowed, item, place)
        if _matchable(trial):
            found += _every_matching(trial, place + 1)
    return found


def _placed(allowed: Booleans, item: int, place: int) -> Booleans:
    trial = allowed.copy()
    trial[item, :] = False
    trial[:, place] = False
    trial[item, place] = True
    return trial


def _matchable(allowed: Booleans) -> bool:
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(~allowed)
    return bool(allowed[rows, columns].all())
