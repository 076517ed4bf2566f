"""Estimates that vary as Student's t says, with Johnson's correction where what is drawn is skewed.

Means of tasks, of folds, of rows in order and of crossed noise have each a standard error and degrees of
freedom of their own; what follows from these is the same for all (method §8 and §13 to §15).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # loads its functions when they are first used
from numpy.typing import ArrayLike

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.johnson import p_above
from riskrank.engine.family import Family
from riskrank.engine.types import Floats

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
