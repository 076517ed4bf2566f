"""Ties and ranks: numbers that differ only by rounding error are tied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats, Integers

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
