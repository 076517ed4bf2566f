"""Numbers that differ by rounding only are equal, and equals share a rank: every ranking asks here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats, Integers

# Numbers this close, relatively, are equal: sums of the same numbers in another order differ by less.
TOLERANCE = 1e-12


def tie_codes(values: Floats) -> Integers:
    """Replace values by their places among the distinct ones, from 0; near-equal neighbours are one.

    Parameters
    ----------
    values : array of shape (N,)
        Finite.

    Returns
    -------
    array of int, shape (N,)
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    codes = np.zeros(values.size, dtype=np.int64)
    codes[order[1:]] = np.cumsum(np.diff(ordered) > TOLERANCE * np.abs(ordered[:-1]))
    return codes


def without_rounding(values: Floats) -> Floats:
    """Give near-equal values the smallest one of them.

    Parameters
    ----------
    values : array of shape (N,)
        Finite.

    Returns
    -------
    array, shape (N,)
    """
    codes = tie_codes(values)
    smallest = np.full(values.size, np.inf)
    np.minimum.at(smallest, codes, values)
    return smallest[codes]


def competition_ranks(values: Floats | Integers, *, size: float = 1.0) -> Integers:
    """Ranks of values, smallest first; equal ones share the smaller rank (1, 2, 2, 4).

    Parameters
    ----------
    values : ndarray, shape (k,)
    size : float
        Size of the numbers the values are made of: neighbours closer than rounding of such numbers are equal.

    Returns
    -------
    ndarray of int, shape (k,)
    """
    order = np.argsort(values, kind="stable")
    with np.errstate(over="ignore"):  # an infinite difference is a difference
        apart = np.diff(values[order]) > TOLERANCE * size
    starts = np.append(True, apart)
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.maximum.accumulate(np.where(starts, np.arange(1, len(values) + 1), 0))
    return rank


@dataclass(frozen=True)
class Pool:
    """Scores that others are ranked among.

    Attributes
    ----------
    ordered : ndarray, shape (n,)
        Upwards.
    below : ndarray, shape (n + 1,), or None
        Weight of the first 0, 1, ... n of them; None where each counts as 1.
    """

    ordered: Floats
    below: Floats | None = None

    @classmethod
    def of(cls, scores: ClusteredScores, models: Sequence[int]) -> Pool:
        """The scores of some models together."""
        values = np.concatenate([scores.values[model] for model in models])
        if scores.plain:
            return cls(np.sort(values))
        order = np.argsort(values, kind="stable")
        weights = np.concatenate([scores.weights[model] for model in models])[order]
        return cls(values[order], np.concatenate(([0.0], np.cumsum(weights))))

    @property
    def total(self) -> float:
        """Weight of all scores."""
        return self.ordered.size if self.below is None else float(self.below[-1])

    def places(self, values: Floats) -> Floats:
        """Twice the mid-rank of each value: the weight below it and up to it."""
        left, right = (np.searchsorted(self.ordered, values, side) for side in ("left", "right"))
        if self.below is None:
            return (left + right).astype(np.float64)
        return self.below[left] + self.below[right]


def mid_rank_shares(values: Floats, pools: Sequence[Pool]) -> Floats:
    """Mid-rank share in (0, 1) of each value among pooled scores."""
    places = np.zeros(values.shape)
    for pool in pools:
        places += pool.places(values)
    return places / (2 * sum(pool.total for pool in pools))


def doubled_mid_ranks(values: Floats) -> Integers:
    """Twice the rank of each value among them all, smallest first; equal ones share the mean of theirs."""
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (2 * np.cumsum(counts) - counts + 1)[numbers]
