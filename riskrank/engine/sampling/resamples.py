"""Draw resamples of a sampling design: whole samples, shared by all models where they are paired.

Method §1: a paired design draws sample numbers once for all models, an unpaired one draws each model
alone, and the draws of a sample stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.sampling.design import ClusteredScores

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Small enough that a few hundred replicates still feed every process, large enough that creating a
# stream costs nothing beside using it.
BLOCK = 25


@dataclass(frozen=True)
class Resample:
    """One resample.

    Attributes
    ----------
    chosen : list of k ndarrays of int
        Sample numbers drawn for each model; the same array where models are paired.
    ordered : ndarray, shape (k, n), or list of k ndarrays, shapes (n_i,)
        Resampled scores sorted upwards; a matrix where all models always have n. It is overwritten by
        the next resample.
    """

    chosen: list[Integers]
    ordered: Floats | list[Floats]


def blocks(resamples: int, seed: int) -> list[tuple[np.random.SeedSequence, int]]:
    """Cut resamples into blocks of fixed size with a random stream each.

    The numbers then do not depend on how many processes share the blocks.
    """
    starts = range(0, resamples, BLOCK)
    streams = np.random.SeedSequence(seed).spawn(len(starts))
    return [(stream, min(BLOCK, resamples - start)) for stream, start in zip(streams, starts, strict=True)]


def resampler(scores: ClusteredScores) -> Callable[[np.random.Generator], Resample]:
    """Prepare a function that draws one resample from a generator."""
    return _equal_sizes(scores) if is_rectangular(scores) else _any_sizes(scores)


def is_rectangular(scores: ClusteredScores) -> bool:
    """Whether all models have equally many samples of equally many draws."""
    return scores.draws_per_sample() is not None and len(set(scores.cluster_counts)) == 1


def _chosen_samples(scores: ClusteredScores, rng: np.random.Generator) -> list[Integers]:
    """Sample numbers of one resample: one list shared by all models if paired, else one each."""
    counts = scores.cluster_counts
    if scores.paired:
        return [rng.integers(0, counts[0], counts[0])] * scores.models
    return [rng.integers(0, count, count) for count in counts]


def _equal_sizes(scores: ClusteredScores):
    """Draw resamples of models that all have n samples of r draws: plain matrices."""
    samples, draws = scores.cluster_counts[0], scores.draws_per_sample()
    table = np.stack(scores.values).reshape(scores.models, samples, draws)
    resampled = np.empty_like(table)

    def draw(rng: np.random.Generator) -> Resample:
        chosen = _chosen_samples(scores, rng)
        if scores.paired:
            # The index is in range by construction; "clip" spares NumPy a copy of the output.
            np.take(table, chosen[0], axis=1, out=resampled, mode="clip")
        else:
            for model, picks in enumerate(chosen):
                np.take(table[model], picks, axis=0, out=resampled[model], mode="clip")
        ordered = resampled.reshape(scores.models, -1)
        ordered.sort(axis=1)
        return Resample(chosen, ordered)

    return draw


def _any_sizes(scores: ClusteredScores):
    """Draw resamples of models whose numbers of samples or draws differ."""
    bounds = [np.concatenate(([0], np.cumsum(np.bincount(cluster)))) for cluster in scores.clusters]

    def draw(rng: np.random.Generator) -> Resample:
        chosen = _chosen_samples(scores, rng)
        models: Sequence = zip(scores.values, bounds, chosen, strict=True)
        return Resample(chosen, [np.sort(value[_rows_of(bound, picks)]) for value, bound, picks in models])

    return draw


def _rows_of(bounds: NDArray[np.int64], picks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row numbers of the picked samples, where sample c holds rows bounds[c] to bounds[c + 1]."""
    lengths = bounds[picks + 1] - bounds[picks]
    ends = np.cumsum(lengths)
    return np.arange(ends[-1]) + np.repeat(bounds[picks] - (ends - lengths), lengths)
