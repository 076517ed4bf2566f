"""Numerical helpers of all methods: ties up to rounding error, weights, a common scale, and bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats, Integers
from riskrank.errors import UsageError, listing

# Relative tolerance for equal numbers: sums of the same numbers in a different order differ by less.
TOLERANCE = 1e-12


def tie_codes(values: Floats) -> Integers:
    """Number the distinct values in increasing order; nearly equal values get the same number.

    Parameters
    ----------
    values : array of shape (N,)
        Finite numbers.

    Returns
    -------
    array of int, shape (N,)
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    codes = np.zeros(values.size, dtype=np.int64)
    codes[order[1:]] = np.cumsum(np.diff(ordered) > TOLERANCE * np.abs(ordered[:-1]))
    return codes


def merge_nearly_equal(values: Floats) -> Floats:
    """Replace values that differ only by rounding error with the smallest of them.

    Parameters
    ----------
    values : array of shape (N,)
        Finite numbers.

    Returns
    -------
    array, shape (N,)
    """
    codes = tie_codes(values)
    smallest = np.full(values.size, np.inf)
    np.minimum.at(smallest, codes, values)
    return smallest[codes]


def competition_ranks(values: Floats | Integers, *, scale: float = 1.0) -> Integers:
    """Return competition ranks, 1 for the smallest value; ties share the smallest rank (1, 2, 2, 4).

    Parameters
    ----------
    values : ndarray, shape (k,)
        Values to be ranked.
    scale : float
        Magnitude of the numbers from which the values were computed; differences within the rounding error
        at this magnitude are ties.

    Returns
    -------
    ndarray of int, shape (k,)
    """
    order = np.argsort(values, kind="stable")
    with np.errstate(over="ignore"):  # an infinite difference is valid here
        differs = np.diff(values[order]) > TOLERANCE * scale
    starts = np.append(True, differs)
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.maximum.accumulate(np.where(starts, np.arange(1, len(values) + 1), 0))
    return rank


@dataclass(frozen=True)
class Pool:
    """Sorted pool of scores within which other values are ranked.

    Attributes
    ----------
    ordered : ndarray, shape (n,)
        Scores of the pool, increasing.
    below : ndarray, shape (n + 1,), or None
        Total weight of the first 0, 1, ..., n scores; None if each has weight 1.
    """

    ordered: Floats
    below: Floats | None = None

    @classmethod
    def from_scores(cls, scores: ClusteredScores, models: Sequence[int]) -> Pool:
        """Pool and sort the scores of the models with the given indices."""
        values = np.concatenate([scores.values[model] for model in models])
        if scores.unweighted:
            return cls(np.sort(values))
        order = np.argsort(values, kind="stable")
        weights = np.concatenate([scores.weights[model] for model in models])[order]
        return cls(values[order], np.concatenate(([0.0], np.cumsum(weights))))

    @property
    def total(self) -> float:
        """Total weight of the scores."""
        return self.ordered.size if self.below is None else float(self.below[-1])

    def doubled_ranks(self, values: Floats) -> Floats:
        """Return twice the mid-rank of each value: the weight below it plus the weight at or below it."""
        left, right = (np.searchsorted(self.ordered, values, side) for side in ("left", "right"))
        if self.below is None:
            return (left + right).astype(np.float64)
        return self.below[left] + self.below[right]


def relative_mid_ranks(values: Floats, pools: Sequence[Pool]) -> Floats:
    """Return the average rank of each value in several pools, as a proportion in (0, 1).

    Mid-ranks in all pools are summed and divided by their total weight.
    """
    ranks = np.zeros(values.shape)
    for pool in pools:
        ranks += pool.doubled_ranks(values)
    return ranks / (2 * sum(pool.total for pool in pools))


def doubled_mid_ranks(values: Floats) -> Integers:
    """Return twice the mid-rank of each value, in increasing order; ties share their mean rank."""
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (2 * np.cumsum(counts) - counts + 1)[numbers]


