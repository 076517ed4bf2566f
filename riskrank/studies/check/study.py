"""Inspect a score table and report its contents and problems, for ``check``."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from riskrank.errors import InputError, spell
from riskrank.options.option import Settings, told
from riskrank.scores.table.inspection import InspectedTask, Inspection, MetricRow, Problem, refusing
from riskrank.studies.check.judge import JudgeCheck, JudgeCheckEntry, check_judge
from riskrank.studies.check.suggestions import Suggestion, suggestions
from riskrank.studies.document import Document, Provenance, entries
from riskrank.studies.repeats import PassCurve, RunsSplit, pass_curves, split_of_runs
from riskrank.studies.settings import described_metric
from riskrank.studies.targets import too_large
from riskrank.studies.wording import counted

__all__ = ["CheckDocument", "InspectedTask", "Inspection", "MetricRow", "Problem", "check"]


_PROBLEM_FIELDS = ("severity", "what", "found", "hint")


@dataclass(frozen=True, kw_only=True)
class CheckDocument(Document[MetricRow], schema="check"):
    """Contents and problems of a score table.

    Attributes
    ----------
    inspection : Inspection
        Includes all problems, errors first.
    suggestions : tuple of Suggestion
        Commands that fit the table.
    splits : tuple of RunsSplit
        One per metric with repeats.
    passes : tuple of PassCurve
        One per model and binary metric with repeats.
    judge : JudgeCheck or None
        Inspection of the judge, if the table has one.
    """

    tells_warnings: ClassVar[bool] = True
    entries: ClassVar[Mapping[str, type]] = {"judge": JudgeCheckEntry}

    inspection: Inspection
    suggestions: tuple[Suggestion, ...] = ()
    splits: tuple[RunsSplit, ...] = ()
    passes: tuple[PassCurve, ...] = ()
    judge: JudgeCheck | None = None

    def meta(self) -> Mapping[str, Any]:
        """Return models, pairing, repeats and problems."""
        inspection = self.inspection
        return {
            "table": {
                "rows": inspection.rows,
                "models": [
                    {"model": item.name} | entries(item, "samples", "only_here") for item in inspection.models
                ],
                "common_samples": inspection.common_samples,
                "clusters": inspection.clusters,
                "tasks": [
                    {"task": task.name}
                    | entries(task, "samples", "weight", "metrics", "fewest_scores", "most_scores")
                    for task in inspection.tasks
                ]
                or None,
                **({"holes": [asdict(hole) for hole in inspection.holes]} if inspection.holes else {}),
                "paired": inspection.same_samples,
                **entries(inspection, "fewest_repeats", "most_repeats", "repeated_cells"),
            },
            "problems": [
                {
                    name: spell(text, flags=True) or None
                    for name, text in entries(problem, *_PROBLEM_FIELDS).items()
                }
                for problem in inspection.problems
            ],
            "variance": [entry for split in self.splits for entry in split.described(self.provenance.models)],
            "passes": [curve.described() for curve in self.passes],
            "suggestions": [entries(item, "purpose", "command") for item in self.suggestions],
            **({} if self.judge is None else {"judge": asdict(self.judge.entry)}),
        }

    @property
    def refusal(self) -> InputError | None:
        """Error that other commands raise for this table, with a count of further errors; None if valid."""
        errors = _problems_of_severity(self.inspection, "error")
        if not errors:
            return None
        first, n_more = errors[0], len(errors) - 1
        more = f" (and {n_more} more problem{'s' if n_more > 1 else ''})" if n_more else ""
        return InputError(first.what + more, found=first.found, hint=first.hint, ways=first.ways)


def check(inspection: Inspection) -> CheckDocument:
    """Report what a score table contains and what is wrong with it.

    Parameters
    ----------
    inspection : Inspection
        Result of :func:`~riskrank.scores.table.inspection.inspect_scores`, because an invalid table cannot be
        read as a `ScoreTable`.

    Returns
    -------
    CheckDocument
    """
    judge = None if inspection.judged is None else check_judge(inspection.judged)
    if judge is not None:
        judge_problems = tuple(Problem(severity="warning", what=text) for text in judge.problems)
        inspection = replace(inspection, problems=(*inspection.problems, *judge_problems))
    models = [model.name for model in inspection.models]
    n_samples = max((model.samples for model in inspection.models), default=0) or 1
    magnitudes = (
        (metric.metric, max(map(abs, (metric.minimum or 0, metric.maximum or 0))))
        for metric in inspection.metrics
    )
    large = [
        refusing(error) for name, magnitude in magnitudes if (error := too_large(name, magnitude, n_samples))
    ]
    inspection = replace(inspection, problems=(*large, *inspection.problems))
    runs = [*zip(inspection.specs, inspection.runs, strict=bool(inspection.runs))]
    return CheckDocument(
        provenance=Provenance(
            command="check",
            settings=told(Settings(), inspection.options),
            inputs=[vars(entry) for entry in inspection.inputs],
            models=models,
            metrics=[described_metric(spec) for spec in inspection.specs],
            samples=inspection.samples,
            scored=inspection.scored,
            warnings=[problem.what for problem in _problems_of_severity(inspection, "warning")],
        ),
        rows=[*inspection.metrics],
        verdict=_verdict(inspection),
        inspection=inspection,
        judge=judge,
        suggestions=suggestions(inspection),
        splits=tuple(filter(None, (split_of_runs(spec.name, scores) for spec, scores in runs))),
        passes=tuple(
            curve
            for spec, scores in runs
            for curve in pass_curves(spec.name, scores, models, less_is_better=spec.direction == "lower")
        ),
    )


def _verdict(inspection: Inspection) -> str:
    """Return whether the table can be used, and its size."""
    size_text = (
        f"{counted(len(inspection.models), 'model')}, {counted(inspection.samples, 'sample')} and "
        f"{counted(len(inspection.metrics), 'metric')}"
    )
    errors, warnings = (len(_problems_of_severity(inspection, severity)) for severity in ("error", "warning"))
    if errors:
        return f"The table cannot be used as it is: {counted(errors, 'problem')}."
    warning_text = f", with {counted(warnings, 'warning')}" if warnings else ""
    return f"The table can be used{warning_text}: {size_text}."


def _problems_of_severity(inspection: Inspection, severity: str) -> Sequence[Problem]:
    return [problem for problem in inspection.problems if problem.severity == severity]
