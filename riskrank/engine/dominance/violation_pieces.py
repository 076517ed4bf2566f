"""``∫ D²`` and ``∫ D|D|`` of differences of quantile functions, which make up violation ratios (method §3).

Rows are resamples or pairs; nothing in a row depends on the rows around it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

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
    pieces = range(0, a.shape[1], _DOT_LENGTH)
    return np.sum(
        [np.vecdot(a[:, at : at + _DOT_LENGTH], b[:, at : at + _DOT_LENGTH]) for at in pieces], axis=0
    )


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


def piecewise_steps(difference: Floats, widths: Floats) -> Pieces:
    """``∫ D²`` and ``∫ D|D|`` of step functions whose rows have widths of their own, shapes (B, s)."""
    weighted = difference * widths
    squares, signed = _dot(weighted, difference), _dot(weighted, np.abs(difference))
    return _again_where_small(piecewise_steps, difference, widths, (squares, signed))


def piecewise_lines(difference: Floats, widths: Floats) -> Pieces:
    """``∫ D²`` and ``∫ D|D|`` of the integrals D of such step functions; each starts at 0."""
    ends = np.zeros((len(difference), difference.shape[1] + 1))
    np.multiply(difference, widths, out=ends[:, 1:])
    np.cumsum(ends, axis=1, out=ends)
    left, right = ends[:, :-1], ends[:, 1:]
    both = left + right
    # (a² + ab + b²), with the sign of a + b: right wherever a and b have one sign.
    sizes = both * both - left * right
    squares = _dot(sizes, widths)
    np.copysign(sizes, both, out=sizes)
    signed = _dot(sizes, widths)
    negative = np.signbit(ends)
    crossing = np.flatnonzero((negative[:, 1:] != negative[:, :-1]) & (widths > 0))
    rows, columns = np.divmod(crossing, sizes.shape[1])
    a, b, plain = left[rows, columns], right[rows, columns], sizes[rows, columns]
    mended = widths[rows, columns] * (3 * _signed_piece(a, b) - plain)
    signed += np.bincount(rows, mended, minlength=len(signed))
    return _again_where_small(piecewise_lines, difference, widths, (squares / 3, signed / 3))


def _again_where_small(
    integrate: Callable[[Floats, Floats], Pieces], difference: Floats, widths: Floats, found: Pieces
) -> Pieces:
    """The same, again on their own scale for rows whose squares underflow, as `in_range` does."""
    squares, signed = found
    small = np.flatnonzero(squares < _SMALLEST_SQUARES)
    if small.size:
        rows = np.where(widths[small] > 0, difference[small], 0.0)
        largest = np.abs(rows).max(axis=1)
        some = (largest > 0) & (largest < 0.25)
        if some.any():
            at = small[some]
            rows = np.ldexp(rows[some], -np.frexp(largest[some])[1][:, None])
            squares[at], signed[at] = integrate(rows, widths[at])
    return squares, signed


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
    # Antiderivative |D|³/3: for opposite signs (|b|³ - |a|³) / (b - a), where |b - a| = |a| + |b|.
    numerator = np.abs(b) ** 3 - np.abs(a) ** 3
    span = np.where(crossing & (a != b), b - a, 1.0)
    plain = np.sign(a + b) * (same - np.abs(a * b))
    return np.where(crossing, numerator / span, plain) / 3
