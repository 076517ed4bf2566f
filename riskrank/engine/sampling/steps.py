"""Distributions as weighted steps: values upwards, and the cumulated weight at which each one ends.

Weights are whole numbers of units of 2⁻⁶¹. Sums of whole numbers do not round, so that the breakpoints of two
models that were drawn together meet exactly where they should, whatever the order of the scores. A kernel of
ratios, quantiles and means need nothing but these steps; weights may come from tasks of unequal size (method
§8), or from anything else whose cumulated sums grow.

Cumulated weights of which some are negative, made those of a distribution (method §12).

Where a judge's scores are taken away again on the samples that people scored, the corrected cumulated weights
may fall, and leave [0, 1] at their ends. The non-decreasing function nearest to them in the sense of ∫(F −
G)² dx (isotonic regression, each weight the gap to the next score) stands for them, and what lies below 0 or
above 1 is made up for by what lies next to it. Both leave ∫F dx alone, so that the mean stays the one that
linear weights give; to sort the cumulated weights, which is the other usual way, moves it.

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

# From here on counting the digits of 16 bits takes less than comparing numbers.
_COUNTED = 256


def places_of(values: Sequence[Floats], units: Sequence[int]) -> tuple[list[Floats], list[Integers]]:
    """Scores of each model upwards, and the place there of every score of a unit.

    To sort whole numbers of 16 bits takes a quarter of the time that scores take.

    Parameters
    ----------
    values : sequence of k ndarrays, shapes (n_i,)
        Scores, unit by unit.
    units : sequence of k int
        Number of units of each model, C_i, all of one size.

    Returns
    -------
    list of k ndarrays, shapes (n_i,), and list of k ndarrays of int, shapes (C_i, n_i / C_i)
    """
    ordered, places = [], list[Integers]()
    most = max(value.size for value in values)
    kind = np.uint16 if most <= 2**16 else np.int32 if most <= 2**31 else np.int64
    for value, count in zip(values, units, strict=True):
        order = np.argsort(value, kind="stable")
        own: Integers = np.empty(order.size, dtype=kind)
        own[order] = np.arange(order.size)
        ordered.append(value.take(order))
        places.append(own.reshape(count, -1))
    return ordered, places


def sort_places(places: Integers) -> None:
    """Sort places along the last axis, in place."""
    counted = places.dtype == np.uint16 and places.shape[-1] >= _COUNTED
    places.sort(axis=-1, kind="stable" if counted else None)


TOTAL = 1 << 61
"""Units of all weights together."""


def units_of(shares: Floats) -> Integers:
    """Shares of all weights as whole units."""
    return np.rint(np.ldexp(shares, 61)).astype(np.int64)


@dataclass(frozen=True)
class Steps:
    """One model's distribution, or many resamples of it.

    Attributes
    ----------
    values : ndarray, shape (d,)
        Upwards.
    cumulated : ndarray of int64, shape (..., d)
        Weight up to and including each value, in units; about `TOTAL` at the end.
    """

    values: Floats
    cumulated: Integers

    @property
    def widths(self) -> Floats:
        """Weight of each value, of sum 1, shape (..., d)."""
        widths = np.diff(self.cumulated, prepend=0, axis=-1).astype(np.float64)
        return widths / self.cumulated[..., -1:].astype(np.float64)

    @property
    def means(self) -> Floats:
        """Weighted mean, shape (...)."""
        return np.einsum("...d,d->...", self.widths, self.values)

    def held(self) -> Steps:
        """The same of values that every resample holds: one of no weight gives way to the next that has some.

        Returns
        -------
        Steps
            With values of shape (B, d): the first is the worst there is, the last the best.
        """
        count = self.cumulated.shape[-1]
        some = np.diff(self.cumulated, prepend=0, axis=-1) > 0
        places = np.where(some, np.arange(count), count)
        following = np.minimum.accumulate(places[..., ::-1], axis=-1)[..., ::-1]
        last = count - 1 - np.argmax(some[..., ::-1], axis=-1)
        return Steps(self.values[np.minimum(following, last[..., None])], self.cumulated)

    def tail_means(self, level: float) -> Floats:
        """Mean of the worst share, ``F^(-2)(p) / p``, shape (...)."""
        ends = self.cumulated / self.cumulated[..., -1:].astype(np.float64)
        inside = np.clip(level - (ends - self.widths), 0.0, self.widths)
        sums: Floats = np.einsum("...d,d->...", inside, self.values)
        return sums / level

    def integrated(self, levels: Floats) -> Floats:
        """Integral of the quantile function up to each level, of one resample alone."""
        step, widths = self.at(levels), self.widths
        below = np.concatenate(([0.0], np.cumsum(widths * self.values)))[step]
        ends = np.concatenate(([0.0], np.cumsum(widths)))[step]
        return below + (levels - ends) * self.values[step]

    def at(self, levels: Floats) -> Integers:
        """Number of the value that is the quantile at each level, of one resample alone."""
        wanted = units_of(np.asarray(levels, dtype=np.float64))
        # A level that a breakpoint meets but for rounding is that breakpoint: 0.07 of 100 scores are 7.
        slack = rounding_of(self.cumulated.size)
        return np.minimum(np.searchsorted(self.cumulated, wanted - slack), self.values.size - 1)


def rounding_of(scores: int) -> int:
    """Units by which cumulated weights of so many scores may differ where they should be equal."""
    return 2 * scores + (1 << 14)


@dataclass(frozen=True)
class StepMaker:
    """One model's scores sorted once, so that any weights of its units of resampling make its steps.

    Attributes
    ----------
    values : ndarray, shape (d,)
        Different scores upwards; all of them where hardly any are equal.
    units : ndarray of int, shape (n,)
        Unit of resampling of each score, scores upwards.
    starts : ndarray of int, shape (d,), or None
        First score of each value; None where every score is a value of its own.
    signed : ndarray of int64, shape (n,), or None
        Weight of each score where its unit is drawn once, in units, scores upwards; some may be negative.
        None where all scores of a unit weigh the same.
    """

    values: Floats
    units: Integers
    starts: NDArray[np.intp] | None
    signed: Integers | None = None

    @classmethod
    def of(cls, scores: Floats, clusters: Integers, signed: Floats | None = None) -> StepMaker:
        """Sort one model's scores; `signed` are weights of their own, of sum 1."""
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        own = None if signed is None else units_of(signed[order])
        if first.size == ordered.size:
            return cls(ordered, clusters[order], None, own)
        return cls(ordered[first], clusters[order], first, own)

    def cumulated(self, weights: Integers) -> Integers:
        """Return cumulated weights of resamples, shape (B, d); signed ones may fall, see :func:`proper`.

        Parameters
        ----------
        weights : ndarray of int64, shape (B, C)
            Weight in units of *one score* of each unit of resampling; where scores have signed weights of
            their own, how often each unit is drawn.
        """
        drawn = weights.take(self.units, axis=1)
        if self.signed is not None:
            drawn *= self.signed
        if self.starts is not None:
            drawn = np.add.reduceat(drawn, self.starts, axis=1)
        return np.cumsum(drawn, axis=1, out=drawn)


