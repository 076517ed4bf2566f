"""Footrule rank aggregation, solved exactly as an assignment problem.

The optimal orders are listed if there are only a few of them, and only counted otherwise.
"""

import numpy as np

from riskrank.engine.aggregation.kemeny import MAX_ITEMS, MAX_LISTED, subsets_by_size
from riskrank.engine.types import Booleans, Floats, Integers


def solve_footrule(
    cost: np.ndarray, mean_ranks: np.ndarray, name_positions: np.ndarray
) -> tuple[np.ndarray, int | None, list[tuple[int, ...]] | None, bool]:
    """Compute an order of minimal total displacement, and count the optimal orders.

    Parameters
    ----------
    cost : ndarray of int, shape (k, k)
        Cost of putting item x at position p.
    mean_ranks : ndarray of int, shape (k,)
        Weighted mean ranks on any scale; the optimum with the largest Σ position · mean rank is chosen.
    name_positions : ndarray of int, shape (k,)
        Position of each item in alphabetical order, the last tie-break.

    Returns
    -------
    order : ndarray of int
        The chosen optimal order, best item first.
    count : int or None
        Number of optimal orders; None if more than `MAX_ITEMS` items are interchangeable.
    optima : list of tuple of int, or None
        All optimal orders if there are at most `MAX_LISTED`, otherwise None.
    unique : bool
        True if there is only one optimal order.
    """
    allowed = _optimal_cells(cost.astype(float))
    unique = bool(allowed.sum() == len(cost))
    count: int | None = 1
    from scipy.sparse.csgraph import connected_components

    shared = (allowed.astype(np.int64) @ allowed.T.astype(np.int64)) > 0
    blocks, label = connected_components(shared, directed=False)
    for rows in [np.flatnonzero(label == block) for block in range(blocks)]:
        columns = np.flatnonzero(allowed[rows].any(axis=0))
        small = len(rows) <= MAX_ITEMS
        count = count * _permanent(allowed[np.ix_(rows, columns)]) if count and small else None
    position = np.arange(1, len(cost) + 1)
    second = np.where(allowed, -np.multiply.outer(mean_ranks, position).astype(float), np.inf)
    order = _first_matching_by_name(_optimal_cells(second), name_positions)
    optima = _all_matchings(allowed) if count is not None and count <= MAX_LISTED else None
    return order, count, optima, unique


def _optimal_cells(cost: Floats) -> Booleans:
    """Return a mask of the cells (x, p) that occur in some assignment of minimal cost, shape (k, k).

    An optimal assignment has no cycle of moves with a negative total cost. Moving items along a cycle gives
    another optimal assignment if and only if the total cost of the cycle is zero. Every perfect matching of
    the masked cells is optimal.
    """
    from scipy.optimize import linear_sum_assignment

    _, position = linear_sum_assignment(cost)
    step = cost[:, position] - np.diag(cost[:, position])[:, None]
    distance = step.copy()
    for via in range(len(distance)):
        np.minimum(distance, distance[:, via, None] + distance[None, via, :], out=distance)
    # A cell without a path back has an infinite distance: it lies on no cycle and in no other optimum.
    optimal = np.empty_like(cost, dtype=bool)
    optimal[:, position] = step + distance.T == 0
    return optimal


def _permanent(allowed: Booleans) -> int:
    """Return the permanent of the square 0/1 matrix `allowed`, which is its number of perfect matchings."""
    size = len(allowed)
    counts = np.zeros(1 << size, dtype=np.int64)
    counts[0] = 1
    for column, masks in enumerate(subsets_by_size(size)):
        for row in np.flatnonzero(allowed[:, column]):
            containing = masks[(masks >> row) & 1 == 1]
            counts[containing] += counts[containing ^ (1 << row)]
    return int(counts[-1])


def _first_matching_by_name(allowed: Booleans, name_positions: Integers) -> Integers:
    """Return the alphabetically first perfect matching of items to positions, as the item at each position.

    `allowed` is a mask of the permitted pairs (item, position). `name_positions` holds the alphabetical
    position of each item.
    """
    order = []
    open_cells = allowed.copy()
    for position in range(len(allowed)):
        candidates = np.flatnonzero(open_cells[:, position])
        for item in candidates[np.argsort(name_positions[candidates])].tolist():
            trial = _assign(open_cells, item, position)
            if len(candidates) == 1 or _has_matching(trial):
                open_cells = trial
                order.append(item)
                break
    return np.array(order, dtype=np.int64)


def _all_matchings(allowed: Booleans, position: int = 0) -> list[tuple[int, ...]]:
    """Return all perfect matchings of items to positions, each as a tuple of the items by position.

    `allowed` is a mask of the permitted pairs (item, position). Positions before `position` are already
    assigned.
    """
    if position == len(allowed):
        return [tuple(int(np.flatnonzero(allowed[:, p])[0]) for p in range(len(allowed)))]
    matchings = []
    for item in np.flatnonzero(allowed[:, position]).tolist():
        trial = _assign(allowed, item, position)
        if _has_matching(trial):
            matchings += _all_matchings(trial, position + 1)
    return matchings


def _assign(allowed: Booleans, item: int, position: int) -> Booleans:
    """Assign an item to a position; return the pairs (item, position) that remain permitted, shape (k, k).

    `allowed` is the mask of the pairs that are permitted so far.
    """
    trial = allowed.copy()
    trial[item, :] = False
    trial[:, position] = False
    trial[item, position] = True
    return trial


def _has_matching(allowed: Booleans) -> bool:
    """Return True if the permitted pairs (item, position) contain a perfect matching.

    `allowed` is the mask of these pairs, shape (k, k).
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(~allowed)
    return bool(allowed[rows, columns].all())
