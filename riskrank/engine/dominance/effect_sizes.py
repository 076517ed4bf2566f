"""Effect sizes: differences between models in the units of the scores (method §4, "Effect sizes").

A violation ratio is dimensionless. Effect sizes add each model's mean, its tail mean (TVaR, the mean of the
worst samples), and the differences of both from the leader. The bootstrap intervals of these differences have
simultaneous coverage for all models. A pair requested by the user gets an individual interval
(`pairwise_differences`); for two models both intervals are equal.

A difference of tail means is based on the worst n·p samples of each model. Its small-sample correction
assumes 2·n·p samples if both tails are equally variable, and down to n·p if only one of them varies (Welch
1947).

References
----------
B. L. Welch (1947). The generalization of "Student's" problem when several different population variances are
involved. Biometrika 34(1-2), 28-35. doi:10.1093/biomet/34.1-2.28
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.simultaneous import Spread, difference_spread
from riskrank.engine.sampling.degrees_of_freedom import Dof, SampleSize
from riskrank.engine.types import Floats, Integers
from riskrank.errors import NumericalError


@dataclass(frozen=True)
class Differences:
    """Differences between models with confidence intervals, in the units of the scores.

    Attributes
    ----------
    estimate : ndarray
        Observed differences: shape (k,) from one model, or (k, k) with i minus j at ``[i, j]``.
    low, high : ndarray, or None
        Lower and upper limits of the intervals; None without resampling.
    p_value : ndarray, or None
        P-values for the null hypothesis of no difference, adjusted for all pairs of models; None for
        individual intervals.
    """

    estimate: Floats
    low: Floats | None
    high: Floats | None
    p_value: Floats | None = None

    def negated(self) -> "Differences":
        """Return the differences with reversed signs."""
        low, high = (None if limit is None else -limit for limit in (self.high, self.low))
        return Differences(-self.estimate, low, high, self.p_value)

    def combine_with(self, p_value: Floats, confidence: float) -> "Differences":
        """Combine with the p-values of a second test.

        The larger p-value is kept. If the second test is not significant, intervals are widened to include 0.
        """
        if self.low is None or self.high is None:
            return self
        undecided = p_value > 1 - confidence
        low = np.where(undecided, np.minimum(self.low, 0.0), self.low)
        high = np.where(undecided, np.maximum(self.high, 0.0), self.high)
        combined = None if self.p_value is None else np.maximum(self.p_value, p_value)
        return Differences(self.estimate, low, high, combined)


@dataclass(frozen=True)
class EffectSizes:
    """Means and tail means of k models, and their differences from a leader.

    Attributes
    ----------
    leader : int
        Index of the model that the others are compared with.
    tail_fraction : float
        Proportion of worst samples in the tail mean.
    mean, tail_mean : ndarray, shape (k,)
        In the units of the scores.
    mean_difference, tail_difference : Differences
        Model minus leader, shape (k,) each; 0 for the leader itself. The intervals have simultaneous coverage
        for all models.
    """

    leader: int
    tail_fraction: float
    mean: Floats
    tail_mean: Floats
    mean_difference: Differences
    tail_difference: Differences

    def combine_with(self, p_value: Floats, confidence: float) -> "EffectSizes":
        """Combine both differences with the p-values of a second test of "no difference", shape (k,)."""
        mean = self.mean_difference.combine_with(p_value, confidence)
        tail = self.tail_difference.combine_with(p_value, confidence)
        return replace(self, mean_difference=mean, tail_difference=tail)


def tail_sample_size(samples: SampleSize, tail_fraction: float, tails: ArrayLike = 2.0) -> Integers:
    """Return the effective number of samples behind a difference of two tail means.

    Parameters
    ----------
    samples : float, ndarray or Dof
        Number of independent samples n, or degrees of freedom, which are converted to a number of samples.
    tail_fraction : float
        Proportion p of worst scores; each tail holds n·p samples.
    tails : array_like
        Equivalent number of tails, from 1 to 2; see `equivalent_tails`.

    Returns
    -------
    ndarray of int
        Same shape as ``tails``; at least 2.
    """
    if isinstance(samples, Dof):
        samples = samples.df + 1
    size = np.rint(np.asarray(tails, dtype=np.float64) * samples * tail_fraction)
    # A model compared with itself has infinite degrees of freedom.
    most = np.clip(samples, 2, np.iinfo(np.int32).max)
    return np.clip(size, 2, most).astype(np.int64)


def equivalent_tails(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return the equivalent number of equally variable tails: (v₁ + v₂)²/(v₁² + v₂²).

    This is Welch's degrees of freedom for the difference of two tail means, relative to a single tail.

    Parameters
    ----------
    first, second : array_like
        Variances v of the two tail means.

    Returns
    -------
    ndarray
        2 if both variances are equal or zero, 1 if one of them is zero.
    """
    variances = np.stack(np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (first, second))))
    # Divide by the larger variance, because its square overflows for scores of 1e150.
    largest = variances.max(axis=0)
    shares = variances / np.where(largest > 0, largest, 1.0)
    return np.where(largest > 0, shares.sum(axis=0) ** 2 / np.maximum((shares**2).sum(axis=0), 1.0), 2.0)


