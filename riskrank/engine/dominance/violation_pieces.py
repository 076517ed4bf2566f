"""The integrals ``∫ D²`` and ``∫ D|D|`` for differences D of quantile functions (method §3).

Violation ratios are computed from these two integrals. Rows are resamples or pairs; the result for a row does
not depend on other rows.
"""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.dominance.merged_steps import PairBlock
from riskrank.engine.sampling.resamples import Scratch
from riskrank.engine.types import Floats, Integers

Pieces = tuple[Floats, Floats]

# OpenBLAS splits dot products of more than 10,000 numbers among threads.
_DOT_LENGTH = 8192

# Smaller sums of squares have lost some or all digits by underflow.
_SMALLEST_SQUARES = 1e-250


def _row_dots(a: Floats, b: Floats, out: Floats | None = None) -> Floats:
    """Return the inner product of each row of `a` with the same row of `b`, or with a one-dimensional `b`.

    The products are computed in chunks that BLAS does not split among threads. The order of summation
    therefore depends neither on the number of threads nor on the other rows. The result is written to `out`
    if given.
    """
    total = np.vecdot(a[:, :_DOT_LENGTH], b[..., :_DOT_LENGTH], out=out)
    for at in range(_DOT_LENGTH, a.shape[1], _DOT_LENGTH):
        total += np.vecdot(a[:, at : at + _DOT_LENGTH], b[..., at : at + _DOT_LENGTH])
    return total


def integrate_equal_widths(
    heights: Floats, blocks: Sequence[PairBlock], order: int, scratch: Scratch
) -> Pieces:
    """Compute ``∫ D²`` and ``∫ D|D|`` for pairs of functions, in units of the common segment width.

    Parameters
    ----------
    heights : ndarray, shape (k, B, n)
        For order 1, values of step functions. For order 2, values at 1/n, …, 1 of piecewise linear functions
        that start at 0.
    blocks : sequence of PairBlock
        All pairs.
    order : {1, 2}
        Order of dominance.
    scratch : Scratch
        Reusable work arrays.

    Returns
    -------
    two ndarrays, shape (pairs · B,)
        The integrals ``∫ D²`` and ``∫ D|D|``.
    """
    _, batch, n = heights.shape
    sums, done = np.empty((2, batch * sum(len(block.first) for block in blocks))), 0
    sign_changes = []
    for block in blocks:
        difference = scratch.floats("difference", len(block.first), batch, n)
        for i, place, among in block.runs:
            np.subtract(heights[among], heights[i], out=difference[place])
        rows = slice(done, done + len(block.first) * batch)
        at, *edges = _write_integrals(difference.reshape(-1, n), order, sums[:, rows], scratch)
        sign_changes.append((at + done, *edges))
        done = rows.stop
    if order == 2:
        _correct_sign_changes(sums[1], *(np.concatenate(parts) for parts in zip(*sign_changes, strict=True)))
    small = np.flatnonzero(sums[0] < _SMALLEST_SQUARES)
    if small.size:
        pairs, at = np.divmod(small, batch)
        first, second = np.concatenate([(block.first, block.second) for block in blocks], axis=1)[:, pairs]
        scaled = np.empty((2, small.size))
        rescaled = _rescale_rows(heights[second, at] - heights[first, at])
        _correct_sign_changes(scaled[1], *_write_integrals(rescaled, order, scaled, scratch))
        sums[:, small] = scaled
    return sums[0], sums[1]


# Rows of segments on which the sign changes, and their values at both ends.
SignChanges = tuple[Integers, Floats, Floats]


def _write_integrals(difference: Floats, order: int, out: Floats, scratch: Scratch) -> SignChanges:
    """Write the integrals ``∫ D²`` and ``∫ D|D|`` of all rows to `out`, shape (2, rows).

    `difference` holds the values of D on the segments (order 1), or at their ends (order 2). Also return the
    segments in which D changes sign: their rows, and the values of D at both ends. The integrals ignore sign
    changes; :func:`_correct_sign_changes` adds the correction.
    """
    if order == 1:
        size = np.abs(difference, out=scratch.floats("size", *difference.shape))
        _row_dots(difference, difference, out=out[0])
        _row_dots(difference, size, out=out[1])
        return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    rows, columns = _sign_changes(difference)
    # If D has the same sign everywhere, as in most integrated functions, the ratio of the integrals is ±1.
    last = difference[:, -1]
    out[0], out[1] = 1.0, np.sign(last)
    mixed = np.flatnonzero((np.bincount(rows, minlength=len(last)) > 0) | (last == 0))
    if mixed.size:
        some = scratch.floats("some", mixed.size, difference.shape[1])
        difference.take(mixed, axis=0, out=some, mode="clip")
        out[0, mixed] = _integrate_linear_pieces(some, some)
        size = np.abs(some, out=scratch.floats("size", *some.shape))
        out[1, mixed] = _integrate_linear_pieces(some, size)
    return rows, difference[rows, columns], difference[rows, columns + 1]


