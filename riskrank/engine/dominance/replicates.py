"""Bootstrap replicates for one column of scores, reduced to the statistics that the tests need (method §4).

Storing all ratios for all resamples would take (B, orders, k, k) numbers. The tests need only part of them.
Relative claims use the k one-versus-all ratios of every resample. Direct and absolute claims use counts of
crossings and two running moments per pair.

If there are only a few sampled tasks, all possible resamples of the tasks are enumerated (method §8).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.ranking import tail_level
from riskrank.engine.dominance.violation import MERGING_COST, WEIGHTING_COST, ViolationKernel
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import MAX_UNITS, Multisets, WeightedDesign
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class BootstrapColumn:
    """One column of scores and the statistics to record in each resample.

    Attributes
    ----------
    scores : ClusteredScores
        Scores of k models.
    orders : tuple of int
        Orders of dominance.
    thresholds : tuple of float
        For each threshold, resamples with ε_ij at or above it are counted.
    pairs : tuple of (int, int), or None
        Pairs to compare; None for all pairs, which also provides the one-versus-all ratios.
    """

    scores: ClusteredScores
    orders: tuple[int, ...] = (1, 2)
    thresholds: tuple[float, ...] = (0.5,)
    pairs: tuple[tuple[int, int], ...] | None = None

    @cached_property
    def comparisons(self) -> float:
        """Cost of one resample, as a number of comparisons of equally weighted scores.

        A comparison of unequally weighted scores counts as more than one.
        """
        k = self.scores.models
        pairs = k * (k - 1) / 2
        if self.pairs is not None:
            pairs = len({(min(pair), max(pair)) for pair in self.pairs})
        if self.scores.unweighted:  # keep this formula: it determines the number of resamples
            return pairs * sum(self.scores.sizes) / k
        # Merging takes time in proportion to the distinct values, weighting in proportion to the scores.
        values = sum(np.unique(value).size for value in self.scores.values) / k
        return MERGING_COST * pairs * values + WEIGHTING_COST * sum(self.scores.sizes)


@dataclass(frozen=True)
class Replicates:
    """Statistics recorded in each resample.

    Attributes
    ----------
    orders : tuple of o int
        Orders of dominance.
    thresholds : tuple of t float
        Thresholds on ε_ij for which crossings were counted.
    overall : ndarray, shape (B, o, k), or None
        One-versus-all ratios ε_i; None if only some pairs were compared.
    crossings : ndarray of int, shape (t, o, k, k)
        Number of resamples with ε_ij at or above the threshold.
    ratio_error : ndarray, shape (o, k, k)
        Standard deviation of ε_ij.
    means : ndarray, shape (B, k)
        Mean score of each model, in the units of the scores.
    tails : ndarray, shape (B, k)
        Tail mean of each model (mean of the worst proportion `tail_level`), in the units of the scores.
    tail_level : float
        Proportion of worst scores in the tail means.
    probabilities : ndarray, shape (M,), or None
        Probability of each resample if all resamples of a few tasks were enumerated (method §8), otherwise
        None. In that case, `overall` has M rows and `crossings` contains probabilities, whereas the rows of
        `means` and `tails` are equally probable.
    """

    orders: tuple[int, ...]
    thresholds: tuple[float, ...]
    overall: Floats | None
    crossings: Integers | Floats
    ratio_error: Floats
    means: Floats
    tails: Floats
    tail_level: float
    probabilities: Floats | None = None

    @property
    def count(self) -> int:
        """Number of resamples, B."""
        return len(self.means)

    def smallest_probability(self, most: int) -> float:
        """Return the smallest probability that can be resolved with at most `most` resamples.

        It is 1/(`most` + 1) for random resamples, and the probability of the rarest resample if all were
        enumerated.
        """
        return 1 / (most + 1) if self.probabilities is None else float(self.probabilities.min())

    def one_versus_all(self, order: int) -> Floats:
        """Return the replicates of the one-versus-all ratios ε_i for an order of dominance, shape (B, k)."""
        assert self.overall is not None, "one-versus-all ratios need all pairs"
        return self.overall[:, self.orders.index(order)]

    def crossing_counts(self, order: int, threshold: float) -> Integers | Floats:
        """Return the number of resamples in which ε_ij is at least `threshold`, shape (k, k).

        `order` is the order of dominance. If all resamples were enumerated, return the probability of such a
        resample instead.
        """
        return self.crossings[self.thresholds.index(threshold), self.orders.index(order)]


@dataclass(frozen=True)
class Part:
    """Statistics of the B resamples that are computed in one worker task.

    Attributes
    ----------
    overall : ndarray, shape (B, o, k)
        One-versus-all ratios ε_i by order of dominance; shape (B, 0, k) if only some pairs were compared.
    crossings : ndarray of int, shape (t, o, k, k)
        Number of resamples with ε_ij at or above each threshold.
    sums, squares : ndarray, shape (o, k, k)
        Sums of the deviations of ε_ij from the estimate, and of their squares.
    means, tails : ndarray, shape (B, k)
        Mean and tail mean of each model, on a common scale.
    """

    overall: Floats
    crossings: Integers
    sums: Floats
    squares: Floats
    means: Floats
    tails: Floats


class Collector:
    """Accumulate the statistics of one column's resamples as the worker tasks finish."""

    def __init__(self, column: BootstrapColumn, scale: CommonScale, tail_level: float) -> None:
        """Prepare an empty collector.

        Parameters
        ----------
        column : BootstrapColumn
            Column of scores that is resampled.
        scale : CommonScale
            Scale of the resampled means and tail means.
        tail_level : float
            Proportion of worst scores in the tail means.
        """
        self._column, self._scale, self._tail_level = column, scale, tail_level
        self._parts: list[Part] = []
        self._crossings: Any = 0
        self._sums: Any = 0.0
        self._squares: Any = 0.0
        self.count = 0

    def add(self, part: Part) -> None:
        """Add the statistics of the next worker task (`part`); parts must be added in order."""
        self._crossings = self._crossings + part.crossings
        self._sums = self._sums + part.sums
        self._squares = self._squares + part.squares
        empty = np.empty(0)
        self._parts.append(replace(part, crossings=np.empty(0, dtype=np.int64), sums=empty, squares=empty))
        self.count += len(part.means)

    def replicates(self) -> Replicates:
        """Combine the statistics of all resamples added so far."""
        parts, scale = self._parts, self._scale
        spread = self._squares - self._sums**2 / self.count
        overall = np.concatenate([part.overall for part in parts])
        return Replicates(
            self._column.orders,
            self._column.thresholds,
            overall if self._column.pairs is None else None,
            self._crossings,
            np.sqrt(np.maximum(spread, 0) / max(self.count - 1, 1)),
            scale.undo(np.concatenate([part.means for part in parts])),
            scale.undo(np.concatenate([part.tails for part in parts])),
            self._tail_level,
        )


