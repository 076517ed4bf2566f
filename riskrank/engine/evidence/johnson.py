"""Student's t with Johnson's correction for skewness, from what every independent unit adds to an estimate.

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

from dataclasses import dataclass

import numpy as np
import scipy  # loads its functions when they are first used
from numpy.typing import ArrayLike

from riskrank.engine.sampling.freedom import kish
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
        np.bincount(clusters, values - mean) * (int(clusters[-1]) + 1) / values.size
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
