"""Bootstrap replicates of violation ratios, means and win rates, all from one resampling (method §4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.violation import CommonScale, ViolationKernel, square_matrix
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import run_tasks
from riskrank.engine.sampling.resamples import blocks, resampler

Floats = NDArray[np.float64]

# Score comparisons in one process before a second one pays for its own start.
_WORTH_A_PROCESS = 30_000_000


@dataclass(frozen=True)
class Replicates:
    """Statistics of every resample.

    Attributes
    ----------
    ratios : ndarray, shape (B, 2, k, k)
        Violation ratios of orders 1 and 2, ``[b, order - 1, i, j]`` for "i dominates j".
    means : ndarray, shape (B, k)
        Mean score of each model.
    rates : ndarray, shape (B, s, k)
        Means over the resampled samples of the per-sample statistics that were handed in.
    """

    ratios: Floats
    means: Floats
    rates: Floats


def replicate(
    scores: ClusteredScores,
    *,
    resamples: int,
    seed: int,
    per_sample: Floats | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Replicates:
    """Resample and recompute.

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores and their samples.
    resamples : int
        Number of bootstrap resamples, B.
    seed : int
        Entropy of the random streams.
    per_sample : ndarray, shape (s, k, n), optional
        Further statistics per sample, averaged over the same resamples; paired designs only.
    jobs : int
        Number of processes.
    progress : callable, optional
        Called with the number of finished resamples and their total.

    Returns
    -------
    Replicates
        Identical for any number of jobs.
    """
    columns = [(scores, per_sample)]
    return replicate_columns(columns, resamples=resamples, seed=seed, jobs=jobs, progress=progress)[0]


def replicate_columns(
    columns: Sequence[tuple[ClusteredScores, Floats | None]],
    *,
    resamples: int,
    seed: int,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Replicates]:
    """Resample several columns of scores, all with the same streams, in one pool of processes.

    Parameters
    ----------
    columns : sequence of (ClusteredScores, ndarray or None)
        Scores and per-sample statistics of each column, as in :func:`replicate`.
    resamples, seed, jobs, progress
        As in :func:`replicate`; progress counts the resamples of all columns.

    Returns
    -------
    list of Replicates
        One a column.
    """
    scales = [CommonScale.of(scores.values) for scores, _ in columns]
    problems = [
        (
            replace(scores, values=tuple(scale.apply(value) for value in scores.values)),
            np.empty((0, scores.models, 0)) if per_sample is None else per_sample,
        )
        for scale, (scores, per_sample) in zip(scales, columns, strict=True)
    ]
    work = sum(resamples * sum(scores.sizes) * (scores.models - 1) / 2 for scores, _ in columns)
    tasks = [(at, block) for at in range(len(columns)) for block in blocks(resamples, seed)]
    done, parts = 0, [[] for _ in columns]
    results = run_tasks(_column_block, problems, tasks, jobs=jobs if work > _WORTH_A_PROCESS else 1)
    for (at, _), part in zip(tasks, results, strict=True):
        parts[at].append(part)
        done += len(part[1])
        if progress is not None:
            progress(done, resamples * len(columns))
    found = []
    for (scores, _), scale, column in zip(columns, scales, parts, strict=True):
        upper, means, rates = (np.concatenate(kind) for kind in zip(*column, strict=True))
        found.append(Replicates(square_matrix(upper, scores.models), scale.undo(means), rates))
    return found


def _column_block(problems, task):
    at, block = task
    return _block(problems[at], block)


def _block(
    problem: tuple[ClusteredScores, Floats], task: tuple[np.random.SeedSequence, int]
) -> tuple[Floats, Floats, Floats]:
    """Ratios of pairs i < j, means and rates of the replicates of one block."""
    (scores, per_sample), (stream, count) = problem, task
    rng = np.random.default_rng(stream)
    k = scores.models
    ratios = np.empty((count, 2, k * (k - 1) // 2))
    means = np.empty((count, k))
    rates = np.empty((count, *per_sample.shape[:2]))
    draw, kernel = resampler(scores), None
    for b in range(count):
        resample = draw(rng)
        sizes = tuple(map(len, resample.ordered))
        if kernel is None or kernel.sizes != sizes:
            kernel = ViolationKernel.for_sizes(sizes)
        ratios[b] = kernel.ratios(resample.ordered)
        # Sorted scores: models with equal scores have equal means to the last bit.
        means[b] = [sample.mean() for sample in resample.ordered]
        if per_sample.size:
            rates[b] = per_sample[:, :, resample.chosen[0]].mean(axis=2)
    return ratios, means, rates
