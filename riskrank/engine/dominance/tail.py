"""P-values from bootstrap replicates of a violation ratio, with a continued tail.

Method §4. The percentile bootstrap holds its level but cannot say less than 1/(B + 1), too coarse for
a Bonferroni level among many models. Only where no replicate crosses the threshold, the tail goes on
as an exponential fitted to the replicates' own upper 5 % on the logit scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, ndtr

Floats = NDArray[np.float64]

TAIL_SHARE = 0.05

# The fit needs some 20 replicates in the tail. With 5, among twelve equal models in one run of five a
# difference would be "found" at a family-wise 5 %; below this many there is no tail to continue.
FEWEST_FOR_A_TAIL = 400
SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class TailProbabilities:
    """P-values of many statistics tested alike.

    Attributes
    ----------
    p_value : ndarray, shape (m,)
        P-values of "the statistic is at least the threshold".
    extrapolated : ndarray of bool, shape (m,)
        Whether a p-value comes from the continued tail rather than from counting replicates.
    """

    p_value: Floats
    extrapolated: NDArray[np.bool_]


def percentile_p_value(replicates: Floats, threshold: float) -> Floats:
    """``(1 + #{T*_b >= threshold}) / (B + 1)``, shape (m,), of replicates of shape (B, m)."""
    return (1 + np.count_nonzero(replicates >= threshold, axis=0)) / (len(replicates) + 1)


def tail_p_value(
    replicates: Floats, threshold: float, *, samples: int, fallback: Floats
) -> TailProbabilities:
    """Percentile p-values, continued where no replicate reaches the threshold.

    Parameters
    ----------
    replicates : ndarray, shape (B, m)
        Bootstrap replicates of statistics in [0, 1], small where the claim holds.
    threshold : float
        Boundary of the null hypothesis, in (0, 1).
    samples : int
        Number of independent samples n; replicates are clipped to [1/4n, 1 - 1/4n] before the logit.
    fallback : ndarray, shape (m,)
        P-value to continue with where the upper tail of the replicates is a single point, so that no
        exponential can be fitted (0/1 scores, or two models that never overlap).

    Returns
    -------
    TailProbabilities
    """
    p_value = percentile_p_value(replicates, threshold)
    floor = 1 / (len(replicates) + 1)
    uncrossed = ~np.any(replicates >= threshold, axis=0)
    if not uncrossed.any():
        return TailProbabilities(p_value, uncrossed)
    edge = 1 / (4 * samples)
    scaled = logit(np.clip(replicates[:, uncrossed], edge, 1 - edge))
    start = np.quantile(scaled, 1 - TAIL_SHARE, axis=0)
    above = scaled > start
    fitted = above.any(axis=0)
    excess = np.where(above, scaled - start, 0.0).sum(axis=0) / np.maximum(above.sum(axis=0), 1)
    distance = logit(threshold) - start
    continued = TAIL_SHARE * np.exp(-distance / np.where(fitted, excess, 1.0))
    # Far out the fit underflows, and no p-value is 0.
    continued = np.maximum(continued, SMALLEST)
    if len(replicates) < FEWEST_FOR_A_TAIL:
        continued = np.full_like(continued, floor)
    p_value[uncrossed] = np.where(fitted, np.minimum(floor, continued), fallback[uncrossed])
    return TailProbabilities(p_value, uncrossed)


def mean_difference_p_value(means: Floats, mean_replicates: Floats, *, samples: int) -> Floats:
    """One-sided normal p-values of "i's mean is not above j's", for all ordered pairs.

    Dominance of either order implies a larger mean, so this carries a tail the ratio itself cannot
    show. No test of n samples without a distributional assumption can go below 2^-n (all signs of a
    sign test alike), and neither does this one.

    Parameters
    ----------
    means : ndarray, shape (k,)
        Mean score of each model.
    mean_replicates : ndarray, shape (B, k)
        Their bootstrap replicates.
    samples : int
        Number of independent samples n.

    Returns
    -------
    ndarray, shape (k, k)
    """
    difference = means[:, None] - means[None, :]
    error = np.std(mean_replicates[:, :, None] - mean_replicates[:, None, :], axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0, 0.0, difference / error)
    return np.maximum(ndtr(-z), max(0.5**samples, SMALLEST))
