"""Violation ratios of almost stochastic dominance, integrated exactly.

Source: [RAB] section 2 and appendix D, method §3. The violation ratio of "i dominates j" is

* order 1: ``∫ (Q_j - Q_i)₊² / ∫ (Q_j - Q_i)²`` over the quantile functions ``Q``,
* order 2: the same with integrated quantile functions.

Both integrals run over the merged breakpoints of the two samples, never over a fixed grid of
probabilities. Since ``D₊² = (D² + D|D|) / 2``, one pass for ``∫ D²`` and one for ``∫ D|D|`` give the
ratio of both directions at once: they add up to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.errors import InputError

Floats = NDArray[np.float64]

ORDERS = (1, 2)


def violation_ratio(winner: ArrayLike, loser: ArrayLike, *, order: int) -> float:
    """Violation ratio of "winner dominates loser"; 0 is full dominance, ½ a draw.

    Parameters
    ----------
    winner, loser : array_like, shapes (n,) and (m,)
        Scores of the two models, larger is better, in any order.
    order : {1, 2}
        Order of stochastic dominance.

    Returns
    -------
    float
        A ratio in [0, 1]; ½ when the two empirical distributions are equal.

    Raises
    ------
    InputError
        If a sample is empty or the order is neither 1 nor 2.
    """
    return float(violation_matrix([winner, loser], order=order)[0, 1])


def violation_matrix(samples: Sequence[ArrayLike], *, order: int) -> Floats:
    """Violation ratios of all ordered pairs ([RAB] eq. 8 and 9).

    Parameters
    ----------
    samples : sequence of k array_like, shapes (n_i,)
        Scores of each model, larger is better, in any order.
    order : {1, 2}
        Order of stochastic dominance.

    Returns
    -------
    ndarray, shape (k, k)
        ``[i, j]`` is the ratio of "i dominates j"; ``[i, j] + [j, i] == 1``; the diagonal is ½.

    Raises
    ------
    InputError
        If a sample is empty or the order is neither 1 nor 2.
    """
    if order not in ORDERS:
        raise InputError("an order of dominance is 1 or 2", found=str(order), hint="use --order 1, 2 or both")
    ordered = [np.sort(np.asarray(sample, dtype=np.float64)) for sample in samples]
    if any(sample.ndim != 1 or sample.size == 0 for sample in ordered):
        raise InputError(
            "a violation ratio needs at least one score a model", found="none", hint="check the selection"
        )
    scale = CommonScale.of(ordered)
    ordered = [scale.apply(sample) for sample in ordered]
    kernel = ViolationKernel.for_sizes([sample.size for sample in ordered])
    return square_matrix(kernel.ratios(ordered)[order - 1], len(ordered))


def one_versus_all(ratios: Floats) -> Floats:
    """One-versus-all violation ratio ``ε_i``, the mean over the other models ([RAB] eq. 10).

    Parameters
    ----------
    ratios : ndarray, shape (..., k, k)
        Violation ratios of all ordered pairs.

    Returns
    -------
    ndarray, shape (..., k)
        Mean of each row without its diagonal.
    """
    k = ratios.shape[-1]
    return (ratios.sum(axis=-1) - np.diagonal(ratios, axis1=-2, axis2=-1)) / (k - 1)


@dataclass(frozen=True)
class CommonScale:
    """One affine map of all samples, undone without rounding a single score.

    A ratio does not change under it, but squares overflow and long sums cancel. The scale is a power
    of two; a shift is only taken when all scores lie within a factor of two of it, where
    floating-point subtraction is exact.

    Attributes
    ----------
    shift : float
    exponent : int
        Scores become ``(x - shift) / 2**exponent``, at most 1 in size.
    """

    shift: float
    exponent: int

    @classmethod
    def of(cls, samples: Sequence[Floats]) -> CommonScale:
        """Find the map for samples of one unit."""
        low = min(sample.min() for sample in samples)
        high = max(sample.max() for sample in samples)
        close = (low > 0 and high <= 2 * low) or (high < 0 and low >= 2 * high)
        shift = float(low) if close else 0.0
        largest = max(abs(low - shift), abs(high - shift))
        return cls(shift, int(np.frexp(largest)[1]) if largest > 0 else 0)

    def apply(self, scores: Floats) -> Floats:
        """Scores on the common scale."""
        return np.ldexp(scores - self.shift, -self.exponent)

    def undo(self, scores: Floats) -> Floats:
        """Scores in their own unit."""
        return np.ldexp(scores, self.exponent) + self.shift


def square_matrix(upper: Floats, k: int) -> Floats:
    """Ratios of the pairs i < j, shape (..., k(k-1)/2), as full matrices of shape (..., k, k)."""
    rows, columns = np.triu_indices(k, 1)
    full = np.full((*upper.shape[:-1], k, k), 0.5)
    full[..., rows, columns] = upper
    full[..., columns, rows] = 1.0 - upper
    return full


@dataclass(frozen=True)
class ViolationKernel:
    """Violation ratios of sorted samples of known sizes; built once, called for every resample.

    Calls share scratch arrays: one kernel serves one thread.

    Attributes
    ----------
    sizes : tuple of k int
        Number of scores of each model.
    """

    sizes: tuple[int, ...]
    _scratch: tuple[Floats, Floats]
    _grids: dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64], Floats]]

    @classmethod
    def for_sizes(cls, sizes: Sequence[int]) -> ViolationKernel:
        """Lay out scratch memory for samples of these sizes."""
        k, n = len(sizes), max(sizes)
        width = n if len(set(sizes)) == 1 else 1
        scratch = np.empty((max(k - 1, 1), width)), np.empty((max(k - 1, 1), width))
        return cls(tuple(int(size) for size in sizes), scratch, {})

    def ratios(self, ordered: Sequence[Floats] | Floats) -> Floats:
        """Ratios of "i dominates j" for all i < j.

        Parameters
        ----------
        ordered : sequence of k ndarrays, shapes (n_i,), or one ndarray of shape (k, n)
            Scores sorted upwards within each model.

        Returns
        -------
        ndarray, shape (2, k(k-1)/2)
            Orders 1 and 2; pairs in the order of ``numpy.triu_indices(k, 1)``.
        """
        if len(set(self.sizes)) == 1:
            return self._common_grid(np.asarray(ordered))
        return self._merged_grids(ordered)

    def _common_grid(self, quantiles: Floats) -> Floats:
        k = len(quantiles)
        integrated = np.cumsum(quantiles, axis=1)
        squares = np.empty((2, k * (k - 1) // 2))
        signed = np.empty_like(squares)
        start = 0
        for i in range(k - 1):
            pairs = slice(start, start + k - 1 - i)
            difference, size = self._scratch[0][: k - 1 - i], self._scratch[1][: k - 1 - i]
            np.subtract(quantiles[i + 1 :], quantiles[i], out=difference)
            np.abs(difference, out=size)
            squares[0, pairs] = _dot(difference, difference)
            signed[0, pairs] = _dot(difference, size)
            np.subtract(integrated[i + 1 :], integrated[i], out=difference)
            np.abs(difference, out=size)
            squares[1, pairs], signed[1, pairs] = _linear_pieces(difference, size)
            start = pairs.stop
        return _ratio(squares, signed)

    def _merged_grids(self, ordered: Sequence[Floats]) -> Floats:
        k = len(ordered)
        integrated = [np.concatenate(([0.0], np.cumsum(sample))) / sample.size for sample in ordered]
        squares = np.empty((2, k * (k - 1) // 2))
        signed = np.empty_like(squares)
        for pair, (i, j) in enumerate(zip(*np.triu_indices(k, 1), strict=True)):
            steps_i, steps_j, widths = self._grid(ordered[i].size, ordered[j].size)
            step = ordered[j][steps_j] - ordered[i][steps_i]
            squares[0, pair] = np.sum(widths * step * step)
            signed[0, pair] = np.sum(widths * step * np.abs(step))
            ends = np.cumsum(widths)
            left_i, left_j = steps_i / ordered[i].size, steps_j / ordered[j].size
            right = (
                integrated[j][steps_j]
                - integrated[i][steps_i]
                + (ends - left_j) * ordered[j][steps_j]
                - (ends - left_i) * ordered[i][steps_i]
            )
            left = np.concatenate(([0.0], right[:-1]))
            squares[1, pair] = np.sum(widths * (left * left + left * right + right * right)) / 3
            signed[1, pair] = np.sum(widths * _signed_piece(left, right))
        return _ratio(squares, signed)

    def _grid(self, n: int, m: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """Step of each sample and width, for every segment between merged breakpoints.

        Breakpoints a/n and b/m are compared as the integers a m and b n: exact, whatever the sizes.
        """
        if (n, m) not in self._grids:
            points = np.union1d(np.arange(n + 1) * m, np.arange(m + 1) * n)
            left = points[:-1]
            self._grids[n, m] = left // m, left // n, np.diff(points) / (n * m)
        return self._grids[n, m]


def _dot(a: Floats, b: Floats) -> Floats:
    """Row-wise inner products; einsum's summation order does not depend on threads."""
    return np.einsum("ij,ij->i", a, b)


def _linear_pieces(difference: Floats, size: Floats) -> tuple[Floats, Floats]:
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


def _ratio(squares: Floats, signed: Floats) -> Floats:
    """``(∫ D² + ∫ D|D|) / (2 ∫ D²)``, and ½ wherever the two quantile functions are equal."""
    same = squares[0] == 0
    squares = np.where(same | (squares == 0), 1.0, squares)
    signed = np.where(same, 0.0, signed)
    return np.clip(0.5 + signed / (2 * squares), 0.0, 1.0)
