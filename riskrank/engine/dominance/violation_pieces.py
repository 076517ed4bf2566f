"""``∫ D²`` and ``∫ D|D|`` of differences of quantile functions, which make up violation ratios (method §3).

Rows are resamples or pairs; nothing in a row depends on the rows around it.
"""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.dominance.merged_steps import Block
from riskrank.engine.sampling.resamples import Scratch
from riskrank.engine.types import Floats, Integers

Pieces = tuple[Floats, Floats]

# OpenBLAS shares dot products of more than 10,000 numbers among threads.
_DOT_LENGTH = 8192

# Below this a sum of squares has lost digits, or everything, to underflow.
_SMALLEST_SQUARES = 1e-250


def _dot(a: Floats, b: Floats, out: Floats | None = None) -> Floats:
    """Row-wise inner products, in pieces so short that BLAS never shares one among threads.

    The order of summation then depends neither on the number of threads nor on the rows around.
    """
    total = np.vecdot(a[:, :_DOT_LENGTH], b[..., :_DOT_LENGTH], out=out)
    for at in range(_DOT_LENGTH, a.shape[1], _DOT_LENGTH):
        total += np.vecdot(a[:, at : at + _DOT_LENGTH], b[..., at : at + _DOT_LENGTH])
    return total


def equal_widths(heights: Floats, blocks: Sequence[Block], order: int, scratch: Scratch) -> Pieces:
    """``∫ D²`` and ``∫ D|D|`` of pairs of functions, without the factor of the common width of all segments.

    Parameters
    ----------
    heights : ndarray, shape (k, B, n)
        Of order 1 the values of step functions; of order 2 those at 1/n, …, 1 of functions that start at
        0 and are linear in between.
    blocks : sequence of Block
        All pairs.
    order : {1, 2}
    scratch : Scratch

    Returns
    -------
    two ndarrays, shape (pairs · B,)
    """
    _, batch, n = heights.shape
    sums, done = np.empty((2, batch * sum(len(block.first) for block in blocks))), 0
    crossings = []
    for block in blocks:
        difference = scratch.floats("difference", len(block.first), batch, n)
        for i, own, among in block.runs:
            np.subtract(heights[among], heights[i], out=difference[own])
        rows = slice(done, done + len(block.first) * batch)
        at, *ends = _equal_sums(difference.reshape(-1, n), order, sums[:, rows], scratch)
        crossings.append((at + done, *ends))
        done = rows.stop
    if order == 2:
        _mend_equal(sums[1], *(np.concatenate(parts) for parts in zip(*crossings, strict=True)))
    small = np.flatnonzero(sums[0] < _SMALLEST_SQUARES)
    if small.size:
        pairs, at = np.divmod(small, batch)
        first, second = np.concatenate([(block.first, block.second) for block in blocks], axis=1)[:, pairs]
        again = np.empty((2, small.size))
        found = _equal_sums(_own_scale(heights[second, at] - heights[first, at]), order, again, scratch)
        _mend_equal(again[1], *found)
        sums[:, small] = again
    return sums[0], sums[1]


Crossings = tuple[Integers, Floats, Floats]
"""Rows of segments on which the sign changes, and the values at both ends."""


def _equal_sums(difference: Floats, order: int, out: Floats, scratch: Scratch) -> Crossings:
    """The same of some rows, into shape (2, rows); the second as if no sign changed within a segment."""
    if order == 1:
        size = np.abs(difference, out=scratch.floats("size", *difference.shape))
        _dot(difference, difference, out=out[0])
        _dot(difference, size, out=out[1])
        return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    rows, columns = _sign_changes(difference)
    # Of one sign throughout, as integrated functions mostly are, D|D| is ± D², whatever D² is.
    last = difference[:, -1]
    out[0], out[1] = 1.0, np.sign(last)
    mixed = np.flatnonzero((np.bincount(rows, minlength=len(last)) > 0) | (last == 0))
    if mixed.size:
        some = scratch.floats("some", mixed.size, difference.shape[1])
        difference.take(mixed, axis=0, out=some, mode="clip")
        out[0, mixed] = _lines_between(some, some)
        size = np.abs(some, out=scratch.floats("size", *some.shape))
        out[1, mixed] = _lines_between(some, size)
    return rows, difference[rows, columns], difference[rows, columns + 1]


