"""Standard errors of means of clustered rows, and variance components between samples and between runs.

One-way random-effects model: run r of a model on sample s has the score μ + b_s + w_sr, with variance σ_b²
between samples and σ_w² within samples. With n_s runs on sample s and N runs in total, the mean over all rows
has the variance σ_b² Σ n_s²/N² + σ_w²/N. The components are estimated by analysis of variance (Henderson's
method I), which is unbiased even for unequal n_s. For a samples, the estimates are σ_w² = MSW and σ_b² = (MSB
− MSW)/n₀, with n₀ = (N − Σ n_s²/N)/(a − 1).

What the models have in common on a sample cancels in the difference of two paired means, so runs cause a
larger share of its variance. This variance is estimated by Σ (D_s − M)² a/(a − 1), where D_s is the part of
the difference that sample s contributes, and M their mean; σ_w1²/N₁ + σ_w2²/N₂ of it is due to runs.

For runs that pass or fail, pass^k is the probability that all of k runs pass, and pass@k is the probability
that at least one of them passes (method §10). Suppose that c of r runs on a sample passed, and that k runs
are drawn without replacement. They all pass with probability C(c, k)/C(r, k), and all fail with probability
C(r − c, k)/C(r, k). Both estimates are unbiased for any r ≥ k, whereas the minimum and maximum over the
available runs depend on their number.

Confidence intervals for means use Student's t. Those for proportions use Wilson's interval, which stays
within [0, 1]. Rows are clustered as in method §8.

References
----------
S. R. Searle, G. Casella, C. E. McCulloch (1992). Variance Components. Wiley, chapter 3.6.
doi:10.1002/9780470316856
W. G. Cochran (1977). Sampling Techniques, 3rd edition. Wiley, chapter 10.6 (number of runs per sample).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from riskrank.engine import special
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True)
class ColumnMeans:
    """Means of m columns with standard errors.

    Attributes
    ----------
    mean : ndarray, shape (m,)
        Mean of each column.
    error : ndarray, shape (m,)
        Standard errors; NaN if there is only one cluster.
    """

    mean: Floats
    error: Floats


# Means below this share of the largest score are rounding errors.
_ROUNDING = 1e-15


def cluster_means(values: Floats, clusters: NDArray) -> ColumnMeans:
    """Return the mean of each column, with a cluster-robust standard error.

    Let S_c be the sum and n_c the number of rows of cluster c, and mean = ΣS_c / Σn_c. The standard error is
    that of a ratio of means: √(C/(C − 1) · Σ(S_c − mean·n_c)²) / Σn_c. For clusters of one row it equals
    s/√n.

    Parameters
    ----------
    values : ndarray, shape (n, m)
        Scores, one row per observation.
    clusters : ndarray of int, shape (n,)
        Resampling unit of each row, numbered 0, 1, ... without gaps.

    Returns
    -------
    ColumnMeans
    """
    # Scaling by a power of two avoids overflow of squares and sums.
    exponent = np.frexp(np.abs(values).max(axis=0))[1]
    scaled = np.ldexp(values, -exponent)
    mean = scaled.mean(axis=0)
    mean[np.abs(mean) < _ROUNDING] = 0.0
    count = int(clusters.max()) + 1
    sums = np.column_stack([np.bincount(clusters, column) for column in (scaled - mean).T])
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((sums**2).sum(axis=0) * (count / (count - 1) if count > 1 else np.nan)) / len(values)
    return ColumnMeans(np.ldexp(mean, exponent), np.ldexp(error, exponent))


LEVEL = 0.95


def mean_intervals(mean: Floats, error: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Return Student's confidence intervals for means, mean ± t·error.

    Parameters
    ----------
    mean, error, df : ndarray, shape (k,)
        Means, their standard errors and degrees of freedom; NaN if unknown.

    Returns
    -------
    lower, upper : ndarray, shape (k,)
        Limits of the 95 % intervals.
    """
    half = _t_quantile(df) * error
    return mean - half, mean + half


