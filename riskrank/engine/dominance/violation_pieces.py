"""``∫ D²`` and ``∫ D|D|`` of differences of quantile functions, which make up violation ratios (method §3).

Rows are resamples or pairs; nothing in a row depends on the rows around it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from riskrank.engine.scratch import Scratch
from riskrank.engine.types import Floats

Pieces = tuple[Floats, Floats]

# OpenBLAS shares dot products of more than 10,000 numbers among threads.
_DOT_LENGTH = 8192

# Below this a sum of squares has lost digits, or everything, to underflow.
_SMALLEST_SQUARES = 1e-250


def in_range(
    difference: Floats, found: Pieces | None, integrate: Callable[[Floats, Floats], Pieces]
) -> Pieces:
    """``∫ D²`` and ``∫ D|D|`` of every row, again on its own scale where a row's squares underflow.

    One score of 1e200 among ones leaves differences whose squares would be 0, and two different models
    would count as equal in silence.
    """
    squares, signed = integrate(difference, np.abs(difference)) if found is None else found
    small = squares < _SMALLEST_SQUARES
    if small.any():
        rows = difference[small]
        largest = np.abs(rows).max(axis=1)
        rows = np.ldexp(rows, -np.frexp(largest)[1][:, None])
        squares[small], signed[small] = integrate(rows, np.abs(rows))
    return squares, signed


def _dot(a: Floats, b: Floats) -> Floats:
    """Row-wise inner products, in pieces so short that BLAS never shares one among threads.

    The order of summation then depends neither on the number of threads nor on the rows around.
    """
    if a.shape[1] <= _DOT_LENGTH:
        return np.vecdot(a, b)
    total = np.vecdot(a[:, :_DOT_LENGTH], b[:, :_DOT_LENGTH])
    for at in range(_DOT_LENGTH, a.shape[1], _DOT_LENGTH):
        total += np.vecdot(a[:, at : at + _DOT_LENGTH], b[:, at : at + _DOT_LENGTH])
    return total


def step_pieces(difference: Floats, size: Floats) -> Pieces:
    """``∫ D²`` and ``∫ D|D|`` of step functions, without the factor of the common width."""
    return _dot(difference, difference), _dot(difference, size)


def weighted_steps(difference: Floats, size: Floats, *, widths: Floats) -> Pieces:
    """``∫ D²`` and ``∫ D|D|`` of step functions with steps of the given widths."""
    weighted = difference * widths
    return _dot(weighted, difference), _dot(weighted, size)


def weighted_lines(right: Floats, _: Floats, *, widths: Floats) -> Pieces:
    """``∫ D²`` and ``∫ D|D|`` of functions that start at 0 and are linear between the given values."""
    left = np.pad(right[:, :-1], ((0, 0), (1, 0)))
    squares = np.sum(widths * (left * left + left * right + right * right), axis=1) / 3
    return squares, np.sum(widths * _signed_piece(left, right), axis=1)


def piecewise(difference: Floats, widths: Floats, orders: int, scratch: Scratch) -> list[Pieces]:
    """``∫ D²`` and ``∫ D|D|`` of step functions D whose rows have widths of their own, and of integrals D.

    Parameters
    ----------
    difference, widths : ndarray, shape (B, s)
    orders : {1, 2}
        The step functions alone, or their integrals as well, each of which starts at 0.
    scratch : Scratch
    """
    weighted = np.multiply(difference, widths, out=scratch.floats("weighted", *difference.shape))
    sizes = np.abs(difference, out=scratch.floats("sizes", *difference.shape))
    found = [(_dot(weighted, difference), _dot(weighted, sizes))]
    if orders > 1:
        found.append(_lines(weighted, widths, scratch))
    for order, pieces in enumerate(found, 1):
        _again_where_small(order, pieces, difference, widths)
    return found


def _lines(weighted: Floats, widths: Floats, scratch: Scratch) -> Pieces:
    """The same of the integrals, which are linear between the sums of `weighted`."""
    rows, count = weighted.shape
    ends = scratch.floats("ends", rows, count + 1)
    ends[:, 0] = 0.0
    np.cumsum(weighted, axis=1, out=ends[:, 1:])
    left, right = ends[:, :-1], ends[:, 1:]
    both = np.add(left, right, out=scratch.floats("both", rows, count))
    # (a² + ab + b²), with the sign of a + b: right wherever a and b have one sign.
    sizes = np.multiply(both, both, out=scratch.floats("sizes", rows, count))
    sizes -= np.multiply(left, right, out=scratch.floats("weighted", rows, count))
    squares = _dot(sizes, widths)
    np.copysign(sizes, both, out=sizes)
    signed = _dot(sizes, widths)
    negative = np.signbit(ends)
    at, columns = np.divmod(np.flatnonzero(negative[:, 1:] != negative[:, :-1]), count)
    wide = widths[at, columns] > 0
    at, columns = at[wide], columns[wide]
    a, b, plain = left[at, columns], right[at, columns], sizes[at, columns]
    mended = widths[at, columns] * (3 * _crossing_piece(a, b) - plain)
    signed += np.bincount(at, mended, minlength=rows)
    return squares / 3, signed / 3


def _again_where_small(order: int, found: Pieces, difference: Floats, widths: Floats) -> None:
    """Put right rows whose squares underflow, each on its own scale, as `in_range` does."""
    squares, signed = found
    small = np.flatnonzero(squares < _SMALLEST_SQUARES)
    if small.size:
        rows = np.where(widths[small] > 0, difference[small], 0.0)
        largest = np.abs(rows).max(axis=1)
        some = (largest > 0) & (largest < 0.25)
        if some.any():
            at = small[some]
            rows = np.ldexp(rows[some], -np.frexp(largest[some])[1][:, None])
            squares[at], signed[at] = piecewise(rows, widths[at], order, Scratch())[order - 1]


def linear_pieces(difference: Floats, size: Floats) -> Pieces:
    """``∫ D²`` and ``∫ D|D|`` of functions linear between the given values at 1/n, ..., 1.

    Each starts at 0 and the constant factor of the segment width is left out, since only the
    quotient matters. ``size`` is ``|difference|``; both arrays have shape (pairs, n).
    """
    left, right = difference[:, :-1], difference[:, 1:]
    last = difference[:, -1]
    squares = 2 * _dot(difference, difference) - last * last + _dot(left, right)
    # With equal signs ∫ D|D| over a segment is (a|a| + a|b| + b|b|) / 3; the few segments on which D
    # changes sign are put right afterwards.
    signed = 2 * _dot(difference, size) - last * size[:, -1] + _dot(left, size[:, 1:])
    negative = np.signbit(difference)
    # A flat index over one contiguous mask is several times faster than a two-dimensional nonzero.
    rows, columns = np.divmod(np.flatnonzero(negative[:, 1:] != negative[:, :-1]), left.shape[1])
    a, b = left[rows, columns], right[rows, columns]
    plain = a * np.abs(a) + a * np.abs(b) + b * np.abs(b)
    signed += np.bincount(rows, 3 * _signed_piece(a, b) - plain, minlength=len(signed))
    return squares / 3, signed / 3


def _signed_piece(a: Floats, b: Floats) -> Floats:
    """``∫ D|D|`` over a segment of width 1 on which D runs linearly from a to b."""
    same = (np.abs(a) + np.abs(b)) * np.abs(a + b)
    crossing = np.signbit(a) != np.signbit(b)
    plain = np.sign(a + b) * (same - np.abs(a * b)) / 3
    return np.where(crossing, _crossing_piece(np.where(crossing, a, 0.0), np.where(crossing, b, 0.0)), plain)


def _crossing_piece(a: Floats, b: Floats) -> Floats:
    """The same of ends of opposite signs."""
    # Antiderivative |D|³/3: (|b|³ - |a|³) / (b - a), where |b - a| = |a| + |b|.
    numerator = np.abs(b) ** 3 - np.abs(a) ** 3
    return numerator / np.where(a != b, b - a, 1.0) / 3
