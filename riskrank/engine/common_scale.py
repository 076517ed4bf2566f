"""One affine map of all samples of a unit, so that neither squares overflow nor long sums cancel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.types import Floats


@dataclass(frozen=True)
class CommonScale:
    """One affine map of all samples, undone without rounding a single score.

    A ratio does not change under it, but squares overflow and long sums cancel. The scale is a power
    of two; a shift is only taken when all scores lie within a factor of two of it, where
    floating-point subtraction is exact.

    Attributes
    ----------
    shift : float
    exponent : int
        Scores become ``(x - shift) / 2**exponent``, at most 1 in size.
    """

    shift: float
    exponent: int

    @classmethod
    def of(cls, samples: Sequence[Floats], *, shift: bool = True) -> CommonScale:
        """Find the map for samples of one unit; without a shift it only changes the unit, exactly."""
        low = min(sample.min() for sample in samples)
        high = max(sample.max() for sample in samples)
        close = (low > 0 and high <= 2 * low) or (high < 0 and low >= 2 * high)
        origin = float(low) if close and shift else 0.0
        largest = max(abs(low - origin), abs(high - origin))
        return cls(origin, int(np.frexp(largest)[1]))  # 0 for nothing but zeros

    def apply(self, scores: Floats) -> Floats:
        """Scores on the common scale."""
        return np.ldexp(scores - self.shift, -self.exponent)

    def of_all(self, samples: Sequence[Floats]) -> tuple[Floats, ...]:
        """Several samples on the common scale."""
        return tuple(self.apply(scores) for scores in samples)

    def undo(self, scores: Floats) -> Floats:
        """Scores in their own unit; infinite where that is beyond any number."""
        with np.errstate(over="ignore"):
            return np.ldexp(scores, self.exponent) + self.shift
