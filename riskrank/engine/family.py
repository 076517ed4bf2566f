"""Families of claims: significance level, correction for multiple testing, and answers (method §4).

Evidence of any kind is converted to answers. A claim is *significant*, *contradicted* (its opposite is
significant) or *undecided*. No other module adjusts p-values, compares them with a level, or chooses the
level of an interval.

Intervals are Bonferroni intervals, with simultaneous coverage of at least 1 − α. If Holm's correction decides
a claim that Bonferroni's does not, the interval ends at the boundary. So an interval lies on one side of the
boundary if and only if the claim is decided (Strassburger and Bretz 2008).

References
----------
K. Strassburger and F. Bretz (2008). Compatible simultaneous lower confidence bounds for the Holm procedure
and other Bonferroni-based closed tests. Statistics in Medicine 27(24), 4914-4927. doi:10.1002/sim.3338
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.sampling.monte_carlo import SMALLEST, required_resamples
from riskrank.engine.types import Booleans, Floats, Integers


def adjust(p_values: ArrayLike, method: str, per_rejection: int = 1) -> Floats:
    """Return adjusted p-values; a hypothesis is rejected if its adjusted p-value is at most the level.

    Parameters
    ----------
    p_values : array_like, shape (..., m)
        P-values of one family of tests along the last axis; other axes index several families.
    method : {"bonferroni", "holm", "bh", "none"}
        Bonferroni and Holm control the family-wise error rate, Benjamini-Hochberg the false discovery rate.
    per_rejection : int
        Number of claims that each rejection settles: 2 if claims come in opposite pairs.

    Returns
    -------
    ndarray, shape (..., m)
        Adjusted p-values, at most 1, in the given order.
    """
    p = np.asarray(p_values, dtype=np.float64)
    m = p.shape[-1]
    if method == "none" or m == 0:
        return p.copy()
    if method == "bonferroni":
        return np.minimum(p * m, 1.0)
    order = np.argsort(p, axis=-1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=-1)
    if method == "holm":
        remaining = np.maximum(m - per_rejection * np.arange(m), per_rejection)
        stepped = np.maximum.accumulate(ordered * remaining, axis=-1)
    else:
        stepped = np.minimum.accumulate((ordered * m / np.arange(1, m + 1))[..., ::-1], axis=-1)[..., ::-1]
    adjusted = np.empty(p.shape)
    np.put_along_axis(adjusted, order, np.minimum(stepped, 1.0), axis=-1)
    return adjusted


class Answer(IntEnum):
    """Answer to a claim: significant, undecided, or contradicted (its opposite is significant)."""

    SIGNIFICANT = 1
    UNDECIDED = 0
    CONTRADICTED = -1

    @property
    def word(self) -> str:
        """Name of the answer in lower case, as written in output documents."""
        return self.name.lower()


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to a family of claims: arrays of equal shape, with one entry per claim.

    Attributes
    ----------
    side : ndarray of int
        :class:`Answer` to each claim: 1 significant, −1 contradicted, 0 undecided.
    p_value, p_adjusted : ndarray
        P-value of each claim, unadjusted and adjusted: two-sided, or one-sided for "above" in a one-sided
        family. Adjusted p-values are 1 for claims outside the family.
    p_against : ndarray
        Adjusted p-value of the opposite claim ("below"); equal to ``p_adjusted`` in a two-sided family.
    low, high : ndarray
        Limits of simultaneous intervals; infinite if unbounded.
    needed : ndarray
        Number of samples at which an undecided claim has 80 % power, if the estimate is the true value.
        Infinite if the claim is decided or no number is sufficient.
    resamples_needed : ndarray
        Number of resamples after which the answer should not depend on the seed. 0 if the Monte Carlo
        interval of the p-value already excludes the level.
    at_floor : ndarray of bool
        True where no resample contradicts the claim, so that the p-value is an upper bound.
    """

    side: Integers
    p_value: Floats
    p_adjusted: Floats
    p_against: Floats
    low: Floats
    high: Floats
    needed: Floats
    resamples_needed: Floats
    at_floor: Booleans

    @property
    def significant(self) -> Booleans:
        """Mask of the claims that are significant."""
        return self.side == Answer.SIGNIFICANT

    @property
    def contradicted(self) -> Booleans:
        """Mask of the claims whose opposite is significant."""
        return self.side == Answer.CONTRADICTED

    @property
    def undecided(self) -> Booleans:
        """Mask of the claims for which neither direction is significant."""
        return self.side == Answer.UNDECIDED