def _integrate_linear_pieces(values: Floats, sizes: Floats) -> Floats:
    """Return ``∫ D²`` for piecewise linear D, or ``∫ D|D|`` if `sizes` contains absolute values.

    `values` holds D at the ends of the segments, one function per row, starting from 0. The formula for ∫
    D|D|, (a|a| + a|b| + b|b|) / 3, requires equal signs at both ends of a segment.
    """
    cross = _row_dots(values[:, :-1], sizes[:, 1:]) - values[:, -1] * sizes[:, -1]
    return (2 * _row_dots(values, sizes) + cross) / 3


def _correct_sign_changes(signed: Floats, rows: Integers, a: Floats, b: Floats) -> None:
    """Replace, in place, the integrals ``∫ D|D|`` of the segments on which D changes sign.

    Parameters
    ----------
    signed : ndarray, shape (rows,)
        Integrals over all segments, computed as if D kept its sign within each of them.
    rows : ndarray of int, shape (c,)
        Row of each segment with a sign change.
    a, b : ndarray, shape (c,)
        Values of D at both ends of these segments.
    """
    if rows.size:
        plain = a * np.abs(a) + a * np.abs(b) + b * np.abs(b)
        signed += np.bincount(rows, _integrate_sign_change(a, b) - plain / 3, minlength=len(signed))


def _rescale_rows(rows: Floats) -> Floats:
    """Scale each row by a power of two so that its largest absolute value is at most 1.

    Without scaling, squares of very large differences overflow and squares of very small ones underflow. Two
    different models could then count as equal without a warning.
    """
    return np.ldexp(rows, -np.frexp(np.abs(rows).max(axis=1))[1][:, None])


def integrate_unequal_widths(difference: Floats, widths: Floats, order: int, scratch: Scratch) -> Pieces:
    """Compute ``∫ D²`` and ``∫ D|D|`` per row, for step functions D (order 1) or their integrals D (order 2).

    Parameters
    ----------
    difference : ndarray, shape (rows, s)
        Values of the step functions, for either order.
    widths : ndarray, shape (rows, s) or (s,)
        Widths of the segments.
    order : {1, 2}
        With order 2, the step functions are integrated first; the integrals start at 0.
    scratch : Scratch
        Reusable work arrays.
    """
    integrate = _integrate_steps if order == 1 else _integrate_lines
    squares, signed = integrate(difference, widths, scratch)
    small = np.flatnonzero(squares < _SMALLEST_SQUARES)
    if small.size:
        small_widths = np.broadcast_to(widths, difference.shape)[small]
        rows = _rescale_rows(np.where(small_widths > 0, difference[small], 0.0))
        squares[small], signed[small] = integrate(rows, small_widths, scratch)
    return squares, signed


def _integrate_steps(difference: Floats, widths: Floats, scratch: Scratch) -> Pieces:
    """Return ``∫ D²`` and ``∫ D|D|`` of each row, for step functions D.

    `difference` holds the values of D on the segments, `widths` the widths of the segments.
    """
    weighted = np.multiply(difference, widths, out=scratch.floats("weighted", *difference.shape))
    size = np.abs(difference, out=scratch.floats("size", *difference.shape))
    return _row_dots(weighted, difference), _row_dots(weighted, size)


def _integrate_lines(difference: Floats, widths: Floats, scratch: Scratch) -> Pieces:
    """Return ``∫ D²`` and ``∫ D|D|`` of each row, for D the integral of a step function.

    `difference` holds the values of the step function, `widths` the widths of its segments.
    """
    rows, count = difference.shape
    weighted = np.multiply(difference, widths, out=scratch.floats("weighted", rows, count))
    integrals = scratch.floats("ends", rows, count + 1)
    integrals[:, 0] = 0.0
    np.cumsum(weighted, axis=1, out=integrals[:, 1:])
    left, right = integrals[:, :-1], integrals[:, 1:]
    both = np.add(left, right, out=scratch.floats("both", rows, count))
    # a² + ab + b² with the sign of a + b, which is correct if a and b have the same sign.
    size = np.multiply(both, both, out=scratch.floats("size", rows, count))
    size -= np.multiply(left, right, out=weighted)
    squares = _row_dots(size, widths)
    np.copysign(size, both, out=size)
    signed = _row_dots(size, widths)
    at, columns = _sign_changes(integrals)
    a, b, plain = left[at, columns], right[at, columns], size[at, columns]
    width = np.broadcast_to(widths, difference.shape)[at, columns]
    signed += np.bincount(at, width * (3 * _integrate_sign_change(a, b) - plain), minlength=rows)
    return squares / 3, signed / 3


def _sign_changes(values: Floats) -> tuple[Integers, Integers]:
    """Return the row and the left end (column) of each segment in which the values of a row change sign."""
    # np.nonzero is several times faster on a flat array. Transitions between rows are dropped afterwards.
    negative = np.less(values, 0.0).reshape(-1)
    changes = (negative[1:] != negative[:-1]).nonzero()[0]
    rows, columns = np.divmod(changes, values.shape[1])
    within = columns < values.shape[1] - 1
    return rows[within], columns[within]


def _integrate_sign_change(a: Floats, b: Floats) -> Floats:
    """Return ``∫ D|D|`` over a segment of width 1 on which D is linear from a to b and changes sign."""
    # Antiderivative |D|³/3: (|b|³ - |a|³) / (b - a), where |b - a| = |a| + |b|.
    numerator = np.abs(b) ** 3 - np.abs(a) ** 3
    return numerator / np.where(a != b, b - a, 1.0) / 3
