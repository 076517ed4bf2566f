"""How large the differences between models are, in the units of the scores (method §4, "Effect sizes").

A violation ratio has no unit. Beside it belong each model's mean, the mean of its worst share of samples
(TVaR), and the difference of both to another model with an interval from the resamples at hand. An interval
is for one pair at a time: a leader chosen by these data looks better than it is.

The interval of a mean is an expanded percentile of n samples and covers 0.94 to 0.95 of true differences
(n = 30 to 300). A difference of tail means rests on the worst n·p samples of either model only, and is
expanded for 2·n·p: for n it would cover 0.90 to 0.95 of the true differences of two normals, or two Student's
t with 3 degrees of freedom, instead of 0.94 to 0.97. Where one model's spread is twice the other's, five
samples tell too little of its tail: 0.91.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.sampling.expanded_percentile import expanded_interval
from riskrank.engine.types import Floats
from riskrank.errors import NumericalError


@dataclass(frozen=True)
class Differences:
    """Differences with their intervals, in the units of the scores.

    Attributes
    ----------
    estimate : ndarray
        Differences in the sample; shape (k,) to one model, or (k, k) with ``[i, j]`` for i minus j.
    low, high : ndarray, or None
        Ends of the interval; None without resampling.
    """

    estimate: Floats
    low: Floats | None
    high: Floats | None


@dataclass(frozen=True)
class EffectSizes:
    """Means and tail means of k models, and their distance to a leader.

    Attributes
    ----------
    leader : int
        The model the differences are to.
    level : float
        Share of the worst samples in the tail mean.
    mean, tail_mean : ndarray, shape (k,)
        In the units of the scores.
    mean_difference, tail_difference : Differences
        Model minus leader, shapes (k,); 0 for the leader itself.
    """

    leader: int
    level: float
    mean: Floats
    tail_mean: Floats
    mean_difference: Differences
    tail_difference: Differences


def samples_behind_tail(samples: int, level: float) -> int:
    """Samples a difference of two tail means rests on: the worst n·p of either model, at most n.

    Parameters
    ----------
    samples : int
        Independent samples n of the least-sampled model.
    level : float
        Share p of the worst scores.
    """
    return min(samples, max(round(2 * samples * level), 2))


def effect_sizes(
    mean: ArrayLike,
    tail_mean: ArrayLike,
    *,
    leader: int,
    level: float,
    samples: int,
    mean_replicates: Floats | None = None,
    tail_replicates: Floats | None = None,
    confidence: float = 0.95,
) -> EffectSizes:
    """Differences of every model to a leader.

    Parameters
    ----------
    mean, tail_mean : array_like, shape (k,)
        Of the sample, in the units of the scores.
    leader : int
        The model to compare with.
    level : float
        Share of the worst scores in the tail means: 5 %, or what holds five samples.
    samples : int
        Independent samples of the least-sampled model.
    mean_replicates, tail_replicates : ndarray, shape (B, k), optional
        The same of each resample; resamples drawn for all models together keep the pairing.
    confidence : float
        Coverage of each interval.

    Returns
    -------
    EffectSizes

    Raises
    ------
    NumericalError
        If a difference is too large for a number.
    """
    estimates = np.asarray(mean, dtype=np.float64), np.asarray(tail_mean, dtype=np.float64)
    behind = samples, samples_behind_tail(samples, level)
    differences = [
        _to_one(estimate, replicates, leader, size, confidence)
        for estimate, replicates, size in zip(
            estimates, (mean_replicates, tail_replicates), behind, strict=True
        )
    ]
    return EffectSizes(leader, level, *estimates, *differences)


def pairwise_differences(
    estimate: ArrayLike, *, samples: int, replicates: Floats | None = None, confidence: float = 0.95
) -> Differences:
    """Differences of all ordered pairs of models, one model's row at a time to spare memory.

    Parameters
    ----------
    estimate : array_like, shape (k,)
        Means or tail means of the sample.
    samples : int
        Samples the differences rest on; for tail means see `samples_behind_tail`.
    replicates : ndarray, shape (B, k), optional
        The same of each resample.
    confidence : float
        Coverage of each interval.

    Returns
    -------
    Differences
        Of shape (k, k), antisymmetric to the last bit: ``low[j, i] == -high[i, j]``.

    Raises
    ------
    NumericalError
        If a difference is too large for a number.
    """
    values = np.asarray(estimate, dtype=np.float64)
    k = len(values)
    low = high = None
    if replicates is not None:
        low, high = np.zeros((k, k)), np.zeros((k, k))
        for i in range(k - 1):
            ends = _interval(replicates[:, i + 1 :], replicates[:, [i]], samples, confidence)
            low[i + 1 :, i], high[i + 1 :, i] = ends
            high[i, i + 1 :], low[i, i + 1 :] = -ends[0], -ends[1]
    return Differences(_subtract(values[:, None], values), low, high)


def _to_one(
    estimate: Floats, replicates: Floats | None, other: int, samples: int, confidence: float
) -> Differences:
    """Differences to model number ``other`` with their intervals."""
    difference = _subtract(estimate, estimate[other])
    if replicates is None:
        return Differences(difference, None, None)
    return Differences(difference, *_interval(replicates, replicates[:, [other]], samples, confidence))


def _interval(minuend: Floats, subtrahend: Floats, samples: int, confidence: float) -> tuple[Floats, Floats]:
    return expanded_interval(_subtract(minuend, subtrahend), samples, level=confidence)


def _subtract(minuend: Floats, subtrahend: Floats) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        difference = minuend - subtrahend
    if not np.isfinite(difference).all():
        raise NumericalError(
            "the difference of two models' means is too large for a number",
            found=f"means as large as {np.abs(minuend).max():g}",
            hint="give the scores in a larger unit, such as thousands",
        )
    return difference