def _lines_between(values: Floats, sizes: Floats) -> Floats:
    """``∫ D²`` of lines through values, or ``∫ D|D|`` where sizes are theirs, if no sign changes between two.

    With equal signs ∫ D|D| over a segment is (a|a| + a|b| + b|b|) / 3.
    """
    ends = _dot(values[:, :-1], sizes[:, 1:]) - values[:, -1] * sizes[:, -1]
    return (2 * _dot(values, sizes) + ends) / 3


def _mend_equal(signed: Floats, rows: Integers, a: Floats, b: Floats) -> None:
    if rows.size:
        plain = a * np.abs(a) + a * np.abs(b) + b * np.abs(b)
        signed += np.bincount(rows, _crossing_piece(a, b) - plain / 3, minlength=len(signed))


def _own_scale(rows: Floats) -> Floats:
    """Differences of at most 1 in size, each row for itself.

    One score of 1e200 among ones leaves differences whose squares would be 0, and two different models
    would count as equal in silence.
    """
    return np.ldexp(rows, -np.frexp(np.abs(rows).max(axis=1))[1][:, None])


def own_widths(difference: Floats, widths: Floats, order: int, scratch: Scratch) -> Pieces:
    """``∫ D²`` and ``∫ D|D|`` of step functions D, or of their integrals, which start at 0.

    Parameters
    ----------
    difference : ndarray, shape (rows, s)
        Values of the step functions, whichever the order.
    widths : ndarray, shape (rows, s) or (s,)
    order : {1, 2}
    scratch : Scratch
    """
    integrate = _steps if order == 1 else _lines
    squares, signed = integrate(difference, widths, scratch)
    small = np.flatnonzero(squares < _SMALLEST_SQUARES)
    if small.size:
        own = np.broadcast_to(widths, difference.shape)[small]
        rows = _own_scale(np.where(own > 0, difference[small], 0.0))
        squares[small], signed[small] = integrate(rows, own, scratch)
    return squares, signed


def _steps(difference: Floats, widths: Floats, scratch: Scratch) -> Pieces:
    weighted = np.multiply(difference, widths, out=scratch.floats("weighted", *difference.shape))
    size = np.abs(difference, out=scratch.floats("size", *difference.shape))
    return _dot(weighted, difference), _dot(weighted, size)


def _lines(difference: Floats, widths: Floats, scratch: Scratch) -> Pieces:
    rows, count = difference.shape
    weighted = np.multiply(difference, widths, out=scratch.floats("weighted", rows, count))
    ends = scratch.floats("ends", rows, count + 1)
    ends[:, 0] = 0.0
    np.cumsum(weighted, axis=1, out=ends[:, 1:])
    left, right = ends[:, :-1], ends[:, 1:]
    both = np.add(left, right, out=scratch.floats("both", rows, count))
    # (a² + ab + b²), with the sign of a + b: right wherever a and b have one sign.
    size = np.multiply(both, both, out=scratch.floats("size", rows, count))
    size -= np.multiply(left, right, out=weighted)
    squares = _dot(size, widths)
    np.copysign(size, both, out=size)
    signed = _dot(size, widths)
    at, columns = _sign_changes(ends)
    a, b, plain = left[at, columns], right[at, columns], size[at, columns]
    width = np.broadcast_to(widths, difference.shape)[at, columns]
    signed += np.bincount(at, width * (3 * _crossing_piece(a, b) - plain), minlength=rows)
    return squares / 3, signed / 3


def _sign_changes(values: Floats) -> tuple[Integers, Integers]:
    """Row and left end of the segments over which the sign changes."""
    # Flat: several times faster than a two-dimensional nonzero; from the end of a row to the next is none.
    negative = np.less(values, 0.0).reshape(-1)
    ends = (negative[1:] != negative[:-1]).nonzero()[0]
    rows, columns = np.divmod(ends, values.shape[1])
    within = columns < values.shape[1] - 1
    return rows[within], columns[within]


def _crossing_piece(a: Floats, b: Floats) -> Floats:
    """``∫ D|D|`` over a segment of width 1 on which D runs linearly from a to b, of opposite signs."""
    # Antiderivative |D|³/3: (|b|³ - |a|³) / (b - a), where |b - a| = |a| + |b|.
    numerator = np.abs(b) ** 3 - np.abs(a) ** 3
    return numerator / np.where(a != b, b - a, 1.0) / 3
