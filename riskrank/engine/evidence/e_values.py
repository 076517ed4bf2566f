"""Evidence that may be looked at again: e-values of a mean difference of bounded scores (method §9).

A gate that is run every night on a growing table errs more often than its level says. Bets do not: with
differences d in [−R, R] and the claim's boundary c, every product Π (1 + λ(d − c)) with 0 ≤ λ < 1/(R + c)
is a nonnegative martingale of mean at most 1 while E d ≤ c, and so is the mean over a fixed mixture of bets
λ. By Ville's inequality it ever reaches 1/α with probability at most α, whenever one looks and stops. The
mixture is Cover's universal portfolio: λ = q/(R + c), q the mid-quantiles of Beta(½, ½). No bet depends on
the order of the samples.

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

from riskrank.engine.bisection import bisected
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.types import Floats, Integers

# Bets in the mixture: mid-quantiles of Beta(½, ½), sin²(π(g − ½)/(2G)) for g = 1 … G.
BETS: Floats = np.sin(np.pi * (np.arange(64) + 0.5) / 128) ** 2

# Halvings of an interval of scores: more than a double has digits.
_HALVINGS = 60

# The largest e-value that is written as a number.
_MOST = math.log(1e300)


@dataclass(frozen=True, eq=False)
class Wagers:
    """Differences of bounded scores, summed up as bets see them.

    Attributes
    ----------
    sums : ndarray, shape (u,)
        Different sums of the differences of a step, larger is better; a step is a sample, or a cluster.
    sizes : ndarray, shape (u,)
        Samples of such a step, over the largest number a cluster may hold.
    counts : ndarray of int, shape (u,)
        How many steps are like that.
    reach : float
        R: differences lie in [−R, R].
    """

    sums: Floats
    sizes: Floats
    counts: Integers
    reach: float

    @classmethod
    def of(
        cls, differences: ArrayLike, reach: float, *, clusters: ArrayLike | None = None, largest: int = 1
    ) -> Wagers:
        """Sum differences up.

        Parameters
        ----------
        differences : array_like, shape (n,)
            New minus old score of each sample, larger is better, in the units of the scores.
        reach : float
            Width of the bounds of the scores, R.
        clusters : array_like of int, shape (n,), optional
            Number of the cluster of each sample; by default each is one of its own.
        largest : int
            The most samples a cluster may ever hold.

        Raises
        ------
        ValueError
            If a difference lies beyond the reach, or a cluster holds more samples than it may.
        """
        values = np.asarray(differences, dtype=np.float64)
        if np.any(np.abs(values) > reach):
            raise ValueError(f"a difference of {np.abs(values).max():g} beyond {reach:g}")
        sizes = np.ones(values.size)
        if clusters is not None:
            # Sorted first: the sum of a cluster must not hang on the order of its samples.
            order = np.lexsort((values, np.asarray(clusters)))
            _, numbers = np.unique(np.asarray(clusters)[order], return_inverse=True)
            values = np.asarray(np.bincount(numbers, values[order]), dtype=np.float64)
            sizes = np.bincount(numbers).astype(np.float64)
        if sizes.max(initial=0) > largest:
            raise ValueError(f"a cluster of {int(sizes.max())} samples, where {largest} are the most")
        steps, counts = np.unique(np.stack([values, sizes]) / largest, axis=1, return_counts=True)
        return cls(steps[0], steps[1], counts, reach)

    @property
    def mirrored(self) -> Wagers:
        """The same of old minus new."""
        order = np.lexsort((self.sizes, -self.sums))
        return Wagers(-self.sums[order], self.sizes[order], self.counts[order], self.reach)

    def wealth(self, boundary: float) -> Floats:
        """Logarithm of what each bet has come to that differences lie above a boundary, shape (64,).

        A boundary of −R or below cannot be bet against: every difference lies above it, and the wealth is
        infinite; at R or above no bet can win.
        """
        room = self.reach + boundary
        if room <= 0:
            return np.full(BETS.shape, np.inf if np.any(self.counts) else 0.0)
        gains = (self.sums - self.sizes * boundary) / room
        return np.log1p(np.outer(BETS, np.maximum(gains, -1.0))) @ self.counts

    def log_e_value(self, boundary: float, times: float = 1.0) -> float:
        """Logarithm of the e-value against "the mean difference is at most the boundary".

        Parameters
        ----------
        boundary : float
            c, in the units of the scores.
        times : float
            As if every sample had been seen that often.
        """
        wealth = times * self.wealth(boundary)
        most = float(wealth.max())
        if not math.isfinite(most):
            return most
        return most + math.log(float(np.mean(np.exp(wealth - most))))

    def lower_end(self, level: float) -> float:
        """Lower end of the confidence sequence: boundaries below are refuted at the level, by bisection.

        Parameters
        ----------
        level : float
            One-sided, of all looks together.

        Returns
        -------
        float
            In the units of the scores, −R where nothing is refuted.
        """
        wanted = -math.log(level)
        return bisected(lambda at: self.log_e_value(at) >= wanted, -self.reach, self.reach, _HALVINGS)[0]

    def times_needed(self, boundary: float, level: float, most: float = 1e9) -> float | None:
        """How many times the samples, if more are like them, until the e-value reaches 1/level.

        None where that is never, or not within `most` times as many.
        """
        wanted = -math.log(level)
        if float(self.wealth(boundary).max()) <= 0 or self.log_e_value(boundary, most) < wanted:
            return None
        low, high = 1.0, most
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            enough = self.log_e_value(boundary, middle) >= wanted
            low, high = (low, middle) if enough else (middle, high)
        return high


@dataclass(frozen=True, eq=False)
class Bet:
    """One claim that may be looked at at any moment.

    Attributes
    ----------
    estimate : float
        Mean difference in the sample, larger is better.
    boundary : float
        The claim is that the difference lies above it.
    error : float
        Standard error, for its digits.
    samples : int
    wagers : Wagers
    """

    estimate: float
    boundary: float
    error: float
    samples: int
    wagers: Wagers

    def needed(self, level: float) -> float:
        """Samples at which the claim is decided if more are like these; infinite where no number would do."""
        wagers, boundary = self.wagers, self.boundary
        if wagers.log_e_value(boundary) < wagers.mirrored.log_e_value(-boundary):
            wagers, boundary = wagers.mirrored, -boundary
        times = wagers.times_needed(boundary, level / 2)
        return math.inf if times is None else max(math.ceil(self.samples * times), self.samples + 1)


def won_by_bets(bets: Sequence[Bet]) -> Evidence:
    """What bets on the samples of claims have come to.

    Parameters
    ----------
    bets : sequence of Bet

    Returns
    -------
    Evidence
        P-values that hold whenever one looks; intervals are confidence sequences.
    """
    above = np.array([one.wagers.log_e_value(one.boundary) for one in bets])
    below = np.array([one.wagers.mirrored.log_e_value(-one.boundary) for one in bets])

    def ends(level: float) -> tuple[Floats, Floats]:
        low = [one.wagers.lower_end(level / 2) for one in bets]
        return np.array(low), -np.array([one.wagers.mirrored.lower_end(level / 2) for one in bets])

    return Evidence.of(
        [one.estimate for one in bets],
        np.exp(-np.maximum(above, 0.0)),
        np.exp(-np.maximum(below, 0.0)),
        error=[one.error for one in bets],
        boundary=[one.boundary for one in bets],
        worth=[one.samples for one in bets],
        ends=ends,
        needed=lambda level: np.array([one.needed(level) for one in bets]),
        log_e=(above, below),
    )


def e_values(evidence: Evidence) -> list[tuple[float, float] | None]:
    """Evidence for each claim, and against it; at most 1e300 is told."""
    if evidence.log_e is None:
        return [None] * evidence.estimate.size
    sides = zip(*evidence.log_e, strict=True)
    return [(math.exp(min(shown, _MOST)), math.exp(min(refuted, _MOST))) for shown, refuted in sides]
