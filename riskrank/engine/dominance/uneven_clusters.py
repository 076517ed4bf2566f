"""Sorted resamples of paired models whose clusters differ in size, so that resamples do, too.

Within one resample all models have equally many scores, so that their quantile functions step together.
Resamples of about one length are made as long as each other: zeros before the first score of every model
leave nothing between two models, and so nothing in an integral of their difference or of its integral.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import Blocks, chosen_many, counts_of
from riskrank.engine.types import Floats, Integers

# Lengths are rounded up to whole ones of these: a resample's does not depend on the resamples beside it.
_ROUNDED = 32


@dataclass(frozen=True)
class Padded:
    """Some resamples.

    Attributes
    ----------
    rows : ndarray of int, shape (b,)
        Their numbers.
    ordered : ndarray, shape (k, b, length)
        Sorted scores, with zeros before them.
    sizes : ndarray of int, shape (b,)
        Scores of a resample.
    """

    rows: Integers
    ordered: Floats
    sizes: Integers

    def means(self) -> Floats:
        """Means, shape (k, b)."""
        found: Floats = self.ordered.sum(axis=2) / self.sizes
        return found

    def tails(self, level: float) -> Floats:
        """Means of the worst share, shape (k, b)."""
        wanted = level * self.sizes[:, None]
        length = self.ordered.shape[2]
        place = np.arange(length) - (length - self.sizes[:, None])
        weights = np.where(place >= 0, np.clip(wanted - place, 0.0, 1.0), 0.0)
        found: Floats = np.vecdot(self.ordered, weights) / wanted[:, 0]
        return found


def padded(scores: ClusteredScores, streams: Blocks, *, entries: int) -> Iterator[Padded]:
    """The resamples of some blocks, in parts of at most so many entries.

    Parameters
    ----------
    scores : ClusteredScores
        Of paired models.
    streams : Blocks
    entries : int
    """
    drawn = [chosen_many(scores, np.random.default_rng(stream), count)[0] for stream, count in streams]
    counts = counts_of(np.concatenate(drawn))
    sizes = counts @ np.bincount(scores.clusters[0])
    lengths = -(-sizes // _ROUNDED) * _ROUNDED
    orders = [np.argsort(value, kind="stable") for value in scores.values]
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        step = max(entries // (length * scores.models), 1)
        for start in range(0, rows.size, step):
            part = rows[start : start + step]
            ordered = np.zeros((scores.models, part.size, length))
            filled = np.arange(length) >= length - sizes[part, None]
            for model, order in enumerate(orders):
                times = counts[np.ix_(part, scores.clusters[model][order])]
                every = np.broadcast_to(scores.values[model][order], times.shape)
                ordered[model][filled] = np.repeat(every.ravel(), times.ravel())
            yield Padded(part, ordered, sizes[part])
