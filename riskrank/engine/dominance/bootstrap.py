"""Bootstrap replicates of violation ratios, means and tail means from shared resamples (method §4).

Columns are resampled in blocks, each with its own random stream, in parallel processes. Later rounds continue
the stream of resamples where the previous round stopped.

Storing all ratios for all resamples would take (B, orders, k, k) numbers. The tests need only part of them.
Relative claims use the k one-versus-all ratios of every resample. Direct and absolute claims use counts of
crossings and two running moments per pair.

If there are only a few sampled tasks, all possible resamples of the tasks are enumerated (method §8).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from riskrank.engine.dominance.ranking import tail_level, violation_ratios
from riskrank.engine.dominance.violation import MERGING_COST, WEIGHTING_COST, ViolationKernel, round_ratios
from riskrank.engine.judges import tune_for_tail
from riskrank.engine.numeric import CommonScale
from riskrank.engine.portfolio.quantiles import sorted_tail_value_at_risk
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import Workers
from riskrank.engine.sampling.resamples import BLOCK, KERNEL, ResampleBlock, batches, make_blocks
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import MAX_UNITS, Multisets, WeightedDesign
from riskrank.engine.types import Floats, Integers, Progress


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

    def smallest_probability(self, max_resamples: int) -> float:
        """Return the smallest probability that can be estimated with at most `max_resamples` resamples.

        It is 1/(`max_resamples` + 1) for random resamples. If all possible resamples were enumerated, it is
        the probability of the rarest one.
        """
        return 1 / (max_resamples + 1) if self.probabilities is None else float(self.probabilities.min())

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
_ROWS = 64


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
    for start in range(0, len(masses), _ROWS):
        rows = slice(start, start + _ROWS)
        cumulated = design.resample_weights([multisets.counts[rows]] * k)
        ratios = kernel.ratios_of_steps(design.values, cumulated, max(scores.sizes))
        probabilities = masses[rows]
        if column.pairs is None:
            overall.append(((ratios.sum(axis=2) - 0.5) / (k - 1)).transpose(2, 0, 1))
        for t, threshold in enumerate(column.thresholds):
            crossings[t] += _weighted_sum(ratios >= threshold, probabilities)
        sums += _weighted_sum(ratios, probabilities)
        squares += _weighted_sum(ratios**2, probabilities)
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


def _weighted_sum(values: np.ndarray, probabilities: Floats) -> Floats:
    """Sum `values` over the resamples on the last axis, weighted by the probabilities of the resamples."""
    return np.einsum("...b,b->...", values.astype(np.float64), probabilities)


Task = tuple[int, list[ResampleBlock]]

# Score comparisons above which starting worker processes is faster.
_PROCESS_THRESHOLD = 300_000_000

# Cost of a comparison in the compiled kernel, relative to NumPy.
_COMPILED_COST = 0.2

# Scores drawn in one NumPy call: enough to make its overhead negligible, few enough for the shared cache.
_BATCH = 1 << 18

# Scores resampled in one task.
_TASK = 1 << 18


class Bootstrap:
    """Bootstrap of several columns with common random streams; more resamples can be added later.

    Each round continues where the previous one stopped. The first 1000 of 5000 resamples equal those of a run
    with 1000 resamples, provided that each round ends with a complete block.

    Parameters
    ----------
    columns : sequence of BootstrapColumn
        Columns of scores, and the statistics to record in each resample.
    seed : int
        Entropy of the random streams.
    workers : Workers, optional
        Worker processes; by default everything runs in the calling process.
    progress : callable, optional
        Called with the number of completed resamples over all columns, and the number planned so far.
    """

    def __init__(
        self,
        columns: Sequence[BootstrapColumn],
        *,
        seed: int,
        workers: Workers | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Compute the estimates of all columns; nothing is resampled yet."""
        self._columns = [_Column.from_scores(column) for column in columns]
        self._collectors = [Collector(c.column, c.scale, c.tail_level) for c in self._columns]
        self._seed = seed
        self._workers = workers or Workers(1)
        self._progress = progress
        self._done = self._planned = 0

    def extend(self, totals: dict[int, int]) -> dict[int, Replicates]:
        """Add resamples until each given column has its requested total.

        Parameters
        ----------
        totals : dict of int to int
            Requested total number of resamples, by column index.

        Returns
        -------
        dict of int to Replicates
            Replicates of these columns from all resamples so far, by column index.
        """
        tasks: list[Task] = []  # their division does not depend on the number of processes
        for at, total in totals.items():
            blocks = make_blocks(total, self._seed)[self._collectors[at].count // BLOCK :]
            step = max(_TASK // (BLOCK * sum(self._columns[at].scores.sizes)), 1)
            tasks += [(at, blocks[start : start + step]) for start in range(0, len(blocks), step)]
        work = sum(self._columns[at].work * _count_resamples(part) for at, part in tasks)
        self._planned += sum(_count_resamples(part) for _, part in tasks)
        workers = self._workers if work > _PROCESS_THRESHOLD else Workers(1)
        finished = np.cumsum([self._done, *(_count_resamples(part) for _, part in tasks)]).tolist()

        def report_progress(count: int) -> None:
            """Report the number of completed resamples, given the number of completed tasks."""
            if self._progress is not None:
                self._progress(finished[count], self._planned)

        results: Iterator[Part] = workers.run(_run_task, self._columns, tasks, report_progress)
        for (at, _), part in zip(tasks, results, strict=True):
            self._collectors[at].add(part)
        self._done = finished[-1]
        return {at: self._collectors[at].replicates() for at in totals}


def _count_resamples(blocks: list[ResampleBlock]) -> int:
    """Return the total number of resamples in a list of blocks."""
    return sum(block.count for block in blocks)


@dataclass(frozen=True)
class _Column:
    """A column of scores with everything that is computed once before it is resampled.

    Attributes
    ----------
    column : BootstrapColumn
        Original scores, and the statistics to record in each resample.
    scores : ClusteredScores
        Scores, scaled to a common magnitude.
    scale : CommonScale
        The scale of these scores.
    ratios : ndarray, shape (o, k, k)
        Violation ratios in the sample, by order of dominance.
    tail_level : float
        Proportion of worst scores in the tail means.
    tail_scores : ClusteredScores
        Scaled scores with judge weights tuned for the tail means; without a judge, the same as `scores`.
    """

    column: BootstrapColumn
    scores: ClusteredScores
    scale: CommonScale
    ratios: Floats
    tail_level: float
    tail_scores: ClusteredScores

    @classmethod
    def from_scores(cls, column: BootstrapColumn) -> _Column:
        """Scale the scores of a column to a common magnitude, and compute its estimates from the sample."""
        scores = column.scores
        scale = CommonScale.fit(scores.values)
        scaled = replace(scores, values=scale.apply_all(scores.values))
        ratios = violation_ratios(scores, orders=column.orders)
        level = tail_level(scores)
        return cls(column, scaled, scale, ratios, level, tune_for_tail(scaled, level))

    @property
    def work(self) -> float:
        """Cost of one resample, in score comparisons of the NumPy kernel."""
        compiled = KERNEL is not None and self.scores.balanced and self.scores.sorted_scores is not None
        return self.column.comparisons * (_COMPILED_COST if compiled else 1.0)


def _run_task(columns: Sequence[_Column], task: Task) -> Part:
    """Compute the statistics for all resamples of one task.

    A task is the index of a column in `columns`, with blocks of resamples.
    """
    at, blocks = task
    prepared, total = columns[at], _count_resamples(blocks)
    column, k = prepared.column, prepared.scores.models
    kernel = ViolationKernel.for_models(k, orders=column.orders, pairs=column.pairs)
    ratios = np.empty((len(column.orders), k, k, total))
    means, tails = np.empty((2, k, total))
    resample = _resample_equal if prepared.scores.balanced else _resample_weighted
    for rows, values, *statistics in resample(prepared, blocks, kernel):
        ratios[..., rows] = values
        means[:, rows], tails[:, rows] = statistics
    # Sum along the middle axis, so that equal models have exactly equal sums.
    overall = np.empty((total, 0, k))
    if column.pairs is None:
        overall = ((ratios.sum(axis=2) - 0.5) / (k - 1)).transpose(2, 0, 1)
    thresholds = round_ratios(np.array(column.thresholds))
    crossings = np.array([np.count_nonzero(ratios >= threshold, axis=3) for threshold in thresholds])
    deviations = ratios - prepared.ratios[..., None]
    # A sum over a copied or transposed array can differ in its last bit, and only some parts are copied
    # between processes. All parts therefore get the same memory layout.
    return Part(
        np.ascontiguousarray(overall),
        crossings,
        deviations.sum(axis=3),
        np.einsum("oijb,oijb->oij", deviations, deviations),
        np.ascontiguousarray(means.T),
        np.ascontiguousarray(tails.T),
    )


# Numbers of some resamples, and their ratios, means and tail means, shapes (o, k, k, B) and (k, B).
Resampled = Iterator[tuple[slice, Floats, Floats, Floats]]


def _resample_equal(prepared: _Column, blocks: list[ResampleBlock], kernel: ViolationKernel) -> Resampled:
    """Resample equally weighted scores in batches.

    `prepared` is the column, `blocks` are the blocks of resamples to draw, and `kernel` computes violation
    ratios.

    Yields
    ------
    (slice, ndarray, ndarray, ndarray)
        Positions of the resamples, their violation ratios, shape (o, k, k, B), and their means and tail
        means, shapes (k, B).
    """
    done, level = 0, prepared.tail_level
    for ordered in batches(prepared.scores, blocks, size=max(_BATCH // sum(prepared.scores.sizes), 1)):
        rows = slice(done, done + len(ordered[0]))
        done = rows.stop
        # The scores are sorted, so models with equal scores have exactly equal means.
        samples = [ordered] if isinstance(ordered, np.ndarray) else [sample[None] for sample in ordered]
        means = np.concatenate([sample.mean(axis=2) for sample in samples])
        tails = np.concatenate([sorted_tail_value_at_risk(sample, level) for sample in samples])
        yield rows, kernel.resampled_ratios(ordered), means, tails


def _resample_weighted(prepared: _Column, blocks: list[ResampleBlock], kernel: ViolationKernel) -> Resampled:
    """Resample unequally weighted scores in batches; see `_resample_equal` for the result.

    Only the weights differ between resamples, so the scores are not sorted again.
    """
    scores, done = prepared.scores, 0
    design = WeightedDesign(scores)
    # With a judge, tails have different weights for the same resamples.
    tail = design if prepared.tail_scores is scores else WeightedDesign(prepared.tail_scores)
    tail_batches = repeat(None) if tail is design else tail.batches(blocks, size=BLOCK)
    for cumulated, tail_rows in zip(design.batches(blocks, size=BLOCK), tail_batches, strict=False):
        rows = slice(done, done + len(cumulated[0]))
        done = rows.stop
        ratios = round_ratios(kernel.ratios_of_steps(design.values, cumulated, max(scores.sizes)))
        worst = zip(tail.values, tail_rows or cumulated, strict=True)
        means = np.stack([Steps(*step).means for step in zip(design.values, cumulated, strict=True)])
        yield rows, ratios, means, np.stack([Steps(*step).tail_means(prepared.tail_level) for step in worst])
