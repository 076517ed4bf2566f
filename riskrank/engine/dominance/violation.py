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
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.violation_pieces import (
    in_range,
    linear_pieces,
    step_pieces,
    weighted_lines,
    weighted_steps,
)
from riskrank.engine.types import Floats
from riskrank.errors import InputError, one_of

ORDERS = (1, 2)

# Differences worked on at once, so that they and their sizes stay in a core's own cache.
_CACHE = 1 << 16


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
        If a sample is empty or holds NaN or infinity.
    UsageError
        If the order is neither 1 nor 2.
    """
    one_of("order", order, ORDERS)
    ordered = [np.sort(np.asarray(sample, dtype=np.float64)) for sample in samples]
    if any(sample.ndim != 1 or sample.size == 0 or not np.all(np.isfinite(sample)) for sample in ordered):
        raise InputError(
            "a violation ratio needs finite scores, at least one a model",
            found="NaN, infinity or no score",
            hint="check the selection, and drop missing scores",
        )
    return violation_matrices(ordered, orders=(order,))[0]


def violation_matrices(ordered: Sequence[Floats], *, orders: Sequence[int] = ORDERS) -> Floats:
    """Violation ratios of all ordered pairs of models whose finite scores are sorted already.

    Parameters
    ----------
    ordered : sequence of k ndarrays, shapes (n_i,)
        Scores of each model, sorted upwards.
    orders : sequence of int
        Orders of dominance.

    Returns
    -------
    ndarray, shape (orders, k, k)
    """
    scale = CommonScale.of(ordered)
    kernel = ViolationKernel.for_sizes([sample.size for sample in ordered], orders=orders)
    return kernel.ratios([scale.apply(sample)[None] for sample in ordered])[..., 0]


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
class ViolationKernel:
    """Violation ratios of sorted samples of known sizes; built once, called for every batch of resamples.

    Calls share scratch arrays: one kernel serves one thread.

    Attributes
    ----------
    sizes : tuple of k int
        Number of scores of each model.
    orders : tuple of int
        Orders of dominance wanted.
    pairs : tuple of (int, ndarray of int)
        First model i of each group of pairs, and the models j > i it meets.
    """

    sizes: tuple[int, ...]
    orders: tuple[int, ...]
    pairs: tuple[tuple[int, NDArray[np.int64]], ...]
    _scratch: tuple[Floats, Floats]
    _grids: dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64], Floats]]

    @classmethod
    def for_sizes(
        cls,
        sizes: Sequence[int],
        *,
        orders: Sequence[int] = ORDERS,
        pairs: Sequence[tuple[int, int]] | None = None,
    ) -> ViolationKernel:
        """Lay out scratch memory for samples of these sizes.

        Parameters
        ----------
        sizes : sequence of k int
            Number of scores of each model.
        orders : sequence of int
            Orders of dominance wanted.
        pairs : sequence of (int, int), optional
            Pairs wanted, in either direction; all by default.
        """
        groups = groups_of(len(sizes), pairs)
        scratch = np.empty(max(_CACHE, max(sizes))), np.empty(max(_CACHE, max(sizes)))
        return cls(tuple(int(size) for size in sizes), tuple(orders), groups, scratch, {})

    def ratios(self, ordered: Sequence[Floats] | Floats) -> Floats:
        """Ratios of "i dominates j" for every resample of a batch.

        Parameters
        ----------
        ordered : sequence of k ndarrays, shapes (B, n_i), or one ndarray of shape (k, B, n)
            Scores sorted upwards within each resample.

        Returns
        -------
        ndarray, shape (orders, k, k, B)
            ½ on the diagonal and for pairs that were not asked for. A resample's ratios do not depend on
            the batch it is in.
        """
        k, batch = len(ordered), len(ordered[0])
        # Zeros stay for pairs that are not looked at: ½, as for equal models.
        squares, signed = np.zeros((2, max(self.orders, default=1), k, k, batch))
        if len(set(self.sizes)) == 1:
            self._common_grid(np.asarray(ordered), squares, signed)
        else:
            self._merged_grids(list(ordered), squares, signed)
        return ratio_of(squares, signed, [order - 1 for order in self.orders])

    def _common_grid(self, quantiles: Floats, squares: Floats, signed: Floats) -> None:
        _, batch, n = quantiles.shape
        if n * batch > _CACHE and batch > 1:
            for half in (slice(None, batch // 2), slice(batch // 2, None)):
                self._common_grid(quantiles[:, half], squares[..., half], signed[..., half])
            return
        integrated = np.cumsum(quantiles, axis=2) if 2 in self.orders else quantiles
        step = max(_CACHE // (n * batch), 1)
        for i, others in self.pairs:
            for start in range(0, len(others), step):
                j = others[start : start + step]
                # Neighbours are read where they lie; only a choice of pairs is copied together.
                among = slice(j[0], j[-1] + 1) if j[-1] - j[0] == len(j) - 1 else j
                shape = (len(j), batch, n)
                difference, size = (flat[: len(j) * batch * n].reshape(shape) for flat in self._scratch)
                rows, row_sizes = difference.reshape(-1, n), size.reshape(-1, n)
                for order in range(1, len(squares) + 1):
                    heights = quantiles if order == 1 else integrated
                    integrate = step_pieces if order == 1 else linear_pieces
                    np.subtract(heights[among], heights[i], out=difference)
                    np.abs(rows, out=row_sizes)
                    found = in_range(rows, integrate(rows, row_sizes), integrate)
                    squares[order - 1, i, among], signed[order - 1, i, among] = (
                        piece.reshape(len(j), batch) for piece in found
                    )

    def _merged_grids(self, ordered: Sequence[Floats], squares: Floats, signed: Floats) -> None:
        integrated = [
            np.cumsum(np.pad(sample, ((0, 0), (1, 0))), axis=1) / sample.shape[1] for sample in ordered
        ]
        for i, others in self.pairs:
            for j in others.tolist():
                n, m = self.sizes[i], self.sizes[j]
                steps_i, steps_j, widths = self._grid(n, m)
                height_i, height_j = ordered[i][:, steps_i], ordered[j][:, steps_j]
                difference, integrate = height_j - height_i, partial(weighted_steps, widths=widths)
                squares[0, i, j], signed[0, i, j] = in_range(difference, None, integrate)
                if len(squares) == 1:
                    continue
                ends = np.cumsum(widths)
                right = (
                    integrated[j][:, steps_j]
                    - integrated[i][:, steps_i]
                    + (ends - steps_j / m) * height_j
                    - (ends - steps_i / n) * height_i
                )
                integrate = partial(weighted_lines, widths=widths)
                squares[1, i, j], signed[1, i, j] = in_range(right, None, integrate)

    def _grid(self, n: int, m: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """Step of each sample and width, for every segment between merged breakpoints.

        Breakpoints a/n and b/m are compared as the integers a m and b n: exact, whatever the sizes.
        """
        if (n, m) not in self._grids:
            points = np.union1d(np.arange(n + 1) * m, np.arange(m + 1) * n)
            left = points[:-1]
            self._grids[n, m] = left // m, left // n, np.diff(points) / (n * m)
        return self._grids[n, m]


def groups_of(k: int, pairs: Sequence[tuple[int, int]] | None) -> tuple[tuple[int, NDArray[np.int64]], ...]:
    """First model i of each group of wanted pairs, and the models j > i it meets; all pairs for None."""
    met = np.triu(np.ones((k, k), dtype=bool), 1)
    if pairs is not None:
        met[:] = False
        for i, j in pairs:
            met[min(i, j), max(i, j)] = True
    return tuple((i, np.flatnonzero(met[i])) for i in range(k) if met[i].any())


def ratio_of(squares: Floats, signed: Floats, wanted: Sequence[int]) -> Floats:
    """Ratios of all ordered pairs from ``∫ D²`` and ``∫ D|D|`` of the pairs i < j.

    Parameters
    ----------
    squares, signed : ndarray, shape (o, k, k, B)
    wanted : sequence of int
        Which of the o orders to look at.

    Returns
    -------
    ndarray, shape (len(wanted), k, k, B)
    """
    k = squares.shape[1]
    above = _ratio(squares[wanted], signed[wanted], squares[0] == 0)
    upper = np.triu(np.ones((k, k), dtype=bool), 1)[:, :, None]
    return np.where(upper, above, 1 - above.swapaxes(1, 2))


def _ratio(squares: Floats, signed: Floats, same: NDArray[np.bool_]) -> Floats:
    """``(∫ D² + ∫ D|D|) / (2 ∫ D²)``, and ½ wherever the two quantile functions are equal."""
    same = same | (squares == 0)
    signed = np.where(same, 0.0, signed)
    return np.clip(0.5 + signed / (2 * np.where(same, 1.0, squares)), 0.0, 1.0)
