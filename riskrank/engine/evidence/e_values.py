"""Anytime-valid evidence: e-values for a mean difference of bounded scores (method §9).

A gate that runs every night on a growing table produces more false alarms than its nominal level. Testing by
betting avoids this. Let the differences d lie in [−R, R], and let E d ≤ c for a boundary c. Then every
product Π (1 + λ(d − c)) with 0 ≤ λ < 1/(R + c) is a nonnegative supermartingale with mean at most 1. The same
is true for a fixed mixture over bets λ. By Ville's inequality, the probability that it ever reaches 1/α is at
most α, under any stopping rule. The mixture is Cover's universal portfolio: λ = q/(R + c), where q are
mid-quantiles of Beta(½, ½). The bets do not depend on the order of the samples.

References
----------
F. Orabona and K.-S. Jun (2024). Tight concentrations and confidence sequences from the regret of universal
portfolio. IEEE Transactions on Information Theory 70(1), 436-455. doi:10.1109/TIT.2023.3330187
I. Waudby-Smith and A. Ramdas (2024). Estimating means of bounded random variables by betting. Journal of the
Royal Statistical Society B 86(1), 1-27. doi:10.1093/jrsssb/qkad009
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.numeric import bisect
from riskrank.engine.types import Floats, Integers

# Bets in the mixture: mid-quantiles of Beta(½, ½), sin²(π(g − ½)/(2G)) for g = 1 … G.
BETS: Floats = np.sin(np.pi * (np.arange(64) + 0.5) / 128) ** 2

# Bisection steps, more than the digits of a double.
_STEPS = 60

# Largest factor by which the sample may grow.
_MAX_GROWTH = 1e9

# Logarithm of the largest e-value in the output.
_MAX_LOG_E = math.log(1e300)


@dataclass(frozen=True, eq=False)
class Wagers:
    """Differences of bounded scores on which successive bets are placed, grouped by equal steps.

    A step is one bet: on a sample, or on a cluster of samples.

    Attributes
    ----------
    sums : ndarray, shape (u,)
        Distinct sums of the differences in a step; larger is better. They are divided by the largest number
        of samples allowed per cluster.
    sizes : ndarray, shape (u,)
        Number of samples in such a step, divided by the same number.
    counts : ndarray of int, shape (u,)
        Number of steps with the given sum and size.
    reach : float
        Bound R: differences are in [−R, R].
    """

    sums: Floats
    sizes: Floats
    counts: Integers
    reach: float

    @classmethod
    def from_differences(
        cls, differences: ArrayLike, reach: float, *, clusters: ArrayLike | None = None, largest: int = 1
    ) -> Wagers:
        """Build the steps of a betting process from the score differences of samples.

        Each sample or cluster is one step; equal steps are counted together.

        Parameters
        ----------
        differences : array_like, shape (n,)
            New minus old score for each sample, in the units of the scores; larger is better.
        reach : float
            Range R between the bounds of the scores.
        clusters : array_like of int, shape (n,), optional
            Cluster of each sample; by default each sample is a separate cluster.
        largest : int
            Largest number of samples allowed per cluster.

        Raises
        ------
        ValueError
            If a difference exceeds `reach`, or if a cluster has more than `largest` samples.
        """
        values = np.asarray(differences, dtype=np.float64)
        if np.any(np.abs(values) > reach):
            raise ValueError(f"a difference of {np.abs(values).max():g} exceeds the limit {reach:g}")
        sizes = np.ones(values.size)
        if clusters is not None:
            # Sorting makes the sum of a cluster independent of the order of its samples.
            order = np.lexsort((values, np.asarray(clusters)))
            _, codes = np.unique(np.asarray(clusters)[order], return_inverse=True)
            values = np.asarray(np.bincount(codes, values[order]), dtype=np.float64)
            sizes = np.bincount(codes).astype(np.float64)
        if sizes.max(initial=0) > largest:
            raise ValueError(f"a cluster of {int(sizes.max())} samples exceeds the limit {largest}")
        steps, counts = np.unique(np.stack([values, sizes]) / largest, axis=1, return_counts=True)
        return cls(steps[0], steps[1], counts, reach)

    @property
    def mirrored(self) -> Wagers:
        """The betting process for the opposite differences, old minus new."""
        order = np.lexsort((self.sizes, -self.sums))
        return Wagers(-self.sums[order], self.sizes[order], self.counts[order], self.reach)

    def log_wealth(self, boundary: float) -> Floats:
        """Return the log wealth of each bet against "the mean is at most `boundary`", shape (64,).

        If the boundary is −R or less, it is below the range of the differences, and the wealth is infinite.
        If it is R or more, no bet can win.
        """
        width = self.reach + boundary
        if width <= 0:
            return np.full(BETS.shape, np.inf if np.any(self.counts) else 0.0)
        gains = (self.sums - self.sizes * boundary) / width
        return np.log1p(np.outer(BETS, np.maximum(gains, -1.0))) @ self.counts

    def log_e_value(self, boundary: float, growth: float = 1.0) -> float:
        """Return the logarithm of the e-value against "the mean difference is at most `boundary`".

        Parameters
        ----------
        boundary : float
            Boundary c, in the units of the scores.
        growth : float
            Factor by which the number of observations of each sample is multiplied.
        """
        wealth = growth * self.log_wealth(boundary)
        largest = float(wealth.max())
        if not math.isfinite(largest):
            return largest
        return largest + math.log(float(np.mean(np.exp(wealth - largest))))

    def lower_bound(self, level: float) -> float:
        """Return the lower limit of the confidence sequence, found by bisection.

        Parameters
        ----------
        level : float
            One-sided level α, valid for all looks together.

        Returns
        -------
        float
            Lower limit in the units of the scores; −R if no boundary is rejected.
        """
        target = -math.log(level)
        return bisect(lambda c: self.log_e_value(c) >= target, -self.reach, self.reach, _STEPS)[0]

    def growth_needed(self, boundary: float, level: float) -> float | None:
        """Return the factor by which the sample must grow for the e-value to reach 1/level.

        New samples are assumed to have the same distribution as the observed ones. The result is None if even
        a factor of a billion is not sufficient. `boundary` is the claimed lower limit of the mean.
        """
        target = -math.log(level)
        if float(self.log_wealth(boundary).max()) <= 0 or self.log_e_value(boundary, _MAX_GROWTH) < target:
            return None
        low, high = 1.0, _MAX_GROWTH
        for _ in range(_STEPS):
            middle = math.sqrt(low * high)
            reached = self.log_e_value(boundary, middle) >= target
            low, high = (low, middle) if reached else (middle, high)
        return high


@dataclass(frozen=True, eq=False)
class Bet:
    """A claim to be tested by betting, with its estimate.

    Attributes
    ----------
    estimate : float
        Mean difference in the sample; larger is better.
    boundary : float
        The claim is that the mean difference is above this value.
    error : float
        Standard error; only used to choose the number of digits.
    samples : int
        Number of samples.
    wagers : Wagers
        Score differences in the form of a betting process.
    """

    estimate: float
    boundary: float
    error: float
    samples: int
    wagers: Wagers

    def samples_needed(self, level: float) -> float:
        """Return the number of samples needed to decide the claim at a level.

        Further samples are assumed to resemble the observed ones. The result is infinite if no number is
        enough.
        """
        wagers, boundary = self.wagers, self.boundary
        if wagers.log_e_value(boundary) < wagers.mirrored.log_e_value(-boundary):
            wagers, boundary = wagers.mirrored, -boundary
        growth = wagers.growth_needed(boundary, level / 2)
        return math.inf if growth is None else max(math.ceil(self.samples * growth), self.samples + 1)


def bet_evidence(bets: Sequence[Bet]) -> Evidence:
    """Return anytime-valid p-values and confidence sequences for several claims.

    Parameters
    ----------
    bets : sequence of Bet
        Claims to be tested by betting, one entry of the result per claim.

    Returns
    -------
    Evidence
        The p-values are anytime-valid, and the intervals are confidence sequences.
    """
    above = np.array([bet.wagers.log_e_value(bet.boundary) for bet in bets])
    below = np.array([bet.wagers.mirrored.log_e_value(-bet.boundary) for bet in bets])

    def interval(level: float) -> tuple[Floats, Floats]:
        """Return the lower and upper confidence limits of all claims at a two-sided level."""
        low = [bet.wagers.lower_bound(level / 2) for bet in bets]
        return np.array(low), -np.array([bet.wagers.mirrored.lower_bound(level / 2) for bet in bets])

    return Evidence.build(
        [bet.estimate for bet in bets],
        np.exp(-np.maximum(above, 0.0)),
        np.exp(-np.maximum(below, 0.0)),
        error=[bet.error for bet in bets],
        boundary=[bet.boundary for bet in bets],
        samples=[bet.samples for bet in bets],
        interval=interval,
        samples_needed=lambda level: np.array([bet.samples_needed(level) for bet in bets]),
        log_e=(above, below),
    )


def e_values(evidence: Evidence) -> list[tuple[float, float] | None]:
    """Return the e-values for and against each claim, at most 1e300.

    The result has one pair per claim; it is None for claims that were not tested by betting.
    """
    if evidence.log_e is None:
        return [None] * evidence.estimate.size
    sides = zip(*evidence.log_e, strict=True)
    return [(math.exp(min(above, _MAX_LOG_E)), math.exp(min(below, _MAX_LOG_E))) for above, below in sides]
