"""Steps of two models merged by cumulated weight, many pairs at a time (method §3 and §8).

Weights are whole numbers of units, and the model is the lowest bit of each number: to sort them is to merge,
breakpoints that coincide do so to the last unit, and the width of a segment is a difference of whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.sampling.resamples import Scratch
from riskrank.engine.sampling.steps import rounding_of
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class Block:
    """Some pairs of models that are worked on at once.

    Attributes
    ----------
    first, second : ndarray of int, shape (p,)
    runs : list of (int, slice, slice or ndarray of int)
        A first model, the pairs of the block it is in, and the second models of these, which are read where
        they lie where they are neighbours.
    """

    first: Integers
    second: Integers
    runs: list[tuple[int, slice, slice | Integers]]

    @classmethod
    def of(cls, pairs: Integers) -> Block:
        """Of pairs in the order of their first models, then of their second; shape (p, 2)."""
        first, second = pairs.T
        runs: list[tuple[int, slice, slice | Integers]] = []
        for i in np.unique(first).tolist():
            rows = np.flatnonzero(first == i)
            others = second[rows]
            neighbours = others[-1] - others[0] == len(others) - 1
            among = slice(int(others[0]), int(others[-1]) + 1) if neighbours else others
            runs.append((i, slice(int(rows[0]), int(rows[-1]) + 1), among))
        return cls(first, second, runs)


def side_by_side(steps: Sequence[tuple[Floats, Integers]]) -> tuple[Floats, Integers]:
    """Models' steps as long as each other.

    Parameters
    ----------
    steps : sequence of k (ndarray, shape (d_i,), ndarray of int64, shape (B, d_i))
        Values upwards, and the weight up to and including each.

    Returns
    -------
    ndarray, shape (k·(d + 1),), and ndarray of int64, shape (k, B, d)
        Values, the last one once more at the end, where rounding leaves a segment of no width; and
        breakpoints times two, which leaves a bit for the model.
    """
    most = max(value.size for value, _ in steps)
    values = np.empty((len(steps), most + 1))
    ends = np.empty((len(steps), len(steps[0][1]), most), dtype=np.int64)
    for model, (value, own) in enumerate(steps):
        values[model, : value.size], values[model, value.size :] = value, value[-1]
        np.left_shift(own, 1, out=ends[model, :, : value.size])
        ends[model, :, value.size :] = own[:, -1:] << 1
    return values.reshape(-1), ends


def merged(ends: Integers, block: Block, scores: int, scratch: Scratch) -> tuple[Integers, Integers, Floats]:
    """Merge the breakpoints of pairs of models.

    Parameters
    ----------
    ends : ndarray of int64, shape (k, B, d)
        As of :func:`side_by_side`.
    block : Block
        Of p pairs.
    scores : int
        Most scores of a model, from which the weights were summed up.
    scratch : Scratch

    Returns
    -------
    first, second : ndarray of int, shapes (p·B, s)
        Of each segment between merged breakpoints the places of the values of :func:`side_by_side`.
    widths : ndarray, shape (p·B, s)
        Of sum 1. All three last until the next call.
    """
    _, batch, count = ends.shape
    pairs, segments = len(block.first), 2 * count
    both = scratch.integers("packed", pairs, batch, segments)
    for i, rows, among in block.runs:
        both[rows, :, :count] = ends[i]
        np.bitwise_or(ends[among], 1, out=both[rows, :, count:])
    packed = both.reshape(-1, segments)
    # Two runs that are sorted already: this merges them.
    packed.sort(axis=1, kind="stable")
    # Places begin where the values of the model do.
    begin = np.stack([block.first, block.second]).repeat(batch, axis=1) * (count + 1)
    bit = scratch.integers("bit", *packed.shape)
    bit[:, 0] = begin[1]
    np.bitwise_and(packed[:, :-1], 1, out=bit[:, 1:])
    second = np.cumsum(bit, axis=1, out=scratch.integers("second", *packed.shape))
    packed >>= 1
    # The bits have been counted, and give way to the widths.
    widths = bit
    widths[:, 0] = packed[:, 0]
    np.subtract(packed[:, 1:], packed[:, :-1], out=widths[:, 1:])
    # Breakpoints that are equal but for the rounding of weights to units.
    widths.reshape(-1)[np.flatnonzero(widths <= rounding_of(scores))] = 0
    # The merged breakpoints have been told apart, and give way to the places of the first.
    first = np.subtract(scratch.numbers(segments), second, out=packed)
    first += begin.sum(axis=0)[:, None]
    return first, second, np.multiply(widths, 0.5**61, out=scratch.floats("widths", *widths.shape))
