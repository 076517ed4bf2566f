"""Resamples of weighted designs: draw counts of units, and the resulting weighted steps (method §8).

Scores are sorted once; a resample only changes their weights.

If there are few units, all possible resamples are enumerated with their probabilities instead of drawn at
random (method §8). For example, six tasks have only 462 distinct resamples, and random draws would only add
noise. With T tasks, the smallest probability, T⁻ᵀ, is a lower bound on p-values.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import ResampleBlock, draw_resamples, unit_counts
from riskrank.engine.sampling.steps import StepMaker, make_monotone, to_weight_units
from riskrank.engine.types import Floats, Integers

# Number of weights per batch, small enough for the cache of a core.
_BATCH_SIZE = 1 << 16


class WeightedDesign:
    """Scores of k models, prepared for weighting by the draw counts of any resample.

    Parameters
    ----------
    scores : ClusteredScores
        Scores on a suite of tasks, scores by a judge and by humans, or equally weighted scores.
    """

    def __init__(self, scores: ClusteredScores) -> None:
        """Sort the scores of every model."""
        self._scores = scores
        signed = scores.strata.signed or [None] * scores.models
        self._makers = list(map(StepMaker.from_scores, scores.values, scores.clusters, signed))
        self._sizes = [np.bincount(cluster) for cluster in scores.clusters]

    @property
    def values(self) -> list[Floats]:
        """Distinct scores of each model, increasing; one array per model."""
        return [maker.values for maker in self._makers]

    def sample_weights(self) -> list[Integers]:
        """Return the cumulative weights of the original sample, shapes (1, d_i)."""
        return self.resample_weights([np.ones((1, size.size), dtype=np.int64) for size in self._sizes])

    def resample_weights(self, counts: Sequence[Integers]) -> list[Integers]:
        """Return the cumulative weights for resamples with the given draw counts.

        Parameters
        ----------
        counts : sequence of k ndarrays of int, shapes (B, C_i)
            Number of times that each unit is drawn; models that share their units get the same array.

        Returns
        -------
        list of k ndarrays of int64, shapes (B, d_i)
        """
        results = []
        for model, (maker, model_counts) in enumerate(zip(self._makers, counts, strict=True)):
            weights = np.empty((len(model_counts), maker.values.size), dtype=np.int64)
            step = max(_BATCH_SIZE // maker.units.size, 1)
            for start in range(0, len(model_counts), step):
                rows = slice(start, start + step)
                cumulated = maker.cumulated(self._unit_weights(model, model_counts[rows]))
                weights[rows] = make_monotone(maker.values, cumulated) if self._scores.judged else cumulated
            results.append(weights)
        return results

    def batches(self, blocks: Iterable[ResampleBlock], *, size: int) -> Iterator[list[Integers]]:
        """Yield the cumulative weights for the resamples of the given blocks, at most `size` at a time.

        The weights depend neither on `size` nor on the grouping of blocks.
        """
        for block in blocks:
            picks = draw_resamples(self._scores, block.generator(), block.count)
            for start in range(0, block.count, size):
                counts = [unit_counts(rows[start : start + size]) for rows in picks]
                repeats = self._scores.models if self._scores.joint_resamples else 1
                yield self.resample_weights(counts * repeats)

    def _unit_weights(self, model: int, counts: Integers) -> Integers:
        """Return the weight of a single score of each unit of a model in B resamples, shape (B, C).

        `counts` holds the draw counts of the units, which are returned unchanged for signed weights.
        """
        sizes, strata = self._sizes[model], self._scores.strata
        if strata.signed:
            return counts
        if strata.random:
            share = counts * strata.weights
            return to_weight_units(share / (share.sum(axis=1, keepdims=True) * sizes))
        tasks = strata.cluster_tasks[model]
        # Number of scores drawn in each task; it varies only if units differ in size.
        n_scores = np.add.reduceat(counts * sizes, strata.bounds(model)[:-1], axis=1)
        return counts * to_weight_units(strata.weights / n_scores).take(tasks, axis=1)


# Nine units have 24,310 multisets, ten 92,378.
MAX_UNITS = 9

# Largest number of equiprobable rows; exact for up to six units.
_MAX_ROWS = 6**6


@dataclass(frozen=True)
class Multisets:
    """All possible resamples of T units, with their probabilities.

    Attributes
    ----------
    counts : ndarray of int, shape (M, T)
        Number of times that each unit is drawn.
    probabilities : ndarray, shape (M,)
        Probability of each resample; the sum is 1.
    """

    counts: Integers
    probabilities: Floats

    @classmethod
    def from_units(cls, units: int) -> Multisets:
        """Enumerate all possible resamples of `units` units, with their probabilities."""
        multisets = np.array([*itertools.combinations_with_replacement(range(units), units)])
        counts = np.stack([np.count_nonzero(multisets == unit, axis=1) for unit in range(units)], axis=1)
        factorials = np.array([factorial(number) for number in range(units + 1)], dtype=np.float64)
        return cls(counts, factorials[units] / factorials[counts].prod(axis=1) / float(units) ** units)

    def equiprobable_rows(self) -> Integers:
        """Return indices of resamples, each repeated in proportion to its probability.

        A uniform draw from the result therefore is a random resample. It has at most 46,656 entries.
        """
        units = self.counts.shape[1]
        total = min(units**units, _MAX_ROWS)
        # Evenly spaced cumulative probabilities; exact if there are at most `total` resamples.
        levels = (np.arange(total) + 0.5) / total
        return np.minimum(np.searchsorted(np.cumsum(self.probabilities), levels), len(self.probabilities) - 1)
