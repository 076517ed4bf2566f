"""What a score table holds and what is wrong with it: the study behind ``check``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from riskrank.errors import InputError, spell
from riskrank.scores.table.inspection import MetricReport, Problem, TableReport
from riskrank.studies.document import Document, Provenance
from riskrank.studies.provenance import described_metric, reading_settings
from riskrank.studies.runs import RunsSplit, split_of_runs
from riskrank.studies.suggestions import Suggestion, suggestions
from riskrank.studies.wording import counted

__all__ = ["CheckDocument", "MetricRow", "Problem", "TableReport", "check"]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric, in the units of the file."""

    metric: str
    direction: str
    declared: bool
    transform: str
    scale: str
    n: int
    minimum: float | None
    maximum: float | None
    mean: float | None
    distinct: int
    tied_share: float
    missing: int
    outside_bounds: int
    constant: bool


@dataclass(frozen=True, kw_only=True)
class CheckDocument(Document[MetricRow]):
    """What the files hold.

    Attributes
    ----------
    report : TableReport
        With all problems, errors first.
    suggestions : tuple of Suggestion
        What can be done with the table.
    splits : tuple of RunsSplit
        Of every metric that has repeats.
    """

    schema: ClassVar[str] = "check"
    row_type: ClassVar[type] = MetricRow
    tells_warnings: ClassVar[bool] = True

    report: TableReport
    suggestions: tuple[Suggestion, ...] = ()
    splits: tuple[RunsSplit, ...] = ()

    def meta(self) -> Mapping[str, Any]:
        """Models, pairing, repeats and problems."""
        report = self.report
        return {
            "table": {
                "rows": report.rows,
                "models": [
                    {"model": model.name, "samples": model.samples, "only_here": model.only_here}
                    for model in report.models
                ],
                "common_samples": report.common_samples,
                "clusters": report.clusters,
                "paired": report.same_samples,
                "fewest_repeats": report.fewest_repeats,
                "most_repeats": report.most_repeats,
                "repeated_cells": report.repeated_cells,
            },
            "problems": [
                {
                    "severity": problem.severity,
                    "what": spell(problem.what, flags=True),
                    "found": spell(problem.found, flags=True) or None,
                    "hint": spell(problem.hint, flags=True) or None,
                }
                for problem in report.problems
            ],
            "variance": [
                entry
                for split in self.splits
                for entry in split.described([model.name for model in report.models])
            ],
            "suggestions": [{"purpose": one.purpose, "command": one.command} for one in self.suggestions],
        }

    @property
    def refusal(self) -> InputError | None:
        """Why the other commands would refuse this table, with a count of further reasons."""
        errors = _of_severity(self.report, "error")
        if not errors:
            return None
        first, rest = errors[0], len(errors) - 1
        more = f" (and {rest} more problem{'s' if rest > 1 else ''})" if rest else ""
        return InputError(first.what + more, found=first.found, hint=first.hint)


def check(report: TableReport) -> CheckDocument:
    """Say what a score table holds and what is wrong with it.

    Parameters
    ----------
    report : TableReport
        From :func:`~riskrank.scores.table.inspection.inspect_scores`: a wrong table cannot be read as one.

    Returns
    -------
    CheckDocument
    """
    return CheckDocument(
        provenance=Provenance(
            command="check",
            seed=None,
            resamples=None,
            settings=reading_settings(report.options),
            inputs=[vars(entry) for entry in report.inputs],
            models=[model.name for model in report.models],
            metrics=[described_metric(metric.spec) for metric in report.metrics],
            samples=report.samples,
            warnings=[problem.what for problem in _of_severity(report, "warning")],
        ),
        rows=[_row(metric) for metric in report.metrics],
        verdict=_verdict(report),
        report=report,
        suggestions=suggestions(report),
        splits=tuple(
            split
            for metric, scores in zip(report.metrics, report.runs, strict=bool(report.runs))
            if (split := split_of_runs(metric.spec.name, scores)) is not None
        ),
    )


def _verdict(report: TableReport) -> str:
    """Whether the table can be used, and how large it is."""
    holds = (
        f"{counted(len(report.models), 'model')}, {counted(report.samples, 'sample')} and "
        f"{counted(len(report.metrics), 'metric')}"
    )
    errors, warnings = (len(_of_severity(report, severity)) for severity in ("error", "warning"))
    if errors:
        return f"The table cannot be used as it is: {counted(errors, 'problem')}."
    doubt = f", with {counted(warnings, 'warning')}" if warnings else ""
    return f"The table can be used{doubt}: {holds}."


def _of_severity(report: TableReport, severity: str) -> Sequence[Problem]:
    return [problem for problem in report.problems if problem.severity == severity]


def _row(metric: MetricReport) -> MetricRow:
    spec = metric.spec
    return MetricRow(
        metric=spec.name,
        direction=spec.direction,
        declared=spec.declared,
        transform=spec.transform,
        scale=spec.scale,
        n=metric.n,
        minimum=metric.minimum,
        maximum=metric.maximum,
        mean=metric.mean,
        distinct=metric.distinct,
        tied_share=metric.tied_share,
        missing=metric.missing,
        outside_bounds=metric.outside_bounds,
        constant=metric.constant,
    )
