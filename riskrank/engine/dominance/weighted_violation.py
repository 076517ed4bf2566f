"""Violation ratios of distributions whose steps have weights, integrated exactly (method §3 and §8).

The steps of two models are merged by cumulated weight. Weights are whole numbers of units, and the model is
the lowest bit of each number: to sort them is to merge, breakpoints that coincide do so to the last unit, and
the width of a segment is a difference of whole numbers. Everything else is as of equal weights: see
:mod:`riskrank.engine.dominance.violation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.violation import ORDERS, groups_of, ratio_of, violation_matrices
from riskrank.engine.dominance.violation_pieces import piecewise
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.steps import Steps, rounding_of
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.scratch import Scratch
from riskrank.engine.types import Floats, Integers

# Segments worked on at once, so that they and their sizes stay in a core's own cache.
_CACHE = 1 << 15

# Resamples of more values are looked at one by one, without the values that none of them holds.
TOGETHER = 1 << 11

# A merged segment costs so many times what one of equal widths does.
COST = 4.0

# To weigh a score of one model in a resample costs so many comparisons of equal scores.
WEIGHING = 4.0


@dataclass(frozen=True)
class WeightedKernel:
    """Violation ratios of k models' steps; built once, called for every batch of resamples.

    Calls share scratch arrays: one kernel serves one thread.

    Attributes
    ----------
    values : tuple of k ndarrays, shapes (d_i,)
        Values of each model, upwards, on a common scale.
    scores : int
        Most scores of a model, from which the weights were summed up.
    orders : tuple of int
    pairs : tuple of (int, ndarray of int)
        First model i of each group of pairs, and the models j > i it meets.
    """

    values: tuple[Floats, ...]
    scores: int
    orders: tuple[int, ...]
    pairs: tuple[tuple[int, NDArray[np.int64]], ...]
    _scratch: Scratch = field(default_factory=Scratch)

    @classmethod
    def of(
        cls,
        values: Sequence[Floats],
        scores: int,
        *,
        orders: Sequence[int] = ORDERS,
        pairs: Sequence[tuple[int, int]] | None = None,
    ) -> WeightedKernel:
        """Lay out the pairs; the arguments are those of the class, and all pairs by default."""
        return cls(tuple(values), scores, tuple(orders), groups_of(len(values), pairs))

    def ratios(self, cumulated: Sequence[Integers]) -> Floats:
        """Ratios of "i dominates j" for every resample of a batch.

        Parameters
        ----------
        cumulated : sequence of k ndarrays of int64, shapes (B, d_i)
            Weight up to and including each value; non-decreasing.

        Returns
        -------
        ndarray, shape (orders, k, k, B)
            ½ on the diagonal and for pairs that were not asked for. A resample's ratios do not depend on
            the batch it is in.
        """
        k, batch = len(cumulated), len(cumulated[0])
        squares, signed = np.zeros((2, max(self.orders, default=1), k, k, batch))
        if max(value.size for value in self.values) > TOGETHER:
            for row in range(batch):
                held = [
                    _held(*both) for both in zip(self.values, (own[row] for own in cumulated), strict=True)
                ]
                steps = [(values, ends[None]) for values, ends in held]
                self._fill(steps, squares[..., row : row + 1], signed[..., row : row + 1])
        else:
            size = max(_CACHE // (2 * max(value.size for value in self.values)), 1)
            for start in range(0, batch, size):
                rows = slice(start, start + size)
                steps = [(values, own[rows]) for values, own in zip(self.values, cumulated, strict=True)]
                self._fill(steps, squares[..., rows], signed[..., rows])
        wanted = [order - 1 for order in self.orders]
        return ratio_of(squares, signed, wanted)

    def _fill(self, steps: Sequence[tuple[Floats, Integers]], squares: Floats, signed: Floats) -> None:
        first = [_packed(ends) for _, ends in steps]
        second = [ends | 1 for ends in first]
        slack, scratch = rounding_of(self.scores), self._scratch
        for i, others in self.pairs:
            for j in others.tolist():
                merged = _merged(first[i], second[j], slack, scratch)
                rows, segments = merged.widths.shape
                difference = scratch.floats("difference", rows, segments)
                of_first = scratch.floats("of first", rows, segments)
                steps[j][0].take(merged.second, mode="clip", out=difference)
                difference -= steps[i][0].take(merged.first, mode="clip", out=of_first)
                found = piecewise(difference, merged.widths, len(squares), scratch)
                for order, pieces in enumerate(found):
                    squares[order, i, j], signed[order, i, j] = pieces


def matrices_of(scores: ClusteredScores, *, orders: Sequence[int] = ORDERS) -> Floats:
    """Violation ratios of all ordered pairs of any design, shape (orders, k, k)."""
    if scores.weights is not None:
        return weighted_matrices(scores, orders=orders)
    return violation_matrices([np.sort(value) for value in scores.values], orders=orders)


def weighted_matrices(scores: ClusteredScores, *, orders: Sequence[int] = ORDERS) -> Floats:
    """Violation ratios of all ordered pairs of a design with weights, shape (orders, k, k)."""
    design = WeightedDesign(replace(scores, values=CommonScale.of(scores.values).of_all(scores.values)))
    kernel = WeightedKernel.of(design.values, max(scores.sizes), orders=orders)
    return kernel.ratios(design.of_sample())[..., 0]


def same_distribution(first: Steps, second: Steps, scores: int) -> bool:
    """Whether the steps of two models of at most so many scores are the same function."""
    ends = [_packed(steps.cumulated.reshape(1, -1)) for steps in (first, second)]
    merged = _merged(ends[0], ends[1] | 1, rounding_of(scores), Scratch())
    held = first.values.take(merged.first, mode="clip"), second.values.take(merged.second, mode="clip")
    different = held[0] != held[1]
    return not bool(np.any(different & (merged.widths > 0)))


@dataclass(frozen=True)
class _Merged:
    """Segments between merged breakpoints: number of either model's value, and widths, shapes (B, s).

    Past the end of a model, where rounding leaves a segment of no width, numbers are one too many.
    """

    first: Integers
    second: Integers
    widths: Floats


def _held(values: Floats, cumulated: Integers) -> tuple[Floats, Integers]:
    """The values that a resample holds, and where they end."""
    held = np.flatnonzero(np.diff(cumulated, prepend=0))
    return values.take(held), cumulated.take(held)


def _packed(cumulated: Integers) -> Integers:
    """Breakpoints times two, which leaves a bit for the model; the last end of each is the same."""
    return cumulated << 1


def _merged(first: Integers, second: Integers, slack: int, scratch: Scratch) -> _Merged:
    """Merge the packed breakpoints of two models, those of the second with the bit set."""
    rows, segments = first.shape[0], first.shape[1] + second.shape[1]
    packed = np.concatenate((first, second), axis=1, out=scratch.integers("packed", rows, segments))
    # Two runs that are sorted already: this merges them.
    packed.sort(axis=1, kind="stable")
    bit = np.bitwise_and(packed, 1, out=scratch.integers("bit", rows, segments))
    steps_second = scratch.integers("second", rows, segments)
    steps_second[:, 0] = 0
    np.cumsum(bit[:, :-1], axis=1, out=steps_second[:, 1:])
    packed >>= 1
    # The bits have been counted, and give way to the widths.
    widths = bit
    widths[:, 0] = packed[:, 0]
    np.subtract(packed[:, 1:], packed[:, :-1], out=widths[:, 1:])
    # Breakpoints that are equal but for the rounding of weights to units.
    widths.reshape(-1)[np.flatnonzero(widths <= slack)] = 0
    # The merged breakpoints have been told apart, and give way to the steps of the first.
    steps_first = np.subtract(scratch.numbers(segments), steps_second, out=packed)
    return _Merged(
        steps_first,
        steps_second,
        np.multiply(widths, 0.5**61, out=scratch.floats("widths", rows, segments)),
    )
