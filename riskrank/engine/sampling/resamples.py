"""Draw resamples of a sampling design: whole samples, shared by all models where they are paired.

Method §1: a paired design draws sample numbers once for all models, an unpaired one draws each model
alone, and the draws of a sample stay together. Of a suite, samples are drawn within their tasks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.steps import sort_places
from riskrank.engine.types import Floats, Integers

# Numbers of eight bytes in a cache line.
_LINE = 8


class Scratch:
    """Named arrays of any shape, each of which lasts until its name is asked for again.

    Calls share them: one object serves one thread.
    """

    def __init__(self) -> None:
        self._flat: dict[str, NDArray[Any]] = {}
        self._numbers = np.arange(0)

    def floats(self, name: str, *shape: int) -> NDArray[np.float64]:
        """An array of numbers, filled with anything."""
        return self._of(name, shape, np.float64)

    def integers(self, name: str, *shape: int) -> NDArray[np.int64]:
        """An array of whole numbers, filled with anything."""
        return self._of(name, shape, np.int64)

    def numbers(self, count: int) -> NDArray[np.int64]:
        """The numbers from 0 on, to be read."""
        if self._numbers.size < count:
            self._numbers = np.arange(2 * count)
        return self._numbers[:count]

    def _of(self, name: str, shape: tuple[int, ...], kind: type) -> NDArray[Any]:
        size, flat = prod(shape), self._flat.get(name)
        if flat is None or flat.size < size:
            flat = self._flat[name] = _aligned(size, kind)
        return flat[:size].reshape(shape)


def _aligned(size: int, kind: type) -> NDArray[Any]:
    """An array that starts where a cache line does: to subtract into any other takes twice as long."""
    flat: NDArray[Any] = np.empty(size + _LINE, dtype=kind)
    start = -flat.ctypes.data % (_LINE * flat.itemsize) // flat.itemsize
    return flat[start : start + size]


# Small enough that a few hundred replicates still feed every process, large enough that creating a
# stream costs nothing beside using it.
BLOCK = 25


@dataclass(frozen=True)
class ResampleBlock:
    """Resamples that share a random stream, so that numbers do not depend on who draws which block.

    Block i has the stream that ``SeedSequence(seed).spawn`` gives as its child i.
    """

    seed: int
    number: int
    count: int

    def generator(self) -> np.random.Generator:
        """Begin the random stream."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(self.number,)))


def blocks(resamples: int, seed: int) -> list[ResampleBlock]:
    """Cut resamples into blocks."""
    starts = range(0, resamples, BLOCK)
    return [ResampleBlock(seed, start // BLOCK, min(BLOCK, resamples - start)) for start in starts]


def batches(
    scores: ClusteredScores, part: Sequence[ResampleBlock], *, size: int
) -> Iterator[Floats | list[Floats]]:
    """Draw the resamples of some blocks, at most `size` at a time.

    Parameters
    ----------
    scores : ClusteredScores
        Of which no model's units differ in size; others are weighed, see
        :class:`riskrank.engine.sampling.weighted_resamples.WeightedDesign`.
    part : sequence of ResampleBlock
        Some blocks of `blocks`.
    size : int
        Most resamples in one batch; it changes no number.

    Yields
    ------
    Batch
        In order; the numbers depend on neither the size nor on how blocks are put together. Its sorted scores
        last until the next one.
    """
    drawn, scratch = chosen_of(scores, part), Scratch()
    for start in range(0, len(drawn[0]), size):
        picks = [rows[start : start + size] for rows in drawn]
        chosen = picks * scores.models if scores.paired else picks
        yield _ordered(*scores.places, chosen, scratch)


def _ordered(
    values: list[Floats], places: list[Integers], chosen: list[Integers], scratch: Scratch
) -> Floats | list[Floats]:
    alike, found = len({own.shape for own in places}) == 1, []
    for model, (own, picks) in enumerate(zip(places, chosen, strict=True)):
        drawn = own.take(picks, axis=0, mode="clip").reshape(len(picks), -1)
        sort_places(drawn)
        if alike:
            together = scratch.floats("ordered", len(places), *drawn.shape)
            values[model].take(drawn, out=together[model], mode="clip")
        else:
            found.append(values[model].take(drawn, mode="clip"))
    return together if alike else found


def chosen_many(scores: ClusteredScores, rng: np.random.Generator, count: int) -> list[Integers]:
    """Sample numbers of `count` resamples: one array shared by all models if paired, else one each.

    Of these tasks (method §8) each one draws as many as it has; tasks that are drawn are samples here.
    """
    counts, strata = scores.cluster_counts, scores.strata
    if strata.several and not strata.random:
        models = range(1 if scores.paired else scores.models)
        return [_within_tasks(strata.bounds(model), rng, count) for model in models]
    if scores.drawn_together:
        return [rng.integers(0, counts[0], (count, counts[0]))]
    drawn = [[rng.integers(0, n, n) for n in counts] for _ in range(count)]
    return [np.stack(model) for model in zip(*drawn, strict=True)]


def chosen_of(scores: ClusteredScores, part: Iterable[ResampleBlock]) -> list[Integers]:
    """The same of some blocks, one below the other."""
    drawn = [chosen_many(scores, block.generator(), block.count) for block in part]
    return [np.concatenate(own) for own in zip(*drawn, strict=True)]


def _within_tasks(bounds: Integers, rng: np.random.Generator, count: int) -> Integers:
    """Unit numbers of `count` resamples, drawn task by task."""
    found = np.empty((count, int(bounds[-1])), dtype=np.int64)
    for first, end in itertools.pairwise(bounds.tolist()):
        found[:, first:end] = rng.integers(first, end, (count, end - first))
    return found


def counts_of(picks: Integers) -> Integers:
    """How often each sample is drawn in each resample, shape (B, n)."""
    count, n = picks.shape
    shifted = picks + n * np.arange(count)[:, None]
    return np.bincount(shifted.ravel(), minlength=count * n).reshape(count, n)