def proper(values: Floats, cumulated: Integers) -> Integers:
    """Make cumulated weights non-decreasing, from 0 to all.

    Parameters
    ----------
    values : ndarray, shape (d,)
        Different scores, upwards.
    cumulated : ndarray of int64, shape (B, d)
        Signed weight up to and including each value, in units, about all at the end; changed in place.

    Returns
    -------
    ndarray of int64, shape (B, d)
        Of the same mean, unless that lies beyond the scores.
    """
    cumulated[:, -1] = TOTAL
    lowest, highest = cumulated.min(axis=1), cumulated.max(axis=1)
    falls = (cumulated[:, 1:] < cumulated[:, :-1]).any(axis=1)
    gaps = np.diff(values)
    for row in np.flatnonzero(falls | (lowest < 0) | (highest > TOTAL)).tolist():
        shares = np.ldexp(cumulated[row, :-1].astype(np.float64), -61)
        cumulated[row, :-1] = units_of(_nearest(shares, gaps))
    return cumulated


def proper_weights(values: Floats, signed: Floats) -> Floats:
    """Weight of each score, none of them negative; that of equal scores is the first one's.

    Parameters
    ----------
    values : ndarray, shape (n,)
    signed : ndarray, shape (n,)
        Of sum 1.
    """
    maker = StepMaker.of(values, np.zeros(values.size, dtype=np.int64), signed)
    ends = proper(maker.values, maker.cumulated(np.ones((1, 1), dtype=np.int64)))[0]
    order = np.argsort(values, kind="stable")
    found = np.zeros(values.size)
    shares = np.ldexp(np.diff(ends, prepend=0).astype(np.float64), -61)
    found[order if maker.starts is None else order[maker.starts]] = shares
    return found


def _nearest(shares: Floats, gaps: Floats) -> Floats:
    """The distribution nearest to cumulated shares, of which each holds over a gap."""
    from scipy.optimize import isotonic_regression  # a tenth of a second to import

    rising = isotonic_regression(shares, weights=gaps).x
    above = _from_zero(rising, gaps)
    below = 1 - _from_zero((1 - above)[::-1], gaps[::-1])[::-1]
    return np.maximum.accumulate(np.clip(below, 0.0, 1.0))


def _from_zero(rising: Floats, gaps: Floats) -> Floats:
    """The same without values below 0: as much is taken from those that follow."""
    if rising[0] >= 0:
        return rising
    area = np.cumsum(rising * gaps)
    owed = area < 0
    found = np.where(owed, 0.0, rising)
    if not owed.all():
        # The first gap that pays what the ones before it owe keeps the rest.
        paid = int(np.argmin(owed))
        found[paid] = np.clip(area[paid] / gaps[paid], 0.0, rising[paid])
    return found
