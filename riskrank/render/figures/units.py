"""Powers of ten for axis labels, as scores may be close to the limits of floating-point numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import ScalarFormatter
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats

_THOUSANDS = re.compile(r"(?<![\d.])\d{4,}")


class Thousands(ScalarFormatter):
    """Tick formatter with thousands separators, as in tables."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Format a tick label."""
        return _THOUSANDS.sub(lambda match: f"{int(match[0]):,}", super().__call__(x, pos))


@dataclass(frozen=True)
class Unit:
    """A power of ten by which the numbers on an axis are divided.

    Attributes
    ----------
    exponent : int
        Exponent of the power of ten; 0 if the numbers are unchanged.
    percent : bool
        True if the numbers are proportions, shown in percent.
    """

    exponent: int
    percent: bool = False

    @classmethod
    def choose(cls, *values: ArrayLike, percent: bool = False) -> Unit:
        """Choose the unit for all numbers on an axis."""
        if percent:
            return cls(-2, percent=True)
        arrays = [np.abs(np.asarray(value, dtype=np.float64)).ravel() for value in values]
        largest = max((float(array[np.isfinite(array)].max(initial=0.0)) for array in arrays), default=0.0)
        if largest == 0 or 1e-3 <= largest < 1e5:
            return cls(0)
        return cls(int(np.floor(np.log10(largest))))

    def apply(self, values: ArrayLike) -> Floats:
        """Convert numbers to this unit."""
        array = np.asarray(values, dtype=np.float64)
        if self.exponent == 0:
            return array
        half = self.exponent // 2  # 10 to the full power may overflow
        return array / 10.0**half / 10.0 ** (self.exponent - half)

    def label(self, text: str) -> str:
        """Return the axis label with its unit."""
        if self.exponent == 0:
            return text
        if self.percent:
            return f"{text} (%)"
        digits = str(self.exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{text} (×10{digits})"


def direction_label(label: str, *, lower: bool) -> str:
    """Return an axis label with an arrow towards better values."""
    return f"better ← {label}" if lower else f"{label} → better"
