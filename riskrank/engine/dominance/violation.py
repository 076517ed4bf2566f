"""Violation ratios of almost stochastic dominance, computed by exact integration.

Source: [RAB] section 2 and appendix D, method §3. The violation ratio of "i dominates j" is

* order 1: ``∫ (Q_j - Q_i)₊² / ∫ (Q_j - Q_i)²`` over the quantile functions ``Q``,
* order 2: the same with integrated quantile functions.

Both integrals are computed over the merged breakpoints of the two samples, not over a fixed grid of
probabilities. Since ``D₊² = (D² + D|D|) / 2``, the integrals ``∫ D²`` and ``∫ D|D|`` give the ratios in both
directions, which sum to 1.

To merge the breakpoints of many pairs at once, weights are integers, and the lowest bit of each number
identifies the model. Sorting these numbers merges the steps. Equal breakpoints coincide exactly, and segment
widths are exact differences. Rows are resamples or pairs; the result for a row does not depend on other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from riskrank.engine.numeric import CommonScale
from riskrank.engine.sampling.resamples import KERNEL, Scratch
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
        Pairs grouped by their first model. Each element holds the index of this model, the positions of its
        pairs in the block, and the indices of their second models (as a slice if these are consecutive).
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
        Values of each model, padded with its last value to d + 1 values. Here d is the largest d_i.
    breakpoints : ndarray of int64, shape (k, B, d)
        Cumulative weights in B resamples, multiplied by two. The lowest bit later identifies the model in a
        pair.
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
