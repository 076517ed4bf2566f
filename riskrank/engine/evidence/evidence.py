"""Evidence for claims: estimates, p-values and intervals in a common form, whatever the method.

A claim states that a statistic is above its boundary. Each module of this package converts one kind of result
(resamples, Student's t, permutations, bets, ...) to `Evidence`.

With missing scores, a claim is assessed in the worst case (method §11). If all scores are bounded, the
difference is bounded by two imputations (Manski 1990). One sets the new model's missing scores to their worst
and the old model's to their best values; the other does the reverse. A claim is significant only if it is
significant under the first imputation, and contradicted only if it is contradicted under the second. The
one-sided p-values are at least those of any other imputation, so corrections for multiple claims remain
valid.

References
----------
C. F. Manski (1990). Nonparametric bounds on treatment effects. The American Economic Review 80(2), 319-323.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.types import Booleans, Floats

# Function of a two-sided level: limits compatible with the p-values; infinite if unbounded.
Intervals = Callable[[float], tuple[Floats, Floats]]

# Function of a two-sided level: number of samples that decides each claim; infinite if no number does.
RequiredSamples = Callable[[float], Floats]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence for a family of claims: arrays of equal shape, with one entry per claim.

    Attributes
    ----------
    estimate, error : ndarray
        Estimate of the statistic (larger is better), and its standard error.
    p_above, p_below : ndarray
        One-sided p-values for the claim "the statistic is above its boundary" and for "it is below".
    boundary : ndarray
        The claim is that the statistic is above this value.
    samples : ndarray
        Effective number of independent samples.
    interval : callable
        See :data:`Intervals`; unbounded by default.
    samples_needed : callable
        See :data:`RequiredSamples`; infinite by default.
    log_e : (ndarray, ndarray) or None
        Logarithms of the e-values for "above its boundary" and for "below"; None without bets.
    mc_bounds : ndarray, shape (..., 2, 2), or None
        Monte Carlo limits (last axis) of `p_above` and `p_below`; None without resampling.
    resamples : float
        Number of resamples behind the p-values; 0 without resampling.
    """

    estimate: Floats
    error: Floats
    p_above: Floats
    p_below: Floats
    boundary: Floats
    samples: Floats
    interval: Intervals = field(repr=False)
    samples_needed: RequiredSamples = field(repr=False)
    log_e: tuple[Floats, Floats] | None = None
    mc_bounds: Floats | None = None
    resamples: float = 0

    @classmethod
    def build(
        cls,
        estimate: ArrayLike,
        p_above: ArrayLike,
        p_below: ArrayLike,
        *,
        error: ArrayLike = np.nan,
        boundary: ArrayLike = 0.0,
        samples: ArrayLike = np.nan,
        **extra: Any,
    ) -> Evidence:
        """Build evidence from array-likes, which are broadcast to the shape of the estimate.

        The parameters are the attributes of the class; `extra` may contain the others.
        """
        estimates = np.asarray(estimate, dtype=np.float64)
        infinite = np.full(estimates.shape, np.inf)
        extra.setdefault("interval", lambda _level: (-infinite, infinite))
        extra.setdefault("samples_needed", lambda _level: infinite)
        names = ("error", "p_above", "p_below", "boundary", "samples")
        for name, array in zip(names, (error, p_above, p_below, boundary, samples), strict=True):
            extra[name] = np.broadcast_to(np.asarray(array, dtype=np.float64), estimates.shape)
        return cls(estimates, **extra)

    def with_larger_p_values(self, other: Evidence, where: Booleans) -> Evidence:
        """Return a copy that combines two tests: a claim is significant only if both tests are.

        For the claims in the mask `where`, each p-value is the larger one of this test and of `other`.
        """
        larger = {
            name: np.where(where, np.maximum(getattr(self, name), getattr(other, name)), getattr(self, name))
            for name in ("p_above", "p_below")
        }
        bounds = self.mc_bounds
        if bounds is not None and other.mc_bounds is not None:
            bounds = np.where(where[:, None, None], np.maximum(bounds, other.mc_bounds), bounds)
        return replace(self, **larger, mc_bounds=bounds)

    @property
    def p_value(self) -> Floats:
        """Two-sided p-value for the null hypothesis that the statistic equals its boundary."""
        return _two_sided_p_value(self.p_above, self.p_below)

    @property
    def p_bounds(self) -> Floats:
        """Limits of the Monte Carlo confidence intervals of `p_above` and `p_below`, shape (..., 2, 2).

        Without resampling, both limits equal the p-value.
        """
        if self.mc_bounds is not None:
            return self.mc_bounds
        return np.stack([np.stack([self.p_above, self.p_below], axis=-1)] * 2, axis=-1)

    def p_value_bounds(self, sides: int) -> tuple[Floats, Floats]:
        """Return the Monte Carlo limits of the one-sided or two-sided p-value.

        Parameters
        ----------
        sides : {1, 2}
            1 for `p_above`, 2 for the two-sided p-value.

        Returns
        -------
        lower, upper : ndarray
            Limits, with one entry per claim.
        """
        above, below = self.p_bounds[..., 0, :], self.p_bounds[..., 1, :]
        bounds = above if sides == 1 else _two_sided_p_value(above, below)
        return bounds[..., 0], bounds[..., 1]


