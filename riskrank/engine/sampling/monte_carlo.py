"""Where a share lies that was counted in some resamples: what another seed may count.

References
----------
C. J. Clopper and E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in the case of
the binomial. Biometrika 26(4), 404-413. doi:10.1093/biomet/26.4.404
"""

from __future__ import annotations

import numpy as np
import scipy  # loads its functions when they are first used

from riskrank.engine.types import Floats

COVERAGE = 0.99
"""Of the interval of a counted share."""

# Normal quantiles of that interval, and of a next count that falls out of it four times out of five.
_WIDTH, _SURELY = 2.5758, 0.8416

# A count that was too coarse says little of how much finer one has to be.
_FINER, _FINEST = 10.0, 100.0


def counted_share(beyond: int, resamples: int) -> Floats:
    """The share (1 + beyond)/(resamples + 1), and the ends of its exact 99 % interval, shape (3,)."""
    tail, rest = (1 - COVERAGE) / 2, resamples - beyond
    low = scipy.special.betaincinv(beyond, rest + 1, tail) if beyond else np.finfo(float).tiny
    high = scipy.special.betaincinv(beyond + 1, rest, 1 - tail) if rest else 1.0
    return np.array([(1 + beyond) / (resamples + 1), low, high])


def resamples_to_settle(found: Floats, low: Floats, high: Floats, level: float, resamples: float) -> Floats:
    """Resamples after which a level should lie outside of the intervals of p-values.

    Parameters
    ----------
    found, low, high : ndarray, of one shape
        The p-values, and the ends of their intervals.
    level : float
        What they are compared with.
    resamples : float
        That they were counted in.

    Returns
    -------
    ndarray
        0 where it does so already.
    """
    width = (high - low) / 2 * (1 + _SURELY / _WIDTH)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.clip((width / (found - level)) ** 2, _FINER, _FINEST)
    return np.where((low <= level) & (level < high), np.ceil(resamples * times), 0.0)
