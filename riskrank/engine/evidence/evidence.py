"""What the samples say of claims, whatever kind of evidence it is: the one thing a family is asked with.

A claim says that a statistic lies above its boundary. Every kind of evidence (resamples, influence functions,
Johnson's t, permutations, bets, bounds) has a maker in this package, and all makers give this.

A claim at its worst both ways: what is missing speaks against it, then for it (method §11).

Whatever the missing scores are, they lie within their bounds, and so does the difference between two fills:
the new model's gaps at the worst end and the old one's at the best, and the reverse (Manski 1990). A claim is
shown only if it is with the first fill, and refuted only if it is with the second; its one-sided p-values are
at least those of any other fill, so that the correction for many claims holds as it stands.

References
----------
C. F. Manski (1990). Nonparametric bounds on treatment effects. The American Economic Review 80(2), 319-323.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats

Ends = Callable[[float], tuple[Floats, Floats]]
"""Intervals at a two-sided level, compatible with the p-values: low and high ends, infinite where open."""

Needed = Callable[[float], Floats]
"""Samples that would decide each claim at a two-sided level; infinite where no number would."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the samples say of claims, arrays of one shape, an entry a claim.

    Attributes
    ----------
    estimate, error : ndarray
        The statistic in the sample, larger is better, and its standard error, in its units.
    p_above, p_below : ndarray
        One-sided p-values: small if the statistic lies above, or below, its boundary.
    boundary : ndarray
        The claim is that the statistic lies above it.
    worth : ndarray
        Independent samples the claim rests on.
    ends : callable
        See :data:`Ends`; by default nothing is known.
    needed : callable
        See :data:`Needed`; by default no number is known.
    log_e : (ndarray, ndarray) or None
        Of bets: logarithms of the e-values for the statistic lying above, and below, its boundary.
    between : ndarray, shape (..., 2, 2), or None
        Of p-values that were counted, of "above" and of "below": the ends between which those of other
        resamples lie.
    resamples : float
        That they were counted in; 0 where nothing was.
    """

    estimate: Floats
    error: Floats
    p_above: Floats
    p_below: Floats
    boundary: Floats
    worth: Floats
    ends: Ends = field(repr=False)
    needed: Needed = field(repr=False)
    log_e: tuple[Floats, Floats] | None = None
    between: Floats | None = None
    resamples: float = 0

    @classmethod
    def of(
        cls,
        estimate: ArrayLike,
        p_above: ArrayLike,
        p_below: ArrayLike,
        *,
        error: ArrayLike = np.nan,
        boundary: ArrayLike = 0.0,
        worth: ArrayLike = np.nan,
        **known: Any,
    ) -> Evidence:
        """Fill in what is not known, in the shape of the estimate; `known` holds other attributes."""
        own = np.asarray(estimate, dtype=np.float64)
        infinite = np.full(own.shape, np.inf)
        known = {"ends": lambda _level: (-infinite, infinite), "needed": lambda _level: infinite} | known
        values = {
            "error": error,
            "p_above": p_above,
            "p_below": p_below,
            "boundary": boundary,
            "worth": worth,
        }
        for name, value in values.items():
            known[name] = np.broadcast_to(np.asarray(value, dtype=np.float64), own.shape)
        return cls(own, **known)

    @property
    def p_value(self) -> Floats:
        """Two-sided p-value of "the statistic is at its boundary"."""
        return _two_sided(self.p_above, self.p_below)

    @property
    def p_ends(self) -> Floats:
        """Ends of the p-values of "above" and "below", shape (..., 2, 2): these where nothing was counted."""
        if self.between is not None:
            return self.between
        return np.stack([np.stack([self.p_above, self.p_below], axis=-1)] * 2, axis=-1)

    def p_value_ends(self, sides: int) -> tuple[Floats, Floats]:
        """Low and high ends of the p-values of "above", or of both sides."""
        above, below = self.p_ends[..., 0, :], self.p_ends[..., 1, :]
        ends = above if sides == 1 else _two_sided(above, below)
        return ends[..., 0], ends[..., 1]


def _two_sided(above: Floats, below: Floats) -> Floats:
    return np.minimum(1.0, 2 * np.minimum(above, below))


def together(parts: Sequence[tuple[Sequence[int], Evidence]]) -> Evidence:
    """Evidence of several kinds as one: each with the places of its claims, which are all there are."""
    order = np.argsort(np.concatenate([places for places, _ in parts]), kind="stable")

    def joined(arrays: Sequence[Floats]) -> Floats:
        return np.asarray(np.concatenate(arrays)[order])

    def ends(level: float) -> tuple[Floats, Floats]:
        low, high = zip(*(one.ends(level) for _, one in parts), strict=True)
        return joined(low), joined(high)

    names = ("estimate", "p_above", "p_below", "error", "boundary", "worth")
    known: dict[str, Any] = {name: joined([getattr(one, name) for _, one in parts]) for name in names}
    return Evidence.of(
        **known,
        ends=ends,
        needed=lambda level: joined([one.needed(level) for _, one in parts]),
        between=joined([one.p_ends for _, one in parts]),
        resamples=max(one.resamples for _, one in parts),
    )


def either_way(against: Evidence, in_favour: Evidence) -> Evidence:
    """What the samples say of claims, whatever the missing ones are.

    Parameters
    ----------
    against, in_favour : Evidence
        Of the same claims, with what is missing against them, and in favour of them.

    Returns
    -------
    Evidence
        The estimate is the middle of those there can be.
    """
    low, high = against.estimate, in_favour.estimate

    def ends(level: float) -> tuple[Floats, Floats]:
        return against.ends(level)[0], in_favour.ends(level)[1]

    def needed(level: float) -> Floats:
        """No number where a claim hangs on what is missing."""
        above, below = low > against.boundary, high < against.boundary
        told = np.where(above, against.needed(level), in_favour.needed(level))
        return np.where(above | below, told, np.inf)

    return Evidence.of(
        low + (high - low) / 2,
        against.p_above,
        in_favour.p_below,
        error=np.maximum(against.error, in_favour.error),
        boundary=against.boundary,
        worth=against.worth,
        ends=ends,
        needed=needed,
        log_e=(against.log_e[0], in_favour.log_e[1]) if against.log_e and in_favour.log_e else None,
        between=np.concatenate([against.p_ends[..., :1, :], in_favour.p_ends[..., 1:, :]], axis=-2),
        resamples=max(against.resamples, in_favour.resamples),
    )
