"""Means of the worst samples of every model on every metric, from resamples that all metrics share.

The share of the worst samples is that of a column alone (:func:`.bootstrap.tail_level`), and a resample draws
what the same resample of a column draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.ranking import tail_level
from riskrank.engine.dominance.violation import WEIGHING
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK, ResampleBlock, blocks, chosen_of, counts_of
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Booleans, Floats, Integers

# Counts of samples made at once, so that they stay in the cache.
_BATCH = 1 << 18

# Scores beyond a tail's share are looked at by so many standard deviations of how many are drawn of it.
_ROOM = 5

Tails = Callable[[list[Integers]], Floats]
"""Tail means of resamples, shape (B, k, m), by how often each unit of a model is drawn, shapes (B, C)."""


class MetricTails:
    """Tail means of k models on m metrics, in the sample and in as many resamples as are asked for.

    Parameters
    ----------
    columns : sequence of m ClusteredScores
        Of the same samples.
    seed : int
        Entropy of the random streams.
    counting : ndarray of bool, shape (m,)
        Metrics that a verdict may be about.

    Attributes
    ----------
    columns : sequence of ClusteredScores
    level : float
        Share of the worst samples.
    sample : ndarray, shape (k, m)
        Larger is better.
    counting : ndarray of bool, shape (m,)
    """

    @classmethod
    def of(cls, tables: ScoreTables, inference: Inference) -> MetricTails | None:
        """Tails of the metrics of a portfolio; None of one metric, and without resamples."""
        if len(tables.metrics) == 1 or not inference.resampled or inference.paper_exact:
            return None
        columns = [tables.column(name) for name in tables.metrics]
        return cls(columns, seed=inference.seed, counting=tables.weights > 0)

    def __init__(self, columns: Sequence[ClusteredScores], *, seed: int, counting: Booleans) -> None:
        self.columns, self.level = columns, tail_level(columns[0])
        self.counting, self.seed = counting, seed
        self._tails = (_alike if columns[0].plain else _weighted)(columns, self.level)
        ones = [np.ones((1, count), dtype=np.int64) for count in columns[0].cluster_counts]
        self.sample = self._tails(ones)[0]
        self._drawn = [np.empty((0, *self.sample.shape))]

    @property
    def work(self) -> float:
        """Score comparisons that a resample costs; of scores that weigh the same the worst are looked at."""
        scores = len(self.columns) * sum(self.columns[0].sizes)
        return scores * (self.level if self.columns[0].plain else WEIGHING)

    def resampled(self, total: int) -> Floats:
        """Tail means of this many resamples, shape (total, k, m); a later call goes on where one stopped."""
        done = sum(map(len, self._drawn))
        if done < total:
            lacking = blocks(total, self.seed)[done // BLOCK :]
            self._drawn += [self._tails(counts) for counts in _counts(self.columns[0], lacking)]
            self._drawn = [np.concatenate(self._drawn)]
        return self._drawn[0][:total]


def _counts(scores: ClusteredScores, lacking: Sequence[ResampleBlock]) -> Iterator[list[Integers]]:
    """How often each unit is drawn, several blocks at a time, an array a model."""
    step = max(_BATCH // (BLOCK * sum(scores.cluster_counts)), 1)
    for start in range(0, len(lacking), step):
        counts = [counts_of(chosen) for chosen in chosen_of(scores, lacking[start : start + step])]
        yield counts * scores.models if scores.drawn_together else counts


def _weighted(columns: Sequence[ClusteredScores], level: float) -> Tails:
    """Tail means of scores that weigh differently."""
    scales = [CommonScale.of(scores.values) for scores in columns]
    designs = [
        WeightedDesign(replace(scores, values=scale.of_all(scores.values)))
        for scores, scale in zip(columns, scales, strict=True)
    ]

    def tails(counts: list[Integers]) -> Floats:
        found = []
        for scale, design in zip(scales, designs, strict=True):
            steps = zip(design.values, design.of_counts(counts), strict=True)
            found.append(scale.undo(np.stack([Steps(*one).tail_means(level) for one in steps], axis=1)))
        return np.stack(found, axis=2)

    return tails


def _alike(columns: Sequence[ClusteredScores], level: float) -> Tails:
    """Tail means of scores that all weigh the same."""
    first = columns[0]
    scales = [CommonScale.of(scores.values) for scores in columns]
    worst = [
        [_Worst.of(scale.apply(own), units) for own, units in zip(one.values, one.clusters, strict=True)]
        for one, scale in zip(columns, scales, strict=True)
    ]
    sizes = [np.bincount(units) for units in first.clusters]

    def tails(counts: list[Integers]) -> Floats:
        # A row a unit, so that whole rows are copied.
        by_unit = {id(own): np.ascontiguousarray(own.T) for own in counts}
        # Units of one size make resamples of one size.
        drawn = first.sizes if first.even else [np.vecdot(*own) for own in zip(counts, sizes, strict=True)]
        wanted = [level * np.asarray(scores, dtype=np.float64) for scores in drawn]
        found = []
        for scale, models in zip(scales, worst, strict=True):
            each = zip(models, counts, wanted, strict=True)
            own = np.stack([one.tail_means(by_unit[id(of)], scores) for one, of, scores in each], axis=1)
            found.append(scale.undo(own))
        return np.stack(found, axis=2)

    return tails


@dataclass(frozen=True)
class _Worst:
    """One model's scores upwards, all of the same weight, of which a resample's tail holds the first few."""

    values: Floats
    units: Integers

    @classmethod
    def of(cls, values: Floats, units: Integers) -> _Worst:
        order = np.argsort(values, kind="stable")
        return cls(values[order], units[order])

    def tail_means(self, counts: Integers, wanted: Floats) -> Floats:
        """Means of so many of the worst scores of resamples, by how often a unit is drawn, shape (C, B)."""
        most = float(wanted.max())
        for first in (int(most + _ROOM * np.sqrt(most)) + 1, self.values.size):
            # Whole numbers are summed up in half the time.
            reached = counts.take(self.units[:first], axis=0).cumsum(axis=0)
            if (reached[-1] >= wanted).all():
                break
        within = np.minimum(reached, wanted)
        within[1:] -= within[:-1].copy()
        return np.einsum("d,db->b", self.values[:first], within) / wanted
