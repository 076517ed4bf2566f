"""Resamples of a weighted design: how often each unit is drawn, and the weighted steps that this makes.

Scores are sorted once. A resample only changes how much each of them weighs (method §8).

All resamples of few units, with the probability of each, in the place of some drawn ones (method §8).

Whole tasks of few make few resamples: of six there are 462 different ones. To draw thousands of them would
only blur their probabilities, of which the smallest, T⁻ᵀ, says what no resampling of T tasks can show.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import ResampleBlock, chosen_many, counts_of
from riskrank.engine.sampling.steps import StepMaker, proper, units_of
from riskrank.engine.types import Floats, Integers

# Weights made at once, so that they stay in a core's own cache.
_CACHE = 1 << 16


class WeightedDesign:
    """k models' scores, ready to be weighted by the counts of any resample.

    Parameters
    ----------
    scores : ClusteredScores
        A suite of tasks, a judge's scores with people's, or scores that all weigh the same.
    """

    def __init__(self, scores: ClusteredScores) -> None:
        self._scores = scores
        own = scores.strata.signed or [None] * scores.models
        self._makers = [StepMaker.of(*each) for each in zip(scores.values, scores.clusters, own, strict=True)]
        self._sizes = [np.bincount(cluster) for cluster in scores.clusters]

    @property
    def values(self) -> list[Floats]:
        """Different values of each model, upwards."""
        return [maker.values for maker in self._makers]

    def of_sample(self) -> list[Integers]:
        """Cumulated weights of the sample itself, shapes (1, d_i)."""
        return self.of_counts([np.ones((1, size.size), dtype=np.int64) for size in self._sizes])

    def of_counts(self, counts: Sequence[Integers]) -> list[Integers]:
        """Cumulated weights of resamples.

        Parameters
        ----------
        counts : sequence of k ndarrays of int, shapes (B, C_i)
            How often each unit is drawn; the same array for models that share their units.

        Returns
        -------
        list of k ndarrays of int64, shapes (B, d_i)
        """
        found = []
        for model, (maker, drawn) in enumerate(zip(self._makers, counts, strict=True)):
            own = np.empty((len(drawn), maker.values.size), dtype=np.int64)
            step = max(_CACHE // maker.units.size, 1)
            for start in range(0, len(drawn), step):
                rows = slice(start, start + step)
                ends = maker.cumulated(self._weights(model, drawn[rows]))
                own[rows] = proper(maker.values, ends) if self._scores.judged else ends
            found.append(own)
        return found

    def batches(self, part: Iterable[ResampleBlock], *, size: int) -> Iterator[list[Integers]]:
        """Cumulated weights of the resamples of some blocks, at most `size` at a time.

        The numbers depend on neither the size nor on how blocks are put together.
        """
        for block in part:
            picks = chosen_many(self._scores, block.generator(), block.count)
            for start in range(0, block.count, size):
                drawn = [counts_of(rows[start : start + size]) for rows in picks]
                yield self.of_counts(drawn * self._scores.models if self._scores.drawn_together else drawn)

    def _weights(self, model: int, counts: Integers) -> Integers:
        """Weight in units of one score of each unit of resampling, shape (B, C), or counts of signed ones."""
        sizes, strata = self._sizes[model], self._scores.strata
        if strata.signed:
            return counts
        if strata.random:
            share = counts * strata.weights
            return units_of(share / (share.sum(axis=1, keepdims=True) * sizes))
        of_cluster = strata.of_cluster[model]
        # Scores drawn in each task: as many as there are, unless units are of several sizes.
        drawn = np.add.reduceat(counts * sizes, strata.bounds(model)[:-1], axis=1)
        return counts * units_of(strata.weights / drawn).take(of_cluster, axis=1)


# Nine units make 24,310 multisets, ten 92,378.
MOST_UNITS = 9

# Rows that stand for all resamples where each has to count the same; up to six units there are as many.
_ROWS = 6**6


@dataclass(frozen=True)
class Multisets:
    """All resamples of T units.

    Attributes
    ----------
    counts : ndarray of int, shape (M, T)
        How often each unit is drawn.
    masses : ndarray, shape (M,)
        Probabilities, of sum 1.
    """

    counts: Integers
    masses: Floats

    @classmethod
    def of(cls, units: int) -> Multisets:
        """Of so many units."""
        drawn = np.array([*itertools.combinations_with_replacement(range(units), units)])
        counts = np.stack([np.count_nonzero(drawn == unit, axis=1) for unit in range(units)], axis=1)
        ways = np.array([factorial(number) for number in range(units + 1)], dtype=np.float64)
        return cls(counts, ways[units] / ways[counts].prod(axis=1) / float(units) ** units)

    def rows(self) -> Integers:
        """Numbers of resamples, each as often as it is probable, so that every row counts the same."""
        units = self.counts.shape[1]
        total = min(units**units, _ROWS)
        # Evenly spaced on the scale of cumulated probabilities: exact where there are no more than that.
        middles = (np.arange(total) + 0.5) / total
        return np.minimum(np.searchsorted(np.cumsum(self.masses), middles), len(self.masses) - 1)
