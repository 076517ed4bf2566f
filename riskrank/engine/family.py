"""A family of claims and its answers: the one place that knows a level, a correction and sides (method §4).

Evidence of any kind goes in, answers come out: a claim is *shown*, *refuted* or *open*. Nobody else compares
a p-value with a level, corrects one, or says what an interval's level is.

Intervals are Bonferroni's, which hold for all claims together with probability at least 1 − α. Where Holm's
correction decides a claim and Bonferroni's would not, the interval ends at the boundary, so that an interval
lies wholly on one side exactly if the claim is decided (Strassburger and Bretz 2008).

Corrections for many tests in one family (method §4).

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
from riskrank.engine.sampling.monte_carlo import resamples_to_settle
from riskrank.engine.types import Booleans, Floats, Integers


def adjust(p_values: ArrayLike, method: str) -> Floats:
    """Adjusted p-values: reject where they are at most the level.

    Parameters
    ----------
    p_values : array_like, shape (..., m)
        The p-values of one family of tests, or of many on the last axis.
    method : {"bonferroni", "holm", "bh", "none"}
        Bonferroni and Holm bound the family-wise error rate, Benjamini-Hochberg the false discovery
        rate.

    Returns
    -------
    ndarray, shape (..., m)
        Adjusted p-values, at most 1, in the order given.
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
        stepped = np.maximum.accumulate(ordered * np.arange(m, 0, -1), axis=-1)
    else:
        stepped = np.minimum.accumulate((ordered * m / np.arange(1, m + 1))[..., ::-1], axis=-1)[..., ::-1]
    adjusted = np.empty(p.shape)
    np.put_along_axis(adjusted, order, np.minimum(stepped, 1.0), axis=-1)
    return adjusted


