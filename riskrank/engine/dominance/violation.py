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
from dataclasses import dataclass, field

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.merged_steps import Block, merged, side_by_side
from riskrank.engine.dominance.violation_pieces import equal_widths, own_widths
from riskrank.engine.sampling.resamples import Scratch
from riskrank.engine.types import Floats, Integers

ORDERS = (1, 2)

# Differences worked on at once, so few that every step finds them in a cache.
_CACHE = 1 << 17

# The same of segments with widths of their own, which take more arrays.
_SEGMENTS = 1 << 16

# A merged segment costs so many times what one of equal widths does.
COST = 4.0

# To weigh a score of one model in a resample costs so many comparisons of equal scores.
WEIGHING = 4.0


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
    scale, kernel = CommonScale.of(ordered), ViolationKernel.of(len(ordered), orders=orders)
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
    """Violation ratios of k models' samples; built once, called for every batch of resamples.

    Calls share scratch arrays: one kernel serves one thread.

    Attributes
    ----------
    orders : tuple of int
        Orders of dominance wanted.
    pairs : two ndarrays of int, shape (p,)
        First model i and second model j > i of every pair, in this order.
    """

    orders: tuple[int, ...]
    pairs: tuple[Integers, Integers]
    _scratch: Scratch = field(default_factory=Scratch)
    _grids: dict[tuple[int, int], tuple[Integers, Integers, Floats]] = field(default_factory=dict)
    _blocks: dict[int, list[Block]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, models: int, *, orders: Sequence[int] = ORDERS, pairs: Sequence[tuple[int, int]] | None = None
    ) -> ViolationKernel:
        """Lay out the pairs.

        Parameters
        ----------
        models : int
            Their number, k.
        orders : sequence of int
            Orders of dominance wanted.
        pairs : sequence of (int, int), optional
            Pairs wanted, in either direction; all by default.
        """
        met = np.triu(np.ones((models, models), dtype=bool), 1)
        if pairs is not None:
            met[:] = False
            for i, j in pairs:
                met[min(i, j), max(i, j)] = True
        first, second = np.nonzero(met)
        return cls(tuple(orders), (first, second))

    def ratios(self, ordered: Sequence[Floats] | Floats) -> Floats:
        """Ratios of "i dominates j" for every resample of a batch of scores that all weigh the same.

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
        # Zeros stay for pairs that are not looked at: ½, as for equal models.
        squares, signed = self._nothing(len(ordered), len(ordered[0]))
        if len({sample.shape[-1] for sample in ordered}) == 1:
            self._common_grid(np.asarray(ordered), squares, signed)
        else:
            self._grids_of_pairs(list(ordered), squares, signed)
        return _ratios(squares, signed)

    def ratios_of_steps(self, values: Sequence[Floats], cumulated: Sequence[Integers], scores: int) -> Floats:
        """The same of scores with weights: their steps are merged by cumulated weight.

        Parameters
        ----------
        values : sequence of k ndarrays, shapes (d_i,)
            Values of each model, upwards, on a common scale.
        cumulated : sequence of k ndarrays of int64, shapes (B, d_i)
            Weight up to and including each value, in units; non-decreasing.
        scores : int
            Most scores of a model, from which the weights were summed up.

        Returns
        -------
        ndarray, shape (orders, k, k, B)
        """
        k, batch, most = len(values), len(cumulated[0]), max(value.size for value in values)
        squares, signed = self._nothing(k, batch)
        size = max(_SEGMENTS // (2 * most), 1)
        for start in range(0, batch, size):
            rows = slice(start, start + size)
            steps = [(value, ends[rows]) for value, ends in zip(values, cumulated, strict=True)]
            self._merged_grids(*side_by_side(steps), scores, squares[..., rows], signed[..., rows])
        return _ratios(squares, signed)

    def _nothing(self, k: int, batch: int) -> Floats:
        return np.zeros((2, len(self.orders), k, k, batch))

    def _in_blocks(self, pairs: int) -> list[Block]:
        """All pairs, at most so many at a time."""
        if pairs not in self._blocks:
            every = np.stack(self.pairs, axis=1)
            parts = np.split(every, range(pairs, len(every), pairs))
            self._blocks[pairs] = [Block.of(part) for part in parts]
        return self._blocks[pairs]

    def _common_grid(self, quantiles: Floats, squares: Floats, signed: Floats) -> None:
        _, batch, n = quantiles.shape
        if n * batch > _CACHE and batch > 1:
            for half in (slice(None, batch // 2), slice(batch // 2, None)):
                self._common_grid(quantiles[:, half], squares[..., half], signed[..., half])
            return
        for at, order in enumerate(self.orders):
            heights = quantiles
            if order == 2:
                heights = self._scratch.floats("integrated", *quantiles.shape)
                np.cumsum(quantiles, axis=2, out=heights)
            blocks = self._in_blocks(max(_CACHE // (n * batch), 1))
            found = equal_widths(heights, blocks, order, self._scratch)
            squares[at, *self.pairs], signed[at, *self.pairs] = (own.reshape(-1, batch) for own in found)

    def _grids_of_pairs(self, ordered: Sequence[Floats], squares: Floats, signed: Floats) -> None:
        """Of samples of several sizes, whose breakpoints are the same in all resamples."""
        for i, j in zip(*self.pairs, strict=True):
            steps_i, steps_j, widths = self._grid(ordered[i].shape[1], ordered[j].shape[1])
            difference = ordered[j][:, steps_j] - ordered[i][:, steps_i]
            for at, order in enumerate(self.orders):
                squares[at, i, j], signed[at, i, j] = own_widths(difference, widths, order, self._scratch)

    def _grid(self, n: int, m: int) -> tuple[Integers, Integers, Floats]:
        """Step of each sample and width, for every segment between merged breakpoints.

        Breakpoints a/n and b/m are compared as the integers a m and b n: exact, whatever the sizes.
        """
        if (n, m) not in self._grids:
            points = np.union1d(np.arange(n + 1) * m, np.arange(m + 1) * n)
            left = points[:-1]
            self._grids[n, m] = left // m, left // n, np.diff(points) / (n * m)
        return self._grids[n, m]

    def _merged_grids(
        self, values: Floats, ends: Integers, scores: int, squares: Floats, signed: Floats
    ) -> None:
        """Of models' steps, each with breakpoints of its own."""
        _, batch, count = ends.shape
        scratch = self._scratch
        for block in self._in_blocks(max(_SEGMENTS // (2 * count * batch), 1)):
            first, second, widths = merged(ends, block, scores, scratch)
            difference = scratch.floats("difference", *widths.shape)
            values.take(second, mode="clip", out=difference)
            difference -= values.take(first, mode="clip", out=scratch.floats("size", *difference.shape))
            for at, order in enumerate(self.orders):
                found = own_widths(difference, widths, order, scratch)
                for table, own in zip((squares, signed), found, strict=True):
                    table[at, block.first, block.second] = own.reshape(-1, batch)


def _ratios(squares: Floats, signed: Floats) -> Floats:
    """Ratios of all ordered pairs from ``∫ D²`` and ``∫ D|D|`` of the pairs i < j, shape (o, k, k, B).

    ``(∫ D² + ∫ D|D|) / (2 ∫ D²)``, and ½ wherever the two quantile functions are equal.
    """
    same = squares == 0
    above = np.clip(0.5 + np.where(same, 0.0, signed) / (2 * np.where(same, 1.0, squares)), 0.0, 1.0)
    upper = np.triu(np.ones(squares.shape[1:3], dtype=bool), 1)[:, :, None]
    return np.where(upper, above, 1 - above.swapaxes(1, 2))
