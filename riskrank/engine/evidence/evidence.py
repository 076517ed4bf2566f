"""What the samples say of claims, whatever kind of evidence it is: the one thing a family is asked with.

A claim says that a statistic lies above its boundary. Every kind of evidence (resamples, influence functions,
Johnson's t, exact shares, permutations, bets, bounds) has a maker in this package, and all makers give this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.types import Booleans, Floats

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
    decided : ndarray of bool
        False where more resamples could show what these are too few for.
    ends : callable
        See :data:`Ends`; by default nothing is known.
    needed : callable
        See :data:`Needed`; by default no number is known.
    """

    estimate: Floats
    error: Floats
    p_above: Floats
    p_below: Floats
    boundary: Floats
    worth: Floats
    decided: Booleans
    ends: Ends = field(repr=False)
    needed: Needed = field(repr=False)

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
        decided: ArrayLike = True,
        ends: Ends | None = None,
        needed: Needed | None = None,
    ) -> Evidence:
        """Fill in what is not known, in the shape of the estimate."""
        own = np.asarray(estimate, dtype=np.float64)

        def spread(values: ArrayLike, kind: type = np.float64) -> np.ndarray:
            return np.broadcast_to(np.asarray(values, dtype=kind), own.shape)

        return cls(
            own,
            spread(error),
            spread(p_above),
            spread(p_below),
            spread(boundary),
            spread(worth),
            spread(decided, bool),
            ends or (lambda _level: (np.full(own.shape, -np.inf), np.full(own.shape, np.inf))),
            needed or (lambda _level: np.full(own.shape, np.inf)),
        )

    @property
    def p_value(self) -> Floats:
        """Two-sided p-value of "the statistic is at its boundary"."""
        return np.minimum(1.0, 2 * np.minimum(self.p_above, self.p_below))

    @classmethod
    def joined(cls, parts: Sequence[Evidence]) -> Evidence:
        """Claims of several makers, one after the other, so that they can be one family.

        Parameters
        ----------
        parts : sequence of Evidence
            One-dimensional, at least one.
        """
        arrays = {
            one.name: np.concatenate([getattr(part, one.name) for part in parts])
            for one in fields(cls)
            if one.name not in ("ends", "needed")
        }

        def ends(level: float) -> tuple[Floats, Floats]:
            low, high = zip(*(part.ends(level) for part in parts), strict=True)
            return np.concatenate(low), np.concatenate(high)

        def needed(level: float) -> Floats:
            return np.concatenate([part.needed(level) for part in parts])

        return cls(**arrays, ends=ends, needed=needed)
