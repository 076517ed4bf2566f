"""What ``rank`` and ``dominance`` find beside their own: means, tasks, a judge, what could have been seen."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.inference import Inference
from riskrank.scores.files.formulas import Table
from riskrank.studies.detectable_difference import visible_differences
from riskrank.studies.document import Row
from riskrank.studies.findings import Case, Finding, Sentences
from riskrank.studies.groups.study import GroupedDocument
from riskrank.studies.judge.section import JudgedChapter, JudgedEntry, judged_meta
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.sample_findings import sample_findings
from riskrank.studies.settings import described_tests, provenance
from riskrank.studies.suites.entries import SuiteEntry, task_columns, suite_meta
from riskrank.studies.suites.section import SuiteChapter


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

    def table(self) -> Table:
        """The means of every model on every task, where they were asked for."""
        return super().table() if self.suite is None or not self.per_task else task_columns(self.suite)

    def meta(self) -> Mapping[str, Any]:
        """What could have been seen, the suite, the judge and the groups, where there are some."""
        visible = {"smallest_visible": dict(self.visible)}
        return {**visible, **suite_meta(self.suite), **judged_meta(self.judged), **super().meta()}


def of_tests(
    command: str,
    case: Case,
    settings: Any,
    inference: Inference,
    studies: Collection[DominanceStudy],
    said: tuple[Sentences[Any], Iterable[Finding]],
    described: dict[str, Any],
    warnings: Iterable[str] = (),
) -> dict[str, Any]:
    """Fields of such a document that no command has of its own.

    Parameters
    ----------
    command : str
    case : Case
    settings : RankSettings or DominanceSettings
    inference : Inference
    studies : collection of DominanceStudy
        Of every column of scores.
    said : (Sentences, iterable of Finding)
    described : mapping of str to object
        How it was done, beside the tests and how metrics were folded.
    warnings : iterable of str
        Beside those of the studies.
    """
    table, resampled = case.table, [study.resamples for study in studies if study.resamples is not None]
    advice = dict.fromkeys(line for study in studies for line in study.advice)
    limits = sample_findings([*case.columns.values()], tested=inference.test)
    sentences, findings = said
    return {
        "provenance": provenance(
            command,
            table,
            settings,
            described_tests(settings) | {"per_metric": settings.per_metric} | described,
            folded=settings.folds_metrics,
            seed=settings.seed if inference.resampled or getattr(settings, "stability", False) else None,
            resamples=max(resampled, default=None),
            warnings=[*advice, *warnings],
        ),
        **sentences.told(findings, case, table.models, case.assuming if case.columns else "", limits=limits),
        "inference": inference,
        "means": case.means,
        "suite": case.suite,
        "per_task": settings.per_task,
        "judged": case.judged,
        "visible": visible_differences(table, case.suite, inference.family) if inference.test else {},
    }
