"""Inference with Student's t and with Johnson's correction for skewness (method §8 and §13 to §15).

Means over tasks, folds, autocorrelated rows and crossed factors differ in their standard errors and degrees
of freedom. P-values and intervals are computed from these in the same way.

For heavy-tailed losses, Student's t test and the percentile bootstrap are far too liberal. If rare losses are
not observed, the mean is too good and its standard error too small at the same time. Let t be the distance of
an estimate from the boundary in standard errors. Let κ be the skewness of the *estimate*; for a mean of n
scores with skewness g it is g/√n. Johnson's statistic is t_J = t + κ(1 + 2t²)/6. It is not monotonic: its
extremum is at t = −3/(2κ). Beyond that point t is clipped, so that t_J never decreases in t (method §4,
"Gates").

Cross-validation folds share training rows (method §13). There are J = R·K folds: R repeats of K folds. The
variance of the mean difference is c·s², where s² is the variance of the differences over folds. The factor c
consists of an independent part 1/K and a shared part q = n_test/n_train. With repeats the shared part is
multiplied by 1.5, because it cannot be estimated from folds that share training rows. It also varies between
tables, so there are 2K degrees of freedom instead of J − 1.

References
----------
N. J. Johnson (1978). Modified t tests and confidence intervals for asymmetrical populations. Journal of the
American Statistical Association 73(363), 536-544. doi:10.1080/01621459.1978.10480051
C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52, 239-281.
doi:10.1023/A:1024068626366
R. R. Bouckaert and E. Frank (2004). Evaluating the replicability of significance tests for comparing learning
algorithms. PAKDD, 3-12. doi:10.1007/978-3-540-24775-3_3
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine import special
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.family import Family
from riskrank.engine.sampling.degrees_of_freedom import kish_size
from riskrank.engine.types import Floats, Integers

# Absolute tolerance for scores scaled to at most 1.
_ROUNDING = 8 * np.finfo(np.float64).eps


def johnson_t(t: ArrayLike, skewness: ArrayLike) -> Floats:
    """Return Johnson's t statistic, which is corrected for skewness.

    Parameters
    ----------
    t : array_like
        Distance of the estimate above its boundary, in standard errors.
    skewness : array_like
        Skewness κ of the estimate.

    Returns
    -------
    ndarray
        Non-decreasing in t.
    """
    kappa = np.asarray(skewness, dtype=np.float64)
    with np.errstate(divide="ignore"):
        turn = np.where(kappa == 0, np.inf, 1.5 / np.abs(kappa))
    clipped = np.where(kappa < 0, np.minimum(t, turn), np.maximum(t, -turn))
    return np.asarray(clipped + kappa * (1 + 2 * clipped**2) / 6, dtype=np.float64)


def p_above(t: Floats, skewness: Floats, df: Floats | float) -> Floats:
    """Return one-sided p-values for the claim that a mean is above a boundary.

    They are the larger of Student's and Johnson's p-values.

    Parameters
    ----------
    t, skewness : ndarray
        See :func:`johnson_t`.
    df : float or ndarray
        Degrees of freedom.

    Returns
    -------
    ndarray
        In [0, 1].
    """
    return np.maximum(special.stdtr(df, -t), special.stdtr(df, -johnson_t(t, skewness)))


# Power for the smallest detectable difference.
POWER = 0.8


@dataclass(frozen=True, eq=False)
class Student:
    """Estimates with standard errors and degrees of freedom, in arrays of equal shape.

    Attributes
    ----------
    value, error, df : ndarray
        Estimates, standard errors and degrees of freedom.
    skewness : ndarray or float
        Skewness of the estimates; 0 for no skewness correction.
    test : str
        Name of the test.
    """

    value: Floats
    error: Floats
    df: Floats
    skewness: Floats | float = 0.0
    test: str = field(default="Student's t", kw_only=True)

    @property
    def mirrored(self) -> Student:
        """The same estimates with reversed signs."""
        return replace(self, value=-self.value, skewness=-self.skewness)

    def p_above(self, boundary: ArrayLike = 0.0) -> Floats:
        """Return one-sided p-values for the claims that the values are above a boundary.

        The boundary is a number, or an array with one entry per value.
        """
        distance = self.value - np.asarray(boundary)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = distance / self.error
        # Without variance, use a sign test of df + 1 observations with equal signs.
        certain = np.where(distance > 0, 0.5 ** (self.df + 1), 1.0)
        larger = p_above(np.where(self.error > 0, t, 0.0), np.asarray(self.skewness), self.df)
        return np.where(self.error > 0, larger, certain)

    def interval(self, level: float = 0.05, boundary: ArrayLike = 0.0) -> tuple[Floats, Floats]:
        """Return the limits of individual confidence intervals at a two-sided level (coverage 1 − `level`).

        An interval excludes `boundary` only if the p-value for this boundary is at most `level`.
        """
        half, at = self.error * -special.stdtrit(self.df, level / 2), np.asarray(boundary)
        low, high = self.value - half, self.value + half
        low = np.where(self.p_above(at) > level / 2, np.minimum(low, at), low)
        return low, np.where(self.mirrored.p_above(-at) > level / 2, np.maximum(high, at), high)

    def evidence(self, boundary: ArrayLike = 0.0, samples: ArrayLike = np.nan) -> Evidence:
        """Return estimates, p-values and intervals for the claims that the values are above `boundary`.

        Parameters
        ----------
        boundary : array_like
            The claims are that the values are above this number.
        samples : array_like
            Effective number of independent samples.
        """
        return Evidence.build(
            self.value,
            self.p_above(boundary),
            self.mirrored.p_above(-np.asarray(boundary)),
            error=self.error,
            boundary=boundary,
            samples=samples,
            interval=lambda level: self.interval(level, boundary),
        )

    def pair_p_values(self, family: Family = Family()) -> Floats:
        """Return adjusted one-sided p-values for all k(k − 1) ordered pairs, 1 on the diagonal."""
        return family.adjust_pairs(self.p_above())

    def detectable_difference(self, level: float) -> Floats:
        """Return the minimum detectable differences (80 % power) of tests at the given two-sided level."""
        return self.error * sum(special.stdtrit(self.df, share) for share in (1 - level / 2, POWER))


def mean_difference(
    first: tuple[Floats, Integers], second: tuple[Floats, Integers], *, paired: bool
) -> Student:
    """Return the difference between the means of two models, first minus second.

    The result includes its standard error, degrees of freedom and skewness.

    Parameters
    ----------
    first, second : (ndarray, ndarray of int), shapes (n_i,)
        Scores, and the resampling unit of each score, numbered 0, 1, ... without gaps.
    paired : bool
        True if both models share their resampling units.

    Returns
    -------
    Student
        A single estimate. Means are treated as ratios of sums over units, because units may differ in size.
    """
    exponent = max(int(np.frexp(np.abs(side[0]).max())[1]) for side in (first, second))
    # Scaling by a power of two is exact and avoids overflow of cubes.
    sides = [(np.ldexp(values, -exponent), clusters) for values, clusters in (first, second)]
    means = [float(np.sort(values).mean()) for values, _ in sides]
    parts = [
        np.bincount(clusters, values - mean) * (int(clusters.max()) + 1) / values.size
        for (values, clusters), mean in zip(sides, means, strict=True)
    ]
    parts = [parts[0] - parts[1]] if paired else [parts[0], -parts[1]]
    # Rounding errors of the means are not variance.
    parts = [np.where(np.abs(part) <= _ROUNDING, 0.0, part) for part in parts]
    variance = sum(float(np.sum(part**2)) / (part.size * max(part.size - 1, 1)) for part in parts)
    third = sum(float(np.sum(part**3)) / part.size**3 for part in parts)
    error = float(np.sqrt(variance))
    skewness = third / error**3 if error > 0 else 0.0
    with np.errstate(over="ignore"):
        estimate, error = (float(np.ldexp(value, exponent)) for value in (means[0] - means[1], error))
    df = min(kish_size(side[1]) for side in (first, second)) - 1
    return Student(np.array(estimate), np.array(error), np.array(df), skewness)


def weighted_mean(values: Floats, weights: Floats) -> Student:
    """Return weighted means of random observations along the last axis.

    Parameters
    ----------
    values : ndarray, shape (..., T)
        Observations.
    weights : ndarray, shape (T,) or (..., T)
        Weights with sum 1; the degrees of freedom are based on Kish's effective number of observations.
    """
    count = 1 / (weights**2).sum(axis=-1)
    mean = (values * weights).sum(axis=-1)
    centred = values - mean[..., None]
    # Rounding errors of the mean are not variance.
    centred[np.abs(centred) <= 8 * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)] = 0.0
    df = np.maximum(count - 1, 1e-9)
    error = safe_norm(weights * centred) * np.sqrt(count / df)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(error > 0, ((weights * centred / error[..., None]) ** 3).sum(axis=-1), 0.0)
    return Student(mean, error, np.broadcast_to(df, mean.shape), skewness)


def independent_sum(value: Floats, error: Floats, df: Floats, fewest: Floats | float) -> Student:
    """Return sums of T independent estimates, with standard errors and degrees of freedom.

    The terms of each sum are along the last axis.

    Parameters
    ----------
    value, error, df : ndarray, shape (..., T)
        Terms of the sums; a term with a standard error of 0 adds no variance.
    fewest : ndarray or float
        Degrees of freedom to use if all standard errors are 0.

    References
    ----------
    F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components. Biometrics
    Bulletin 2(6), 110-114. doi:10.2307/3002019
    """
    total = safe_norm(error)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = error / total[..., None]
        satterthwaite = 1 / (share**4 / df).sum(axis=-1)
    return Student(value.sum(axis=-1), total, np.where(total > 0, satterthwaite, fewest))


def safe_norm(parts: Floats) -> Floats:
    """Return the Euclidean norm along the last axis, computed without overflow."""
    exponent = np.frexp(np.abs(parts).max(axis=-1, keepdims=True))[1]
    return np.ldexp(np.sqrt((np.ldexp(parts, -exponent) ** 2).sum(axis=-1)), exponent[..., 0])


# Ratio of test rows to training rows if the number of folds is unknown; fewer folds than _FEW_SPLITS count as
# one repeat.
_DEFAULT_RATIO = 1 / 4
_FEW_SPLITS = 5


@dataclass(frozen=True)
class Folds:
    """Cross-validation splits of one data set.

    Attributes
    ----------
    count : int
        Number of scores per model, J.
    splits : int or None
        Folds per repeat, K; None if unknown.
    """

    count: int
    splits: int | None

    @property
    def per_repeat(self) -> int | None:
        """Number of folds per repeat, K, or None if unknown.

        If K was not given, fewer than five folds are treated as a single repeat.
        """
        return self.count if self.splits is None and self.count < _FEW_SPLITS else self.splits

    @property
    def variance_factor(self) -> float:
        """Variance of the mean difference, divided by the variance of the differences over folds."""
        if self.per_repeat is None:
            return 1 / self.count + 1.5 * _DEFAULT_RATIO
        ratio = 1 / (self.per_repeat - 1)
        return min(1 / self.per_repeat + ratio, 1 / self.count + 1.5 * ratio)

    @property
    def df(self) -> float:
        """Degrees of freedom, at most 2K, because all repeats use the same rows."""
        return float(min(self.count - 1, 2 * (self.per_repeat or 2 * _FEW_SPLITS)))

    @property
    def effective_size(self) -> float:
        """Effective number of independent samples: the reciprocal of the variance factor, 1/c."""
        return 1 / self.variance_factor


def fold_differences(values: Floats, group: Integers, folds: tuple[Folds, ...], weights: Floats) -> Student:
    """Return the differences in mean scores for all pairs of models, from cross-validation folds.

    Parameters
    ----------
    values : ndarray, shape (k, J)
        Score of each model on each fold of all data sets.
    group : ndarray of int, shape (J,)
        Data set of each fold.
    folds : tuple of D Folds
        Cross-validation splits of each data set.
    weights : ndarray, shape (D,)
        Weights of the data sets, with sum 1.

    Returns
    -------
    Student
        Shape (k, k). For several data sets, Satterthwaite's degrees of freedom are based on K − 1 for each.
    """
    differences = values[:, None] - values[None]
    parts = [differences[..., group == i] for i in range(len(folds))]
    spreads = zip(folds, [part.std(axis=-1, ddof=1) for part in parts], strict=True)
    errors = [np.sqrt(data_set.variance_factor) * spread for data_set, spread in spreads]
    single = len(folds) == 1
    df = [data_set.df if single else (data_set.per_repeat or _FEW_SPLITS) - 1 for data_set in folds]
    mean = np.stack([part.mean(axis=-1) for part in parts], axis=-1)
    return independent_sum(weights * mean, weights * np.stack(errors, axis=-1), np.array(df, float), sum(df))
