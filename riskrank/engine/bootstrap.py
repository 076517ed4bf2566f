"""Bootstrap replicates of violation ratios, means and win rates, all from one resampling.

Method §1 and §4: a paired design draws sample numbers once for all models, an unpaired one draws each
model alone, and the draws of a sample stay together. Replicates come in blocks of fixed size, each with
a random stream of its own, so the numbers do not depend on how many processes share the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.parallel import run_tasks
from riskrank.engine.samples import ClusteredScores
from riskrank.engine.violation import CommonScale, ViolationKernel, square_matrix

Floats = NDArray[np.float64]

# Small enough that a few hundred replicates still feed every process, large enough that creating a
# stream costs nothing beside using it.
BLOCK = 25

# Scores resampled in one process before a second one pays for its own start.
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
    extra = np.empty((0, scores.models, 0)) if per_sample is None else per_sample
    scale = CommonScale.of(scores.values)
    scaled = tuple(scale.apply(value) for value in scores.values)
    problem = (ClusteredScores(scaled, scores.clusters, scores.paired), extra)
    starts = range(0, resamples, BLOCK)
    streams = np.random.SeedSequence(seed).spawn(len(starts))
    tasks = [(stream, min(BLOCK, resamples - start)) for stream, start in zip(streams, starts, strict=True)]
    work = resamples * sum(scores.sizes) * (scores.models - 1) / 2
    blocks = []
    for block in run_tasks(_block, problem, tasks, jobs=jobs if work > _WORTH_A_PROCESS else 1):
        blocks.append(block)
        if progress is not None:
            progress(sum(len(done[1]) for done in blocks), resamples)
    upper, means, rates = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return Replicates(square_matrix(upper, scores.models), scale.undo(means), rates)


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
    draw = _equal_sizes(scores) if _is_rectangular(scores) else _any_sizes(scores)
    for b in range(count):
        chosen, ordered, kernel = draw(rng)
        ratios[b] = kernel.ratios(ordered)
        # Sorted scores first: models with equal scores then have equal means to the last bit.
        means[b] = [sample.mean() for sample in ordered]
        if per_sample.size:
            rates[b] = per_sample[:, :, chosen[0]].mean(axis=2)
    return ratios, means, rates


def _is_rectangular(scores: ClusteredScores) -> bool:
    return scores.draws_per_sample() is not None and len(set(scores.cluster_counts)) == 1


def _chosen_samples(scores: ClusteredScores, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Sample numbers of one resample: one list shared by all models if paired, else one each."""
    counts = scores.cluster_counts
    if scores.paired:
        return [rng.integers(0, counts[0], counts[0])] * scores.models
    return [rng.integers(0, count, count) for count in counts]


def _equal_sizes(scores: ClusteredScores):
    """Draw resamples of models that all have n samples of r draws: plain matrices."""
    samples, draws = scores.cluster_counts[0], scores.draws_per_sample()
    table = np.stack(scores.values).reshape(scores.models, samples, draws)
    kernel = ViolationKernel.for_sizes(scores.sizes)
    resampled = np.empty_like(table)

    def draw(rng: np.random.Generator):
        chosen = _chosen_samples(scores, rng)
        if scores.paired:
            # The index is in range by construction; "clip" spares NumPy a copy of the output.
            np.take(table, chosen[0], axis=1, out=resampled, mode="clip")
        else:
            for model, picks in enumerate(chosen):
                np.take(table[model], picks, axis=0, out=resampled[model], mode="clip")
        ordered = resampled.reshape(scores.models, -1)
        ordered.sort(axis=1)
        return chosen, ordered, kernel

    return draw


def _any_sizes(scores: ClusteredScores):
    """Draw resamples of models whose numbers of samples or draws differ."""
    bounds = [np.concatenate(([0], np.cumsum(np.bincount(cluster)))) for cluster in scores.clusters]
    fixed = scores.draws_per_sample() is not None
    kernel = ViolationKernel.for_sizes(scores.sizes) if fixed else None

    def draw(rng: np.random.Generator):
        chosen = _chosen_samples(scores, rng)
        ordered = []
        for value, bound, picks in zip(scores.values, bounds, chosen, strict=True):
            ordered.append(np.sort(value[_rows_of(bound, picks)]))
        sizes = [sample.size for sample in ordered]
        return chosen, ordered, kernel or ViolationKernel.for_sizes(sizes)

    return draw


def _rows_of(bounds: NDArray[np.int64], picks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row numbers of the picked samples, where sample c holds rows bounds[c] to bounds[c + 1]."""
    lengths = bounds[picks + 1] - bounds[picks]
    ends = np.cumsum(lengths)
    return np.arange(ends[-1]) + np.repeat(bounds[picks] - (ends - lengths), lengths)
