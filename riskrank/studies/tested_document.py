"""Base document of ``rank`` and ``dominance``: tests, means, tasks, judge and detectable differences."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.inference import Inference
from riskrank.scores.files.parsing import Table
from riskrank.studies.document import Row
from riskrank.studies.findings import Case, Finding, Sentences, sample_limits
from riskrank.studies.groups.study import GroupedDocument
from riskrank.studies.judge.section import JudgeAnalysis, JudgedEntry, judge_meta
from riskrank.studies.metric_means import MetricMeans, detectable_differences
from riskrank.studies.settings import describe_tests, provenance
from riskrank.studies.suites.section import SuiteAnalysis, SuiteEntry, suite_meta, task_columns


@dataclass(frozen=True, kw_only=True)
class TestedDocument(GroupedDocument[Row]):
    """Document with significance tests on all samples and, if requested, on each group.

    Attributes
    ----------
    inference : Inference
        Test settings: level, correction, resamples and seed.
    means : tuple of MetricMeans
        Raw means of every metric.
    suite : SuiteAnalysis or None
        Results of a suite by task.
    per_task : bool
        True if the table of tasks and models is shown.
    judged : JudgeAnalysis or None
        Results of a judge calibrated on human labels.
    detectable : dict of str to float
        Minimum detectable difference of means by metric (power 80 %).
    """

    entries: ClassVar[Mapping[str, type]] = {"suite": SuiteEntry, "judge": JudgedEntry}

    inference: Inference
    means: tuple[MetricMeans, ...]
    suite: SuiteAnalysis | None = None
    per_task: bool = False
    judged: JudgeAnalysis | None = None
    detectable: Mapping[str, float] = field(default_factory=dict)

    def table(self) -> Table:
        """Return the table to write as CSV: the means by model and task if requested, otherwise the rows."""
        return super().table() if self.suite is None or not self.per_task else task_columns(self.suite)

    def meta(self) -> Mapping[str, Any]:
        """Return results for the JSON object ``meta``: detectable differences, tasks, judge and groups."""
        detectable = {"smallest_visible": dict(self.detectable)}
        return {**detectable, **suite_meta(self.suite), **judge_meta(self.judged), **super().meta()}


def shared_fields(
    command: str,
    case: Case,
    settings: Any,
    inference: Inference,
    studies: Collection[DominanceStudy],
    content: tuple[Sentences[Any], Iterable[Finding]],
    method_entries: dict[str, Any],
    warnings: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the fields of a `TestedDocument` that ``rank`` and ``dominance`` have in common.

    Parameters
    ----------
    command : str
        Name of the command.
    case : Case
        Results on which the sentences are based.
    settings : RankSettings or DominanceSettings
        Options of the command.
    inference : Inference
        Test settings: level, correction, resamples and seed.
    studies : collection of DominanceStudy
        Studies of all score columns.
    content : (Sentences, iterable of Finding)
        Sentence functions and findings.
    method_entries : mapping of str to object
        Provenance entries besides those on the tests and the combined score.
    warnings : iterable of str
        Warnings in addition to those of the studies.
    """
    table, resampled = case.table, [study.resamples for study in studies if study.resamples is not None]
    advice = dict.fromkeys(line for study in studies for line in study.advice)
    limits = sample_limits([*case.columns.values()], tested=inference.test)
    sentences, findings = content
    return {
        "provenance": provenance(
            command,
            table,
            settings,
            describe_tests(settings) | {"per_metric": settings.per_metric} | method_entries,
            combined=settings.combines_metrics,
            seed=settings.seed
            if inference.uses_resampling or getattr(settings, "stability", False)
            else None,
            resamples=max(resampled, default=None),
            warnings=[*advice, *warnings],
        ),
        **sentences.fields(
            findings, case, table.models, case.assumption if case.columns else "", limits=limits
        ),
        "inference": inference,
        "means": case.means,
        "suite": case.suite,
        "per_task": settings.per_task,
        "judged": case.judged,
        "detectable": detectable_differences(table, case.suite, inference.family) if inference.test else {},
    }
