"""An exponential tail behind the replicates of a relative statistic (method §4, rule 3).

It may only close relative claims that lie far beyond doubt. Never direct or absolute ones: their replicates
can be nearly a point mass at 0 while the null hypothesis is true, and any tail then finds differences.
"""

from __future__ import annotations

import numpy as np

from riskrank.engine.types import Floats

TAIL_SHARE = 0.05

# A mean excess over fewer different values says little about what lies beyond them.
FEWEST_IN_TAIL = 20
SMALLEST = float(np.finfo(np.float64).tiny)


def relative_tail(replicates: Floats) -> Floats:
    """Tail probabilities of "Δε is at least 0", continued from the replicates' own upper 5 %.

    On the scale s = arcsin √((1 + Δε)/2), with q the 95 % quantile of the replicates and μ their mean excess
    over it, p = 0.05·exp(−(s(0) − q)/μ).

    Parameters
    ----------
    replicates : ndarray, shape (B, m)
        Replicates of Δε of each pair, all below 0.

    Returns
    -------
    ndarray, shape (m,)
        NaN where fewer than 20 different values lie above the quantile.
    """
    count = len(replicates)
    place = (count - 1) * (1 - TAIL_SHARE)
    start = int(place)
    upper = np.sort(np.partition(replicates, start, axis=0)[start:], axis=0)
    upper = np.arcsin(np.sqrt(np.clip((1 + upper) / 2, 0.0, 1.0)))
    above_start = upper[min(1, len(upper) - 1)]
    quantile = upper[0] + (place - start) * (above_start - upper[0])
    above = upper > quantile
    different = np.count_nonzero(above[1:] & (np.diff(upper, axis=0) > 0), axis=0) + above[0]
    excess = np.where(above, upper - quantile, 0.0).sum(axis=0) / np.maximum(above.sum(axis=0), 1)
    fitted = different >= FEWEST_IN_TAIL
    continued = TAIL_SHARE * np.exp(-(np.pi / 4 - quantile) / np.where(fitted, excess, 1.0))
    # Far out the fit underflows, and no p-value is 0.
    return np.where(fitted, np.maximum(continued, SMALLEST), np.nan)