# Resamples per batch.
_BATCH = 64


def all_resamples(column: BootstrapColumn, work_limit: float) -> Multisets | None:
    """Enumerate all possible resamples of a column with sampled tasks.

    The result is None if the tasks are not sampled, if there are too many of them, or if the enumeration
    would exceed `work_limit` score comparisons.
    """
    tasks = column.scores.n_random_tasks
    if not 0 < tasks <= MAX_UNITS:
        return None
    multisets = Multisets.from_units(tasks)
    return multisets if len(multisets.probabilities) * column.comparisons <= work_limit else None


def all_replicates(column: BootstrapColumn, multisets: Multisets) -> Replicates:
    """Compute the replicates and probabilities of all possible resamples.

    Parameters
    ----------
    column : BootstrapColumn
        A column whose tasks are sampled.
    multisets : Multisets
        All multisets of its tasks.

    Returns
    -------
    Replicates
    """
    scores, k = column.scores, column.scores.models
    scale, level = CommonScale.fit(scores.values), tail_level(scores)
    design = WeightedDesign(replace(scores, values=scale.apply_all(scores.values)))
    kernel = ViolationKernel.for_models(k, orders=column.orders, pairs=column.pairs)
    masses, o = multisets.probabilities, len(column.orders)
    crossings = np.zeros((len(column.thresholds), o, k, k))
    sums, squares = np.zeros((2, o, k, k))
    overall, means, tails = [], [], []
    for start in range(0, len(masses), _BATCH):
        rows = slice(start, start + _BATCH)
        cumulated = design.resample_weights([multisets.counts[rows]] * k)
        ratios = kernel.ratios_of_steps(design.values, cumulated, max(scores.sizes))
        mass = masses[rows]
        if column.pairs is None:
            overall.append(((ratios.sum(axis=2) - 0.5) / (k - 1)).transpose(2, 0, 1))
        for t, threshold in enumerate(column.thresholds):
            crossings[t] += _weighted_sum(ratios >= threshold, mass)
        sums += _weighted_sum(ratios, mass)
        squares += _weighted_sum(ratios**2, mass)
        steps = [Steps(*step) for step in zip(design.values, cumulated, strict=True)]
        means.append(np.stack([step.means for step in steps], axis=1))
        tails.append(np.stack([step.tail_means(level) for step in steps], axis=1))
    repeated = multisets.equiprobable_rows()
    return Replicates(
        column.orders,
        column.thresholds,
        np.concatenate(overall) if column.pairs is None else None,
        crossings,
        np.sqrt(np.maximum(squares - sums**2, 0.0)),
        scale.undo(np.concatenate(means)[repeated]),
        scale.undo(np.concatenate(tails)[repeated]),
        level,
        masses,
    )


def _weighted_sum(values: np.ndarray, mass: Floats) -> Floats:
    """Sum `values` over resamples (the last axis), weighted by their probabilities `mass`."""
    return np.einsum("...b,b->...", values.astype(np.float64), mass)
