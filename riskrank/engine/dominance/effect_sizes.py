"""Effect sizes: differences between models in the units of the scores (method §4, "Effect sizes").

A violation ratio is dimensionless. Effect sizes add each model's mean, its tail mean (TVaR, the mean of the
worst samples), and the differences of both from the leader. The intervals of these differences have
simultaneous coverage for all pairs of models.

A difference of tail means is based on the worst n·p samples of each model. Its small-sample correction
assumes 2·n·p samples if both tails are equally variable, and down to n·p if only one of them varies (Welch
1947).

References
----------
B. L. Welch (1947). The generalization of "Student's" problem when several different population variances are
involved. Biometrika 34(1-2), 28-35. doi:10.1093/biomet/34.1-2.28
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.ranking import Spread
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.evidence.unit_means import UnitMean, simultaneous_level
from riskrank.engine.sampling.degrees_of_freedom import Dof, SampleSize
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.monte_carlo import required_resamples
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
        P-values for the null hypothesis of no difference of tail means, adjusted for all pairs of models.
    safe_resamples : ndarray, or None
        Numbers of resamples with which the intervals exclude 0 or not whatever the seed; 0 if they are safe.
    """

    estimate: Floats
    low: Floats | None
    high: Floats | None
    p_value: Floats | None = None
    safe_resamples: Floats | None = None

    def column(self, model: int) -> "Differences":
        """Return the differences of all models from the model with index `model`, shape (k,)."""
        parts = (self.low, self.high, self.p_value, self.safe_resamples)
        return Differences(
            self.estimate[:, model], *(part if part is None else part[:, model] for part in parts)
        )

    def negated(self) -> "Differences":
        """Return the opposite differences, with reversed signs and exchanged limits."""
        low, high = (None if limit is None else -limit for limit in (self.high, self.low))
        return replace(self, estimate=-self.estimate, low=low, high=high)

    def combine_with(self, p_value: Floats, confidence: float) -> "Differences":
        """Combine the differences with the p-values of a second test.

        The larger of the two p-values is kept. If the second test is not significant at level 1 −
        `confidence`, the interval is widened to include 0.
        """
        if self.low is None or self.high is None:
            return self
        undecided = p_value > 1 - confidence
        low = np.where(undecided, np.minimum(self.low, 0.0), self.low)
        high = np.where(undecided, np.maximum(self.high, 0.0), self.high)
        combined = None if self.p_value is None else np.maximum(self.p_value, p_value)
        return replace(self, low=low, high=high, p_value=combined)


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


def tail_sample_size(samples: SampleSize, tail_fraction: float, tails: ArrayLike = 2.0) -> Integers:
    """Return the effective number of samples on which a difference of two tail means is based.

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
    """Return Welch's effective number of tails in a difference of two tail means: (v₁ + v₂)²/(v₁² + v₂²).

    These are the degrees of freedom of the difference, relative to those of a single tail mean.

    Parameters
    ----------
    first, second : array_like
        Variances v₁ and v₂ of the two tail means.

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
    mean_difference: Differences | None = None,
    tail_spread: Spread | None = None,
    smallest: Floats | float = 0.0,
    confidence: float = 0.95,
) -> EffectSizes:
    """Compute the differences of each model from a leader, in means and in tail means.

    Parameters
    ----------
    mean, tail_mean : array_like, shape (k,)
        Estimates from the sample, in the units of the scores.
    leader : int
        Index of the model to compare with.
    tail_fraction : float
        Proportion of worst scores in the tail means: 5 %, or more if needed for five samples.
    samples : float, ndarray of shape (k,), or Dof
        Number of independent samples: that of the model with the fewest, or one number for each pair with the
        leader.
    mean_difference : Differences, optional
        Differences of means of all pairs, shape (k, k). Required for intervals of the differences of means.
    tail_spread : Spread, optional
        Bootstrap spread of the differences of tail means. Required for their intervals.
    smallest : ndarray, shape (k,), or float
        Smallest possible p-values of the differences of tail means.
    confidence : float
        Coverage of the intervals.

    Returns
    -------
    EffectSizes

    Raises
    ------
    NumericalError
        If a difference overflows.
    """
    means, tails = (np.asarray(values, dtype=np.float64) for values in (mean, tail_mean))
    difference, tail_difference = (_subtract(values, values[leader]) for values in (means, tails))
    tail_result = Differences(tail_difference, None, None)
    if tail_spread is not None:
        variances = tail_spread.variances
        tail_counts = equivalent_tails(variances, variances[leader])
        tail_samples = tail_sample_size(samples, tail_fraction, tail_counts)
        half, most = tail_spread.half_widths(leader, tail_samples), np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            low, high = (np.clip(tail_difference + width, -most, most) for width in (-half, half))
        p_value = tail_spread.p_values(tail_difference, leader, tail_samples)
        tail_result = Differences(tail_difference, low, high, p_value)
        tail_result = tail_result.combine_with(np.asarray(smallest), confidence)
    mean_result = mean_difference.column(leader) if mean_difference else Differences(difference, None, None)
    return EffectSizes(leader, tail_fraction, means, tails, mean_result, tail_result)


def mean_differences(
    scores: ClusteredScores, inference: Inference, leaders: Collection[int] | None = None
) -> Differences:
    """Compute the differences in means of all ordered pairs, with simultaneous intervals for all pairs.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    inference : Inference
        Test settings. Intervals require resampling.
    leaders : collection of int, optional
        Models for which intervals of all pairs with other models are needed; by default all models. Other
        intervals are NaN.

    Returns
    -------
    Differences
        Shape (k, k), exactly antisymmetric: ``low[j, i] == -high[i, j]``.

    Raises
    ------
    NumericalError
        If a difference overflows.
    """
    k = scores.models
    needed = range(k) if leaders is None else leaders
    pairs = [(i, j) for i in range(k) for j in range(i) if i in needed or j in needed]
    means = np.array([UnitMean.from_scores(scores, model).mean for model in range(k)])
    estimate = _subtract(means[:, None], means)
    if not inference.uses_resampling:
        return Differences(estimate, None, None)
    first, second = np.array(pairs).T
    low, high = np.zeros((2, k, k))
    resamples, seed = inference.resamples, inference.seed
    contrasts = [MeanContrast.from_scores(scores, *pair) for pair in pairs]
    evidence = mean_evidence(contrasts, resamples=resamples, seed=seed)
    level = simultaneous_level(scores, inference.family.alpha, resamples=resamples, seed=seed)
    lower, upper = evidence.interval(2 * level)
    low[first, second], high[first, second] = lower, upper
    low[second, first], high[second, first] = -upper, -lower
    bounds, safe = evidence.p_value_bounds(2), np.zeros((k, k))
    needed = required_resamples(evidence.p_value, *bounds, 2 * level, evidence.resamples)
    safe[first, second] = safe[second, first] = needed
    return Differences(estimate, low, high, safe_resamples=safe)


def _subtract(minuend: Floats, subtrahend: Floats) -> Floats:
    """Return minuend − subtrahend; raise NumericalError if a difference overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        difference = minuend - subtrahend
    if not np.isfinite(difference).all():
        problem = "the difference between two means is too large for floating-point numbers"
        hint = "give the scores in a larger unit, such as thousands"
        raise NumericalError(problem, found=f"means as large as {np.abs(minuend).max():g}", hint=hint)
    return difference
