"""Monte Carlo p-values, with exact intervals for the p-value that infinitely many resamples would give.

References
----------
C. J. Clopper and E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in the case of
the binomial. Biometrika 26(4), 404-413. doi:10.1093/biomet/26.4.404
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine import special
from riskrank.engine.types import Floats

# Lower limit of a p-value that no resample contradicts.
SMALLEST = float(np.finfo(np.float64).tiny)

# Coverage of the Monte Carlo interval of a p-value.
COVERAGE = 0.99

# Normal quantiles of that interval, and of the power 80 % that the next interval excludes the level.
_Z_INTERVAL, _Z_POWER = 2.5758, 0.8416

# The required number is only a rough estimate, so its factor is limited.
_MIN_FACTOR, _MAX_FACTOR = 10.0, 100.0


class UpperBound(float):
    """P-value 1/(B + 1) of a claim that none of B resamples contradicts, or a multiple of it.

    More resamples could only reduce it.
    """


def p_value_interval(exceedances: ArrayLike, resamples: ArrayLike) -> Floats:
    """Return the Monte Carlo p-value (1 + exceedances)/(resamples + 1) with its exact 99 % interval.

    `exceedances` is the number of resamples whose statistic is at least as extreme as the observed one.

    Returns
    -------
    ndarray, shape (3, ...)
        P-values, lower limits and upper limits.
    """
    count, total = np.broadcast_arrays(np.asarray(exceedances, float), np.asarray(resamples, float))
    tail, below = (1 - COVERAGE) / 2, total - count
    low = special.betaincinv(np.maximum(count, 1), below + 1, tail)
    high = special.betaincinv(count + 1, np.maximum(below, 1), 1 - tail)
    low, high = np.where(count > 0, low, SMALLEST), np.where(below > 0, high, 1.0)
    return np.array([(1 + count) / (total + 1), low, high])


def required_resamples(
    p_value: Floats, low: Floats, high: Floats, level: float, resamples: ArrayLike
) -> Floats:
    """Return the number of resamples needed for the intervals of the p-values to exclude a given level.

    Parameters
    ----------
    p_value, low, high : ndarray
        P-values and the limits of their Monte Carlo intervals, all of the same shape.
    level : float
        Significance level with which the p-values are compared.
    resamples : array_like
        Number of resamples behind the p-values, one for all or one for each.

    Returns
    -------
    ndarray
        0 where the interval already excludes the level.
    """
    width = (high - low) / 2 * (1 + _Z_POWER / _Z_INTERVAL)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.clip((width / (p_value - level)) ** 2, _MIN_FACTOR, _MAX_FACTOR)
    return np.where((low <= level) & (level < high), np.ceil(np.asarray(resamples) * factor), 0.0)
