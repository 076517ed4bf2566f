"""Merge the step functions of two models by cumulative weight, for many pairs at once (method §3 and §8).

Weights are integers, and the lowest bit of each number identifies the model. Sorting these numbers therefore
merges the steps. Equal breakpoints coincide exactly, and segment widths are exact differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.sampling.resamples import Scratch
from riskrank.engine.sampling.steps import rounding_units
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class PairBlock:
    """A block of model pairs that are processed together.

    Attributes
    ----------
    first, second : ndarray of int, shape (p,)
        Indices of the two models of each pair.
    runs : list of (int, slice, slice or ndarray of int)
        For each first model: its index, its pairs in the block, and their second models (a slice if these are
        consecutive).
    """

    first: Integers
    second: Integers
    runs: list[tuple[int, slice, slice | Integers]]

    @classmethod
    def from_pairs(cls, pairs: Integers) -> PairBlock:
        """Build a block from pairs of models, shape (p, 2).

        The pairs must be sorted by their first model, then by their second.
        """
        first, second = pairs.T
        runs: list[tuple[int, slice, slice | Integers]] = []
        for i in np.unique(first).tolist():
            rows = np.flatnonzero(first == i)
            partners = second[rows]
            neighbours = partners[-1] - partners[0] == len(partners) - 1
            among = slice(int(partners[0]), int(partners[-1]) + 1) if neighbours else partners
            runs.append((i, slice(int(rows[0]), int(rows[-1]) + 1), among))
        return cls(first, second, runs)


def pad_steps(steps: Sequence[tuple[Floats, Integers]]) -> tuple[Floats, Integers]:
    """Pad the step functions of all models to the same number of steps.

    Parameters
    ----------
    steps : sequence of k (ndarray, shape (d_i,), ndarray of int64, shape (B, d_i))
        Values in ascending order, and the cumulative weight up to each value.

    Returns
    -------
    values : ndarray, shape (k·(d + 1),)
        Values of each model, padded with its last value to d + 1 values, where d is the largest d_i.
    breakpoints : ndarray of int64, shape (k, B, d)
        Cumulative weights of B resamples, multiplied by two: the lowest bit is free to tell the two models of
        a pair apart.
    """
    most = max(value.size for value, _ in steps)
    values = np.empty((len(steps), most + 1))
    breakpoints = np.empty((len(steps), len(steps[0][1]), most), dtype=np.int64)
    for model, (value, cumulated) in enumerate(steps):
        values[model, : value.size], values[model, value.size :] = value, value[-1]
        np.left_shift(cumulated, 1, out=breakpoints[model, :, : value.size])
        breakpoints[model, :, value.size :] = cumulated[:, -1:] << 1
    return values.reshape(-1), breakpoints


def merge_breakpoints(
    breakpoints: Integers, block: PairBlock, scores: int, scratch: Scratch
) -> tuple[Integers, Integers, Floats]:
    """Merge the breakpoints of the step functions of p pairs of models.

    Parameters
    ----------
    breakpoints : ndarray of int64, shape (k, B, d)
        As returned by :func:`pad_steps`.
    block : PairBlock
        The pairs.
    scores : int
        Largest number of scores per model, which bounds the rounding error of the cumulative weights.
    scratch : Scratch
        Reusable work arrays.

    Returns
    -------
    first, second : ndarray of int, shapes (p·B, s)
        Indices into the values returned by :func:`pad_steps`, one per segment between merged breakpoints.
    widths : ndarray, shape (p·B, s)
        Widths of the segments; each row sums to 1. All three arrays are overwritten by the next call.
    """
    _, batch, count = breakpoints.shape
    pairs, segments = len(block.first), 2 * count
    both = scratch.integers("packed", pairs, batch, segments)
    for i, rows, among in block.runs:
        both[rows, :, :count] = breakpoints[i]
        np.bitwise_or(breakpoints[among], 1, out=both[rows, :, count:])
    packed = both.reshape(-1, segments)
    # A stable sort merges the two sorted runs.
    packed.sort(axis=1, kind="stable")
    # Indices start at the first value of the model.
    begin = np.stack([block.first, block.second]).repeat(batch, axis=1) * (count + 1)
    bit = scratch.integers("bit", *packed.shape)
    bit[:, 0] = begin[1]
    np.bitwise_and(packed[:, :-1], 1, out=bit[:, 1:])
    second = np.cumsum(bit, axis=1, out=scratch.integers("second", *packed.shape))
    packed >>= 1
    # Reuse the memory of the bits for the widths.
    widths = bit
    widths[:, 0] = packed[:, 0]
    np.subtract(packed[:, 1:], packed[:, :-1], out=widths[:, 1:])
    # Merge breakpoints that differ only because weights were rounded to units.
    widths.reshape(-1)[np.flatnonzero(widths <= rounding_units(scores))] = 0
    # Reuse the memory of the merged breakpoints for the indices of the first model.
    first = np.subtract(scratch.arange(segments), second, out=packed)
    first += begin.sum(axis=0)[:, None]
    return first, second, np.multiply(widths, 0.5**61, out=scratch.floats("widths", *widths.shape))
