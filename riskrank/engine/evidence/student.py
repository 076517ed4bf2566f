"""Estimates that vary as Student's t says, with Johnson's correction where what is drawn is skewed.

Means of tasks, of folds, of rows in order and of crossed noise have each a standard error and degrees of
freedom of their own; what follows from these is the same for all (method §8 and §13 to §15).

Student's t with Johnson's correction for skewness, from what every independent unit adds to an estimate.

Student's t and percentile bootstraps pass losses with a heavy tail far too often: the losses that were not
drawn make the mean too good and its standard error too small at once. With t the distance of an estimate to
the boundary in standard errors and κ the skewness of the *estimate* (of a mean of n scores of skewness g,
κ = g/√n), Johnson's statistic is t_J = t + κ(1 + 2t²)/6. Where that turns around, at 3/(2|κ|) far above the
boundary for κ < 0 and far below it for κ > 0, it is held, so that it grows with t (method §4, "Gates").

References
----------
N. J. Johnson (1978). Modified t tests and confidence intervals for asymmetrical populations. Journal of the
American Statistical Association 73(363), 536-544. doi:10.1080/01621459.1978.10480051
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # loads its functions when they are first used
from numpy.typing import ArrayLike

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.family import Family
from riskrank.engine.sampling.degrees_of_freedom import kish
from riskrank.engine.types import Floats, Integers

# Scores are at most 1 where this is asked.
_ROUNDING = 8 * np.finfo(np.float64).eps


def johnson_t(t: ArrayLike, skewness: ArrayLike) -> Floats:
    """Johnson's modified t.

    Parameters
    ----------
    t : array_like
        Distance of an estimate above its boundary, in standard errors.
    skewness : array_like
        κ of the estimate.

    Returns
    -------
    ndarray
        Non-decreasing in t.
    """
    kappa = np.asarray(skewness, dtype=np.float64)
    with np.errstate(divide="ignore"):
        turn = np.where(kappa == 0, np.inf, 1.5 / np.abs(kappa))
    held = np.where(kappa < 0, np.minimum(t, turn), np.maximum(t, -turn))
    return np.asarray(held + kappa * (1 + 2 * held**2) / 6, dtype=np.float64)


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
    return np.maximum(scipy.special.stdtr(df, -t), scipy.special.stdtr(df, -johnson_t(t, skewness)))


@dataclass(frozen=True)
class MeanDifference:
    """The difference of two means and how it varies.

    Attributes
    ----------
    estimate : float
    error : float
        Standard error.
    skewness : float
        Of the estimate: its third cumulant over the cube of its standard error.
    samples : float
        Independent samples n; of unequal clusters Kish's number.
    """

    estimate: float
    error: float
    skewness: float
    samples: float

    def johnson_p_value(self, boundary: float = 0.0) -> float:
        """Johnson's one-sided p-value of "the difference is at most the boundary"."""
        if self.error == 0:  # all samples have one sign
            return 0.5**self.samples if self.estimate > boundary else 1.0
        t = (self.estimate - boundary) / self.error
        return float(scipy.special.stdtr(self.samples - 1, -johnson_t(t, self.skewness)))

    def student_p_value(self, boundary: float = 0.0) -> float:
        """Student's."""
        if self.error == 0:
            return self.johnson_p_value(boundary)
        return float(scipy.special.stdtr(self.samples - 1, -(self.estimate - boundary) / self.error))

    def johnson_low(self, level: float) -> float:
        """The largest boundary whose Johnson's p-value is at most a level below ½; −∞ where there is none."""
        if self.error == 0:
            return self.estimate if 0.5**self.samples <= level else -np.inf
        wanted, skew = -float(scipy.special.stdtrit(self.samples - 1, level)), self.skewness
        # t + κ/6 + κt²/3 = wanted, on the branch that grows with t; out of reach below the turning point.
        root = 1 - 4 * (skew / 3) * (skew / 6 - wanted)
        if root < 0:
            return -np.inf
        t = 2 * (wanted - skew / 6) / (1 + np.sqrt(root))
        return float(self.estimate - self.error * t)

    def mirrored(self) -> MeanDifference:
        """The same with the models exchanged."""
        return MeanDifference(-self.estimate, self.error, -self.skewness, self.samples)


def mean_difference(
    first: tuple[Floats, Integers], second: tuple[Floats, Integers], *, paired: bool
) -> MeanDifference:
    """Difference of the means of two models' scores, first minus second, with its cumulants.

    Parameters
    ----------
    first, second : (ndarray, ndarray of int), shapes (n_i,)
        Scores and the unit of resampling of each, numbered 0, 1, ... without gaps.
    paired : bool
        Whether unit c is the same for both.

    Returns
    -------
    MeanDifference
        Of ratios of sums over units, which may be of different sizes.
    """
    exponent = max(int(np.frexp(np.abs(side[0]).max())[1]) for side in (first, second))
    # A power of two changes no digit; cubes of large scores would overflow.
    sides = [(np.ldexp(values, -exponent), clusters) for values, clusters in (first, second)]
    means = [float(np.sort(values).mean()) for values, _ in sides]
    parts = [
        np.bincount(clusters, values - mean) * (int(clusters.max()) + 1) / values.size
        for (values, clusters), mean in zip(sides, means, strict=True)
    ]
    parts = [parts[0] - parts[1]] if paired else [parts[0], -parts[1]]
    # Rounding of the means themselves is no spread.
    parts = [np.where(np.abs(part) <= _ROUNDING, 0.0, part) for part in parts]
    variance = sum(float(np.sum(part**2)) / (part.size * max(part.size - 1, 1)) for part in parts)
    third = sum(float(np.sum(part**3)) / part.size**3 for part in parts)
    error = float(np.sqrt(variance))
    skewness = third / error**3 if error > 0 else 0.0
    with np.errstate(over="ignore"):
        estimate, error = (float(np.ldexp(value, exponent)) for value in (means[0] - means[1], error))
    return MeanDifference(estimate, error, skewness, min(kish(side[1]) for side in (first, second)))


