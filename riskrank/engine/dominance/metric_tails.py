"""Tail means of every model on every metric, using the same resamples for all metrics.

The proportion of worst samples is the same as for a single column (:func:`.ranking.tail_level`). Resample
number b draws the same units as resample b in the bootstrap of a single column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.ranking import tail_level
from riskrank.engine.dominance.violation import WEIGHTING_COST
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK, ResampleBlock, draw_blocks, make_blocks, unit_counts
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Booleans, Floats, Integers

# Unit counts computed at once: enough to make the overhead of NumPy calls small.
_BATCH = 1 << 20

# Margin around the expected end of the tail, in standard deviations of the number of drawn scores.
_MARGIN = 5

# Function from the unit counts of every model, shapes (B, C), to the tail means, shape (B, k, m).
Tails = Callable[[list[Integers]], Floats]


class MetricTails:
    """Tail means of k models on m metrics, in the original sample and in resamples.

    Parameters
    ----------
    columns : sequence of m ClusteredScores
        One column per metric, all on the same samples.
    seed : int
        Entropy of the random streams.
    weighted : ndarray of bool, shape (m,)
        True for metrics with positive weight; only these can support a verdict.

    Attributes
    ----------
    columns : sequence of ClusteredScores
    level : float
        Proportion of worst samples.
    sample : ndarray, shape (k, m)
        Tail means in the original sample; larger is better.
    weighted : ndarray of bool, shape (m,)
        True for metrics with positive weight.
    """

    @classmethod
    def from_tables(cls, tables: ScoreTables, inference: Inference) -> MetricTails | None:
        """Return the tail means of all metrics behind a portfolio.

        The result is None for a single metric, without resampling, and for the exact test of the paper.
        """
        if len(tables.metrics) == 1 or not inference.uses_resampling or inference.paper_exact:
            return None
        columns = [tables.clustered_column(name) for name in tables.metrics]
        return cls(columns, seed=inference.seed, weighted=tables.weights > 0)

    def __init__(self, columns: Sequence[ClusteredScores], *, seed: int, weighted: Booleans) -> None:
        """Compute the tail means in the original sample; nothing is resampled yet."""
        self.columns, self.level = columns, tail_level(columns[0])
        self.weighted, self.seed = weighted, seed
        self._tails = (_equal_weight_tails if columns[0].unweighted else _weighted_tails)(columns, self.level)
        ones = [np.ones((1, count), dtype=np.int64) for count in columns[0].cluster_counts]
        self.sample = self._tails(ones)[0]
        self._resampled = [np.empty((0, *self.sample.shape))]

    @property
    def work(self) -> float:
        """Number of score comparisons per resample; only the worst scores count if the weights are equal."""
        scores = len(self.columns) * sum(self.columns[0].sizes)
        return scores * (self.level if self.columns[0].unweighted else WEIGHTING_COST)

    def replicates(self, total: int) -> Floats:
        """Return the tail means in the first `total` resamples, shape (total, k, m)."""
        done = sum(map(len, self._resampled))
        if done < total:
            missing = make_blocks(total, self.seed)[done // BLOCK :]
            self._resampled += [self._tails(counts) for counts in _draw_unit_counts(self.columns[0], missing)]
            self._resampled = [np.concatenate(self._resampled)]
        return self._resampled[0][:total]


def _draw_unit_counts(scores: ClusteredScores, blocks: Sequence[ResampleBlock]) -> Iterator[list[Integers]]:
    """Draw the resamples of several blocks, and yield how often each unit is drawn, a few blocks at a time.

    Each item is a list with one array per model, of shape (resamples, units).
    """
    units = scores.cluster_counts[:1] if scores.joint_resamples else scores.cluster_counts
    step = max(_BATCH // (BLOCK * sum(units)), 1)
    for start in range(0, len(blocks), step):
        draws = draw_blocks(scores, blocks[start : start + step])
        # Bytes, unless a unit is drawn more often than they can count.
        counts = [count.astype(np.min_scalar_type(count.max())) for count in map(unit_counts, draws)]
        yield counts * scores.models if scores.joint_resamples else counts


def _weighted_tails(columns: Sequence[ClusteredScores], level: float) -> Tails:
    """Return a function that computes tail means of unequally weighted scores in resamples.

    `columns` holds one column per metric, `level` is the proportion of worst scores. The function maps the
    draw counts of each model's units, shapes (B, C), to tail means, shape (B, k, m).
    """
    scales = [CommonScale.fit(scores.values) for scores in columns]
    designs = [
        WeightedDesign(replace(scores, values=scale.apply_all(scores.values)))
        for scores, scale in zip(columns, scales, strict=True)
    ]

    def tails(counts: list[Integers]) -> Floats:
        """Return the tail means in B resamples, shape (B, k, m).

        `counts` holds the draw counts of each model's units, shapes (B, C).
        """
        results = []
        for scale, design in zip(scales, designs, strict=True):
            steps = zip(design.values, design.resample_weights(counts), strict=True)
            results.append(scale.undo(np.stack([Steps(*step).tail_means(level) for step in steps], axis=1)))
        return np.stack(results, axis=2)

    return tails


def _equal_weight_tails(columns: Sequence[ClusteredScores], level: float) -> Tails:
    """Return a function that computes tail means of equally weighted scores in resamples.

    See `_weighted_tails`.
    """
    first = columns[0]
    scales = [CommonScale.fit(scores.values) for scores in columns]
    worst = [
        [_SortedScores.from_scores(*row) for row in zip(scale.apply_all(c.values), c.clusters, strict=True)]
        for c, scale in zip(columns, scales, strict=True)
    ]
    sizes = [np.bincount(units) for units in first.clusters]

    def tails(counts: list[Integers]) -> Floats:
        """Return the tail means in B resamples, shape (B, k, m).

        `counts` holds the draw counts of each model's units, shapes (B, C).
        """
        # Units of equal size give resamples of equal size.
        totals = first.sizes if first.balanced else [np.vecdot(*x) for x in zip(counts, sizes, strict=True)]
        targets = [level * np.asarray(total, dtype=np.float64) for total in totals]
        rows = [zip(models, counts, targets, strict=True) for models in worst]
        means = [np.stack([x.tail_means(count, t) for x, count, t in metric], axis=1) for metric in rows]
        return np.stack([scale.undo(mean) for scale, mean in zip(scales, means, strict=True)], axis=2)

    return tails


@dataclass(frozen=True)
class _SortedScores:
    """Equally weighted scores of one model in ascending order, with their resampling units."""

    values: Floats
    units: Integers

    @classmethod
    def from_scores(cls, values: Floats, units: Integers) -> _SortedScores:
        """Sort the scores (`values`) of one model, together with the resampling unit of each score."""
        order = np.argsort(values, kind="stable")
        return cls(values[order], units[order])

    def tail_means(self, counts: Integers, targets: Floats) -> Floats:
        """Return the mean of the worst scores in each resample, shape (B,).

        `counts`, shape (B, C), is the number of times that each unit is drawn. `targets` holds the number of
        scores in the tail of each resample.
        """
        low, high = float(targets.min()), float(targets.max())
        # In almost every resample, scores before `start` are in the tail, and those from `end` on are not.
        guess = max(int(low - _MARGIN * np.sqrt(low)), 0), int(high + _MARGIN * np.sqrt(high)) + 1
        for start, end in (guess, (0, self.values.size)):
            drawn = counts.take(self.units[:end], axis=1, mode="clip")
            # Integers of 32 bits are summed fastest, but must not overflow.
            kind = np.min_scalar_type(max(int(drawn.max()) * end, 1 << 16))
            before = drawn[:, :start].sum(axis=1, keepdims=True, dtype=kind)
            reached = np.cumsum(np.hstack((before, drawn[:, start:])), axis=1, dtype=kind)
            if (before[:, 0] <= targets).all() and (reached[:, -1] >= targets).all():
                break
        within = np.minimum(reached, np.expand_dims(targets, -1))
        shares = drawn.astype(np.float64)
        np.subtract(within[:, 1:], within[:, :-1], out=shares[:, start:])
        return np.einsum("bd,d->b", shares, self.values[:end]) / targets
