"""Bars in cells: a number and its interval, drawn to the scale of their column where there is room for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.shown.view import Bar, Cell, OfModel, text_of
from riskrank.studies.metric_means import MetricMeans


@dataclass(frozen=True)
class Axis:
    """What the ends of a column of bars are."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float]) -> Axis:
        """Reach over all finite ones of some values."""
        known = [value for value in values if np.isfinite(value)] or [0.0]
        return cls(min(known), max(known))

    def bar(self, at: float, low: float, high: float, *, tone: str = "") -> Bar:
        """A number with its interval; an open end is that of the scale."""
        left = low if np.isfinite(low) else at if np.isnan(low) else self.low
        right = high if np.isfinite(high) else at if np.isnan(high) else self.high
        return Bar(self._of(at), self._of(left), self._of(right), tone)

    def _of(self, value: float) -> float:
        width = self.high - self.low
        return min(max((value - self.low) / width, 0.0), 1.0) if width > 0 else 0.5


def with_bars(column: OfModel, mean: MetricMeans, shown: Sequence[int], tones: Sequence[str] = ()) -> OfModel:
    """A column of raw means with the interval of each beside it.

    Parameters
    ----------
    column : OfModel
    mean : MetricMeans
    shown : sequence of int
        Models with a row.
    tones : sequence of k str, optional
        Of each model: ``lead``, ``risk`` or nothing.
    """
    low, high = mean.ends
    scale = Axis.over(float(end) for ends in (low, high, mean.mean) for end in ends[list(shown)])
    head, cell = column

    def drawn(i: int) -> Cell:
        tone = tones[i] if tones else ""
        bar = scale.bar(float(mean.mean[i]), float(low[i]), float(high[i]), tone=tone)
        return Cell(text_of(cell(i)), bar=bar)

    return replace(head, axis=(mean.said(scale.low), mean.said(scale.high))), drawn
