"""Bootstrap resamples for a sampling design (method §1).

In a paired design, samples are drawn once for all models; in an unpaired design, separately for each model.
All scores of a sample stay together. In a suite, samples are drawn within tasks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.steps import sort_ranks
from riskrank.engine.types import Floats, Integers

# Compiled functions; None if riskrank was installed without a C compiler, and NumPy does their work.
KERNEL: Any = None
with suppress(ImportError):
    KERNEL = import_module("riskrank.engine._kernel")

# Number of 8-byte values in a cache line.
_LINE = 8


class Scratch:
    """Reusable work arrays, identified by name.

    An array is valid until its name is requested again. Each thread needs a separate object.
    """

    def __init__(self) -> None:
        """Create an empty set of arrays."""
        self._flat: dict[str, NDArray[Any]] = {}
        self._numbers = np.arange(0)

    def floats(self, name: str, *shape: int) -> NDArray[np.float64]:
        """Return the work array `name` as an uninitialised float array of the given shape."""
        return self._buffer(name, shape, np.float64)

    def integers(self, name: str, *shape: int) -> NDArray[np.int64]:
        """Return the work array `name` as an uninitialised integer array of the given shape."""
        return self._buffer(name, shape, np.int64)

    def arange(self, count: int) -> NDArray[np.int64]:
        """Return the integers from 0 to `count` − 1 as a read-only array."""
        if self._numbers.size < count:
            self._numbers = np.arange(2 * count)
        return self._numbers[:count]

    def _buffer(self, name: str, shape: tuple[int, ...], dtype: type) -> NDArray[Any]:
        """Return the work array `name` with the given shape and data type, enlarged if necessary."""
        size, flat = prod(shape), self._flat.get(name)
        if flat is None or flat.size < size:
            flat = np.empty(size + _LINE, dtype=dtype)
            # Subtracting into an array that is not aligned with the cache takes twice as long.
            start = -flat.ctypes.data % (_LINE * flat.itemsize) // flat.itemsize
            flat = self._flat[name] = flat[start : start + size]
        return flat[:size].reshape(shape)


# Small enough to give every process work with a few hundred replicates, large enough to make the cost of
# creating a stream negligible.
BLOCK = 25


@dataclass(frozen=True)
class ResampleBlock:
    """A block of bootstrap resamples with its own random stream.

    Results therefore do not depend on the number of processes.

    Attributes
    ----------
    seed : int
        Seed of the whole analysis.
    number : int
        Index i of the block; it uses child i of ``SeedSequence(seed).spawn``.
    count : int
        Number of resamples in the block.
    """

    seed: int
    number: int
    count: int

    def generator(self) -> np.random.Generator:
        """Return a new random generator at the start of the block's stream."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.number,)))


