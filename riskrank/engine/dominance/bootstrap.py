"""Bootstrap replicates of violation ratios, means and tails, all from one resampling (method §4).

Columns are resampled in blocks with a random stream each, in as many processes as there are, and continued
where an earlier round stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.replicates import Gathering, Part, Replicates, joined
from riskrank.engine.dominance.uneven_clusters import padded
from riskrank.engine.dominance.violation import ViolationKernel
from riskrank.engine.dominance.weighted_violation import COST, TOGETHER, WEIGHING, WeightedKernel, matrices_of
from riskrank.engine.judges.tails import for_tail
from riskrank.engine.portfolio.quantiles import tail_value_of_sorted
from riskrank.engine.sampling.design import FEWEST_LABELS, ClusteredScores
from riskrank.engine.sampling.processes import Jobs, Workers
from riskrank.engine.sampling.resamples import BLOCK, Blocks, batches, blocks
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Floats

Task = tuple[int, Blocks]

# Score comparisons in one process before a second one pays for its own start.
_WORTH_A_PROCESS = 60_000_000

# Scores drawn in one NumPy call: enough that its overhead is nothing, few enough to stay in the cache.
_BATCH = 1 << 16

# Scores resampled in one task.
_TASK = 1 << 18

TAIL_LEVEL = 0.05


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
        if self.scores.weights is None:
            return pairs * sum(self.scores.sizes) / k
        # Few different values are merged at once, whatever their number; weighing them is a pass a model.
        values = sum(np.unique(value).size for value in self.scores.values) / k
        return COST * pairs * values + WEIGHING * sum(self.scores.sizes)


def tail_level(scores: ClusteredScores) -> float:
    """Level of the worst share of the scores: 5 %, or five samples where they are more (method §4).

    With a judge, 20 of those that people scored (method §12).
    """
    if scores.labelled is not None:
        return min(max(TAIL_LEVEL, FEWEST_LABELS / scores.labelled), 1.0)
    samples: float = min(scores.cluster_counts)
    if scores.weights is not None:
        # Also where whole tasks are drawn, a tail is one of samples.
        units = scores.clusters if scores.samples is None else scores.samples
        sums = [np.bincount(*both) for both in zip(units, scores.weights, strict=True)]
        samples = min(float(1 / (own**2).sum()) for own in sums)
    return min(max(TAIL_LEVEL, 5 / samples), 1.0)


class Bootstrap:
    """Resamples of several columns, all with the same streams, that can be continued.

    A later round goes on where an earlier one stopped: the first 1000 of 5000 resamples are those of a run
    of 1000, as long as a round ends with a whole block.

    Parameters
    ----------
    columns : sequence of BootstrapColumn
    seed : int
        Entropy of the random streams.
    jobs : int or Workers
        Number of processes, or those there are, which stay open.
    progress : callable, optional
        Called with the number of finished resamples of all columns and of those planned so far.
    """

    def __init__(
        self,
        columns: Sequence[BootstrapColumn],
        *,
        seed: int,
        jobs: Jobs = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._problems = [_Problem.of(column) for column in columns]
        self._gathered = [problem.gathering() for problem in self._problems]
        self._seed = seed
        self._here = Workers(1)
        self._own = Workers(jobs) if isinstance(jobs, int) else None
        self._workers = jobs if isinstance(jobs, Workers) else self._own or self._here
        self._progress = progress
        self._done = self._planned = 0

    def __enter__(self) -> Bootstrap:
        return self

    def __exit__(self, *reason: Any) -> None:
        if self._own is not None:
            self._own.__exit__(*reason)

    def extend(self, totals: dict[int, int]) -> dict[int, Replicates]:
        """Draw until the numbered columns hold these totals of resamples.

        Parameters
        ----------
        totals : dict of int to int
            Resamples wanted, by column.

        Returns
        -------
        dict of int to Replicates
            All resamples of these columns so far.
        """
        tasks = [task for at, total in totals.items() for task in self._tasks(at, total)]
        work = sum(self._problems[at].column.comparisons * part.total for at, part in tasks)
        self._planned += sum(part.total for _, part in tasks)
        # Processes of the caller's run already, and cost nothing to start.
        wait = self._own is not None and work <= _WORTH_A_PROCESS
        workers = self._here if wait else self._workers
        results: Iterator[Part] = workers.run(_run, self._problems, tasks)
        for (at, _), part in zip(tasks, results, strict=True):
            self._gathered[at].add(part)
            self._done += len(part.means)
            if self._progress is not None:
                self._progress(self._done, self._planned)
        return {at: self._gathered[at].replicates() for at in totals}

    def _tasks(self, at: int, total: int) -> list[Task]:
        """Blocks that column `at` still lacks, cut by its size alone: the same for any number of jobs."""
        problem = self._problems[at]
        lacking = blocks(total, self._seed)[self._gathered[at].count // BLOCK :]
        step = max(_TASK // (BLOCK * sum(problem.scores.sizes)), 1)
        return [(at, lacking[start : start + step]) for start in range(0, len(lacking), step)]


@dataclass(frozen=True)
class _Problem:
    """A column, ready to be resampled anywhere."""

    column: BootstrapColumn
    scores: ClusteredScores
    scale: CommonScale
    ratios: Floats
    tail_level: float
    tail_scores: ClusteredScores

    @classmethod
    def of(cls, column: BootstrapColumn) -> _Problem:
        scores = column.scores
        scale = CommonScale.of(scores.values)
        scaled = replace(scores, values=tuple(scale.apply(value) for value in scores.values))
        ratios = matrices_of(scores, orders=column.orders)
        level = tail_level(scores)
        return cls(column, scaled, scale, ratios, level, for_tail(scaled, level))

    def gathering(self) -> Gathering:
        column = self.column
        return Gathering(
            column.orders, column.thresholds, self.scale, self.tail_level, all_pairs=column.pairs is None
        )


def _run(problems: Sequence[_Problem], task: Task) -> Part:
    at, streams = task
    problem = problems[at]
    scores = problem.scores
    units = [np.bincount(cluster) for cluster in scores.clusters]
    uneven = any(np.ptp(sizes) > 0 for sizes in units)
    alike = scores.paired and all(np.array_equal(sizes, units[0]) for sizes in units)
    if scores.weights is not None or (uneven and not alike and max(scores.sizes) <= TOGETHER):
        return _run_weighted(problem, streams)
    if uneven and alike:
        return _run_uneven(problem, streams)
    size = max(_BATCH // sum(problem.scores.sizes), 1)
    kernel: ViolationKernel | None = None
    parts = []
    for batch in batches(problem.scores, streams, size=size):
        sizes = tuple(sample.shape[-1] for sample in batch.ordered)
        if kernel is None or kernel.sizes != sizes:
            column = problem.column
            kernel = ViolationKernel.for_sizes(sizes, orders=column.orders, pairs=column.pairs)
        parts.append(_summed(problem, kernel.ratios(batch.ordered), *_statistics(problem, batch.ordered)))
    return joined(parts)


def _run_uneven(problem: _Problem, streams: Blocks) -> Part:
    """Resamples of paired clusters of several sizes, those of about one length together."""
    scores, column, kernels = problem.scores, problem.column, dict[int, ViolationKernel]()
    k, count = scores.models, sum(count for _, count in streams)
    ratios, (means, tails) = np.empty((len(column.orders), k, k, count)), np.empty((2, k, count))
    for part in padded(scores, streams, entries=_BATCH):
        length = part.ordered.shape[2]
        if length not in kernels:
            sizes = [length] * k
            kernels[length] = ViolationKernel.for_sizes(sizes, orders=column.orders, pairs=column.pairs)
        ratios[..., part.rows] = kernels[length].ratios(part.ordered)
        means[:, part.rows], tails[:, part.rows] = part.means(), part.tails(problem.tail_level)
    return _summed(problem, ratios, means, tails)


def _run_weighted(problem: _Problem, streams: Blocks) -> Part:
    """Resamples of scores that weigh differently: weights change, and no score is sorted again."""
    scores, column = problem.scores, problem.column
    design = WeightedDesign(scores)
    kernel = WeightedKernel.of(design.values, max(scores.sizes), orders=column.orders, pairs=column.pairs)
    # With a judge a tail has weights of its own, of the same draws.
    tail = design if scores.labelled is None else WeightedDesign(problem.tail_scores)
    of_tails = repeat(None) if tail is design else tail.batches(streams, size=BLOCK)
    parts = []
    for cumulated, of_tail in zip(design.batches(streams, size=BLOCK), of_tails, strict=False):
        steps = [Steps(*one) for one in zip(design.values, cumulated, strict=True)]
        worst = zip(tail.values, of_tail or cumulated, strict=True)
        means = np.stack([one.means for one in steps])
        tails = np.stack([Steps(*one).tail_means(problem.tail_level) for one in worst])
        parts.append(_summed(problem, kernel.ratios(cumulated), means, tails))
    return joined(parts)


def _statistics(problem: _Problem, ordered: Floats | list[Floats]) -> tuple[Floats, Floats]:
    """Means and tail means of sorted resamples, shapes (k, B)."""
    # Sorted scores: models with equal scores have equal means to the last bit.
    means = (
        ordered.mean(axis=2)
        if isinstance(ordered, np.ndarray)
        else np.stack([sample.mean(axis=1) for sample in ordered])
    )
    level = problem.tail_level
    tails = (
        tail_value_of_sorted(ordered, level)
        if isinstance(ordered, np.ndarray)
        else np.stack([tail_value_of_sorted(sample, level) for sample in ordered])
    )
    return means, tails


def _summed(problem: _Problem, ratios: Floats, means: Floats, tails: Floats) -> Part:
    column = problem.column
    o, k, _, count = ratios.shape
    # Summed over the beaten models along the middle axis; equal models have equal sums to the last bit.
    overall = np.empty((count, 0, k))
    if column.pairs is None:
        overall = ((ratios.sum(axis=2) - 0.5) / (k - 1)).transpose(2, 0, 1)
    crossings = np.empty((len(column.thresholds), o, k, k), dtype=np.int64)
    for t, threshold in enumerate(column.thresholds):
        crossings[t] = np.count_nonzero(ratios >= threshold, axis=3)
    deviations = ratios - problem.ratios[..., None]
    # A sum over a copied or a transposed array may differ in its last bit, and only some parts travel between
    # processes: all are laid out alike.
    return Part(
        np.ascontiguousarray(overall),
        crossings,
        deviations.sum(axis=3),
        np.einsum("oijb,oijb->oij", deviations, deviations),
        np.ascontiguousarray(means.T),
        np.ascontiguousarray(tails.T),
    )
