"""Student's t with Johnson's correction for skewness, from what every independent unit adds to an estimate.

An estimate is a mean of units plus small errors: unit c adds u_c, with Σu_c the estimate. With e its standard
error, t the distance to the boundary in standard errors and κ the skewness of the *estimate* (of a mean of n
scores of skewness g, κ = g/√n), Johnson's statistic is t_J = t + κ(1 + 2t²)/6. For κ < 0 it is read at
min(t, 3/(2|κ|)), so that it grows with t (method §4, "Gates").

References
----------
N. J. Johnson (1978). Modified t tests and confidence intervals for asymmetrical populations. Journal of the
American Statistical Association 73(363), 536-544. doi:10.1080/01621459.1978.10480051
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from riskrank.engine.types import Floats


def johnson_t(t: Floats, skewness: Floats) -> Floats:
    """Johnson's modified t.

    Parameters
    ----------
    t : ndarray
        Distance of an estimate above its boundary, in standard errors.
    skewness : ndarray
        κ of the estimate.

    Returns
    -------
    ndarray
    """
    with np.errstate(divide="ignore"):
        capped = np.where(skewness < 0, np.minimum(t, 1.5 / np.abs(skewness)), t)
    return np.asarray(capped + skewness * (1 + 2 * capped**2) / 6)


def p_above(t: Floats, skewness: Floats, df: Floats | float) -> Floats:
    """P-value of "the estimate lies at or below its boundary": the larger of Student's and Johnson's.

    Parameters
    ----------
    t, skewness : ndarray
        As of :func:`johnson_t`.
    df : float or ndarray
        Degrees of freedom.

    Returns
    -------
    ndarray
        In [0, 1].
    """
    return np.maximum(stdtr(df, -t), stdtr(df, -johnson_t(t, skewness)))
