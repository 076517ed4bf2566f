"""Weighted distributions as step functions, stored as sorted values and cumulative weights.

Weights are integer multiples of 2⁻⁶¹. Sums of integers have no rounding error, so the breakpoints of two
jointly resampled models coincide exactly, whatever the order of the scores. Violation ratios, quantiles and
means can be computed from these steps alone. The weights may come from tasks of unequal size (method §8), or
from any other source with increasing cumulative sums.

With a judge some weights are negative, because the judge's scores are subtracted on the samples with human
labels (method §12). Cumulative weights may then decrease, or leave [0, 1] at the ends. They are replaced by
the non-decreasing function G that minimises ∫(F − G)² dx (isotonic regression, weighted by the gaps between
scores). Excesses below 0 or above 1 are compensated at neighbouring values. Both steps preserve ∫F dx, and
therefore the weighted mean. The usual alternative, sorting the cumulative weights, changes the mean.

References
----------
V. Chernozhukov, I. Fernández-Val, A. Galichon (2010). Quantile and probability curves without crossing.
Econometrica 78(3), 1093-1125. doi:10.3982/ECTA7880
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.types import Floats, Integers

# From this size on, radix sort of 16-bit numbers is faster than comparison sort.
_RADIX_SORT_SIZE = 256


def values_and_ranks(values: Sequence[Floats], units: Sequence[int]) -> tuple[list[Floats], list[Integers]]:
    """Return each model's sorted scores and the rank of every score, grouped by unit.

    Sorting 16-bit ranks takes a quarter of the time needed to sort scores.

    Parameters
    ----------
    values : sequence of k ndarrays, shapes (n_i,)
        Scores, grouped by unit.
    units : sequence of k int
        Number of units C_i of each model; all units of a model have the same size.

    Returns
    -------
    ordered : list of k ndarrays, shapes (n_i,)
        Sorted scores.
    ranks : list of k ndarrays of int, shapes (C_i, n_i / C_i)
        Zero-based rank of each score, one row per unit.
    """
    ordered, ranks = [], list[Integers]()
    largest = max(value.size for value in values)
    dtype = np.uint16 if largest <= 2**16 else np.int32 if largest <= 2**31 else np.int64
    for value, count in zip(values, units, strict=True):
        order = np.argsort(value, kind="stable")
        rank: Integers = np.empty(order.size, dtype=dtype)
        rank[order] = np.arange(order.size)
        ordered.append(value.take(order))
        ranks.append(rank.reshape(count, -1))
    return ordered, ranks


def sort_ranks(ranks: Integers) -> None:
    """Sort ranks along the last axis, in place."""
    use_radix_sort = ranks.dtype == np.uint16 and ranks.shape[-1] >= _RADIX_SORT_SIZE
    ranks.sort(axis=-1, kind="stable" if use_radix_sort else None)


# Total weight, in units.
TOTAL = 1 << 61


def to_weight_units(shares: Floats) -> Integers:
    """Convert weights that sum to 1 (`shares`) to integers, in the units of exact cumulative weights."""
    return np.rint(np.ldexp(shares, 61)).astype(np.int64)


@dataclass(frozen=True)
class Steps:
    """Distribution of one model's scores, for the sample or for many resamples.

    Attributes
    ----------
    values : ndarray, shape (d,)
        Distinct values, increasing.
    cumulated : ndarray of int64, shape (..., d)
        Cumulative weight up to and including each value, in integer units; ends at approximately `TOTAL`.
    """

    values: Floats
    cumulated: Integers

    @property
    def widths(self) -> Floats:
        """Weight of each value, shape (..., d); the weights sum to 1."""
        widths = np.diff(self.cumulated, prepend=0, axis=-1).astype(np.float64)
        return widths / self.cumulated[..., -1:].astype(np.float64)

    @property
    def means(self) -> Floats:
        """Weighted mean of each distribution, shape (...)."""
        return np.einsum("...d,d->...", self.widths, self.values)

    def on_support(self) -> Steps:
        """Return a copy without values of zero weight, separately in each resample.

        Such a value is replaced by the next larger value with positive weight.

        Returns
        -------
        Steps
            Values have shape (B, d); the first and last are the smallest and largest with positive weight.
        """
        count = self.cumulated.shape[-1]
        has_weight = np.diff(self.cumulated, prepend=0, axis=-1) > 0
        indices = np.where(has_weight, np.arange(count), count)
        next_index = np.minimum.accumulate(indices[..., ::-1], axis=-1)[..., ::-1]
        last = count - 1 - np.argmax(has_weight[..., ::-1], axis=-1)
        return Steps(self.values[np.minimum(next_index, last[..., None])], self.cumulated)

    def tail_means(self, level: float) -> Floats:
        """Return the mean of the worst proportion p = `level` of scores, ``F^(-2)(p) / p``, shape (...)."""
        upper = self.cumulated / self.cumulated[..., -1:].astype(np.float64)
        inside = np.clip(level - (upper - self.widths), 0.0, self.widths)
        sums: Floats = np.einsum("...d,d->...", inside, self.values)
        return sums / level

    def integrated_quantiles(self, levels: Floats) -> Floats:
        """Integrate the quantile function from 0 to each level.

        Requires a single distribution: `cumulated` has shape (d,).
        """
        index, widths = self.quantile_index(levels), self.widths
        below = np.concatenate(([0.0], np.cumsum(widths * self.values)))[index]
        cumulated = np.concatenate(([0.0], np.cumsum(widths)))[index]
        return below + (levels - cumulated) * self.values[index]

    def quantile_index(self, levels: Floats) -> Integers:
        """Return the index in `values` of the quantile at each level.

        Requires a single distribution: `cumulated` has shape (d,).
        """
        units = to_weight_units(np.asarray(levels, dtype=np.float64))
        # A level equal to a breakpoint up to rounding is that breakpoint: 0.07 of 100 scores are 7.
        slack = rounding_units(self.cumulated.size)
        return np.minimum(np.searchsorted(self.cumulated, units - slack), self.values.size - 1)


def rounding_units(scores: int) -> int:
    """Return the largest rounding error of the cumulative weight of `scores` scores, in weight units."""
    return 2 * scores + (1 << 14)


@dataclass(frozen=True)
class StepMaker:
    """Sorted scores of one model, from which steps are built for any weights of the resampling units.

    Attributes
    ----------
    values : ndarray, shape (d,)
        Distinct scores, increasing; all scores if there are hardly any ties.
    units : ndarray of int, shape (n,)
        Resampling unit of each score, in increasing order of scores.
    starts : ndarray of int, shape (d,), or None
        Index of the first score of each distinct value; None if `values` contains all scores.
    signed : ndarray of int64, shape (n,), or None
        Weight added by each score for each time its unit is drawn, in weight units and in increasing order of
        scores; may be negative. None if all scores of a unit have equal weights.
    """

    values: Floats
    units: Integers
    starts: NDArray[np.intp] | None
    signed: Integers | None = None

    @classmethod
    def from_scores(cls, scores: Floats, clusters: Integers, signed: Floats | None = None) -> StepMaker:
        """Sort the scores of one model.

        `clusters` holds the resampling unit of each score. `signed` may hold weights of the scores, with sum
        1.
        """
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        weights = None if signed is None else to_weight_units(signed[order])
        if first.size == ordered.size:
            return cls(ordered, clusters[order], None, weights)
        return cls(ordered[first], clusters[order], first, weights)

    def cumulated(self, weights: Integers) -> Integers:
        """Return the cumulative weight up to each distinct score in B resamples, shape (B, d).

        With signed weights they may decrease; see :func:`make_monotone`.

        Parameters
        ----------
        weights : ndarray of int64, shape (B, C)
            Weight of a single score in each unit; with signed weights, the number of times that each unit is
            drawn.
        """
        sums = weights.take(self.units, axis=1)
        if self.signed is not None:
            sums *= self.signed
        if self.starts is not None:
            sums = np.add.reduceat(sums, self.starts, axis=1)
        return np.cumsum(sums, axis=1, out=sums)


def make_monotone(values: Floats, cumulated: Integers) -> Integers:
    """Make cumulative weights non-decreasing, starting at or above 0 and ending at the total.

    Parameters
    ----------
    values : ndarray, shape (d,)
        Distinct scores, increasing.
    cumulated : ndarray of int64, shape (B, d)
        Cumulative signed weights, in weight units; modified in place.

    Returns
    -------
    ndarray of int64, shape (B, d)
        Cumulative weights with the same mean, unless that mean is outside the range of the scores.
    """
    cumulated[:, -1] = TOTAL
    lowest, highest = cumulated.min(axis=1), cumulated.max(axis=1)
    falls = (cumulated[:, 1:] < cumulated[:, :-1]).any(axis=1)
    gaps = np.diff(values)
    for row in np.flatnonzero(falls | (lowest < 0) | (highest > TOTAL)).tolist():
        shares = np.ldexp(cumulated[row, :-1].astype(np.float64), -61)
        cumulated[row, :-1] = to_weight_units(_isotonic_cdf(shares, gaps))
    return cumulated


def nonnegative_weights(values: Floats, signed: Floats) -> Floats:
    """Convert signed weights to non-negative weights with the same sum.

    Among tied scores, the first gets the whole weight.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Scores.
    signed : ndarray, shape (n,)
        Signed weights, with sum 1.
    """
    maker = StepMaker.from_scores(values, np.zeros(values.size, dtype=np.int64), signed)
    cumulated = make_monotone(maker.values, maker.cumulated(np.ones((1, 1), dtype=np.int64)))[0]
    order = np.argsort(values, kind="stable")
    weights = np.zeros(values.size)
    shares = np.ldexp(np.diff(cumulated, prepend=0).astype(np.float64), -61)
    weights[order if maker.starts is None else order[maker.starts]] = shares
    return weights


def _isotonic_cdf(shares: Floats, gaps: Floats) -> Floats:
    """Return the distribution function that is nearest to given cumulative weights, shape (d − 1,).

    `shares` holds the cumulative weight in each gap between distinct scores, `gaps` the width of each gap.
    """
    from scipy.optimize import isotonic_regression  # a tenth of a second to import

    rising = isotonic_regression(shares, weights=gaps).x
    above = _remove_negatives(rising, gaps)
    below = 1 - _remove_negatives((1 - above)[::-1], gaps[::-1])[::-1]
    return np.maximum.accumulate(np.clip(below, 0.0, 1.0))


def _remove_negatives(rising: Floats, gaps: Floats) -> Floats:
    """Replace negative values of a non-decreasing step function by 0 without changing its integral.

    `rising` holds the values of the steps, `gaps` their widths. The same area is subtracted from the values
    that follow.
    """
    if rising[0] >= 0:
        return rising
    area = np.cumsum(rising * gaps)
    is_negative = area < 0
    values = np.where(is_negative, 0.0, rising)
    if not is_negative.all():
        # The first gap with a non-negative total area keeps what is left after compensation.
        first = int(np.argmin(is_negative))
        values[first] = np.clip(area[first] / gaps[first], 0.0, rising[first])
    return values
