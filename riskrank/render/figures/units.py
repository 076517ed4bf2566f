"""Numbers on an axis in a size it can show: scores may be near the ends of floating point."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import ScalarFormatter
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats

_THOUSANDS = re.compile(r"(?<![\d.])\d{4,}")


class Thousands(ScalarFormatter):
    """Numbers of an axis, thousands apart as in tables."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Write a number."""
        return _THOUSANDS.sub(lambda found: f"{int(found[0]):,}", super().__call__(x, pos))


@dataclass(frozen=True)
class Unit:
    """A power of ten that numbers of an axis are divided by.

    Attributes
    ----------
    exponent : int
        0 where the numbers can be shown as they are.
    percent : bool
        Whether they are shares, in percent as in tables.
    """

    exponent: int
    percent: bool = False

    @classmethod
    def of(cls, *values: ArrayLike, percent: bool = False) -> Unit:
        """Find the unit for all numbers of an axis."""
        if percent:
            return cls(-2, percent=True)
        arrays = [np.abs(np.asarray(value, dtype=np.float64)).ravel() for value in values]
        largest = max((float(array[np.isfinite(array)].max(initial=0.0)) for array in arrays), default=0.0)
        if largest == 0 or 1e-3 <= largest < 1e5:
            return cls(0)
        return cls(int(np.floor(np.log10(largest))))

    def apply(self, values: ArrayLike) -> Floats:
        """Numbers in this unit."""
        array = np.asarray(values, dtype=np.float64)
        if self.exponent == 0:
            return array
        half = self.exponent // 2  # 10 to the whole power may be no floating-point number
        return array / 10.0**half / 10.0 ** (self.exponent - half)

    def label(self, text: str) -> str:
        """Label of the axis."""
        if self.exponent == 0:
            return text
        if self.percent:
            return f"{text} (%)"
        digits = str(self.exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{text} (×10{digits})"


def worse_to_better(label: str, *, lower: bool) -> str:
    """Label of an axis that says which of its ends is good."""
    return f"better ← {label}" if lower else f"{label} → better"
