"""Sequential stopping for a family of claims, with counted p-values, tail extrapolation and exact bounds.

Source: method §4, rules 1 to 4. A family consists of the tests of one claim on m ordered pairs. Each round
adds resamples, and a pair that is closed keeps the p-value of the round that closed it.

`extrapolate_tail` fits an exponential tail to the replicates of a relative statistic (method §4, rule 3). It
is only used for relative claims, with a p-value far below the level. For direct and absolute claims, the
replicates can be nearly constant at 0 although the null hypothesis is true. Any fitted tail would then be
significant.
"""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.inference import MAX_RESAMPLES
from riskrank.engine.family import Family
from riskrank.engine.sampling.degrees_of_freedom import Dof, expanded_p_value, unexpanded_p_value
from riskrank.engine.sampling.monte_carlo import SMALLEST, p_value_interval
from riskrank.engine.special import bdtrc
from riskrank.engine.types import Booleans, Floats, Integers

TAIL_SHARE = 0.05

# The mean excess over fewer distinct values is a poor estimate of the tail.
FEWEST_IN_TAIL = 20


def extrapolate_tail(replicates: Floats) -> Floats:
    """Estimate the probability that a replicate of Δε is at least 0, from the largest 5 % of the replicates.

    Parameters
    ----------
    replicates : ndarray, shape (B, m)
        Replicates of Δε for each pair, all below 0.

    Returns
    -------
    ndarray, shape (m,)
        NaN if fewer than 20 distinct values lie above the quantile.
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
    # The fit can underflow, and a p-value must not be 0.
    return np.where(fitted, np.maximum(continued, SMALLEST), np.nan)


# Repeated tests at the full level would be liberal, so earlier rounds use half of it.
EARLY = 0.5

# Rule 3b: without a count, the exact lower bound times this factor is used.
STAND_IN = 10.0

# An extrapolated tail closes claims with an adjusted p-value of at most a tenth of the level.
TAIL_MARGIN = 0.1

# A pair needs no finer count if it has more crossings than a significant pair would have in 95 % of cases.
# If less than one crossing is expected, four or more always exceed this limit.
_SURPRISE = 0.05
# Largest number of crossings that is too coarse to compare with a level.
FEW_CROSSINGS = 3


@dataclass(frozen=True)
class ResampleCounts:
    """Numbers of crossings for one family in all resamples so far.

    Attributes
    ----------
    resamples : int
        Number of resamples, B.
    crossings : ndarray of int, shape (m,)
        Number of resamples in which a pair's statistic is at or above its boundary.
    tail : ndarray, shape (m,), or None
        Extrapolated tail probabilities, NaN where no tail can be fitted. None if extrapolation is not
        allowed.
    """

    resamples: int
    crossings: Integers
    tail: Floats | None = None


class ClaimFamily:
    """Sequential tests of one claim on m ordered pairs; each pair is closed once it is decided.

    Parameters
    ----------
    samples : ndarray or Dof, shape (m,)
        Number of independent samples n behind each pair, or degrees of freedom.
    floor : ndarray, shape (m,)
        Lower bounds on the p-values from sign flips (method §4, rule 4); 0 for pairs without a bound.
    family : Family
        Level and correction.
    max_resamples : int
        Number of resamples sufficient to decide every claim. A pair is closed early as not significant only
        if its crossings are too many even for this number of resamples.
    """

    def __init__(self, samples: Floats | Dof, floor: Floats, *, family: Family, max_resamples: int) -> None:
        """Prepare the tests; all pairs are open."""
        m = len(floor)
        self._samples, self._floor = samples, floor
        self._family, self._most, self._counted = family, max_resamples, np.zeros(m, dtype=np.int64)
        self._enumerated = False
        self.p_value: Floats = np.ones(m)
        self.p_adjusted: Floats = np.ones(m)
        self.closed: Booleans = np.zeros(m, dtype=bool)
        self.dominates: Booleans = np.zeros(m, dtype=bool)
        self.extrapolated: Booleans = np.zeros(m, dtype=bool)
        self.decided: Booleans = np.ones(m, dtype=bool)
        self.resamples: Integers = np.zeros(m, dtype=np.int64)
        self.crossings: Integers = np.zeros(m, dtype=np.int64)
        self.needed: Integers = np.zeros(m, dtype=np.int64)

    def update(self, counts: ResampleCounts, *, last: bool) -> None:
        """Stop testing the pairs that are decided after this round, or all pairs in the last round.

        Parameters
        ----------
        counts : ResampleCounts
            Crossings in all resamples so far.
        last : bool
            True in the last round.
        """
        b, self._counted = counts.resamples, counts.crossings
        family = self._family if last else self._family.scaled(EARLY)
        share = (1 + counts.crossings) / (b + 1)
        p_value = np.maximum(expanded_p_value(share, self._samples), self._floor)
        self._close_significant(p_value, family, b)
        if counts.tail is not None:
            usable = np.isfinite(counts.tail) & (counts.crossings == 0)
            tail = expanded_p_value(np.where(usable, counts.tail, 1.0), self._samples)
            # For scores with few values the replicates are nearly a point mass, which has no tail. In the
            # last round, the lower bound replaces the tail if there is no crossing: rule 3b.
            pointed = last and b >= FEWEST_IN_TAIL / TAIL_SHARE
            uncounted = pointed & (counts.crossings == 0) & ~usable & (self._floor > 0)
            tail[uncounted] = np.minimum(self._floor[uncounted] * STAND_IN, 1.0)
            continued = np.minimum(p_value, np.maximum(tail, self._floor))
            before = self.closed.copy()
            self._close_significant(continued, self._family.scaled(TAIL_MARGIN), b)
            self.extrapolated |= self.closed & ~before
            # A claim closed by its tail makes the levels of the other claims less strict.
            self._close_significant(p_value, family, b)
        adjusted = self._adjust(p_value)
        self._close_not_significant(counts, p_value, adjusted)
        if last:
            self._mark_undecided(counts)
            self._close(~self.closed, p_value, adjusted, b)

    def close_all(self, resamples: int, probabilities: Floats, smallest: float) -> None:
        """Finish all tests after every possible resample was enumerated.

        Parameters
        ----------
        resamples : int
            Number of resamples to record for each pair.
        probabilities : ndarray, shape (m,)
            Total probability of the resamples in which a pair's statistic is at or above its boundary.
        smallest : float
            Probability of the rarest resample, which bounds the observable probabilities from below.
        """
        self._enumerated, self._counted = True, np.rint(probabilities * resamples).astype(np.int64)
        # A sum of all probabilities can fall below 1 by rounding.
        share = np.where(probabilities > 1 - 0.5 * smallest, 1.0, np.maximum(probabilities, smallest))
        p_value = np.maximum(expanded_p_value(share, self._samples), self._floor)
        self._close_significant(p_value, self._family, resamples)
        adjusted, remaining = self._adjust(p_value), ~self.closed
        if not remaining.any():
            return
        levels = np.full(len(remaining), self._next_level())
        unseen = (probabilities < smallest) & (self._floor <= levels)
        self.decided[remaining & unseen & (expanded_p_value(smallest, self._samples) > levels)] = False
        self._close(remaining, p_value, adjusted, resamples)

    def monte_carlo_limits(self, flips: int) -> Floats:
        """Return the lower and upper Monte Carlo limits of the p-values, shape (2, m).

        Both limits equal the p-value if all resamples were enumerated, if it was extrapolated, or if few
        resamples cross the boundary. If no resample crosses the boundary, the lower limit is the smallest
        positive number.

        Parameters
        ----------
        flips : int
            Number of random sign flips behind the lower bounds on the p-values; 0 if these are exact.
        """
        if self._enumerated:
            return np.stack([self.p_value] * 2)
        counted = (self.crossings > FEW_CROSSINGS) & ~self.extrapolated
        limits = expanded_p_value(p_value_interval(self.crossings, self.resamples)[1:], self._samples)
        floor = self._floor
        if flips:
            floor = p_value_interval(np.maximum(np.rint(floor * flips) - 1, 0), flips)[1:] * (floor > 0)
        result = np.where(counted, np.maximum(limits, floor), self.p_value)
        result[0, (self.crossings == 0) & ~self.extrapolated & (self.p_value > self._floor)] = SMALLEST
        return result

    def _adjust(self, p_value: Floats) -> Floats:
        """Return adjusted p-values for all pairs, shape (m,), from their current p-values.

        Closed pairs keep their recorded p-value.
        """
        return self._family.adjust_p_values(np.where(self.closed, self.p_value, p_value))

    def _close(self, mask: Booleans, p_value: Floats, adjusted: Floats, resamples: int) -> None:
        """Stop testing the pairs in a mask, and record their p-values, adjusted p-values and resamples."""
        self.p_value[mask] = p_value[mask]
        self.p_adjusted[mask] = adjusted[mask]
        self.resamples[mask], self.crossings[mask] = resamples, self._counted[mask]
        self.closed |= mask

    def _close_significant(self, p_value: Floats, family: Family, resamples: int) -> None:
        """Stop testing the open pairs that are significant in `family`, and mark them as dominating."""
        adjusted = self._adjust(p_value)
        mask = ~self.closed & family.significant(adjusted)
        self.dominates |= mask
        self._close(mask, p_value, adjusted, resamples)

    def _close_not_significant(self, counts: ResampleCounts, p_value: Floats, adjusted: Floats) -> None:
        """Stop testing the open pairs that cannot become significant by the last round.

        These pairs have too many crossings. Under a step-down correction, the levels of the other pairs do
        not become less strict when a pair is not rejected. Pairs are therefore examined in order of
        decreasing crossings.

        `counts` holds the crossings so far, `p_value` and `adjusted` the resulting p-values of all pairs.
        """
        lost = int(np.count_nonzero(self.closed & ~self.dominates))
        remaining = np.flatnonzero(~self.closed)
        most = max(self._most, counts.resamples)
        best = expanded_p_value((1 + counts.crossings) / (most + 1), self._samples)
        best = np.maximum(best, self._floor)
        remaining = remaining[np.argsort(-best[remaining], kind="stable")]
        levels = self._family.largest_levels(len(self.closed), lost + np.arange(len(remaining)))
        beyond = (best[remaining] > levels) & ~self._family.significant(adjusted[remaining])
        # More resamples can change the decision only for pairs with few crossings.
        few = np.flatnonzero(beyond & (counts.crossings[remaining] <= FEW_CROSSINGS))
        beyond[few] = ~self._has_too_few_resamples(counts, remaining[few], levels[few], most)
        closing = np.zeros(len(self.closed), dtype=bool)
        closing[remaining[: len(remaining) if beyond.all() else int(np.argmin(beyond))]] = True
        self._close(closing, p_value, adjusted, counts.resamples)

    def _mark_undecided(self, counts: ResampleCounts) -> None:
        """Mark open pairs as undecided if their level needs more resamples, and record how many.

        `counts` holds the crossings in all resamples.
        """
        remaining = np.flatnonzero(~self.closed)
        if not remaining.size:
            return
        level = np.full(len(remaining), self._next_level())
        coarse = remaining[self._has_too_few_resamples(counts, remaining, level, counts.resamples)]
        self.decided[coarse] = False
        share = np.maximum(unexpanded_p_value(level[0], self._samples[coarse]), 1 / MAX_RESAMPLES)
        self.needed[coarse] = np.ceil(np.minimum(1 / share, MAX_RESAMPLES)).astype(np.int64)

    def _has_too_few_resamples(
        self, counts: ResampleCounts, pairs: Integers, levels: Floats, resamples: int
    ) -> Booleans:
        """Return a mask of the pairs whose significance cannot be resolved with `resamples` resamples.

        Only pairs with few crossings in `counts` are marked. `pairs` holds the indices of the pairs to check,
        and `levels` their significance levels.
        """
        coarse = (self._floor[pairs] <= levels) & (counts.crossings[pairs] <= FEW_CROSSINGS)
        few = pairs[coarse]
        share = unexpanded_p_value(levels[coarse], self._samples[few])
        # Probability of at least this many crossings if the true share were just small enough.
        crossings = counts.crossings[few]
        chance = np.where(crossings == 0, 1.0, bdtrc(np.maximum(crossings - 1, 0), counts.resamples, share))
        coarse[coarse] = (1 / (resamples + 1) > share) & (chance > _SURPRISE)
        return coarse

    def _next_level(self) -> float:
        """Return the level with which the smallest remaining p-value is compared."""
        return self._family.level_after_rejections(len(self.closed), int(np.count_nonzero(self.dominates)))
