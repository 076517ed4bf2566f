"""Draw resamples of a sampling design: whole samples, shared by all models where they are paired.

Method §1: a paired design draws sample numbers once for all models, an unpaired one draws each model
alone, and the draws of a sample stay together. Of a suite, samples are drawn within their tasks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats, Integers

# Small enough that a few hundred replicates still feed every process, large enough that creating a
# stream costs nothing beside using it.
BLOCK = 25

# Fewer scores are sorted again in every resample; more are sorted once and repeated.
_WORTH_COUNTING = 256


class Blocks(Sequence[tuple[np.random.SeedSequence, int]]):
    """Resamples in blocks of fixed size with a random stream each, made when it is their turn.

    The numbers do not depend on how many processes share the blocks. Block i has the stream that
    ``SeedSequence(seed).spawn`` gives as its child i; millions of them would take long to make and to hold.
    """

    def __init__(self, resamples: int, seed: int, numbers: range | None = None) -> None:
        self._resamples = resamples
        self._seed = seed
        self._numbers = range(-(-resamples // BLOCK)) if numbers is None else numbers

    @property
    def total(self) -> int:
        """Resamples in these blocks."""
        if not self._numbers:
            return 0
        return BLOCK * len(self._numbers) - max(BLOCK * (self._numbers[-1] + 1) - self._resamples, 0)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> tuple[np.random.SeedSequence, int]: ...

    @overload
    def __getitem__(self, at: slice) -> Blocks: ...

    def __getitem__(self, at: int | slice) -> tuple[np.random.SeedSequence, int] | Blocks:
        if isinstance(at, slice):
            return Blocks(self._resamples, self._seed, self._numbers[at])
        number = self._numbers[at]
        stream = np.random.SeedSequence(self._seed, spawn_key=(number,))
        return stream, min(BLOCK, self._resamples - number * BLOCK)


def blocks(resamples: int, seed: int) -> Blocks:
    """Cut resamples into blocks."""
    return Blocks(resamples, seed)


@dataclass(frozen=True)
class Batch:
    """Several resamples in a row.

    Attributes
    ----------
    chosen : list of k ndarrays of int, shapes (B, samples of the model)
        Sample numbers drawn; the same array for every model of a paired design.
    ordered : ndarray, shape (k, B, n), or list of k ndarrays, shapes (B, n_i)
        Resampled scores sorted upwards within each resample.
    """

    chosen: list[Integers]
    ordered: Floats | list[Floats]


def batches(
    scores: ClusteredScores, streams: Sequence[tuple[np.random.SeedSequence, int]], *, size: int
) -> Iterator[Batch]:
    """Draw the resamples of some blocks, at most `size` at a time, or one where their sizes vary.

    Parameters
    ----------
    scores : ClusteredScores
    streams : sequence of (SeedSequence, int)
        Blocks as `blocks` cuts them.
    size : int
        Most resamples in one batch; it changes no number.

    Yields
    ------
    Batch
        In order; the numbers depend on neither the size nor on how blocks are put together.
    """
    parts = [chosen_many(scores, np.random.default_rng(stream), count) for stream, count in streams]
    total = sum(count for _, count in streams)
    joined = [np.concatenate(part) for part in zip(*parts, strict=True)]
    uneven = any(np.ptp(np.bincount(cluster)) > 0 for cluster in scores.clusters)
    tables = None if uneven else _tables(scores)
    orders = [np.argsort(value, kind="stable") for value in scores.values]
    step = 1 if uneven else size
    for start in range(0, total, step):
        picks = [rows[start : start + step] for rows in joined]
        chosen = picks * scores.models if scores.paired else picks
        yield Batch(chosen, _ordered(scores, tables, orders, chosen))


def chosen_many(scores: ClusteredScores, rng: np.random.Generator, count: int) -> list[Integers]:
    """Sample numbers of `count` resamples: one array shared by all models if paired, else one each.

    Of these tasks (method §8) each one draws as many as it has; tasks that are drawn are samples here.
    """
    counts, strata = scores.cluster_counts, scores.strata
    if strata is not None and not strata.random:
        models = range(1 if scores.paired else scores.models)
        return [_within_tasks(strata.bounds(model), rng, count) for model in models]
    if scores.drawn_together:
        return [rng.integers(0, counts[0], (count, counts[0]))]
    if len(set(counts)) == 1:
        return list(rng.integers(0, counts[0], (count, len(counts), counts[0])).transpose(1, 0, 2))
    drawn = [[rng.integers(0, n, n) for n in counts] for _ in range(count)]
    return [np.stack(model) for model in zip(*drawn, strict=True)]


def _within_tasks(bounds: Integers, rng: np.random.Generator, count: int) -> Integers:
    """Unit numbers of `count` resamples, drawn task by task."""
    found = np.empty((count, int(bounds[-1])), dtype=np.int64)
    for first, end in itertools.pairwise(bounds.tolist()):
        found[:, first:end] = rng.integers(first, end, (count, end - first))
    return found


def _tables(scores: ClusteredScores) -> list[Floats]:
    """Scores of each model as (samples, draws)."""
    return [
        value.reshape(count, -1) for value, count in zip(scores.values, scores.cluster_counts, strict=True)
    ]


def _ordered(
    scores: ClusteredScores,
    tables: list[Floats] | None,
    orders: list[NDArray[np.intp]],
    chosen: list[Integers],
) -> Floats | list[Floats]:
    if tables is None:
        return [
            np.sort(value[_rows_of(_bounds(cluster), picks[0])])[None]
            for value, cluster, picks in zip(scores.values, scores.clusters, chosen, strict=True)
        ]
    shapes = {table.shape for table in tables}
    matrix = len(shapes) == 1
    size = tables[0].size
    ordered = np.empty((len(tables), len(chosen[0]), size)) if matrix else None
    found, counts = [], np.empty((0, 0), dtype=np.int64)
    for model, (table, picks) in enumerate(zip(tables, chosen, strict=True)):
        if table.shape[1] > 1 or size < _WORTH_COUNTING:
            resampled = np.sort(table[picks].reshape(len(picks), -1), axis=1)
        else:
            if model == 0 or picks is not chosen[model - 1]:
                counts = counts_of(picks)
            resampled = _repeated(table[:, 0], orders[model], counts)
        if ordered is None:
            found.append(resampled)
        else:
            ordered[model] = resampled
    return found if ordered is None else ordered


def counts_of(picks: Integers) -> Integers:
    """How often each sample is drawn in each resample, shape (B, n)."""
    count, n = picks.shape
    shifted = picks + n * np.arange(count)[:, None]
    return np.bincount(shifted.ravel(), minlength=count * n).reshape(count, n)


def _repeated(values: Floats, order: NDArray[np.intp], counts: Integers) -> Floats:
    """Sorted resamples of single scores: sorted once, each is repeated as often as it is drawn.

    Five times faster than sorting each of many resamples of thousands of scores.
    """
    every = np.broadcast_to(values.take(order), counts.shape).ravel()
    return np.repeat(every, counts.take(order, axis=1).ravel()).reshape(counts.shape)


def _bounds(cluster: Integers) -> Integers:
    return np.concatenate(([0], np.cumsum(np.bincount(cluster))))


def _rows_of(bounds: Integers, picks: Integers) -> Integers:
    """Row numbers of the picked samples, where sample c holds rows bounds[c] to bounds[c + 1]."""
    lengths = bounds[picks + 1] - bounds[picks]
    ends = np.cumsum(lengths)
    return np.arange(ends[-1]) + np.repeat(bounds[picks] - (ends - lengths), lengths)
