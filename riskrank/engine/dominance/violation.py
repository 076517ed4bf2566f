"""Violation ratios of almost stochastic dominance, computed by exact integration.

Source: [RAB] section 2 and appendix D, method §3. The violation ratio of "i dominates j" is

* order 1: ``∫ (Q_j - Q_i)₊² / ∫ (Q_j - Q_i)²`` over the quantile functions ``Q``,
* order 2: the same with integrated quantile functions.

Both integrals are computed over the merged breakpoints of the two samples, not over a fixed grid of
probabilities. Since ``D₊² = (D² + D|D|) / 2``, the integrals ``∫ D²`` and ``∫ D|D|`` give the ratios in both
directions, which sum to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.merged_steps import PairBlock, merge_breakpoints, pad_steps
from riskrank.engine.dominance.violation_pieces import integrate_equal_widths, integrate_unequal_widths
from riskrank.engine.sampling.resamples import KERNEL, Scratch
from riskrank.engine.types import Floats, Integers

ORDERS = (1, 2)

# Differences processed at once, few enough to stay in the cache.
_CACHE = 1 << 17

# The same for segments of unequal width, which need more arrays.
_SEGMENTS = 1 << 16

# Cost of a merged segment relative to a segment of equal width.
MERGING_COST = 4.0

# Cost of weighting a score in a resample, in comparisons of equally weighted scores.
WEIGHTING_COST = 4.0


def violation_matrices(ordered: Sequence[Floats], *, orders: Sequence[int] = ORDERS) -> Floats:
    """Compute the violation ratios of all ordered pairs of models from sorted, finite scores.

    Parameters
    ----------
    ordered : sequence of k ndarrays, shapes (n_i,)
        Scores of each model in ascending order.
    orders : sequence of int
        Orders of dominance.

    Returns
    -------
    ndarray, shape (orders, k, k)
    """
    scale, kernel = CommonScale.fit(ordered), ViolationKernel.for_models(len(ordered), orders=orders)
    return kernel.ratios([scale.apply(sample)[None] for sample in ordered])[..., 0]


def one_versus_all(ratios: Floats) -> Floats:
    """Return the one-versus-all violation ratio ε_i: the mean ratio against all other models ([RAB] eq. 10).

    Parameters
    ----------
    ratios : ndarray, shape (..., k, k)
        Violation ratios of all ordered pairs.

    Returns
    -------
    ndarray, shape (..., k)
        Mean of each row without the diagonal.
    """
    k = ratios.shape[-1]
    return (ratios.sum(axis=-1) - np.diagonal(ratios, axis1=-2, axis2=-1)) / (k - 1)


@dataclass(frozen=True)
class ViolationKernel:
    """Calculator of the violation ratios of k models for batches of resamples.

    Calls reuse scratch arrays, so a kernel must not be shared between threads.

    Attributes
    ----------
    orders : tuple of int
        Orders of dominance.
    pairs : two ndarrays of int, shape (p,)
        First model i and second model j > i of each pair, sorted.
    """

    orders: tuple[int, ...]
    pairs: tuple[Integers, Integers]
    _scratch: Scratch = field(default_factory=Scratch)
    _grids: dict[tuple[int, int], tuple[Integers, Integers, Floats]] = field(default_factory=dict)
    _blocks: dict[int, list[PairBlock]] = field(default_factory=dict)

    @classmethod
    def for_models(
        cls, models: int, *, orders: Sequence[int] = ORDERS, pairs: Sequence[tuple[int, int]] | None = None
    ) -> ViolationKernel:
        """Create a kernel for all or some pairs of k models.

        Parameters
        ----------
        models : int
            Number of models, k.
        orders : sequence of int
            Orders of dominance.
        pairs : sequence of (int, int), optional
            Pairs to compare, in either direction; by default all pairs.
        """
        selected = np.triu(np.ones((models, models), dtype=bool), 1)
        if pairs is not None:
            selected[:] = False
            for i, j in pairs:
                selected[min(i, j), max(i, j)] = True
        first, second = np.nonzero(selected)
        return cls(tuple(orders), (first, second))

    def ratios(self, ordered: Sequence[Floats] | Floats) -> Floats:
        """Compute the violation ratios of "i dominates j" in a batch of resamples of equally weighted scores.

        Parameters
        ----------
        ordered : sequence of k ndarrays, shapes (B, n_i), or one ndarray of shape (k, B, n)
            Scores in ascending order within each resample.

        Returns
        -------
        ndarray, shape (orders, k, k, B)
            ½ on the diagonal and for pairs that are not compared. The ratios of a resample do not depend on
            its batch.
        """
        # Other pairs keep zeros, which give ½, as for equal models.
        squares, signed = np.zeros((2, len(self.orders), len(ordered), len(ordered), len(ordered[0])))
        if len({sample.shape[-1] for sample in ordered}) == 1:
            self._integrate_equal_sizes(np.asarray(ordered), squares, signed)
            return _integrals_to_ratios(squares, signed)
        for i, j in zip(*self.pairs, strict=True):
            # The breakpoints are the same in all resamples.
            steps_i, steps_j, widths = self._merged_segments(ordered[i].shape[1], ordered[j].shape[1])
            difference = ordered[j][:, steps_j] - ordered[i][:, steps_i]
            for row, order in enumerate(self.orders):
                pieces = integrate_unequal_widths(difference, widths, order, self._scratch)
                squares[row, i, j], signed[row, i, j] = pieces
        return _integrals_to_ratios(squares, signed)

    def resampled_ratios(self, ordered: Sequence[Floats] | Floats) -> Floats:
        """Compute rounded violation ratios; the parameters and the shape are those of :meth:`ratios`.

        Compiled code is used if it is available.
        """
        if KERNEL is None or not isinstance(ordered, np.ndarray):
            return round_ratios(self.ratios(ordered))
        k, batch, n = ordered.shape
        ratios = np.full((len(self.orders), k, k, batch), 0.5)
        pairs, above = np.array(self.pairs), np.empty((len(self.pairs[0]), batch))
        for order, table in zip(self.orders, ratios, strict=True):
            KERNEL.ratios(ordered, pairs, above, n, order)
            table[*pairs] = round_ratios(above)
            table[*pairs[::-1]] = 1 - table[*pairs]
        return ratios

    def ratios_of_steps(self, values: Sequence[Floats], cumulated: Sequence[Integers], scores: int) -> Floats:
        """Compute the violation ratios of unequally weighted scores, given as step functions.

        Parameters
        ----------
        values : sequence of k ndarrays, shapes (d_i,)
            Values of each model in ascending order, on a common scale.
        cumulated : sequence of k ndarrays of int64, shapes (B, d_i)
            Cumulative weight up to and including each value, in integer units; non-decreasing.
        scores : int
            Largest number of scores per model, which bounds the rounding error of the cumulative weights.

        Returns
        -------
        ndarray, shape (orders, k, k, B)
        """
        k, batch, most = len(values), len(cumulated[0]), max(value.size for value in values)
        squares, signed = np.zeros((2, len(self.orders), k, k, batch))
        size = max(_SEGMENTS // (2 * most), 1)
        for start in range(0, batch, size):
            rows = slice(start, start + size)
            steps = [(value, weight[rows]) for value, weight in zip(values, cumulated, strict=True)]
            self._integrate_weighted(*pad_steps(steps), scores, squares[..., rows], signed[..., rows])
        return _integrals_to_ratios(squares, signed)

    def _pair_blocks(self, pairs: int) -> list[PairBlock]:
        """Split the pairs of the kernel into blocks of at most `pairs` pairs."""
        if pairs not in self._blocks:
            stacked = np.stack(self.pairs, axis=1)
            parts = np.split(stacked, range(pairs, len(stacked), pairs))
            self._blocks[pairs] = [PairBlock.from_pairs(part) for part in parts]
        return self._blocks[pairs]

    def _integrate_equal_sizes(self, quantiles: Floats, squares: Floats, signed: Floats) -> None:
        """Integrate differences of quantile functions for samples of equal size.

        `quantiles` has shape (k, B, n). The integrals ∫ D² and ∫ D|D| are written to `squares` and `signed`,
        shape (orders, k, k, B). Large batches are split in half.
        """
        _, batch, n = quantiles.shape
        if n * batch > _CACHE and batch > 1:
            for half in (slice(None, batch // 2), slice(batch // 2, None)):
                self._integrate_equal_sizes(quantiles[:, half], squares[..., half], signed[..., half])
            return
        for at, order in enumerate(self.orders):
            heights = quantiles
            if order == 2:
                heights = self._scratch.floats("integrated", *quantiles.shape)
                np.cumsum(quantiles, axis=2, out=heights)
            blocks = self._pair_blocks(max(_CACHE // (n * batch), 1))
            pieces = integrate_equal_widths(heights, blocks, order, self._scratch)
            squares[at, *self.pairs], signed[at, *self.pairs] = (piece.reshape(-1, batch) for piece in pieces)

    def _merged_segments(self, n: int, m: int) -> tuple[Integers, Integers, Floats]:
        """Merge the steps of two quantile functions with n and m equal steps.

        For each segment between merged breakpoints, return the index of the step in each sample, and the
        width. Breakpoints a/n and b/m are compared exactly, as the integers a·m and b·n.
        """
        if (n, m) not in self._grids:
            points = np.union1d(np.arange(n + 1) * m, np.arange(m + 1) * n)
            left = points[:-1]
            self._grids[n, m] = left // m, left // n, np.diff(points) / (n * m)
        return self._grids[n, m]

    def _integrate_weighted(
        self, values: Floats, breakpoints: Integers, scores: int, squares: Floats, signed: Floats
    ) -> None:
        """Integrate differences of step functions whose steps differ between models and resamples.

        `values` and `breakpoints` are results of `pad_steps`. `scores` is the largest number of scores per
        model. The integrals ∫ D² and ∫ D|D| are written to `squares` and `signed`, shape (orders, k, k, B).
        """
        _, batch, count = breakpoints.shape
        scratch = self._scratch
        for block in self._pair_blocks(max(_SEGMENTS // (2 * count * batch), 1)):
            first, second, widths = merge_breakpoints(breakpoints, block, scores, scratch)
            difference = scratch.floats("difference", *widths.shape)
            values.take(second, mode="clip", out=difference)
            difference -= values.take(first, mode="clip", out=scratch.floats("size", *difference.shape))
            for at, order in enumerate(self.orders):
                pieces = integrate_unequal_widths(difference, widths, order, scratch)
                for table, piece in zip((squares, signed), pieces, strict=True):
                    table[at, block.first, block.second] = piece.reshape(-1, batch)


def round_ratios(ratios: Floats) -> Floats:
    """Round ratios to multiples of 2⁻⁴⁰, whose sums and differences are exact.

    Counts of resamples then do not depend on the order of summation within a ratio, nor on whether NumPy or
    the compiled kernel computed it.
    """
    return np.ldexp(np.rint(np.ldexp(ratios, 40)), -40)


def _integrals_to_ratios(squares: Floats, signed: Floats) -> Floats:
    """Convert integrals to violation ratios of all ordered pairs, shape (orders, k, k, B).

    `squares` holds ∫ D² and `signed` holds ∫ D|D| for pairs i < j. The ratio is ``(∫ D² + ∫ D|D|) / (2 ∫
    D²)``, or ½ for equal quantile functions.
    """
    same = squares == 0
    above = np.clip(0.5 + np.where(same, 0.0, signed) / (2 * np.where(same, 1.0, squares)), 0.0, 1.0)
    upper = np.triu(np.ones(squares.shape[1:3], dtype=bool), 1)[:, :, None]
    return np.where(upper, above, 1 - above.swapaxes(1, 2))