class Side(IntEnum):
    """The answer to a claim."""

    SHOWN = 1
    OPEN = 0
    REFUTED = -1

    @property
    def word(self) -> str:
        """The answer as documents spell it."""
        return self.name.lower()


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to a family of claims, arrays of one shape, an entry a claim.

    Attributes
    ----------
    side : ndarray of int
        A :class:`Side` each: 1 shown, −1 refuted, 0 open.
    p_value, p_adjusted : ndarray
        Of the claim: two-sided, or of "it lies above" in a one-sided family; 1 where nothing was asked.
    p_against : ndarray
        The same, adjusted, of "it lies below"; in a two-sided family ``p_adjusted`` again.
    low, high : ndarray
        Intervals that hold for all claims together; infinite where open.
    needed : ndarray
        Samples at which an open claim would be decided, four times out of five, if the estimate is the truth;
        infinite where the claim is decided or no number would do.
    resamples_needed : ndarray
        Resamples at which another seed would answer alike, 0 where it does now: where what other resamples
        may count holds the level.
    """

    side: Integers
    p_value: Floats
    p_adjusted: Floats
    p_against: Floats
    low: Floats
    high: Floats
    needed: Floats
    resamples_needed: Floats

    @property
    def shown(self) -> Booleans:
        """Where the claim is shown."""
        return self.side == Side.SHOWN

    @property
    def refuted(self) -> Booleans:
        """Where the opposite is shown."""
        return self.side == Side.REFUTED

    @property
    def open(self) -> Booleans:
        """Where neither is."""
        return self.side == Side.OPEN


@dataclass(frozen=True)
class Family:
    """Claims that are decided together.

    Attributes
    ----------
    alpha : float
        Level of the whole family.
    correction : {"holm", "bonferroni", "bh", "none"}
        See :func:`riskrank.engine.family.adjust`.
    sides : {1, 2}
        Whether both sides of a claim share its level, or each direction is a family of its own.
    """

    alpha: float = 0.05
    correction: str = "holm"
    sides: int = 2

    @property
    def confidence(self) -> float:
        """Coverage of intervals that go with the level, 1 − α."""
        return 1 - self.alpha

    @property
    def simultaneous(self) -> bool:
        """Whether intervals hold for all claims together."""
        return self.correction in ("holm", "bonferroni")

    @property
    def text(self) -> str:
        """The level as captions have it: ``α 0.05``."""
        return f"α {self.alpha:g}"

    @property
    def settings(self) -> dict[str, float | str]:
        """The level and the correction as documents have them."""
        return {"alpha": self.alpha, "correction": self.correction}

    def at(self, share: float) -> Family:
        """The same family at a share of its level."""
        return replace(self, alpha=self.alpha * share)

    @property
    def one_sided(self) -> Family:
        """The same level and correction for each direction on its own."""
        return replace(self, sides=1)

    def adjusted(self, p_values: ArrayLike, asked: ArrayLike | None = None) -> Floats:
        """Adjusted p-values: significant where they are at most α.

        Parameters
        ----------
        p_values : array_like
            Of any shape.
        asked : array_like of bool, same shape, optional
            The claims of the family, by default all; elsewhere 1 is returned.
        """
        p = np.asarray(p_values, dtype=np.float64)
        wanted = np.ones(p.shape, dtype=bool) if asked is None else np.asarray(asked)
        corrected = np.ones(p.shape)
        corrected[wanted] = adjust(p[wanted], self.correction)
        return corrected

    def each(self, p_values: Floats) -> Floats:
        """Adjusted p-values of many families, each on the last axis."""
        return adjust(p_values, self.correction)

    def judged_at(self, level: float, p_value: float) -> float:
        """A p-value that is significant at `level`, in units of the family's own level."""
        return min(1.0, p_value * self.alpha / level)

    def significant(self, p_adjusted: ArrayLike) -> Booleans:
        """Whether adjusted p-values are at most the level."""
        return np.asarray(p_adjusted) <= self.alpha

    def answer(self, evidence: Evidence, asked: ArrayLike | None = None) -> Answers:
        """Decide every claim.

        Parameters
        ----------
        evidence : Evidence
        asked : array_like of bool, same shape, optional
            The claims of the family, by default all; others stay open.
        """
        if self.sides == 1:
            p_value = evidence.p_above
            p_adjusted, p_against = (self.adjusted(p, asked) for p in (p_value, evidence.p_below))
            side = np.where(self.significant(p_against), -1, 0)
            side = np.where(self.significant(p_adjusted), 1, side)
        else:
            p_value = evidence.p_value
            p_adjusted = p_against = self.adjusted(p_value, asked)
            nearer = np.where(evidence.p_above < evidence.p_below, 1, -1)
            side = np.where(self.significant(p_adjusted), nearer, 0)
        count = evidence.estimate.size if asked is None else int(np.count_nonzero(asked))
        level = self.level(count, int(np.count_nonzero(side)))
        low, high = evidence.ends(level)
        # An end that nobody knows stays open.
        low = np.where((side > 0) & np.isfinite(low), np.maximum(low, evidence.boundary), low)
        high = np.where((side < 0) & np.isfinite(high), np.minimum(high, evidence.boundary), high)
        open_claims = side == 0
        needed = np.full(side.shape, np.inf)
        if open_claims.any():
            needed[open_claims] = np.broadcast_to(evidence.needed(level), side.shape)[open_claims]
        return Answers(
            side.astype(np.int64),
            p_value,
            p_adjusted,
            p_against,
            low,
            high,
            needed,
            self._resamples_needed(evidence, p_adjusted, asked),
        )

    def _resamples_needed(self, evidence: Evidence, found: Floats, asked: ArrayLike | None) -> Floats:
        """Resamples at which the p-values of all claims lie on their sides of the level."""
        if not evidence.resamples:
            return np.zeros(found.shape)
        low, high = (self.adjusted(end, asked) for end in evidence.p_value_ends(self.sides))
        return resamples_to_settle(found, low, high, self.alpha, evidence.resamples)

    def serial(self, evidence: Evidence, tier: Integers) -> Answers:
        """Decide claims in tiers (method §17): the second waits until all of the first are shown.

        Parameters
        ----------
        evidence : Evidence
        tier : ndarray of int, shape of the claims
            0 critical, 1 supporting, 2 advisory: each a family at the whole level. A supporting claim that
            waits is open, with the interval of its tier; advisory claims stand outside.
        """
        parts = [self.answer(evidence, tier == at) for at in range(3)]
        names = [one.name for one in fields(Answers)]
        whole = {name: np.choose(tier, [getattr(part, name) for part in parts]) for name in names}
        waits = (tier == 1) & bool(parts[0].open[tier == 0].any() or parts[0].refuted[tier == 0].any())
        ends = evidence.ends(self.level(int(np.count_nonzero(tier == 1))))
        closed: dict[str, ArrayLike] = {"side": 0, "p_adjusted": 1, "p_against": 1, "needed": np.inf}
        closed |= {"resamples_needed": 0, "low": ends[0], "high": ends[1]}
        for name, value in closed.items():
            whole[name] = np.where(waits, np.asarray(value), whole[name])
        return Answers(**whole)

    def level(self, tests: int, decided: int = 0) -> float:
        """Level of one interval among many, so that they hold together as the correction promises.

        Parameters
        ----------
        tests : int
            Claims of the family.
        decided : int
            Those that are decided, r of m: Benjamini and Hochberg's intervals are at r·α/m.
        """
        if self.correction == "none" or tests == 0:
            return self.alpha
        kept = max(decided, 1) if self.correction == "bh" else 1
        return self.alpha * kept / tests

    def next_level(self, tests: int, shown: int) -> float:
        """Level a p-value has to meet to be the next that is shown, `shown` claims of `tests` being so."""
        factor = {"holm": tests - shown, "bonferroni": tests, "bh": tests / (shown + 1), "none": 1}
        return self.alpha / factor[self.correction]

    def mildest_levels(self, tests: int, lost: Integers) -> Floats:
        """Largest levels a p-value can still meet, with so many claims closed as not shown."""
        every = np.ones(len(lost))
        factor = {"holm": every + lost, "bonferroni": tests * every, "none": every}
        factor["bh"] = tests / np.maximum(tests - lost, 1)
        return self.alpha / factor[self.correction]
