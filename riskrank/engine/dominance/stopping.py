"""When a claim is closed: counted p-values, a tail far beyond doubt, and claims no count could decide.

Method §4, rules 1 to 4; rule 3b, ranks where a count is out of reach, is in docs/method.md. One family holds
the tests of one claim on m ordered pairs. Every round adds resamples of the same streams; a pair that is
closed keeps the p-value of the round that closed it.

An exponential tail behind the replicates of a relative statistic (method §4, rule 3).

It may only close relative claims that lie far beyond doubt. Never direct or absolute ones: their replicates
can be nearly a point mass at 0 while the null hypothesis is true, and any tail then finds differences.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc

from riskrank.engine.dominance.inference import MOST
from riskrank.engine.family import Family
from riskrank.engine.sampling.degrees_of_freedom import Freedom, expanded_p_value, expanded_share
from riskrank.engine.types import Booleans, Floats, Integers

TAIL_SHARE = 0.05

# A mean excess over fewer different values says little about what lies beyond them.
FEWEST_IN_TAIL = 20
SMALLEST = float(np.finfo(np.float64).tiny)


def relative_tail(replicates: Floats) -> Floats:
    """Tail probabilities of "Δε is at least 0", continued from the replicates' own upper 5 %.

    On the scale s = arcsin √((1 + Δε)/2), with q the 95 % quantile of the replicates and μ their mean excess
    over it, p = 0.05·exp(−(s(0) − q)/μ).

    Parameters
    ----------
    replicates : ndarray, shape (B, m)
        Replicates of Δε of each pair, all below 0.

    Returns
    -------
    ndarray, shape (m,)
        NaN where fewer than 20 different values lie above the quantile.
    """
    count = len(replicates)
    place = (count - 1) * (1 - TAIL_SHARE)
    start = int(place)
    upper = np.sort(np.partition(replicates, start, axis=0)[start:], axis=0)
    upper = np.arcsin(np.sqrt(np.clip((1 + upper) / 2, 0.0, 1.0)))
    above_start = upper[min(1, len(upper) - 1)]
    quantile = upper[0] + (place - start) * (above_start - upper[0])
    above = upper > quantile
    different = np.count_nonzero(above[1:] & (np.diff(upper, axis=0) > 0), axis=0) + above[0]
    excess = np.where(above, upper - quantile, 0.0).sum(axis=0) / np.maximum(above.sum(axis=0), 1)
    fitted = different >= FEWEST_IN_TAIL
    continued = TAIL_SHARE * np.exp(-(np.pi / 4 - quantile) / np.where(fitted, excess, 1.0))
    # Far out the fit underflows, and no p-value is 0.
    return np.where(fitted, np.maximum(continued, SMALLEST), np.nan)


# Looking several times at the same level would be liberal: before the last round half of it is used.
EARLY = 0.5

# Where nothing can be counted the ranks' own p-value stands in, so many times over: rule 3b.
STAND_IN = 10.0

# The tail closes claims whose adjusted p-value is at most a tenth of the level.
TAIL_MARGIN = 0.1

# A pair with more crossings than a significant one would show in 95 % of cases needs no finer count. Where
# less than one crossing is expected, four or more are always such a surprise.
_SURPRISE = 0.05
_FEW_CROSSINGS = 3


@dataclass(frozen=True)
class Counted:
    """Resamples of one family so far.

    Attributes
    ----------
    resamples : int
        B.
    crossings : ndarray of int, shape (m,)
        Resamples in which the statistic of a pair was at or above its boundary.
    tail : ndarray, shape (m,), or None
        Continued tail probabilities; NaN where there is no tail. None where nothing but the count may close
        a claim.
    """

    resamples: int
    crossings: Integers
    tail: Floats | None = None


class ClaimFamily:
    """The tests of one claim on m ordered pairs, closed one after the other.

    Parameters
    ----------
    samples : ndarray or Freedom, shape (m,)
        Independent samples n behind each pair, or degrees of freedom.
    guard : ndarray, shape (m,)
        Rank p-values p_g; 0 where there is no guard.
    guard_share : float
        No p-value is less than p_g divided by this (rule 4).
    exact : ndarray, shape (m,), or float
        Nor less than this: the exact p-values of 0/1 scores.
    family : Family
        Level and correction.
    most : int
        Resamples after which every claim could be counted, 5/s; a pair is only closed early as not
        significant if it has more crossings than these would tolerate.
    """

    def __init__(
        self,
        samples: Floats | Freedom,
        guard: Floats,
        *,
        guard_share: float,
        exact: Floats | float = 0.0,
        family: Family,
        most: int,
    ) -> None:
        m = len(guard)
        self._samples, self._guard = samples, guard
        self._floor = np.maximum(guard / guard_share, exact)
        self._claims, self._most = family, most
        self.p_value: Floats = np.ones(m)
        self.p_adjusted: Floats = np.ones(m)
        self.closed: Booleans = np.zeros(m, dtype=bool)
        self.dominates: Booleans = np.zeros(m, dtype=bool)
        self.extrapolated: Booleans = np.zeros(m, dtype=bool)
        self.decided: Booleans = np.ones(m, dtype=bool)
        self.resamples: Integers = np.zeros(m, dtype=np.int64)
        self.needed: Integers = np.zeros(m, dtype=np.int64)

    def settle(self, counted: Counted, *, last: bool) -> None:
        """Close what this round can close, and everything if it is the last.

        Parameters
        ----------
        counted : Counted
            All resamples so far.
        last : bool
            Whether no round follows.
        """
        b = counted.resamples
        family = self._claims if last else self._claims.at(EARLY)
        share = (1 + counted.crossings) / (b + 1)
        p_value = self._guarded(expanded_p_value(share, self._samples))
        self._close_significant(p_value, family, b)
        if counted.tail is not None:
            usable = np.isfinite(counted.tail) & (counted.crossings == 0)
            tail = expanded_p_value(np.where(usable, counted.tail, 1.0), self._samples)
            # Of scores with few values the replicates are nearly a point mass, and have no tail to continue.
            # If no round follows and none crosses, the ranks' own p-value stands in: rule 3b.
            pointed = last and b >= FEWEST_IN_TAIL / TAIL_SHARE
            ranks = pointed & (counted.crossings == 0) & ~usable & (self._guard > 0)
            tail[ranks] = np.minimum(self._guard[ranks] * STAND_IN, 1.0)
            continued = np.minimum(p_value, self._guarded(tail))
            before = self.closed.copy()
            self._close_significant(continued, self._claims.at(TAIL_MARGIN), b)
            self.extrapolated |= self.closed & ~before
            # A claim closed by its tail leaves a less strict level to the others.
            self._close_significant(p_value, family, b)
        adjusted = self._adjusted(p_value)
        self._close_not_significant(counted, p_value, adjusted)
        if last:
            self._leave_undecided(counted)
            still = ~self.closed
            self._freeze(still, p_value, adjusted, b)

    def settle_all(self, resamples: int, masses: Floats, rarest: float) -> None:
        """Close every pair: there are no other resamples than these.

        Parameters
        ----------
        resamples : int
        masses : ndarray, shape (m,)
            Probability of the resamples in which the statistic of a pair is at or above its boundary.
        rarest : float
            Of one resample, at least: no share below it is known.
        """
        # What all resamples but the rounding of their sum do, all of them do.
        share = np.where(masses > 1 - 0.5 * rarest, 1.0, np.maximum(masses, rarest))
        p_value = self._guarded(expanded_p_value(share, self._samples))
        self._close_significant(p_value, self._claims, resamples)
        adjusted, still = self._adjusted(p_value), ~self.closed
        if not still.any():
            return
        levels = np.full(len(still), self._next_level())
        unseen = (masses < rarest) & (self._floor <= levels)
        self.decided[still & unseen & (expanded_p_value(rarest, self._samples) > levels)] = False
        self._freeze(still, p_value, adjusted, resamples)

    def _guarded(self, p_value: Floats) -> Floats:
        return np.maximum(p_value, self._floor)

    def _adjusted(self, p_value: Floats) -> Floats:
        """Adjusted p-values of all pairs, closed ones with the p-value that closed them."""
        return self._claims.adjusted(np.where(self.closed, self.p_value, p_value))

    def _freeze(self, which: Booleans, p_value: Floats, adjusted: Floats, resamples: int) -> None:
        self.p_value[which] = p_value[which]
        self.p_adjusted[which] = adjusted[which]
        self.resamples[which] = resamples
        self.closed |= which

    def _close_significant(self, p_value: Floats, family: Family, resamples: int) -> None:
        """Close the open pairs that are significant in the family, or in one at a share of its level."""
        adjusted = self._adjusted(p_value)
        which = ~self.closed & family.significant(adjusted)
        self.dominates |= which
        self._freeze(which, p_value, adjusted, resamples)

    def _close_not_significant(self, counted: Counted, p_value: Floats, adjusted: Floats) -> None:
        """Close the open pairs that have more crossings already than the last round could tolerate.

        Pairs that are not rejected keep the levels of the others strict, so the pair with the most
        crossings is looked at first, and each one closed makes the next one easier to close.
        """
        lost = int(np.count_nonzero(self.closed & ~self.dominates))
        still = np.flatnonzero(~self.closed)
        most = max(self._most, counted.resamples)
        best = self._guarded(expanded_p_value((1 + counted.crossings) / (most + 1), self._samples))
        still = still[np.argsort(-best[still], kind="stable")]
        levels = self._claims.mildest_levels(len(self.closed), lost + np.arange(len(still)))
        beyond = (best[still] > levels) & ~self._claims.significant(adjusted[still])
        # Most pairs have far too many crossings; only those with few may be a matter of the count.
        few = np.flatnonzero(beyond & (counted.crossings[still] <= _FEW_CROSSINGS))
        beyond[few] = ~self._coarse(counted, still[few], levels[few], most)
        closing = np.zeros(len(self.closed), dtype=bool)
        closing[still[: len(still) if beyond.all() else int(np.argmin(beyond))]] = True
        self._freeze(closing, p_value, adjusted, counted.resamples)

    def _leave_undecided(self, counted: Counted) -> None:
        """Mark the open pairs whose count is too coarse for their level, with the B that is fine enough."""
        still = np.flatnonzero(~self.closed)
        if not still.size:
            return
        level = np.full(len(still), self._next_level())
        coarse = still[self._coarse(counted, still, level, counted.resamples)]
        self.decided[coarse] = False
        share = expanded_share(level[0], self._samples[coarse])
        self.needed[coarse] = np.ceil(np.minimum(1 / np.maximum(share, 1 / MOST), MOST)).astype(np.int64)

    def _coarse(self, counted: Counted, pairs: Integers, levels: Floats, resamples: int) -> Booleans:
        """Whether so many resamples could not show a p-value so small, and nothing speaks against it yet."""
        found = (self._floor[pairs] <= levels) & (counted.crossings[pairs] <= _FEW_CROSSINGS)
        few = pairs[found]
        share = expanded_share(levels[found], self._samples[few])
        # The chance of so many crossings or more if the true share were just small enough.
        crossings = counted.crossings[few]
        chance = np.where(crossings == 0, 1.0, bdtrc(np.maximum(crossings - 1, 0), counted.resamples, share))
        found[found] = (1 / (resamples + 1) > share) & (chance > _SURPRISE)
        return found

    def _next_level(self) -> float:
        """Level of the next pair to become significant."""
        return self._claims.next_level(len(self.closed), int(np.count_nonzero(self.dominates)))
