"""Intervals of single means: Student's t, and Wilson's for shares, which stays within 0 and 1."""

from __future__ import annotations

import numpy as np
import scipy  # loads its functions when they are first used

from riskrank.engine.types import Floats

LEVEL = 0.95


def mean_intervals(mean: Floats, error: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Ends of the intervals of means, mean ± t·error.

    Parameters
    ----------
    mean, error, freedom : ndarray, shape (k,)
        Means, their standard errors and the degrees of freedom of these; NaN where nothing is known.

    Returns
    -------
    low, high : ndarray, shape (k,)
    """
    wide = _quantile(freedom) * error
    return mean - wide, mean + wide


def share_intervals(share: Floats, error: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Ends of the intervals of shares of zeros and ones, (Wilson 1927) with t in the place of the normal.

    The number of independent scores is what the standard error says of whole clusters, p(1 − p)/error²; of a
    share of 0 or 1, which has no error, the degrees of freedom and one.

    Parameters
    ----------
    share, error, freedom : ndarray, shape (k,)
        As for :func:`mean_intervals`.

    Returns
    -------
    low, high : ndarray, shape (k,)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        number = np.where(error > 0, share * (1 - share) / error**2, freedom + 1)
    squared = _quantile(freedom) ** 2
    whole = 1 + squared / number
    middle = (share + squared / (2 * number)) / whole
    wide = np.sqrt(squared * (share * (1 - share) / number + squared / (4 * number**2))) / whole
    return np.maximum(middle - wide, 0.0), np.minimum(middle + wide, 1.0)


def _quantile(freedom: Floats) -> Floats:
    found: Floats = scipy.special.stdtrit(freedom, (1 + LEVEL) / 2)
    return found
