"""Pooled mid-rank shares: where a score stands among the scores of several models (method §4, rule 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats, Integers


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
