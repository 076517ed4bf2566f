"""Rank aggregation, and the agreement of several rankings of the same models.

An aggregation is the order with the smallest total distance to several rankings ([RAB] App. F.3). Footrule
aggregation is solved exactly as an assignment problem; its optimal orders are listed if there are only a few
of them, and only counted otherwise. The agreement of rankings is Kendall's tau with ties.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations, product
from math import factorial, lcm, prod

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.aggregation.kemeny import MAX_ITEMS, MAX_LISTED, solve_kemeny, subsets_by_size
from riskrank.engine.numeric import doubled_mid_ranks, tie_codes
from riskrank.engine.types import Booleans, Floats, Integers

# Pairs compared at a time. Below 2^24 the sums of signs are exact in single precision, which has the
# fastest matrix product.
_PAIRS = 1 << 20


def kendall_tau(scores: np.ndarray) -> np.ndarray:
    """Compute Kendall's tau-b between all pairs of rankings.

    tau-b = Σ sign(x_i - x_j) sign(y_i - y_j) / sqrt(pairs not tied in x · pairs not tied in y), over all
    pairs i < j (Kendall 1945). It complements the visual comparison of rankings in COPA Fig. 6-7.

    Parameters
    ----------
    scores : array of shape (M, N)
        One row per ranking: scores or ranks of N items, in the same direction throughout. Equal values
        are ties.

    Returns
    -------
    array of shape (M, M)
        In [-1, 1]; NaN for a ranking in which all items are tied.
    """
    scores = np.asarray(scores, dtype=np.float64)
    M, N = scores.shape
    # Dense ranks, because differences of infinities are undefined.
    ranks = np.stack([np.unique(row, return_inverse=True)[1] for row in scores]).astype(np.int32)
    agreement = np.zeros((M, M))
    step = max(1, _PAIRS // N)
    for start in range(0, N, step):
        signs = np.sign(ranks[:, start : start + step, None] - ranks[:, None, :]).astype(np.float32)
        signs = signs.reshape(M, -1)
        agreement += (signs @ signs.T).astype(np.float64)
    # The numerator and the denominator both count each pair twice.
    untied = np.sqrt(np.diag(agreement))
    product = np.outer(untied, untied)
    tau = np.full((M, M), np.nan)
    np.divide(agreement, product, out=tau, where=product > 0)
    return np.clip(tau, -1.0, 1.0)


@dataclass(frozen=True)
class RankComparison:
    """Agreement of M rankings of N models.

    Attributes
    ----------
    rank : array of int, shape (M, N)
        Rank of each model, 1 for the best; tied models share the smallest of their ranks.
    tau : array of shape (M, M)
        Kendall's tau-b between the rankings; NaN for a ranking in which all models are tied.
    movement : array of int, shape (N,)
        Difference between a model's worst and best rank.
    """

    rank: np.ndarray
    tau: np.ndarray
    movement: np.ndarray

    @property
    def movers(self) -> np.ndarray:
        """Indices of all models, in decreasing order of `movement`, shape (N,)."""
        return np.argsort(-self.movement, kind="stable")


def compare_rankings(scores: np.ndarray) -> RankComparison:
    """Compare several rankings of the same models (COPA Fig. 6 and 7).

    Parameters
    ----------
    scores : array of shape (M, N)
        One ranking per row, as scores; smaller is better. Values within a relative 1e-12 are tied.

    Returns
    -------
    RankComparison
    """
    scores = np.asarray(scores, dtype=np.float64)
    places = np.stack([tie_codes(row) for row in scores])
    tau = kendall_tau(places)
    rank = np.stack([1 + np.searchsorted(np.sort(row), row, side="left") for row in places])
    return RankComparison(rank=rank, tau=tau, movement=rank.max(axis=0) - rank.min(axis=0))


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


# Grid for weights that are not ratios of small integers; the relative error is 2e-10.
WEIGHT_GRID = 2**32


@dataclass(frozen=True)
class Aggregation:
    """The order with the smallest total distance to several rankings.

    Attributes
    ----------
    method : {"kemeny", "footrule", "pearson", "borda"}
        The minimised distance; see `aggregate_rankings`.
    order : ndarray of int, shape (k,)
        Items, best first.
    ranks : ndarray of int, shape (k,)
        Rank of each item in `order`, 1 for the best.
    distance : float
        Weighted sum of the distances to all rankings.
    mean_distance : float
        `distance` divided by the sum of the weights: the weighted average per ranking.
    optima_count : int or None
        Number of orders that attain the smallest distance; None if it cannot be computed.
    unique : bool or None
        True if there is only one such order; None if a solver limit prevented the proof.
    optima : tuple of tuple of int, or None
        All optimal orders, starting with the chosen one; None if there are more than `MAX_LISTED`.
    gap : float
        0 for a proven optimum; otherwise (distance − proven lower bound) / distance.
    choice : str
        Explanation of how this order was chosen among the optima.
    """

    method: str
    order: np.ndarray
    ranks: np.ndarray
    distance: float
    mean_distance: float
    optima_count: int | None
    unique: bool | None
    optima: tuple[tuple[int, ...], ...] | None
    gap: float
    choice: str


def aggregate_rankings(
    rankings: ArrayLike,
    *,
    method: str = "kemeny",
    weights: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> Aggregation:
    """Compute the strict order π that minimises Σ α_i d(π, π_i) over the input rankings π_i.

    The distances, with r_i(x) the mid-rank of x in ranking i (tied items share the mean of their ranks):

    - ``kemeny``: Kendall's distance, the number of pairs that π and π_i order differently. A pair tied in π_i
      counts ½, the mean over all ways of breaking the ties (Fagin et al. 2006, K^(1/2)).
    - ``footrule``: Σ_x |π(x) − r_i(x)| (Fagin et al. 2006, F_prof).
    - ``pearson``: 1 − Pearson's correlation of the ranks. With ties, it is the mean over all ways of breaking
      them, 1 − 12 cov(π, r_i) / (k² − 1). A ranking in which all items are tied has distance 1 from every
      order and does not affect the result.
    - ``borda``: Σ_x (π(x) − r_i(x))². Its optimum sorts the weighted mean ranks, which is the Borda count.
      The order is the same as for Pearson's distance; only the scale of the distance differs.

    Among several optima, the one nearest to the Borda order is chosen (smallest weighted Σ (π(x) − r_i(x))²).
    Remaining ties are broken by name: the first order alphabetically or, after an integer program, the
    nearest to alphabetical order. The result therefore does not depend on the order of the rankings or items.
    Weights are compared as exact ratios if they are ratios of small integers (0.1 : 0.2 : 0.3 is 1 : 2 : 3),
    so that equal distances are recognised as equal.

    Parameters
    ----------
    rankings : ndarray, shape (m, k)
        One ranking per row: the rank of each of k items; smaller is better. Only the order of the numbers
        within a row matters; equal numbers are ties.
    method : {"kemeny", "footrule", "pearson", "borda"}
        The distance.
    weights : sequence of float, shape (m,), optional
        Weight α_i ≥ 0 of each ranking; equal by default. They need not sum to 1.
    names : sequence of str, shape (k,), optional
        Names of the items, for the choice among optima; their positions by default.

    Returns
    -------
    Aggregation

    References
    ----------
    [RAB] App. F.3; method §5.
    """
    ranks = np.asarray(rankings, dtype=np.float64)
    m, k = ranks.shape
    weight = np.ones(m) if weights is None else np.asarray(weights, dtype=np.float64)
    labels = np.arange(k) if names is None else np.array([*names], dtype=object)
    # Twice the mid-rank is an integer, so that distances can be compared exactly.
    doubled = np.array([doubled_mid_ranks(row) for row in ranks])
    integer = _integer_weights(weight)
    name_positions = np.argsort(np.argsort(labels, kind="stable"), kind="stable")
    mean_ranks = integer @ doubled
    unique: bool | None = None
    gap = 0.0
    if len(ranks) > 1 and method == "kemeny":
        solution = solve_kemeny(_disagreement_weights(ranks, integer), mean_ranks, name_positions)
        order, count, optima = solution.order, solution.optima_count, solution.optima
        unique, gap = solution.unique, solution.gap
    elif len(ranks) > 1 and method == "footrule":
        cost = _displacement_costs(doubled, integer)
        order, count, optima, unique = solve_footrule(cost, mean_ranks, name_positions)
    else:
        order, count, optima = _sort_mean_ranks(mean_ranks, name_positions)
        unique = count == 1
    places, chosen = np.argsort(order) + 1, tuple(order.tolist())
    total = float(weight @ _rank_distances(method, places, ranks, doubled))
    return Aggregation(
        method=method,
        order=order,
        ranks=places,
        distance=total,
        mean_distance=total / float(weight.sum()),
        optima_count=count,
        unique=unique,
        optima=None if optima is None else (chosen, *(other for other in optima if other != chosen)),
        gap=gap,
        choice=_describe_choice(count, unique, gap),
    )


def _integer_weights(weight: Floats) -> Integers:
    """Convert non-negative weights to integers in the same ratios; ratios of small integers are exact."""
    share = weight / weight.max()
    ratios = [Fraction(s).limit_denominator(10_000) for s in share.tolist()]
    scale = lcm(*(ratio.denominator for ratio in ratios))
    exact = all(abs(float(ratio) - s) <= 1e-12 for ratio, s in zip(ratios, share, strict=True))
    if exact and scale * len(ratios) <= WEIGHT_GRID:
        return np.array([int(ratio * scale) for ratio in ratios], dtype=np.int64)
    return np.rint(weight / weight.sum() * WEIGHT_GRID).astype(np.int64)


def _disagreement_weights(ranks: Floats, weights: Integers) -> Integers:
    """Return twice the weight of the rankings that contradict "u before v", shape (k, k).

    `ranks` has one ranking per row, `weights` one weight per ranking. A tied pair counts half.
    """
    against = np.zeros((ranks.shape[1],) * 2, dtype=np.int64)
    for row, weight in zip(ranks, weights, strict=True):
        against += weight * (1 + np.sign(row[:, None] - row[None, :]).astype(np.int64))
    np.fill_diagonal(against, 0)
    return against


def _displacement_costs(doubled_ranks: Integers, weights: Integers) -> Integers:
    """Return the cost of placing item x at position p, shape (k, k).

    It is twice the weighted sum of the distances between p and the item's mid-ranks. `doubled_ranks` holds
    twice the mid-ranks, one ranking per row.
    """
    position = 2 * np.arange(1, doubled_ranks.shape[1] + 1)
    cost = np.zeros((doubled_ranks.shape[1],) * 2, dtype=np.int64)
    for row, weight in zip(doubled_ranks, weights, strict=True):
        cost += weight * np.abs(row[:, None] - position[None, :])
    return cost


def _sort_mean_ranks(
    mean_ranks: Integers, name_positions: Integers
) -> tuple[Integers, int, list[tuple[int, ...]] | None]:
    """Sort items by weighted mean rank; ties are sorted by name.

    `name_positions` holds the position of each item in alphabetical order.

    Returns
    -------
    order : ndarray of int
        Items, best first.
    count : int
        Number of orders with sorted mean ranks.
    optima : list of tuple of int, or None
        All these orders; None if there are too many to list.
    """
    order = np.lexsort((name_positions, mean_ranks))
    starts = np.flatnonzero(np.r_[True, np.diff(mean_ranks[order]) != 0])
    groups = np.split(order, starts[1:])
    count = prod(factorial(len(group)) for group in groups)
    if count > MAX_LISTED:
        return order, count, None
    choices = product(*(permutations(group.tolist()) for group in groups))
    return order, count, [sum(choice, ()) for choice in islice(choices, MAX_LISTED)]


def _rank_distances(method: str, positions: Integers, ranks: Floats, doubled: Integers) -> Floats:
    """Return the distance from an order to each of m rankings, shape (m,).

    `method` names the distance, as in `aggregate_rankings`. `positions` holds the position of each item in
    the order, and `doubled` twice its mid-rank in each ranking.
    """
    k = len(positions)
    mid = doubled / 2
    if method == "kemeny":
        signs = np.sign(positions[:, None] - positions[None, :])
        # Each unordered pair appears twice: 0 if both agree, 2 · ½ if tied, 2 if they contradict each other.
        # One ranking at a time, because the pairs of a thousand models take 8 MB per ranking.
        return np.array([np.abs(signs - np.sign(row[:, None] - row)).sum() / 4 for row in ranks])
    if method == "footrule":
        return np.abs(positions - mid).sum(axis=1)
    if method == "borda":
        return ((positions - mid) ** 2).sum(axis=1)
    centre = (k + 1) / 2
    return 1 - 12 * ((mid - centre) @ (positions - centre)) / (k * (k * k - 1))


def _describe_choice(count: int | None, unique: bool | None, gap: float) -> str:
    """Describe in a short phrase how the order was chosen among the optima.

    Parameters
    ----------
    count : int or None
        Number of optimal orders, if known.
    unique : bool or None
        Whether there is only one optimum, if known.
    gap : float
        Largest possible relative excess of the cost over the optimum.
    """
    rule = "the one closest to the Borda order (ties by name)"
    if gap > 0:
        return f"the best order found, at most {100 * gap:.2f} % above the optimum"
    if unique:
        return "the only optimum"
    if count is not None:
        return f"{count} optima: {rule}"
    if unique is None:
        return "an optimum; there may be others, because the search was stopped"
    return "several optima: the one closest to the Borda order among those found"