@dataclass(frozen=True)
class Family:
    """Claims that are tested together, with a level and a correction for multiple testing.

    Attributes
    ----------
    alpha : float
        Significance level of the whole family.
    correction : {"holm", "bonferroni", "bh", "none"}
        See :func:`riskrank.engine.family.adjust`.
    sides : {1, 2}
        2 for two-sided tests at level α, 1 if each direction is a separate family at level α.
    per_rejection : {1, 2}
        Number of claims that each rejection settles: 2 if claims come in opposite pairs, of which at most one
        can be significant. Holm's correction then covers the pairs, each with twice its smaller p-value.
    """

    alpha: float = 0.05
    correction: str = "holm"
    sides: int = 2
    per_rejection: int = 1

    @property
    def confidence(self) -> float:
        """Coverage of the intervals, 1 − α."""
        return 1 - self.alpha

    @property
    def simultaneous(self) -> bool:
        """True if all intervals cover the true values together with probability 1 − α."""
        return self.correction in ("holm", "bonferroni")

    @property
    def text(self) -> str:
        """Level as written in captions: ``α 0.05``."""
        return f"α {self.alpha:g}"

    @property
    def settings(self) -> dict[str, float | str]:
        """Level and correction as fields of output documents: "alpha" and "correction"."""
        return {"alpha": self.alpha, "correction": self.correction}

    def scaled(self, proportion: float) -> Family:
        """Return a copy of the family with its level multiplied by `proportion`."""
        return replace(self, alpha=self.alpha * proportion)

    @property
    def one_sided(self) -> Family:
        """Copy of this family that corrects the claims of each direction separately."""
        return replace(self, sides=1)

    def adjust_p_values(self, p_values: ArrayLike, mask: ArrayLike | None = None) -> Floats:
        """Return adjusted p-values, to be compared with α.

        Parameters
        ----------
        p_values : array_like
            P-values of any shape.
        mask : array_like of bool, same shape, optional
            Claims that belong to the family, by default all; the result is 1 elsewhere.
        """
        p = np.asarray(p_values, dtype=np.float64)
        selected = np.ones(p.shape, dtype=bool) if mask is None else np.asarray(mask)
        corrected = np.ones(p.shape)
        corrected[selected] = adjust(p[selected], self.correction, self.per_rejection)
        return corrected

    def adjust_pairs(self, p_values: ArrayLike, mask: ArrayLike | None = None) -> Floats:
        """Return adjusted p-values for pairs of opposite claims, such as "i beats j" and "j beats i".

        Parameters
        ----------
        p_values : array_like, shape (..., k, k)
            One-sided p-values. With Holm's correction, the larger one of each pair counts as 1.
        mask : array_like of bool, same shape, optional
            Claims that belong to the family, in both directions; by default all but the diagonals.
        """
        p = np.asarray(p_values, dtype=np.float64)
        selected = np.broadcast_to(~np.eye(p.shape[-1], dtype=bool), p.shape) if mask is None else mask
        if self.correction == "holm":
            p = np.where(p < p.swapaxes(-1, -2), p, 1.0)
        return replace(self, per_rejection=2).adjust_p_values(p, selected)

    def adjust_rows(self, p_values: Floats) -> Floats:
        """Adjust p-values of several families with the same settings, one family per row (last axis)."""
        return adjust(p_values, self.correction, self.per_rejection)

    def rescale_p_value(self, level: float, p_value: float) -> float:
        """Rescale a p-value from another significance level to that of the family.

        The result is at most the family's level if and only if `p_value` is at most `level`.
        """
        return min(1.0, p_value * self.alpha / level)

    def significant(self, p_adjusted: ArrayLike) -> Booleans:
        """Return a mask of adjusted p-values that are at most the level."""
        return np.asarray(p_adjusted) <= self.alpha

    def answer(self, evidence: Evidence, mask: ArrayLike | None = None) -> Answers:
        """Test every claim and return the answers.

        Parameters
        ----------
        evidence : Evidence
            Estimates, p-values and intervals for the claims.
        mask : array_like of bool, same shape, optional
            Claims that belong to the family, by default all; others stay undecided.
        """
        if self.sides == 1:
            p_value = evidence.p_above
            p_adjusted, p_against = (self.adjust_p_values(p, mask) for p in (p_value, evidence.p_below))
            side = np.where(self.significant(p_against), -1, 0)
            side = np.where(self.significant(p_adjusted), 1, side)
        else:
            p_value = evidence.p_value
            p_adjusted = p_against = self.adjust_p_values(p_value, mask)
            sign = np.where(evidence.p_above < evidence.p_below, 1, -1)
            side = np.where(self.significant(p_adjusted), sign, 0)
        count = evidence.estimate.size if mask is None else int(np.count_nonzero(mask))
        level = self.interval_level(count, int(np.count_nonzero(side)))
        low, high = evidence.interval(level)
        # Infinite limits are unknown and are not changed.
        low = np.where((side > 0) & np.isfinite(low), np.maximum(low, evidence.boundary), low)
        high = np.where((side < 0) & np.isfinite(high), np.minimum(high, evidence.boundary), high)
        undecided, needed = side == 0, np.full(side.shape, np.inf)
        if undecided.any():
            needed[undecided] = np.broadcast_to(evidence.samples_needed(level), side.shape)[undecided]
        resamples, at_floor = np.zeros(side.shape), np.zeros(side.shape, dtype=bool)
        if evidence.resamples:
            lower, upper = (self.adjust_p_values(p, mask) for p in evidence.p_value_bounds(self.sides))
            resamples = required_resamples(p_adjusted, lower, upper, self.alpha, evidence.resamples)
            at_floor = evidence.p_value_bounds(self.sides)[0] <= 2 * SMALLEST
        columns = p_value, p_adjusted, p_against, low, high, needed, resamples, at_floor
        return Answers(side.astype(np.int64), *columns)

    def answer_in_tiers(self, evidence: Evidence, tier: Integers) -> Answers:
        """Test claims in tiers of importance: critical, supporting and advisory (method §17).

        Supporting claims are tested only if all critical ones are significant.

        Parameters
        ----------
        evidence : Evidence
            Estimates, p-values and intervals for the claims.
        tier : ndarray of int, shape of the claims
            0 critical, 1 supporting, 2 advisory; each tier is a family at the full level. A supporting claim
            that is not tested is undecided, with the interval of its tier. Advisory claims are tested in any
            case.
        """
        parts = [self.answer(evidence, tier == i) for i in range(3)]
        names = [field.name for field in fields(Answers)]
        combined = {name: np.choose(tier, [getattr(part, name) for part in parts]) for name in names}
        waits = (tier == 1) & bool((parts[0].side[tier == 0] != Answer.SIGNIFICANT).any())
        interval = evidence.interval(self.interval_level(int(np.count_nonzero(tier == 1))))
        untested: dict[str, ArrayLike] = {"side": 0, "p_adjusted": 1, "p_against": 1, "needed": np.inf}
        untested |= {"at_floor": False, "resamples_needed": 0, "low": interval[0], "high": interval[1]}
        for name, value in untested.items():
            combined[name] = np.where(waits, np.asarray(value), combined[name])
        return Answers(**combined)

    def interval_level(self, tests: int, decided: int = 0) -> float:
        """Return the level of each claim's interval, which is one minus its coverage.

        For Holm and Bonferroni, the intervals of all claims then have a joint coverage of 1 - α.

        Parameters
        ----------
        tests : int
            Number of claims in the family.
        decided : int
            Number r of decided claims among m tests: Benjamini–Hochberg intervals have the level r·α/m.
        """
        if self.correction == "none" or tests == 0:
            return self.alpha
        rejected = max(decided, 1) if self.correction == "bh" else 1
        return self.alpha * rejected / tests

    def level_after_rejections(self, tests: int, rejected: int) -> float:
        """Return the level with which the smallest remaining p-value is compared.

        `tests` is the number of claims in the family. Of these, `rejected` have already been rejected.
        """
        remaining = max(tests - self.per_rejection * rejected, self.per_rejection)
        factor = {"holm": remaining, "bonferroni": tests, "bh": tests / (rejected + 1), "none": 1}
        return self.alpha / factor[self.correction]

    def largest_levels(self, tests: int, excluded: Integers) -> Floats:
        """Return the largest level at which a claim can still be tested if some claims cannot be rejected.

        Parameters
        ----------
        tests : int
            Number of claims in the family.
        excluded : ndarray of int
            Numbers of claims that cannot become significant; the result has one level for each number.
        """
        ones, both = np.ones(len(excluded)), self.per_rejection
        # If claims come in pairs, one claim of each pair is excluded in any case.
        lost = both * np.maximum(excluded - tests * (both - 1) // both, 0)
        factor = {"holm": both + lost, "bonferroni": tests * ones, "none": ones}
        factor["bh"] = tests / np.maximum(tests - excluded, 1)
        return self.alpha / factor[self.correction]
