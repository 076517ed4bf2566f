"""Percentile p-values and intervals, widened for few samples (Hesterberg 2015; method §4, rule 1).

A bootstrap distribution is too narrow by √((n − 1)/n) and has the tails of a normal, not of Student's t.
The expanded percentile keeps its shape and moves only the level at which it is read.

References
----------
T. C. Hesterberg (2015). What teachers should know about the bootstrap. The American Statistician 69(4),
371-386. doi:10.1080/00031305.2015.1089789
"""

from __future__ import annotations

import numpy as np
import scipy  # loads its functions when they are first used
from numpy.typing import ArrayLike

from riskrank.engine.sampling.freedom import Behind, Widening
from riskrank.engine.types import Floats


def expanded_p_value(share: ArrayLike, samples: Behind) -> Floats:
    """P-value of a counted share of replicates: F_t(√((n − 1)/n)·Φ⁻¹(p₀)) with n − 1 degrees of freedom.

    Parameters
    ----------
    share : array_like
        Shares p₀ in (0, 1], such as (1 + crossings)/(B + 1).
    samples : float, ndarray or Freedom
        Independent samples n, at least 2; of unequal clusters Kish's number. Or degrees of freedom.

    Returns
    -------
    ndarray
        Same shape; 1 where the share is 1.
    """
    of = Widening.of(samples)
    return scipy.special.stdtr(of.df, of.narrow * scipy.special.ndtri(np.asarray(share, dtype=np.float64)))


def expanded_share(p_value: ArrayLike, samples: Behind) -> Floats:
    """Share p₀ of replicates that `expanded_p_value` turns into a p-value; its inverse.

    Parameters
    ----------
    p_value : array_like
        P-values in (0, 1].
    samples : float, ndarray or Freedom
        Independent samples n, at least 2; of unequal clusters Kish's number. Or degrees of freedom.

    Returns
    -------
    ndarray
        Same shape. With B resamples of which none crosses, p-values below that of 1/(B + 1) cannot be shown.
    """
    of = Widening.of(samples)
    return scipy.special.ndtr(of.widen * scipy.special.stdtrit(of.df, np.asarray(p_value, dtype=np.float64)))


def expanded_interval(replicates: Floats, samples: Behind, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Expanded percentile interval of each column of replicates.

    Parameters
    ----------
    replicates : ndarray, shape (B, ...)
        Bootstrap replicates of one or more statistics.
    samples : float, ndarray of shape (...), or Freedom
        Independent samples n behind the statistics, or behind each of them; at least 2.
    level : float
        Coverage wanted.

    Returns
    -------
    low, high : ndarray, shape (...)
    """
    tails = expanded_share((1 - level) / 2, samples)
    if tails.ndim == 0:
        low, high = np.quantile(replicates, [tails, 1 - tails], axis=0)
        return low, high
    low, high = np.empty(tails.shape), np.empty(tails.shape)
    for tail in np.unique(tails):
        chosen = tails == tail
        low[chosen], high[chosen] = np.quantile(replicates[:, chosen], [tail, 1 - tail], axis=0)
    return low, high
