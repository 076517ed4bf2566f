"""Sizes required for a target power: samples with a confidence interval ([RAB] Fig. 6, 7), and human labels.

Each resample of the pilot implies a required size. With n samples, a claim is significant with a probability
of about Φ(√n δ − c), with the effect size δ and the critical value c, as explained in
:mod:`riskrank.engine.power.closed_form`.
Resamples of a pilot of N samples have effects δ + ξ/√N. The critical value follows from the power at the
required size, so it accounts for the correction, the rank tests and the resampling of the full test. Several
pairs are treated as independent: their powers are multiplied.

The quantiles of these sizes are bias-corrected (Efron 1987), because the hardest of several pairs is even
harder in most resamples. They are also widened for small samples.

References
----------
B. Efron (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association
82(397), 171-185. doi:10.1080/01621459.1987.10478410
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from riskrank.engine.bisection import bisect, smallest_size
from riskrank.engine.judges import Correction
from riskrank.engine.sampling.degrees_of_freedom import SampleSize, unexpanded_p_value
from riskrank.engine.sampling.design import MIN_LABELS
from riskrank.engine.special import ndtr, ndtri, stdtrit
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, option

# Default limit of the search, as a multiple of the largest requested size.
_LIMIT_FACTOR = 5


def check_search(sizes: Sequence[int], *, limit: int | None, smallest: int, unit: str = "") -> int:
    """Check the sizes at which power is requested, and return the largest size to evaluate.

    Parameters
    ----------
    sizes : sequence of int
        Sizes at which the power is requested.
    limit : int or None
        Largest size to evaluate; by default five times the largest of `sizes`.
    smallest : int
        Smallest size that can be tested.
    unit : str
        Unit of the sizes, for messages.

    Raises
    ------
    UsageError
        If a size lies below the smallest or above the limit.
    """
    if not sizes or min(sizes) < smallest:
        problem = f"sizes must be at least {f'{smallest} {unit}'.rstrip()}"
        hint = f"give sizes such as {option('sizes', '10,20,50' if smallest < 10 else '20,50,100')}"
        raise UsageError(problem, found=f"{min(sizes)}" if sizes else "none", hint=hint)
    largest = max(sizes)
    if limit is not None and limit < largest:
        problem = f"{option('limit', limit)} is below the largest of {option('sizes')}"
        detail = f"sizes up to {largest}"
        raise UsageError(problem, found=detail, hint=f"leave out {option('limit')}, or increase the limit")
    return _LIMIT_FACTOR * largest if limit is None else limit


# Nominal coverage of the interval of sizes.
LEVEL = 0.95

# Larger sizes count as infinite.
_MAX_SIZE = 1e12


@dataclass(frozen=True)
class SizeInterval:
    """Confidence interval for the required size, from a pilot.

    Attributes
    ----------
    low, high : int or None
        Limits, in samples per model; None if above `limit`.
    limit : int
        Largest size of the search.
    level : float
        Nominal coverage.
    """

    low: int | None
    high: int | None
    limit: int
    level: float = LEVEL


def size_interval(effects: Floats, critical: float, power: float, samples: SampleSize) -> tuple[float, float]:
    """Return the confidence interval of the size required for all pairs together.

    All pairs together need at least as many samples as any single pair. The pair that needs the most samples
    in the pilot does so partly by chance, and in nearly all resamples some pair needs even more. Therefore
    the lower limit is at most that of this pair alone.

    Parameters
    ----------
    effects : ndarray, shape (1 + B, p)
        Effects of the pilot, followed by those of its resamples.
    critical : float
        Critical value of the test.
    power : float
        Required power.
    samples : float or Dof
        Effective sample size of the pilot, or its degrees of freedom.
    """
    hardest = effects[:, [effects[0].argmin()]]
    sizes = [_required_sizes(pairs, critical, power) for pairs in (effects, hardest)]
    joint, single = (corrected_quantiles(size[1:], float(size[0]), samples) for size in sizes)
    return min(joint[0], single[0]), joint[1]


def _joint_power(effects: Floats, roots: Floats, critical: Floats | float) -> Floats:
    """Return the probability that all p pairs are significant at given sizes.

    Parameters
    ----------
    effects : ndarray, shape (..., p)
        Effect size of each pair.
    roots : ndarray, shape (...)
        Square roots of the sizes.
    critical : float or ndarray, shape (...)
        Critical value of the test.

    Returns
    -------
    ndarray
        Same shape as `roots`.
    """
    return ndtr(roots[..., None] * effects - np.asarray(critical)[..., None]).prod(axis=-1)


def critical_value(effects: Floats, size: int, power: float) -> float:
    """Return the critical value at which all pairs together have a given power at a given size.

    `effects` holds the effect size of each pair, shape (p,).
    """
    root, power = np.array(sqrt(size)), min(max(power, 1e-4), 1 - 1e-4)
    return bisect(lambda critical: bool(_joint_power(effects, root, critical) > power), -1e4, 1e4, 100)[1]


def _required_sizes(effects: Floats, critical: float, target: float) -> Floats:
    """Return the size at which all pairs together reach the target power; infinite if never reached.

    `effects` has one row per pilot or resample and one column per pair. There is one size per row. `critical`
    is the critical value of the test.
    """
    low, high = np.zeros(len(effects)), np.full(len(effects), sqrt(_MAX_SIZE))
    for _ in range(100):
        middle = (low + high) / 2
        enough = _joint_power(effects, middle, critical) >= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    is_finite = (effects.min(axis=1) > 0) & (_joint_power(effects, high, critical) >= target)
    return np.where(is_finite, high**2, np.inf)


def corrected_quantiles(resampled: Floats, size: float, samples: SampleSize) -> tuple[float, float]:
    """Return the limits of a bias-corrected bootstrap interval for the required size.

    Parameters
    ----------
    resampled : ndarray, shape (B,)
        Required sizes of the resamples.
    size : float
        Required size of the pilot.
    samples : float or Dof
        Effective sample size of the pilot, or its degrees of freedom.
    """
    count = len(resampled)
    below = (resampled < size).sum() + 0.5 * (resampled == size).sum()
    shift = float(ndtri((below + 0.5) / (count + 1)))
    tail = float(ndtri(unexpanded_p_value((1 - LEVEL) / 2, samples)))
    shares = ndtr([2 * shift + tail, 2 * shift - tail])
    # Sizes may be infinite, so quantiles must not be interpolated.
    low, high = np.quantile(resampled, shares, method="inverted_cdf")
    return float(low), float(high)


# Larger numbers of labels count as infinite.
_MAX_LABELS = 10**9


@dataclass(frozen=True)
class LabelNeed:
    """Quantities that determine the power of a claim about the difference of two models' means.

    Let A be the variance of the human score difference, and G the part of it that the judge explains. With n
    labels among N samples, the corrected difference has the variance V = (A − G)/n + G/N. A gate tests it by
    Student's t, after adding one sample against the claim. This sample lies a distance g below the mean, so
    it shifts the estimate by h = g/(n + 1) and adds h² to its variance. For an effect δ, the gate passes with
    a probability of about Φ((δ − h − c √(V + h²))/√V), where c is the quantile of Student's t.

    Attributes
    ----------
    effect : float
        Distance δ of the difference above the boundary of the claim.
    variance : float
        Variance A of the human score difference per sample.
    gain : float
        Part G of this variance that the judge explains.
    judge_variance : float
        Variance of the judge's score difference, with scores multiplied by λ.
    samples : float
        Number N of samples that the judge scored.
    level : float
        Two-sided significance level α.
    """

    effect: float
    variance: float
    gain: float
    judge_variance: float
    samples: float
    level: float

    @classmethod
    def from_pilot(cls, new: Correction, old: Correction, *, boundary: float, level: float) -> LabelNeed:
        """Estimate the quantities that determine power from a pilot with human and judge scores.

        Parameters
        ----------
        new, old : Correction
            Corrected scores of both models; with λ = 0 the judge is ignored.
        boundary : float
            Claimed lower limit of the mean of `new` minus the mean of `old`.
        level : float
            Two-sided significance level α.
        """
        n = new.n_labelled
        human = new.human - old.human
        judge = new.judge_weight * new.judge[:n] - old.judge_weight * old.judge[:n]
        # Two degrees of freedom less, for the mean and for λ.
        covariance = np.cov(human, judge) * (n - 1) / (n - 2)
        variance, judged = np.diagonal(covariance).tolist()
        gain = min(max(float(2 * covariance[0, 1]) - judged, 0.0), variance)
        effect = new.mean - old.mean - boundary
        return cls(effect, variance, gain, judged, len(new.judge), level)

    def power(self, labels: int) -> float:
        """Return the probability that a gate passes with `labels` human labels."""
        share = max(1 - labels / self.samples, 0.0)
        variance = (self.variance - share * self.gain) / labels
        judged = share * self.judge_variance / self.samples
        spread, df = sqrt(variance), labels - 2.0
        if share > 0 and spread > 0:
            # Satterthwaite's degrees of freedom, for samples with and without labels; one less for λ.
            squares = (variance - judged) ** 2 / (labels - 1) + judged**2 / max(self.samples - labels - 1, 1)
            df = variance**2 / squares - 1
        above = self.effect + float(stdtrit(df, self.level / 2)) * spread
        return float(ndtr(above / spread)) if spread > 0 else float(above > 0)

    def required_labels(self, target: float, limit: int = _MAX_LABELS) -> int | None:
        """Return the smallest number of labels that reaches the target power; None if above the limit."""
        if self.effect <= 0:
            return None
        return smallest_size(lambda labels: self.power(labels) >= target, MIN_LABELS, limit)
