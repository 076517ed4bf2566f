"""A common affine transformation of all samples, which avoids overflow and cancellation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.types import Floats


@dataclass(frozen=True)
class CommonScale:
    """Affine transformation of all samples, without rounding error.

    Violation ratios are invariant under it. The scale is a power of two. A shift is used only if all scores
    lie within a factor of two of it, where floating-point subtraction is exact.

    Attributes
    ----------
    shift : float
        Number subtracted from all scores before scaling.
    exponent : int
        Scores become ``(x - shift) / 2**exponent``, at most 1 in absolute value.
    """

    shift: float
    exponent: int

    @classmethod
    def fit(cls, samples: Sequence[Floats], *, shift: bool = True) -> CommonScale:
        """Choose the scale for some samples: no scaled score exceeds 1 in absolute value.

        With ``shift=False``, the transformation only scales.
        """
        low = min(sample.min() for sample in samples)
        high = max(sample.max() for sample in samples)
        close = (low > 0 and high <= 2 * low) or (high < 0 and low >= 2 * high)
        origin = float(low) if close and shift else 0.0
        largest = max(abs(low - origin), abs(high - origin))
        return cls(origin, int(np.frexp(largest)[1]))  # the exponent is 0 if all scores are 0

    def apply(self, scores: Floats) -> Floats:
        """Transform scores to the common scale; the shape is kept."""
        return np.ldexp(scores - self.shift, -self.exponent)

    def apply_all(self, samples: Sequence[Floats]) -> tuple[Floats, ...]:
        """Transform several arrays of scores to the common scale."""
        return tuple(self.apply(scores) for scores in samples)

    def undo(self, scores: Floats) -> Floats:
        """Transform scores from the common scale back to their original unit.

        Overflow gives infinity.
        """
        with np.errstate(over="ignore"):
            return np.ldexp(scores, self.exponent) + self.shift
