"""The Pareto front: the models nothing else matches everywhere and beats somewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.types import Booleans, Floats, Integers

# A chunk of 1,024 front members has tables of 16 words a row: they stay in the processor's cache.
_CHUNK = 1024
# Candidates looked up at a time; bounds the memory of a test to a few megabytes.
_SLICE = 8192
# Below this many models, thinning out by a sample's front costs more than it saves.
_SAMPLE = 4096


def pareto_front(objectives: Floats) -> Booleans:
    """Find the models that no other model dominates.

    A model is dominated when another is at least as good on every objective and better on one
    (COPA §2, method §7). Models with the same values as a front member are on the front too.

    Parameters
    ----------
    objectives : array of shape (N, K)
        One row per model, larger is better in every column; none is NaN.

    Returns
    -------
    array of bool, shape (N,)
        True for the models on the front.

    """
    losses = np.ascontiguousarray(-objectives.T)
    on_front = np.zeros(losses.shape[1], dtype=bool)
    on_front[_front(losses)] = True
    return on_front


def dominators(objectives: Floats, model: int) -> Integers:
    """List the models that dominate one model.

    Parameters
    ----------
    objectives : array of shape (N, K)
        One row per model, larger is better in every column.
    model : int
        Row of the model in question.

    Returns
    -------
    array of int
        Rows of its dominators, in order; empty for a model on the front.
    """
    own = objectives[model]
    return np.flatnonzero((objectives >= own).all(axis=1) & (objectives > own).any(axis=1))


def _front(losses: Floats) -> Integers:
    """The columns of `losses` (K, N) that are on the front, in order."""
    N = losses.shape[1]
    if N <= 2 * _SAMPLE:
        return _front_in_order(losses)
    # The front of a sixteenth of the models already rules out most of the others, cheaply. The
    # sample is every so-many-th model rather than a random one: same table, same work.
    sample = losses[:, :: min(16, N // _SAMPLE)]
    members = sample[:, _front(sample)]
    members = members[:, np.argsort(_sums_of_ranks(members), kind="stable")]
    # The best of them alone rules out most of the rest, with plain comparisons that stream through memory.
    matches, exceeds = np.ones(N, dtype=bool), np.zeros(N, dtype=bool)
    for row, best in zip(losses, members[:, 0], strict=True):
        matches &= row >= best
        exceeds |= row > best
    candidates = np.flatnonzero(~(matches & exceeds))
    candidates = candidates[~_Chunks.of(members).dominate(losses[:, candidates])]
    return candidates[_front_in_order(losses[:, candidates])]


def _sums_of_ranks(losses: Floats) -> Integers:
    return np.argsort(np.argsort(losses, axis=1), axis=1).sum(axis=0)


def _front_in_order(losses: Floats) -> Integers:
    """Build the front by going through the models from the smallest sum of ranks to the largest.

    Whatever dominates a model has a smaller sum of ranks (integers, so exactly), hence members once
    found are never removed, and the likeliest dominators are met first.
    """
    ranks = np.stack([np.unique(row, return_inverse=True)[1] for row in losses])
    by_row = np.lexsort(ranks)
    starts = np.ones(by_row.size, dtype=bool)
    starts[1:] = (np.diff(ranks[:, by_row], axis=1) != 0).any(axis=0)
    distinct = by_row[starts]
    queue = distinct[np.argsort(ranks[:, distinct].sum(axis=0), kind="stable")]

    chunks = _Chunks([])
    on_front = np.zeros(losses.shape[1], dtype=bool)
    for start in range(0, queue.size, _CHUNK):
        block = queue[start : start + _CHUNK]
        block = block[~chunks.dominate(losses[:, block])]
        members = block[~_Table.of(losses[:, block]).dominates(losses[:, block])]
        on_front[members] = True
        chunks.add(losses[:, members])

    # Each distinct row answered for itself; its copies follow it.
    copy_of = distinct[np.cumsum(starts) - 1]
    on_front[by_row] = on_front[copy_of]
    return np.flatnonzero(on_front)


@dataclass(frozen=True)
class _Table:
    """Members of the front in a form that tests a candidate with a few bitwise operations.

    Row r of `bits[k]` is the set of the r members that are best on objective k, one bit a member.
    Looking up a candidate's place among the sorted values gives the members at least as good as it
    on k; the intersection over k are the members that match or dominate it. This needs a 64th of
    the operations of comparing values, and that is what makes NumPy fast enough.
    """

    members: Floats
    values: Floats
    bits: NDArray[np.uint64]

    @classmethod
    def of(cls, members: Floats) -> _Table:
        K, m = members.shape
        order = np.argsort(members, axis=1, kind="stable")
        bits = np.zeros((K, m + 1, -(-m // 64)), dtype=np.uint64)
        k, place = np.arange(K)[:, None], np.arange(1, m + 1)[None, :]
        bits[k, place, order // 64] = np.uint64(1) << (order % 64).astype(np.uint64)
        np.bitwise_or.accumulate(bits, axis=1, out=bits)
        return cls(members, np.take_along_axis(members, order, axis=1), bits)

    def dominates(self, losses: Floats) -> Booleans:
        """Tell which columns of `losses` some member dominates."""
        n = losses.shape[1]
        matched = np.full((n, self.bits.shape[2]), ~np.uint64(0))
        among = np.ones(n, dtype=bool)
        for values, bits, row in zip(self.values, self.bits, losses, strict=True):
            place = np.searchsorted(values, row, side="right")
            among &= (place > 0) & (values[place - 1] == row)
            matched &= bits[place]
        dominated = np.asarray(matched.any(axis=1))
        # Only a candidate whose every value occurs among the members can be a copy of one.
        doubtful = np.flatnonzero(dominated & among)
        if doubtful.size:
            better = np.zeros((doubtful.size, matched.shape[1]), dtype=np.uint64)
            for values, bits, row in zip(self.values, self.bits, losses[:, doubtful], strict=True):
                better |= bits[np.searchsorted(values, row, side="left")]
            dominated[doubtful] = (matched[doubtful] & better).any(axis=1)
        return dominated


@dataclass
class _Chunks:
    """A growing set of front members, in tables of bounded size."""

    tables: list[_Table]

    @classmethod
    def of(cls, members: Floats) -> _Chunks:
        pieces = range(0, members.shape[1], _CHUNK)
        return cls([_Table.of(members[:, start : start + _CHUNK]) for start in pieces])

    def add(self, members: Floats) -> None:
        if not members.shape[1]:
            return
        if self.tables and self.tables[-1].members.shape[1] + members.shape[1] <= _CHUNK:
            members = np.concatenate([self.tables.pop().members, members], axis=1)
        self.tables.append(_Table.of(members))

    def dominate(self, losses: Floats) -> Booleans:
        """Tell which columns of `losses` some member of any table dominates."""
        dominated = np.zeros(losses.shape[1], dtype=bool)
        for start in range(0, losses.shape[1], _SLICE):
            left = np.arange(start, min(start + _SLICE, losses.shape[1]))
            for table in self.tables:
                hit = table.dominates(losses[:, left])
                dominated[left[hit]] = True
                left = left[~hit]
                if not left.size:
                    break
        return dominated