def normalised_weights(weights: ArrayLike | None, names: Sequence[str], *, kind: str = "metric") -> Floats:
    """Scale weights to sum to 1; without weights, return equal ones.

    Parameters
    ----------
    weights : array_like, shape (m,), optional
        Non-negative, not all zero. Weights that sum to 1 up to rounding are returned unchanged.
    names : sequence of m str
        Names of the weighted items, for error messages.
    kind : str
        Singular noun for an item, for error messages.

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    UsageError
        If all weights are zero.
    """
    m = len(names)
    if weights is None:
        return np.full(m, 1 / m)
    scaled = np.asarray(weights, dtype=np.float64)
    with np.errstate(over="ignore"):
        total = scaled.sum()
    if not np.isfinite(total):  # the sum of large weights overflows
        scaled = scaled / scaled.max()
        total = scaled.sum()
    if not total > 0:
        hint = f"give at least one {kind} a positive weight"
        raise UsageError("the weights are all zero", found=listing(f"{name}=0" for name in names), hint=hint)
    return scaled if abs(total - 1) <= TOLERANCE else scaled / total


def dot(first: Floats, second: Floats) -> float:
    """Return the dot product of two vectors."""
    return float(np.einsum("i,i->", first, second))


def weighted_sums(weights: Floats, columns: Floats) -> Floats:
    """Return the weighted sum of each column, for each row of weights.

    Parameters
    ----------
    weights : ndarray, shape (B, n)
        Sets of weights, one per row.
    columns : ndarray, shape (n,) or (n, m)
        Columns to be summed.

    Returns
    -------
    ndarray, shape (B,) or (B, m)
    """
    if columns.ndim == 1:
        return np.einsum("bi,i->b", weights, np.ascontiguousarray(columns))
    # einsum has no fast loop over both dimensions at once.
    sums = np.empty((len(weights), columns.shape[1]))
    for i, column in enumerate(columns.T):
        sums[:, i] = weighted_sums(weights, column)
    return sums


@dataclass(frozen=True)
class CommonScale:
    """Affine transformation of all samples, without rounding error.

    Violation ratios are invariant under it. The scale is a power of two. A shift is used only if all scores
    lie within a factor of two of it, where floating-point subtraction is exact.

    Attributes
    ----------
    shift : float
        Number subtracted from all scores before scaling.
    exponent : int
        Scores become ``(x - shift) / 2**exponent``, at most 1 in absolute value.
    """

    shift: float
    exponent: int

    @classmethod
    def fit(cls, samples: Sequence[Floats], *, shift: bool = True) -> CommonScale:
        """Choose the scale for some samples: no scaled score exceeds 1 in absolute value.

        With ``shift=False``, the transformation only scales.
        """
        low = min(sample.min() for sample in samples)
        high = max(sample.max() for sample in samples)
        close = (low > 0 and high <= 2 * low) or (high < 0 and low >= 2 * high)
        origin = float(low) if close and shift else 0.0
        largest = max(abs(low - origin), abs(high - origin))
        return cls(origin, int(np.frexp(largest)[1]))  # the exponent is 0 if all scores are 0

    def apply(self, scores: Floats) -> Floats:
        """Transform scores to the common scale; the shape is kept."""
        return np.ldexp(scores - self.shift, -self.exponent)

    def apply_all(self, samples: Sequence[Floats]) -> tuple[Floats, ...]:
        """Transform several arrays of scores to the common scale."""
        return tuple(self.apply(scores) for scores in samples)

    def undo(self, scores: Floats) -> Floats:
        """Transform scores from the common scale back to their original unit.

        Overflow gives infinity.
        """
        with np.errstate(over="ignore"):
            return np.ldexp(scores, self.exponent) + self.shift


def smallest_size(is_sufficient: Callable[[int], bool], smallest: int, limit: int) -> int | None:
    """Return the smallest size for which `is_sufficient` is true, or None if it is false at the limit.

    `is_sufficient` must be monotonic: true for every size above a sufficient one.
    """
    if not is_sufficient(limit):
        return None
    low = smallest - 1
    while limit - low > 1:
        middle = (low + limit) // 2
        low, limit = (low, middle) if is_sufficient(middle) else (middle, limit)
    return limit


def bisect(holds: Callable[[float], bool], inside: float, outside: float, steps: int) -> tuple[float, float]:
    """Narrow an interval between a point where a condition holds and one where it does not.

    Parameters
    ----------
    holds : callable
        Function that returns True if the condition holds at a point.
    inside, outside : float
        Initial points where the condition holds, and where it does not.
    steps : int
        Number of bisections.

    Returns
    -------
    inside, outside : float
        Final points, with the same meaning.
    """
    for _ in range(steps):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside, outside
