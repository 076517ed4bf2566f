"""Cumulated weights of which some are negative, made those of a distribution (method §12).

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

import numpy as np

from riskrank.engine.sampling.steps import TOTAL, StepMaker, units_of
from riskrank.engine.types import Floats, Integers


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
    found[order if maker.starts is None else order[maker.starts]] = np.ldexp(
        np.diff(ends, prepend=0).astype(np.float64), -61
    )
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
