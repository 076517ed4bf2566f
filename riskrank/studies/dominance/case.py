"""What the sentences of a verdict on dominance are made from."""

from __future__ import annotations

from dataclasses import dataclass

from riskrank.studies.case import Case
from riskrank.studies.dominance.columns import DominanceColumn


@dataclass(frozen=True, kw_only=True)
class DominanceCase(Case):
    """What sentences are made from: the tests of every column of scores."""

    tests: dict[str, DominanceColumn]

    def against(self, column: DominanceColumn, i: int, j: int) -> str:
        """Whose means, and where the difference lies: ``777 against 785 of b (difference −23 to 6)``."""
        mean = self.mean_of(column.name)
        if mean is None:
            return ""
        both, ends = f"{mean.against(i, j)} of {self.models[j]}", self._ends(column, i, j)
        return both if ends is None else f"{both} (difference {mean.span(*ends)})"

    def means_differ(self, column: DominanceColumn, i: int, j: int) -> bool:
        """Whether the interval told of two means leaves out 0."""
        ends = self._ends(column, i, j)
        return self.mean_of(column.name) is not None and ends is not None and (ends[0] > 0 or ends[1] < 0)

    def _ends(self, column: DominanceColumn, i: int, j: int) -> tuple[float, float] | None:
        low, high = column.units.interval(column.differences.low, column.differences.high)
        if low is None or high is None or column.units.label not in self.metrics:
            return None
        return float(low[i, j]), float(high[i, j])
