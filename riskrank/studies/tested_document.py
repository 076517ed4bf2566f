"""What ``rank`` and ``dominance`` find beside their own: means, tasks, a judge, what could have been seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from riskrank.engine.dominance.inference import Inference
from riskrank.studies.document import Row
from riskrank.studies.groups.study import GroupedDocument
from riskrank.studies.judged.chapter import JudgedChapter, JudgedEntry, judged_meta
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.suites.chapter import SuiteChapter
from riskrank.studies.suites.entries import SuiteEntry, by_task, suite_meta


@dataclass(frozen=True, kw_only=True)
class TestedDocument(GroupedDocument[Row]):
    """Tests of scores, of all samples together and, where they were grouped, of each group.

    Attributes
    ----------
    inference : Inference
    means : tuple of MetricMeans
        Raw means of every metric.
    suite : SuiteChapter or None
        Of a suite, what single tasks say.
    per_task : bool
        Whether its table of tasks and models is to be seen.
    judged : JudgedChapter or None
        Of a judge and people, what they are worth together.
    visible : dict of str to float
        By metric the smallest difference of means that could have been shown.
    """

    entries: ClassVar[Mapping[str, type]] = {"suite": SuiteEntry, "judge": JudgedEntry}

    inference: Inference
    means: tuple[MetricMeans, ...]
    suite: SuiteChapter | None = None
    per_task: bool = False
    judged: JudgedChapter | None = None
    visible: Mapping[str, float] = field(default_factory=dict)

    def matrix(self) -> dict[str, list[Any]] | None:
        """The means of every model on every task, where they were asked for."""
        return None if self.suite is None or not self.per_task else by_task(self.suite)

    def meta(self) -> Mapping[str, Any]:
        """What could have been seen, the suite, the judge and the groups, where there are some."""
        visible = {"smallest_visible": dict(self.visible)}
        return {**visible, **suite_meta(self.suite), **judged_meta(self.judged), **super().meta()}
