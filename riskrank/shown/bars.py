"""Bars in cells: a number and its interval, drawn to the scale of their column where there is room for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.types import Floats
from riskrank.shown.view import Bar, Cell, OfModel, text_of
from riskrank.studies.metric_means import MetricMeans

# Of an axis with a model far away from all others: how much of it they would have.
_CROWDED = 0.1
# How many times its lower end the upper one is on a logarithmic axis, or more.
_LOGARITHMIC = 20.0


@dataclass(frozen=True)
class Axis:
    """What the ends of a column of bars are; ``logarithmic`` where equal ways are equal ratios."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def over(cls, means: Floats, low: Floats, high: Floats) -> Axis:
        """Reach over some means and their intervals, so that the means can be told apart.

        One that is far away from all others is beyond the end.

        Parameters
        ----------
        means, low, high : ndarray, shape (k,)
            Ends that are not finite are passed over.
        """
        ends = np.array([low, means, high])
        whole = cls._reaching(ends)
        for far in (np.argmax(means), np.argmin(means)) if means.size > 2 else ():
            near = cls._reaching(np.delete(ends, far, axis=1))
            if 0 < whole._of(near.high) - whole._of(near.low) < _CROWDED:
                return near
        return whole

    @classmethod
    def _reaching(cls, values: Floats) -> Axis:
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
        return cls(low, high, logarithmic=low > 0 and high >= _LOGARITHMIC * low)

    def bar(self, at: float, low: float, high: float) -> Bar:
        """A number with its interval; an open end is that of the scale."""
        left = low if np.isfinite(low) else at if np.isnan(low) else self.low
        right = high if np.isfinite(high) else at if np.isnan(high) else self.high
        beyond = int(at > self.high) - int(at < self.low)
        return Bar(self._of(at), self._of(left), self._of(right), beyond)

    def _of(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            return float(np.log(value / self.low) / np.log(self.high / self.low))
        width = self.high - self.low
        return (value - self.low) / width if width > 0 else 0.5


def with_bars(column: OfModel, mean: MetricMeans, shown: Sequence[int]) -> OfModel:
    """A column of raw means with the interval of each beside it.

    Parameters
    ----------
    column : OfModel
    mean : MetricMeans
    shown : sequence of int
        Models with a row.
    """
    low, high = mean.ends
    rows = list(shown)
    scale = Axis.over(mean.mean[rows], low[rows], high[rows])
    kind = ("log",) if scale.logarithmic else ()
    head, cell = column

    def drawn(i: int) -> Cell:
        return Cell(text_of(cell(i)), bar=scale.bar(float(mean.mean[i]), float(low[i]), float(high[i])))

    return replace(head, axis=(mean.said(scale.low), *kind, mean.said(scale.high))), drawn