def _two_sided_p_value(above: Floats, below: Floats) -> Floats:
    """Return twice the smaller of two one-sided p-values, at most 1."""
    return np.minimum(1.0, 2 * np.minimum(above, below))


def combine_evidence(parts: Sequence[tuple[Sequence[int], Evidence]]) -> Evidence:
    """Merge the evidence for several sets of claims into one family.

    Parameters
    ----------
    parts : sequence of (sequence of int, Evidence)
        Positions of the claims in the result, and their evidence. Together, the positions are 0, 1, ...
        without gaps.
    """
    order = np.argsort(np.concatenate([indices for indices, _ in parts]), kind="stable")

    def join(arrays: Sequence[Floats]) -> Floats:
        """Concatenate one array per part, and sort the entries by their position in the result."""
        return np.asarray(np.concatenate(arrays)[order])

    def interval(level: float) -> tuple[Floats, Floats]:
        """Return the lower and upper limits of all claims at a two-sided level, in their order."""
        low, high = zip(*(evidence.interval(level) for _, evidence in parts), strict=True)
        return join(low), join(high)

    names = ("estimate", "p_above", "p_below", "error", "boundary", "samples")
    fields: dict[str, Any] = {name: join([getattr(part, name) for _, part in parts]) for name in names}
    return Evidence.build(
        **fields,
        interval=interval,
        samples_needed=lambda level: join([evidence.samples_needed(level) for _, evidence in parts]),
        mc_bounds=join([evidence.p_bounds for _, evidence in parts]),
        resamples=max(evidence.resamples for _, evidence in parts),
    )


def worst_case_evidence(against: Evidence, in_favour: Evidence) -> Evidence:
    """Combine the evidence under two imputations to p-values and intervals valid for any missing scores.

    Parameters
    ----------
    against, in_favour : Evidence
        Evidence for the same claims, with missing scores imputed against the claims and in favour of them.

    Returns
    -------
    Evidence
        The estimate is the midpoint of the range of possible estimates.
    """
    low, high = against.estimate, in_favour.estimate

    def interval(level: float) -> tuple[Floats, Floats]:
        """Return the lower and upper limits over all possible values of the missing scores.

        The lower limit comes from the imputation against the claims, the upper limit from that in their
        favour.
        """
        return against.interval(level)[0], in_favour.interval(level)[1]

    def needed(level: float) -> Floats:
        """Return the samples needed for each claim at a two-sided level.

        The number is infinite if missing scores can change the decision.
        """
        above, below = low > against.boundary, high < against.boundary
        samples = np.where(above, against.samples_needed(level), in_favour.samples_needed(level))
        return np.where(above | below, samples, np.inf)

    return Evidence.build(
        low + (high - low) / 2,
        against.p_above,
        in_favour.p_below,
        error=np.maximum(against.error, in_favour.error),
        boundary=against.boundary,
        samples=against.samples,
        interval=interval,
        samples_needed=needed,
        log_e=(against.log_e[0], in_favour.log_e[1]) if against.log_e and in_favour.log_e else None,
        mc_bounds=np.concatenate([against.p_bounds[..., :1, :], in_favour.p_bounds[..., 1:, :]], axis=-2),
        resamples=max(against.resamples, in_favour.resamples),
    )
