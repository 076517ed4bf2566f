"""Bootstrap replicates of violation ratios, means and tails, all from one resampling (method §4).

Columns are resampled in blocks with a random stream each, in as many processes as there are, and continued
where an earlier round stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.ranking import matrices_of, tail_level
from riskrank.engine.dominance.replicates import BootstrapColumn, Gathering, Part, Replicates
from riskrank.engine.dominance.violation import ViolationKernel
from riskrank.engine.judges.tails import for_tail
from riskrank.engine.portfolio.quantiles import tail_value_of_sorted
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import Jobs, Workers
from riskrank.engine.sampling.resamples import BLOCK, Blocks, batches, blocks
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Floats, Integers

Task = tuple[int, Blocks]

# Score comparisons in one process before a second one pays for its own start.
_WORTH_A_PROCESS = 300_000_000

# Scores drawn in one NumPy call: enough that its overhead is nothing, few enough for the shared cache.
_BATCH = 1 << 18

# Scores resampled in one task.
_TASK = 1 << 18


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
        self._gathered = [Gathering(one.column, one.scale, one.tail_level) for one in self._problems]
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
        ends = np.cumsum([self._done, *(part.total for _, part in tasks)]).tolist()

        def arrived(count: int) -> None:
            if self._progress is not None:
                self._progress(ends[count], self._planned)

        results: Iterator[Part] = workers.run(_run, self._problems, tasks, arrived, here=True)
        for (at, _), part in zip(tasks, results, strict=True):
            self._gathered[at].add(part)
        self._done = ends[-1]
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
        scaled = replace(scores, values=scale.of_all(scores.values))
        ratios = matrices_of(scores, orders=column.orders)
        level = tail_level(scores)
        return cls(column, scaled, scale, ratios, level, for_tail(scaled, level))


def _run(problems: Sequence[_Problem], task: Task) -> Part:
    at, streams = task
    problem = problems[at]
    column, k = problem.column, problem.scores.models
    kernel = ViolationKernel.of(k, orders=column.orders, pairs=column.pairs)
    ratios = np.empty((len(column.orders), k, k, streams.total))
    means, tails = np.empty((2, k, streams.total))
    drawn = _repeated if problem.scores.even else _weighed
    for rows, found, *statistics in drawn(problem, streams, kernel):
        ratios[..., rows] = found
        means[:, rows], tails[:, rows] = statistics
    # Summed over the beaten models along the middle axis; equal models have equal sums to the last bit.
    overall = np.empty((streams.total, 0, k))
    if column.pairs is None:
        overall = ((ratios.sum(axis=2) - 0.5) / (k - 1)).transpose(2, 0, 1)
    crossings = np.array([np.count_nonzero(ratios >= threshold, axis=3) for threshold in column.thresholds])
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


Resampled = Iterator[tuple[slice | Integers, Floats, Floats, Floats]]
"""Numbers of some resamples, and their ratios, means and tail means, shapes (o, k, k, B) and (k, B)."""


def _repeated(problem: _Problem, streams: Blocks, kernel: ViolationKernel) -> Resampled:
    """Resamples that all hold equally many scores of the same weight."""
    done, level = 0, problem.tail_level
    for ordered in batches(problem.scores, streams, size=max(_BATCH // sum(problem.scores.sizes), 1)):
        rows = slice(done, done + len(ordered[0]))
        done = rows.stop
        # Sorted scores: models with equal scores have equal means to the last bit.
        together = [ordered] if isinstance(ordered, np.ndarray) else [own[None] for own in ordered]
        means = np.concatenate([own.mean(axis=2) for own in together])
        tails = np.concatenate([tail_value_of_sorted(own, level) for own in together])
        yield rows, kernel.ratios(ordered), means, tails


def _weighed(problem: _Problem, streams: Blocks, kernel: ViolationKernel) -> Resampled:
    """Resamples of scores that weigh differently: weights change, and no score is sorted again."""
    scores, done = problem.scores, 0
    design = WeightedDesign(scores)
    # With a judge a tail has weights of its own, of the same draws.
    tail = design if problem.tail_scores is scores else WeightedDesign(problem.tail_scores)
    of_tails = repeat(None) if tail is design else tail.batches(streams, size=BLOCK)
    for cumulated, of_tail in zip(design.batches(streams, size=BLOCK), of_tails, strict=False):
        rows = slice(done, done + len(cumulated[0]))
        done = rows.stop
        ratios = kernel.ratios_of_steps(design.values, cumulated, max(scores.sizes))
        worst = zip(tail.values, of_tail or cumulated, strict=True)
        means = np.stack([Steps(*one).means for one in zip(design.values, cumulated, strict=True)])
        yield rows, ratios, means, np.stack([Steps(*one).tail_means(problem.tail_level) for one in worst])
