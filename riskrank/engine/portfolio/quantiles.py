"""Empirical quantile functions, integrated quantiles and Tail Value at Risk.

Source: [RAB] section 2 and method §3. For a sorted sample ``x_(1) <= ... <= x_(n)`` the quantile
function is the step function ``F^(-1)(p) = x_(ceil(n p))``; its integral from 0, the integrated
quantile ``F^(-2)``, is piecewise linear with breakpoints at ``t / n``.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.sampling.steps import StepMaker, Steps, units_of
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError


def quantile(sample: ArrayLike, level: ArrayLike, weights: ArrayLike = 1.0) -> Floats:
    """Left-continuous inverse of the empirical CDF.

    Parameters
    ----------
    sample : array_like, shape (n,)
        Scores, in any order.
    level : array_like
        Probabilities in (0, 1].
    weights : array_like, shape (n,), optional
        How much each score counts; all the same by default.

    Returns
    -------
    ndarray, shape of ``level``
        ``x_(ceil(n p))``, in the units of the scores.

    Raises
    ------
    InputError
        If a level lies outside (0, 1].
    """
    if not alike(weights):
        steps = weighted_steps(sample, weights)
        return steps.values[steps.at(_levels(level))]
    ordered = np.sort(np.asarray(sample, dtype=np.float64))
    return ordered[_steps(ordered.size, _levels(level)) - 1]


def integrated_quantile(sample: ArrayLike, level: ArrayLike, weights: ArrayLike = 1.0) -> Floats:
    """Integral of the quantile function from 0 to ``level``, ``F^(-2)(p)`` ([RAB] eq. 3).

    Parameters
    ----------
    sample : array_like, shape (n,)
        Scores, in any order.
    level : array_like
        Probabilities in (0, 1].
    weights : array_like, shape (n,), optional
        As of :func:`quantile`.

    Returns
    -------
    ndarray, shape of ``level``
        ``F^(-2)(p)``; at ``p = 1`` it is the mean.

    Raises
    ------
    InputError
        If a level lies outside (0, 1].
    """
    levels = _levels(level)
    if not alike(weights):
        return weighted_steps(sample, weights).integrated(levels)
    ordered = np.sort(np.asarray(sample, dtype=np.float64))
    steps = _steps(ordered.size, levels)
    below = np.concatenate(([0.0], np.cumsum(ordered)))[steps - 1] / ordered.size
    return below + (levels - (steps - 1) / ordered.size) * ordered[steps - 1]


def tail_value_at_risk(sample: ArrayLike, level: ArrayLike, weights: ArrayLike = 1.0) -> Floats:
    """Mean of the worst share ``level`` of the scores, ``F^(-2)(p) / p`` (method §3).

    Parameters
    ----------
    sample : array_like, shape (n,)
        Scores, larger is better, in any order.
    level : array_like
        Probabilities in (0, 1].
    weights : array_like, shape (n,), optional
        As of :func:`quantile`.

    Returns
    -------
    ndarray, shape of ``level``
        Tail Value at Risk, in the units of the scores.

    Raises
    ------
    InputError
        If a level lies outside (0, 1].
    """
    return integrated_quantile(sample, level, weights) / _levels(level)


def tail_value_of_sorted(ordered: Floats, level: float) -> Floats:
    """Tail Value at Risk of samples that are sorted already.

    Parameters
    ----------
    ordered : ndarray, shape (..., n)
        Scores sorted upwards along the last axis.
    level : float
        Probability in (0, 1].

    Returns
    -------
    ndarray, shape (...)
    """
    weights = _tail_weights(ordered.shape[-1], level)
    return np.vecdot(ordered[..., : weights.size], weights) / (ordered.shape[-1] * level)


@lru_cache(maxsize=64)
def _tail_weights(n: int, level: float) -> Floats:
    """How much of each of the worst scores lies within the worst share: all, and of the last one a part."""
    steps = int(_steps(n, _levels(level)))
    weights = np.ones(steps)
    weights[-1] = n * level - (steps - 1)
    return weights


def mean_of(sample: Floats, weights: ArrayLike = 1.0) -> float:
    """Mean of scores, of which each counts as its weight says."""
    return float(sample.mean() if alike(weights) else np.dot(sample, weights) / np.sum(weights))


def alike(weights: ArrayLike) -> bool:
    """Whether all scores of a sample weigh the same, so that nobody needs to weigh them."""
    return not np.ptp(weights)


def weighted_steps(sample: ArrayLike, weights: ArrayLike) -> Steps:
    """A distribution of scores that count differently, as steps."""
    values = np.asarray(sample, dtype=np.float64)
    shares = np.asarray(weights, dtype=np.float64)
    maker = StepMaker.of(values, np.arange(values.size))
    return Steps(maker.values, maker.cumulated(units_of(shares / shares.sum())[None])[0])


def _levels(level: ArrayLike) -> Floats:
    levels = np.asarray(level, dtype=np.float64)
    if not np.all((levels > 0) & (levels <= 1)):
        raise InputError(
            "a quantile level must lie above 0 and at most at 1",
            found=f"{levels[~((levels > 0) & (levels <= 1))].flat[0]:g}",
            hint="give levels such as 0.05 or 0.5",
        )
    return levels


def _steps(n: int, levels: Floats) -> Integers:
    """``ceil(n p)``, forgiving the last bit: 0.07 * 100 must be 7, not 8."""
    product = n * levels
    nearest = np.rint(product)
    exact = np.abs(product - nearest) <= 4 * np.finfo(np.float64).eps * np.maximum(product, 1)
    return np.clip(np.where(exact, nearest, np.ceil(product)), 1, n).astype(np.int64)
