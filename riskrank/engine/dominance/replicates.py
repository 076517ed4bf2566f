"""What is kept of bootstrap resamples (method §4).

The ratios of every resample would be (B, orders, k, k) numbers. No test needs them whole: relative claims
live on the k one-versus-all ratios of a resample, direct and absolute ones on counts of crossings and two
running moments a pair. Only those are kept.

Replicates of a column from all resamples of its tasks, where tasks like these are few (method §8).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.ranking import tail_level
from riskrank.engine.dominance.violation import COST, WEIGHING, ViolationKernel
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import MOST_UNITS, Multisets, WeightedDesign
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class BootstrapColumn:
    """One column of scores and what to keep of its resamples.

    Attributes
    ----------
    scores : ClusteredScores
    orders : tuple of int
        Orders of dominance.
    thresholds : tuple of float
        Values of ε_ij whose crossings are counted.
    pairs : tuple of (int, int), or None
        Pairs to look at; None for all, with one-versus-all ratios.
    """

    scores: ClusteredScores
    orders: tuple[int, ...] = (1, 2)
    thresholds: tuple[float, ...] = (0.5,)
    pairs: tuple[tuple[int, int], ...] | None = None

    @cached_property
    def comparisons(self) -> float:
        """Score comparisons a resample costs: pairs times scores a model, as if all weighed the same."""
        k = self.scores.models
        pairs = k * (k - 1) / 2
        if self.pairs is not None:
            pairs = len({(min(pair), max(pair)) for pair in self.pairs})
        if self.scores.plain:  # also of units of several sizes: how many resamples depends on it
            return pairs * sum(self.scores.sizes) / k
        # Few different values are merged at once, whatever their number; weighing them is a pass a model.
        values = sum(np.unique(value).size for value in self.scores.values) / k
        return COST * pairs * values + WEIGHING * sum(self.scores.sizes)


@dataclass(frozen=True)
class Replicates:
    """What is kept of every resample.

    Attributes
    ----------
    orders : tuple of o int
        Orders of dominance that were looked at.
    thresholds : tuple of t float
        Values of ε_ij whose crossings were counted.
    overall : ndarray, shape (B, o, k), or None
        One-versus-all ratios ε_i; None where only some pairs were looked at.
    crossings : ndarray of int, shape (t, o, k, k)
        Number of resamples with ε_ij at or above the threshold.
    ratio_error : ndarray, shape (o, k, k)
        Standard deviation of ε_ij.
    means : ndarray, shape (B, k)
        Mean score of each model, in the units of the scores.
    tails : ndarray, shape (B, k)
        Mean of the worst share `tail_level` of each model's scores, in the same units.
    tail_level : float
        max(0.05, 5/n).
    masses : ndarray, shape (M,), or None
        Of all resamples of few tasks (method §8): the probability of each. Then `overall` has M rows, the
        crossings are probabilities, and each row of `means` and `tails` counts the same.
    """

    orders: tuple[int, ...]
    thresholds: tuple[float, ...]
    overall: Floats | None
    crossings: Integers | Floats
    ratio_error: Floats
    means: Floats
    tails: Floats
    tail_level: float
    masses: Floats | None = None

    @property
    def count(self) -> int:
        """Number of resamples, B."""
        return len(self.means)

    def smallest_share(self, most: int) -> float:
        """Smallest share of resamples that can be shown, where so many would be drawn at most."""
        return 1 / (most + 1) if self.masses is None else float(self.masses.min())

    def one_versus_all(self, order: int) -> Floats:
        """Replicates of ε_i for one order, shape (B, k)."""
        assert self.overall is not None, "one-versus-all ratios need all pairs"
        return self.overall[:, self.orders.index(order)]

    def crossed(self, order: int, threshold: float) -> Integers | Floats:
        """Number of resamples with ε_ij at or above a threshold, or their probability, shape (k, k)."""
        return self.crossings[self.thresholds.index(threshold), self.orders.index(order)]


@dataclass(frozen=True)
class Part:
    """The resamples of one task, summed up where nothing more is needed."""

    overall: Floats
    crossings: Integers
    sums: Floats
    squares: Floats
    means: Floats
    tails: Floats


class Gathering:
    """Resamples of one column as their parts come in."""

    def __init__(self, column: BootstrapColumn, scale: CommonScale, tail_level: float) -> None:
        self._column, self._scale, self._tail_level = column, scale, tail_level
        self._kept: list[Part] = []
        self._crossings: Any = 0
        self._sums: Any = 0.0
        self._squares: Any = 0.0
        self.count = 0

    def add(self, part: Part) -> None:
        """Take in the next part."""
        self._crossings = self._crossings + part.crossings
        self._sums = self._sums + part.sums
        self._squares = self._squares + part.squares
        empty = np.empty(0)
        self._kept.append(replace(part, crossings=np.empty(0, dtype=np.int64), sums=empty, squares=empty))
        self.count += len(part.means)

    def replicates(self) -> Replicates:
        """All resamples so far."""
        kept, scale = self._kept, self._scale
        spread = self._squares - self._sums**2 / self.count
        overall = np.concatenate([part.overall for part in kept])
        return Replicates(
            self._column.orders,
            self._column.thresholds,
            overall if self._column.pairs is None else None,
            self._crossings,
            np.sqrt(np.maximum(spread, 0) / max(self.count - 1, 1)),
            scale.undo(np.concatenate([part.means for part in kept])),
            scale.undo(np.concatenate([part.tails for part in kept])),
            self._tail_level,
        )


# Resamples weighed at once.
_BATCH = 64


def enumerable(column: BootstrapColumn, work_limit: float) -> Multisets | None:
    """All resamples of a column whose tasks are drawn; None of many tasks, or where they would take long."""
    tasks = column.scores.drawn_tasks
    if not 0 < tasks <= MOST_UNITS:
        return None
    found = Multisets.of(tasks)
    return found if len(found.masses) * column.comparisons <= work_limit else None


def enumerated(column: BootstrapColumn, multisets: Multisets) -> Replicates:
    """Replicates of all resamples, with their probabilities.

    Parameters
    ----------
    column : BootstrapColumn
        Whose tasks are drawn.
    multisets : Multisets
        Of the tasks.

    Returns
    -------
    Replicates
    """
    scores, k = column.scores, column.scores.models
    scale, level = CommonScale.of(scores.values), tail_level(scores)
    design = WeightedDesign(replace(scores, values=scale.of_all(scores.values)))
    kernel = ViolationKernel.of(k, orders=column.orders, pairs=column.pairs)
    masses, o = multisets.masses, len(column.orders)
    crossings = np.zeros((len(column.thresholds), o, k, k))
    sums, squares = np.zeros((2, o, k, k))
    overall, means, tails = [], [], []
    for start in range(0, len(masses), _BATCH):
        rows = slice(start, start + _BATCH)
        cumulated = design.of_counts([multisets.counts[rows]] * k)
        ratios = kernel.ratios_of_steps(design.values, cumulated, max(scores.sizes))
        mass = masses[rows]
        if column.pairs is None:
            overall.append(((ratios.sum(axis=2) - 0.5) / (k - 1)).transpose(2, 0, 1))
        for t, threshold in enumerate(column.thresholds):
            crossings[t] += _weighed(ratios >= threshold, mass)
        sums += _weighed(ratios, mass)
        squares += _weighed(ratios**2, mass)
        steps = [Steps(*one) for one in zip(design.values, cumulated, strict=True)]
        means.append(np.stack([one.means for one in steps], axis=1))
        tails.append(np.stack([one.tail_means(level) for one in steps], axis=1))
    alike = multisets.rows()
    return Replicates(
        column.orders,
        column.thresholds,
        np.concatenate(overall) if column.pairs is None else None,
        crossings,
        np.sqrt(np.maximum(squares - sums**2, 0.0)),
        scale.undo(np.concatenate(means)[alike]),
        scale.undo(np.concatenate(tails)[alike]),
        level,
        masses,
    )


def _weighed(values: np.ndarray, mass: Floats) -> Floats:
    return np.einsum("...b,b->...", values.astype(np.float64), mass)
