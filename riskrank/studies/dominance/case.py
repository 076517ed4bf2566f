"""What the sentences of a verdict on dominance are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riskrank.engine.dominance.inference import Inference
from riskrank.studies.dominance.columns import DominanceColumn
from riskrank.studies.judged.chapter import JudgedChapter
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.suites.chapter import SuiteChapter


@dataclass(frozen=True)
class DominanceCase:
    """What sentences are made from."""

    columns: Sequence[DominanceColumn]
    means: Sequence[MetricMeans]
    models: Sequence[str]
    inference: Inference
    suite: SuiteChapter | None = None
    judged: JudgedChapter | None = None

    def score(self, column: DominanceColumn) -> str:
        """What a column of scores is called in a sentence."""
        name = "the combined score" if self.mean_of(column) is None else column.name
        return name if self.suite is None or len(self.columns) > 1 else f"{name} {self.suite.on}"

    def mean_of(self, column: DominanceColumn) -> MetricMeans | None:
        """Raw means of a column that is a metric."""
        return next((mean for mean in self.means if mean.name == column.name), None)

    def against(self, column: DominanceColumn, i: int, j: int) -> str:
        """Whose means, and where the difference lies: ``777 against 785 of b (difference −23 to 6)``."""
        mean = self.mean_of(column)
        if mean is None:
            return ""
        both, ends = f"{mean.against(i, j)} of {self.models[j]}", self._ends(column, i, j)
        return both if ends is None else f"{both} (difference {mean.span(*ends)})"

    def means_differ(self, column: DominanceColumn, i: int, j: int) -> bool:
        """Whether the interval told of two means leaves out 0."""
        ends = self._ends(column, i, j)
        return self.mean_of(column) is not None and ends is not None and (ends[0] > 0 or ends[1] < 0)

    def _ends(self, column: DominanceColumn, i: int, j: int) -> tuple[float, float] | None:
        low, high = column.units.interval(column.differences.low, column.differences.high)
        if low is None or high is None or column.units.label not in [mean.name for mean in self.means]:
            return None
        return float(low[i, j]), float(high[i, j])