# Chance to show a difference that is said to be one these samples could have shown.
POWER = 0.8


@dataclass(frozen=True, eq=False)
class Student:
    """Estimates of one shape and how they vary.

    Attributes
    ----------
    value, error, df : ndarray
        Estimate, standard error, degrees of freedom.
    skewness : ndarray or float
        Of the estimate; 0 where nothing skewed is drawn.
    """

    value: Floats
    error: Floats
    df: Floats
    skewness: Floats | float = 0.0

    @property
    def mirrored(self) -> Student:
        """The same of the other side."""
        return replace(self, value=-self.value, skewness=-self.skewness)

    def p_above(self, boundary: ArrayLike = 0.0) -> Floats:
        """One-sided p-values of "it is not above the boundary"."""
        away = self.value - np.asarray(boundary)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = away / self.error
        # Without any spread there are df + 1 equal observations of one sign.
        sure = np.where(away > 0, 0.5 ** (self.df + 1), 1.0)
        larger = p_above(np.where(self.error > 0, t, 0.0), np.asarray(self.skewness), self.df)
        return np.where(self.error > 0, larger, sure)

    def interval(self, level: float = 0.05, boundary: ArrayLike = 0.0) -> tuple[Floats, Floats]:
        """Both ends at a two-sided level, each for one estimate at a time.

        None leaves out the boundary where the p-value does not.
        """
        wide, at = self.error * -scipy.special.stdtrit(self.df, level / 2), np.asarray(boundary)
        low, high = self.value - wide, self.value + wide
        low = np.where(self.p_above(at) > level / 2, np.minimum(low, at), low)
        return low, np.where(self.mirrored.p_above(-at) > level / 2, np.maximum(high, at), high)

    def evidence(self, boundary: ArrayLike = 0.0, worth: ArrayLike = np.nan) -> Evidence:
        """What they say of "it lies above the boundary", resting on so many independent samples."""
        return Evidence.of(
            self.value,
            self.p_above(boundary),
            self.mirrored.p_above(-np.asarray(boundary)),
            error=self.error,
            boundary=boundary,
            worth=worth,
            ends=lambda level: self.interval(level, boundary),
        )

    def p_pairs(self, family: Family = Family()) -> Floats:
        """Of differences of all pairs: one-sided p-values adjusted over the k(k − 1), 1 on the diagonal."""
        return family.adjusted(self.p_above(), ~np.eye(len(self.value), dtype=bool))

    def visible(self, level: float) -> Floats:
        """Differences that would be shown four times out of five at a two-sided level."""
        return self.error * sum(scipy.special.stdtrit(self.df, one) for one in (1 - level / 2, POWER))


def weighted_mean(values: Floats, weights: Floats) -> Student:
    """Means of observations on the last axis, drawn anew with their weights.

    Parameters
    ----------
    values : ndarray, shape (..., T)
    weights : ndarray, shape (T,) or (..., T)
        Of sum 1; T observations of unequal weight tell as much as Kish's number of equal ones.
    """
    count = 1 / (weights**2).sum(axis=-1)
    mean = (values * weights).sum(axis=-1)
    away = values - mean[..., None]
    # Rounding of the mean itself is no spread.
    away[np.abs(away) <= 8 * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)] = 0.0
    df = np.maximum(count - 1, 1e-9)
    error = norm(weights * away) * np.sqrt(count / df)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(error > 0, ((weights * away / error[..., None]) ** 3).sum(axis=-1), 0.0)
    return Student(mean, error, np.broadcast_to(df, mean.shape), skewness)


def sum_of(value: Floats, error: Floats, df: Floats, fewest: Floats | float) -> Student:
    """Sums of independent estimates on the last axis, with Satterthwaite's degrees of freedom.

    Parameters
    ----------
    value, error, df : ndarray, shape (..., T)
        Of the summands; an error of 0 adds nothing.
    fewest : ndarray or float
        Degrees of freedom where no summand varies.

    References
    ----------
    F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components. Biometrics
    Bulletin 2(6), 110-114. doi:10.2307/3002019
    """
    whole = norm(error)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = error / whole[..., None]
        found = 1 / (share**4 / df).sum(axis=-1)
    return Student(value.sum(axis=-1), whole, np.where(whole > 0, found, fewest))


def norm(parts: Floats) -> Floats:
    """Root of the sum of squares on the last axis, which stays a number whatever the unit."""
    exponent = np.frexp(np.abs(parts).max(axis=-1, keepdims=True))[1]
    return np.ldexp(np.sqrt((np.ldexp(parts, -exponent) ** 2).sum(axis=-1)), exponent[..., 0])
