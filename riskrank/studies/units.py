"""Effect sizes in the units of the file: what was turned so that larger is better is turned back."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.scores.table.metrics_file import MetricSpec

COMBINED = "combined score"
"""What a number of a portfolio counts."""


@dataclass(frozen=True)
class Units:
    """Units of one column of scores.

    Attributes
    ----------
    sign : float
        −1 where less is better in the file.
    label : str
        What a number counts: the metric, its negative logarithm, or the portfolio.
    """

    sign: float
    label: str

    def of(self, values: np.ndarray) -> np.ndarray:
        """Oriented values or differences as the file has them."""
        # Adding zero turns −0 into 0.
        return self.sign * values + 0.0

    def ends(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends of oriented intervals as the file has them, the smaller one first."""
        return (self.of(low), self.of(high)) if self.sign > 0 else (self.of(high), self.of(low))

    def interval(
        self, low: np.ndarray | None, high: np.ndarray | None
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The same, where there are intervals."""
        return (None, None) if low is None or high is None else self.ends(low, high)


def units_of(column: str, metrics: Sequence[MetricSpec]) -> Units:
    """Units of a metric or a portfolio.

    A logarithm stays one: the exponential of a mean of logarithms is no mean of the file's scores.
    """
    for metric in metrics:
        if metric.name == column:
            label = f"−log {metric.name}" if metric.transform == "neg_log" else metric.name
            return Units(metric.sign, label)
    return Units(1.0, COMBINED)