def effect_sizes(
    mean: ArrayLike,
    tail_mean: ArrayLike,
    *,
    leader: int,
    tail_fraction: float,
    samples: SampleSize,
    mean_spread: Spread | None = None,
    tail_spread: Spread | None = None,
) -> EffectSizes:
    """Compute each model's mean and tail mean differences from a leader.

    Parameters
    ----------
    mean, tail_mean : array_like, shape (k,)
        Estimates from the sample, in the units of the scores.
    leader : int
        Index of the model to compare with.
    tail_fraction : float
        Proportion of worst scores in the tail means: 5 %, or more if needed for five samples.
    samples : float, ndarray of shape (k,), or Dof
        Number of independent samples of the smallest model, or of each pair with the leader.
    mean_spread, tail_spread : Spread, optional
        Bootstrap spread of the differences; no intervals without it.

    Returns
    -------
    EffectSizes

    Raises
    ------
    NumericalError
        If a difference overflows.
    """
    means, tails = (np.asarray(values, dtype=np.float64) for values in (mean, tail_mean))
    tail_samples: SampleSize = samples
    if tail_spread is not None:
        variances = tail_spread.variances
        tail_count = equivalent_tails(variances, variances[leader])
        tail_samples = tail_sample_size(samples, tail_fraction, tail_count)
    return EffectSizes(
        leader,
        tail_fraction,
        means,
        tails,
        _differences_to_leader(means, leader, mean_spread, samples),
        _differences_to_leader(tails, leader, tail_spread, tail_samples),
    )


def pairwise_differences(
    estimate: ArrayLike, *, samples: float | Dof, replicates: Floats | None = None, confidence: float = 0.95
) -> Differences:
    """Compute the differences in means for all ordered pairs of models, with individual intervals.

    Parameters
    ----------
    estimate : array_like, shape (k,)
        Sample means.
    samples : float, or Dof of shape (k, k)
        Number of independent samples of the smallest model, or degrees of freedom for each pair.
    replicates : ndarray, shape (B, k), optional
        Means in each resample.
    confidence : float
        Coverage of each individual interval.

    Returns
    -------
    Differences
        Shape (k, k), exactly antisymmetric: ``low[j, i] == -high[i, j]``.

    Raises
    ------
    NumericalError
        If a difference overflows.
    """
    values = np.asarray(estimate, dtype=np.float64)
    difference = _subtract(values[:, None], values)
    if replicates is None:
        return Differences(difference, None, None)
    spread = difference_spread(values, replicates, confidence=confidence, simultaneous=False)
    of_row = samples.__getitem__ if isinstance(samples, Dof) else lambda _: samples
    half = np.stack([spread.half_widths(i, of_row(i)) for i in range(len(values))])
    return Differences(difference, *_interval_limits(difference, half))


def _differences_to_leader(
    estimate: Floats, leader: int, spread: Spread | None, samples: SampleSize
) -> Differences:
    """Return the differences from the leader with simultaneous intervals."""
    difference = _subtract(estimate, estimate[leader])
    if spread is None:
        return Differences(difference, None, None)
    low, high = _interval_limits(difference, spread.half_widths(leader, samples))
    return Differences(difference, low, high, spread.p_values(difference, leader, samples))


def _interval_limits(difference: Floats, half: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper limits for the given half-widths, clipped to finite numbers."""
    most = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return np.clip(difference - half, -most, most), np.clip(difference + half, -most, most)


def _subtract(minuend: Floats, subtrahend: Floats) -> Floats:
    """Return minuend − subtrahend; raise NumericalError on overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        difference = minuend - subtrahend
    if not np.isfinite(difference).all():
        raise NumericalError(
            "the difference of two models' means overflows",
            found=f"means as large as {np.abs(minuend).max():g}",
            hint="give the scores in a larger unit, such as thousands",
        )
    return difference