def make_blocks(resamples: int, seed: int) -> list[ResampleBlock]:
    """Split a number of resamples into blocks of at most :data:`BLOCK`, each with its own stream."""
    starts = range(0, resamples, BLOCK)
    return [ResampleBlock(seed, start // BLOCK, min(BLOCK, resamples - start)) for start in starts]


def batches(
    scores: ClusteredScores, blocks: Sequence[ResampleBlock], *, size: int
) -> Iterator[Floats | list[Floats]]:
    """Yield the resamples of the given blocks, at most `size` at a time.

    Parameters
    ----------
    scores : ClusteredScores
        Design in which all units of a model have the same size; for other designs, see
        :class:`riskrank.engine.sampling.weighted_resamples.WeightedDesign`.
    blocks : sequence of ResampleBlock
        Blocks of resamples to draw.
    size : int
        Largest number of resamples per batch; it does not affect the results.

    Yields
    ------
    ndarray, shape (k, B, n), or list of k ndarrays, shapes (B, n_i)
        Sorted scores of each model, valid until the next batch. The values depend neither on `size` nor on
        the grouping of blocks.
    """
    draws, scratch = draw_blocks(scores, blocks), Scratch()
    for start in range(0, len(draws[0]), size):
        picks = [rows[start : start + size] for rows in draws]
        compiled = KERNEL is not None and scores.sorted_scores is not None
        yield (_expanded_batch if compiled else _sorted_batch)(scores, picks, scratch)


def _expanded_batch(scores: ClusteredScores, picks: list[Integers], scratch: Scratch) -> Floats:
    """Return the sorted scores of B resamples with the compiled kernel, shape (k, B, n).

    Each sorted score is repeated as often as its unit is drawn. `picks` holds the drawn units: one array for
    a paired design, otherwise one per model, shapes (B, C).
    """
    assert scores.sorted_scores is not None
    stacked = scratch.floats("ordered", scores.models, len(picks[0]), scores.sizes[0])
    # All models of a paired design share their draws.
    arrays = [array.reshape(len(picks), -1, scores.sizes[0]) for array in scores.sorted_scores]
    for *sorted_scores, draws, out in zip(*arrays, picks, stacked.reshape(len(picks), -1), strict=True):
        KERNEL.resample(*sorted_scores, draws, out, scores.sizes[0])
    return stacked


def _sorted_batch(scores: ClusteredScores, picks: list[Integers], scratch: Scratch) -> Floats | list[Floats]:
    """Return the sorted scores of B resamples, shape (k, B, n); a list of arrays if shapes differ.

    `picks` holds the drawn units: one array for a paired design, otherwise one per model, shapes (B, C_i).
    """
    values, ranks = scores.values_and_ranks
    units = picks * scores.models if scores.paired else picks
    equal_shapes, samples = len({unit_ranks.shape for unit_ranks in ranks}) == 1, []
    for model, (unit_ranks, model_units) in enumerate(zip(ranks, units, strict=True)):
        sample_ranks = unit_ranks.take(model_units, axis=0, mode="clip").reshape(len(model_units), -1)
        sort_ranks(sample_ranks)
        if equal_shapes:
            stacked = scratch.floats("ordered", len(ranks), *sample_ranks.shape)
            values[model].take(sample_ranks, out=stacked[model], mode="clip")
        else:
            samples.append(values[model].take(sample_ranks, mode="clip"))
    return stacked if equal_shapes else samples


def draw_resamples(scores: ClusteredScores, rng: np.random.Generator, count: int) -> list[Integers]:
    """Draw units with replacement; return their indices for `count` resamples.

    With fixed tasks (method §8), each task keeps its number of units. If tasks are random, the tasks are the
    units.

    Returns
    -------
    list of ndarrays of int, shapes (count, C_i)
        A single array if all models are resampled jointly, otherwise one per model.
    """
    counts, strata = scores.cluster_counts, scores.strata
    if strata.has_several_tasks and not strata.random:
        models = range(1 if scores.paired else scores.models)
        return [_draw_within_tasks(strata.bounds(model), rng, count) for model in models]
    if scores.joint_resamples:
        return [rng.integers(0, counts[0], (count, counts[0]))]
    draws = [[rng.integers(0, n, n) for n in counts] for _ in range(count)]
    return [np.stack(model) for model in zip(*draws, strict=True)]


def draw_blocks(scores: ClusteredScores, blocks: Iterable[ResampleBlock]) -> list[Integers]:
    """Draw the resamples of several blocks; return unit indices like `draw_resamples`, for all blocks."""
    draws = [draw_resamples(scores, block.generator(), block.count) for block in blocks]
    # A block of many samples is not copied.
    return [np.concatenate(draw) if draw[1:] else draw[0] for draw in zip(*draws, strict=True)]


def _draw_within_tasks(bounds: Integers, rng: np.random.Generator, count: int) -> Integers:
    """Draw units within each task; return their indices for `count` resamples, shape (count, C).

    `bounds` holds the index of each task's first unit, then the number of units.
    """
    picks = np.empty((count, int(bounds[-1])), dtype=np.int64)
    for first, end in itertools.pairwise(bounds.tolist()):
        picks[:, first:end] = rng.integers(first, end, (count, end - first))
    return picks


def unit_counts(draws: Integers, units: int = 0) -> Integers:
    """Count how often each unit is drawn in each resample, shape (B, units).

    Each row of `draws` contains the indices of the units of one resample. By default, a resample has as many
    units as the sample.
    """
    count, n = len(draws), units or draws.shape[1]
    shifted = draws + n * np.arange(count)[:, None]
    return np.bincount(shifted.ravel(), minlength=count * n).reshape(count, n)
