"""One ranking from many: the order nearest to several rankings, exactly ([RAB] App. F.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations, product
from math import factorial, lcm, prod

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.aggregation.footrule import solve_footrule
from riskrank.engine.aggregation.kemeny import LISTED, solve_kemeny
from riskrank.engine.ties import doubled_mid_ranks
from riskrank.engine.types import Floats, Integers

WEIGHT_GRID = 2**32
"""Weights that are no small ratios are rounded to this grid: a relative error of 2e-10."""


@dataclass(frozen=True)
class Aggregation:
    """The order nearest to several rankings.

    Attributes
    ----------
    method : {"kemeny", "footrule", "pearson", "borda"}
        What was minimised; see `aggregate_rankings`.
    order : ndarray of int, shape (k,)
        Items, the best first.
    ranks : ndarray of int, shape (k,)
        Rank of every item in `order`, 1 for the best.
    distance : float
        Sum of `distances`, each times its ranking's weight as given.
    mean_distance : float
        `distance` over the sum of the weights: the weighted average per ranking.
    optima_count : int or None
        How many orders have the smallest distance; None where counting them is out of reach.
    unique : bool or None
        Whether there is one such order; None where a solver limit left that open.
    optima : tuple of tuple of int, or None
        All optimal orders, the chosen one first, when there are at most `LISTED`; else None.
    gap : float
        0 for a proven optimum; otherwise (distance − proven lower bound) / distance.
    choice : str
        Why this order was chosen, in words.
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
    """The strict order π minimising Σ α_i d(π, π_i) over the input rankings π_i.

    The distances, with r_i(x) the mid-rank of x in ranking i (tied items share the mean of their places):

    - ``kemeny``: Kendall's distance, the pairs that π and π_i order differently, a pair tied in π_i counting
      ½ (the mean over all ways of breaking the ties; Fagin et al. 2006, K^(1/2)).
    - ``footrule``: Σ_x |π(x) − r_i(x)| (Fagin et al. 2006, F_prof).
    - ``pearson``: 1 − Pearson's correlation of the ranks. With ties, the mean of that over all ways of
      breaking them, which is 1 − 12 cov(π, r_i) / (k² − 1): a ranking that ties everything is at distance 1
      from every order and does not sway the result.
    - ``borda``: Σ_x (π(x) − r_i(x))². Its optimum sorts the weighted mean ranks, which is the Borda count,
      and is the same order as Pearson's; only the distance is on another scale.

    Among several optima the one nearest to the Borda order is taken (smallest weighted Σ (π(x) − r_i(x))²),
    and among those the first by name (the nearest to the order of names where an integer program was needed),
    so that neither the order of the rankings nor that of the items matters. Weights are compared as exact
    ratios where they are ratios of small integers (0.1 : 0.2 : 0.3 is 1 : 2 : 3), so that equal distances are
    recognised as equal.

    Parameters
    ----------
    rankings : ndarray, shape (m, k)
        One ranking per row: the rank of each of k items, small is good. Only the order of the numbers within
        a row matters; equal numbers are ties.
    method : {"kemeny", "footrule", "pearson", "borda"}
        The distance.
    weights : sequence of float, shape (m,), optional
        Importance α_i ≥ 0 of each ranking; equal by default. They need not sum to 1.
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
    by_name = np.argsort(np.argsort(labels, kind="stable"), kind="stable")
    pull = integer @ doubled
    unique: bool | None = None
    gap = 0.0
    if len(ranks) > 1 and method == "kemeny":
        solution = solve_kemeny(_disagreements(ranks, integer), pull, by_name)
        order, count, optima = solution.order, solution.optima_count, solution.optima
        unique, gap = solution.unique, solution.gap
    elif len(ranks) > 1 and method == "footrule":
        order, count, optima, unique = solve_footrule(_displacements(doubled, integer), pull, by_name)
    else:
        order, count, optima = _sort_mean_ranks(pull, by_name)
        unique = count == 1
    places = np.argsort(order) + 1
    total = float(weight @ _distances(method, places, ranks, doubled))
    return Aggregation(
        method=method,
        order=order,
        ranks=places,
        distance=total,
        mean_distance=total / float(weight.sum()),
        optima_count=count,
        unique=unique,
        optima=_chosen_first(order, optima),
        gap=gap,
        choice=_choice(count, unique, gap),
    )


def _integer_weights(weight: Floats) -> Integers:
    share = weight / weight.max()
    ratios = [Fraction(s).limit_denominator(10_000) for s in share.tolist()]
    scale = lcm(*(ratio.denominator for ratio in ratios))
    exact = all(abs(float(ratio) - s) <= 1e-12 for ratio, s in zip(ratios, share, strict=True))
    if exact and scale * len(ratios) <= WEIGHT_GRID:
        return np.array([int(ratio * scale) for ratio in ratios], dtype=np.int64)
    return np.rint(weight / weight.sum() * WEIGHT_GRID).astype(np.int64)


def _disagreements(ranks: Floats, integer: Integers) -> Integers:
    """Twice the weight that contradicts "u before v", a tie contradicting by half: shape (k, k)."""
    against = np.zeros((ranks.shape[1],) * 2, dtype=np.int64)
    for row, w in zip(ranks, integer, strict=True):
        against += w * (1 + np.sign(row[:, None] - row[None, :]).astype(np.int64))
    np.fill_diagonal(against, 0)
    return against


def _displacements(doubled: Integers, integer: Integers) -> Integers:
    """Twice the weighted displacement of item x put at place p: shape (k, k)."""
    place = 2 * np.arange(1, doubled.shape[1] + 1)
    cost = np.zeros((doubled.shape[1],) * 2, dtype=np.int64)
    for row, w in zip(doubled, integer, strict=True):
        cost += w * np.abs(row[:, None] - place[None, :])
    return cost


def _sort_mean_ranks(pull: Integers, by_name: Integers) -> tuple[Integers, int, list[tuple[int, ...]] | None]:
    order = np.lexsort((by_name, pull))
    starts = np.flatnonzero(np.r_[True, np.diff(pull[order]) != 0])
    groups = np.split(order, starts[1:])
    count = prod(factorial(len(group)) for group in groups)
    if count > LISTED:
        return order, count, None
    choices = product(*(permutations(group.tolist()) for group in groups))
    return order, count, [sum(choice, ()) for choice in islice(choices, LISTED)]


def _distances(method: str, places: Integers, ranks: Floats, doubled: Integers) -> Floats:
    k = len(places)
    mid = doubled / 2
    if method == "kemeny":
        wanted = np.sign(places[:, None] - places[None, :])
        # Each unordered pair appears twice: 0 where both agree, 2 · ½ where tied, 2 where they contradict.
        # One ranking at a time: of a thousand models, the pairs of one are 8 MB.
        return np.array([np.abs(wanted - np.sign(row[:, None] - row)).sum() / 4 for row in ranks])
    if method == "footrule":
        return np.abs(places - mid).sum(axis=1)
    if method == "borda":
        return ((places - mid) ** 2).sum(axis=1)
    centre = (k + 1) / 2
    return 1 - 12 * ((mid - centre) @ (places - centre)) / (k * (k * k - 1))


def _chosen_first(
    order: Integers, optima: Sequence[tuple[int, ...]] | None
) -> tuple[tuple[int, ...], ...] | None:
    if optima is None:
        return None
    chosen = tuple(order.tolist())
    return (chosen, *(optimum for optimum in optima if optimum != chosen))


def _choice(count: int | None, unique: bool | None, gap: float) -> str:
    rule = "the one nearest to the Borda order, then first by name"
    if gap > 0:
        return f"the best order found; it may be up to {100 * gap:.2f} % above the optimum"
    if unique:
        return "the only optimum"
    if count is not None:
        return f"{count} optima: {rule}"
    if unique is None:
        return "an optimum; whether there are others was not settled within the work allowed"
    return "several optima: of those met, the one nearest to the Borda order"