def proportion_intervals(proportion: Floats, error: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Return confidence intervals for proportions: Wilson (1927) with t quantiles instead of normal ones.

    The effective number of scores follows from the clustered standard error, p(1 − p)/error². For a
    proportion of 0 or 1 the standard error is 0, and the number is the degrees of freedom plus one.

    Parameters
    ----------
    proportion, error, df : ndarray, shape (k,)
        Proportions, their standard errors and degrees of freedom; NaN if unknown.

    Returns
    -------
    lower, upper : ndarray, shape (k,)
        Limits of the 95 % intervals.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.where(error > 0, proportion * (1 - proportion) / error**2, df + 1)
    t_squared = _t_quantile(df) ** 2
    scale = 1 + t_squared / n
    centre = (proportion + t_squared / (2 * n)) / scale
    half = np.sqrt(t_squared * (proportion * (1 - proportion) / n + t_squared / (4 * n**2))) / scale
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _t_quantile(df: Floats) -> Floats:
    """Return the 97.5 % quantile of Student's t distribution with `df` degrees of freedom."""
    return special.stdtrit(df, (1 + LEVEL) / 2)


@dataclass(frozen=True)
class VarianceComponents:
    """Variance components of the means of k models, in squared units of the scores.

    For a model with a single run on every sample, the components cannot be separated, so all attributes
    except ``runs`` and ``variance`` are NaN.

    Attributes
    ----------
    runs : ndarray, shape (k,)
        Runs per sample, N/a.
    between, within : ndarray, shape (k,)
        Estimates of σ_b² and σ_w². The unbiased estimate of σ_b² may be negative if samples differ no more
        than runs on the same sample do.
    variance : ndarray, shape (k,)
        Variance of the model's mean; a negative estimate of σ_b² is replaced by 0.
    within_share : ndarray, shape (k,)
        Proportion of that variance due to runs, in [0, 1]; more repeats cannot reduce the variance by more
        than this.
    more_samples, more_runs : ndarray, shape (k,)
        Variance of the mean with twice the number of samples, and with twice the number of runs per sample.
        Both double the total number of runs, and the first is never larger. Repeats are only worthwhile if
        samples themselves are expensive.
    """

    runs: Floats
    between: Floats
    within: Floats
    variance: Floats
    within_share: Floats
    more_samples: Floats
    more_runs: Floats


def variance_components(scores: ClusteredScores) -> VarianceComponents | None:
    """Split the variance of each model's mean into components between and within samples.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models on independent samples, of which some have several runs.

    Returns
    -------
    VarianceComponents or None
        None if no model has several runs on a sample, if a model has only one sample, if samples are
        clustered (which would add a third component), or if a variance overflows.
    """
    if scores.has_nested_samples or min(scores.cluster_counts) < 2 or scores.sizes == scores.cluster_counts:
        return None
    rows = [_model_components(*model) for model in zip(scores.values, scores.clusters, strict=True)]
    columns = np.array(rows).T
    return None if np.isinf(columns).any() else VarianceComponents(*columns)


def runs_share_of_differences(scores: ClusteredScores, components: VarianceComponents) -> float:
    """Return the share of the variance of a difference of two means that is due to runs, in [0, 1].

    It is the median over all pairs of models with repeats whose difference varies, or over the models' own
    means if there is no such pair.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models on independent samples.
    components : VarianceComponents
        Components of the same scores.
    """
    contributions = [
        np.bincount(sample, value - value.mean()) / value.size
        for value, sample in zip(scores.values, scores.clusters, strict=True)
    ]
    from_runs = components.within_share * components.variance
    shares = []
    for a, b in combinations(np.flatnonzero(~np.isnan(from_runs)), 2):
        variance = components.variance[a] + components.variance[b]
        if scores.paired:
            difference = contributions[a] - contributions[b]
            variance = difference.var(ddof=1) * difference.size
        if variance > 0:
            shares.append(min(1.0, (from_runs[a] + from_runs[b]) / variance))
    return float(np.median(shares)) if shares else float(np.nanmedian(components.within_share))


def _model_components(value: Floats, sample: Integers) -> tuple[float, ...]:
    """Return the values of all `VarianceComponents` attributes for one model, in their order.

    `value` holds the score of each run, `sample` the number of its sample.
    """
    runs = np.bincount(sample)
    total, count = value.size, runs.size
    largest = np.abs(value).max()
    # Scaling by a power of two is exact and avoids overflow of squares.
    exponent = int(np.frexp(largest)[1]) if largest > 0 else 0
    scaled = np.ldexp(value, -exponent)
    centred = scaled - scaled.mean()
    means = np.bincount(sample, centred) / runs
    concentration = float((runs.astype(float) ** 2).sum()) / total

    def squared(variance: float) -> float:
        """Convert a variance from the common scale to the original unit of the scores."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(variance, 2 * exponent))

    if total == count:
        variance = centred.var(ddof=1) / total
        return 1.0, np.nan, np.nan, squared(variance), np.nan, np.nan, np.nan
    within = float(((centred - means[sample]) ** 2).sum()) / (total - count)
    mean_square = float((runs * (means - centred.mean()) ** 2).sum()) / (count - 1)
    between = (mean_square - within) * (count - 1) / (total - concentration)
    from_samples = max(between, 0.0) * concentration / total
    from_runs = within / total
    variance = from_samples + from_runs
    return (
        total / count,
        squared(between),
        squared(within),
        squared(variance),
        from_runs / variance if variance > 0 else 0.0,
        squared(variance / 2),
        squared(from_samples + from_runs / 2),
    )


@dataclass(frozen=True, eq=False)
class Passes:
    """Number of passed runs of one model on each sample.

    Attributes
    ----------
    passed : ndarray of int, shape (n,)
        Passed runs c of each sample.
    runs : ndarray of int, shape (n,)
        Runs r of each sample.
    """

    passed: Integers
    runs: Integers

    @classmethod
    def from_runs(cls, passed: Booleans, samples: Integers) -> Passes:
        """Count the passed runs and all runs on each sample.

        Parameters
        ----------
        passed : ndarray of bool, shape (rows,)
            True for runs that passed.
        samples : ndarray of int, shape (rows,)
            Sample of each run, numbered 0, 1, … without gaps.
        """
        counts = np.bincount(samples, minlength=int(samples.max(initial=-1)) + 1)
        return cls(np.bincount(samples[passed], minlength=counts.size), counts)

    @property
    def n_flaky(self) -> int:
        """Number of samples on which some runs pass and others fail."""
        return int(np.count_nonzero((self.passed > 0) & (self.passed < self.runs)))

    def all_pass(self, k: int) -> Floats:
        """Return pass^k of each sample, the probability that all of k runs pass, shape (n,)."""
        return _subset_probability(self.passed, self.runs, k)

    def any_pass(self, k: int) -> Floats:
        """Return pass@k of each sample, the probability that any of k runs passes, shape (n,)."""
        return 1 - _subset_probability(self.runs - self.passed, self.runs, k)


def _subset_probability(counts: Integers, runs: Integers, k: int) -> Floats:
    """Return the probability that k runs, drawn without replacement, are all of one kind, shape (n,).

    On each sample, `counts` (c) of `runs` (r) runs are of this kind. The probability is C(c, k)/C(r, k).
    """
    if np.any(runs < k):
        raise ValueError(f"k = {k} needs at least {k} runs per sample, but a sample has {int(runs.min())}")
    probability = np.ones(counts.shape)
    for i in range(k):
        probability *= np.maximum(counts - i, 0) / (runs - i)
    return probability


def mean_interval(proportions: Floats) -> tuple[float, float, float]:
    """Return the mean of proportions in [0, 1] and the limits of its 95 % interval: (mean, lower, upper).

    Student's interval is used. For a single value or equal values it would have no width, so Wilson's
    interval is used instead.
    """
    n, mean = proportions.size, float(proportions.mean())
    z = float(special.ndtri((1 + LEVEL) / 2))
    centre, width = mean + z * z / (2 * n), z * np.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    wilson = (centre - width) / (1 + z * z / n), (centre + width) / (1 + z * z / n)
    if n < 2 or np.ptp(proportions) == 0:
        return mean, max(float(wilson[0]), 0.0), min(float(wilson[1]), 1.0)
    half = float(special.stdtrit(n - 1, (1 + LEVEL) / 2)) * float(proportions.std(ddof=1)) / np.sqrt(n)
    return mean, max(mean - half, 0.0), min(mean + half, 1.0)
