"""What the sentences of every study are made from: names, raw means, what columns of scores are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riskrank.studies.judged.chapter import JudgedChapter
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.suites.chapter import SuiteChapter


@dataclass(frozen=True, kw_only=True)
class Case:
    """What findings and sentences of any study look things up in; a study adds its own evidence.

    Attributes
    ----------
    models : sequence of str
    means : tuple of MetricMeans
        Raw means of every metric.
    columns : sequence of str
        Names of the columns of scores that are studied: metrics, and portfolios of them.
    suite : SuiteChapter or None
    judged : JudgedChapter or None
    tested : bool
        Whether anything was tested.
    """

    models: Sequence[str]
    means: tuple[MetricMeans, ...]
    columns: Sequence[str]
    suite: SuiteChapter | None = None
    judged: JudgedChapter | None = None
    tested: bool = True

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return [one.name for one in self.means]

    def mean_of(self, column: str) -> MetricMeans | None:
        """Raw means of a column that is a metric."""
        return next((mean for mean in self.means if mean.name == column), None)

    def score(self, column: str) -> str:
        """What a column of scores is called in a sentence."""
        several = sum(name not in self.metrics for name in self.columns) > 1
        combined = f"the combined score {column}" if several else "the combined score"
        name = column if column in self.metrics else combined
        return name if self.suite is None or len(self.columns) > 1 else f"{name} {self.suite.on}"
