"""All resamples of few units, with the probability of each, in the place of some drawn ones (method §8).

Whole tasks of few make few resamples: of six there are 462 different ones. To draw thousands of them would
only blur their probabilities, of which the smallest, T⁻ᵀ, says what no resampling of T tasks can show.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import factorial

import numpy as np

from riskrank.engine.types import Floats, Integers

# Nine units make 24,310 multisets, ten 92,378.
MOST_UNITS = 9

# Rows that stand for all resamples where each has to count the same; up to six units there are as many.
_ROWS = 6**6


@dataclass(frozen=True)
class Multisets:
    """All resamples of T units.

    Attributes
    ----------
    counts : ndarray of int, shape (M, T)
        How often each unit is drawn.
    masses : ndarray, shape (M,)
        Probabilities, of sum 1.
    """

    counts: Integers
    masses: Floats

    @classmethod
    def of(cls, units: int) -> Multisets:
        """Of so many units."""
        drawn = np.array([*itertools.combinations_with_replacement(range(units), units)])
        counts = np.stack([np.count_nonzero(drawn == unit, axis=1) for unit in range(units)], axis=1)
        ways = np.array([factorial(number) for number in range(units + 1)], dtype=np.float64)
        return cls(counts, ways[units] / ways[counts].prod(axis=1) / float(units) ** units)

    def rows(self) -> Integers:
        """Numbers of resamples, each as often as it is probable, so that every row counts the same."""
        units = self.counts.shape[1]
        total = min(units**units, _ROWS)
        # Evenly spaced on the scale of cumulated probabilities: exact where there are no more than that.
        middles = (np.arange(total) + 0.5) / total
        return np.minimum(np.searchsorted(np.cumsum(self.masses), middles), len(self.masses) - 1)
