"""Optima of relabelled data, found only as exactly and as many as a question needs."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrc

from riskrank.engine.gsd.polytope import UtilityPolytope
from riskrank.engine.gsd.threshold import RESOLUTION
from riskrank.engine.types import Floats

# Where a pair is looked at before the last relabelling, and when it is closed there.
_LOOKS, _SURPRISE = (200, 1000), 0.05


class NullOptima:
    """Optima of relabelled data, found only as exactly as a question needs.

    Parameters
    ----------
    polytope : UtilityPolytope
        Fixed under relabelling.
    signs : ndarray, shape (N, units)
        The relabellings.
    contributions : ndarray, shape (units, d)
        What each unit adds to the objective when its sign is +1.
    """

    def __init__(self, polytope: UtilityPolytope, signs: Floats, contributions: Floats) -> None:
        self._polytope = polytope
        self._signs = signs
        self._contributions = contributions
        self._above = np.full(len(signs), np.inf)
        for utility in polytope.utilities:
            np.minimum(self._above, signs @ (contributions @ utility), out=self._above)
        self._known = np.zeros(len(signs), dtype=bool)

    def at_least(self, value: float) -> int:
        """Number of relabellings whose optimum is at least a value, ties included."""
        needed = value - RESOLUTION
        for b in range(len(self._signs)):
            if self._above[b] >= needed and not self._known[b]:
                self._solve(b)
        return int(np.sum(self._above >= needed))

    def all(self) -> Floats:
        """Optimum of every relabelling, exactly, shape (N,)."""
        self.at_least(-np.inf)
        return self._above.copy()

    def _solve(self, b: int) -> None:
        optimum = self._polytope.minimise(self._signs[b] @ self._contributions)
        expected = self._signs @ (self._contributions @ optimum.utility)
        self._above = np.where(self._known, self._above, np.minimum(self._above, expected))
        self._above[b] = optimum.value
        self._known[b] = True


def closed_early(
    polytope: UtilityPolytope, signs: Floats, contributions: Floats, value: float, closing: float | None
) -> tuple[NullOptima, int]:
    """Relabellings until a pair is beyond being significant, or all of them, and how many these are."""
    for count in _LOOKS if closing is not None else ():
        if count < len(signs):
            null = NullOptima(polytope, signs[:count], contributions)
            if bdtrc(null.at_least(value) - 1, count, closing) < _SURPRISE:
                return null, count
    return NullOptima(polytope, signs, contributions), len(signs)
