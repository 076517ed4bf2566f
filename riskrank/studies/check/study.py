"""Report the contents and problems of a score table, for ``check``."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from riskrank.errors import InputError, listing, spell
from riskrank.options.option import Settings, changed_settings
from riskrank.scores.table.inspection import InspectedTask, Inspection, MetricRow, Problem, to_problem
from riskrank.studies.check.judge import JudgeCheck, JudgeCheckEntry, check_judge
from riskrank.studies.check.suggestions import Suggestion, suggestions
from riskrank.studies.document import Document, Provenance, attributes
from riskrank.studies.repeats import PassCurve, RunsSplit, pass_curves, split_run_variance
from riskrank.studies.settings import describe_metric
from riskrank.studies.targets import too_large_error
from riskrank.studies.wording import counted

__all__ = ["CheckDocument", "InspectedTask", "Inspection", "MetricRow", "Problem", "check"]


# Commands for tables on which nothing can be tested.
_WITHOUT_TESTS = {"check", "copa", "mrm", "portfolio"}
_PROBLEM_FIELDS = ("severity", "what", "found", "hint")


@dataclass(frozen=True, kw_only=True)
class CheckDocument(Document[MetricRow], schema="check"):
    """Contents and problems of a score table.

    Attributes
    ----------
    inspection : Inspection
        Contents of the table and all problems, errors first.
    suggestions : tuple of Suggestion
        Commands that fit the table.
    splits : tuple of RunsSplit
        One per metric with repeats.
    passes : tuple of PassCurve
        One per model and binary metric with repeats.
    judge : JudgeCheck or None
        Results of checking the judge, or None if the table has none.
    """

    includes_warnings: ClassVar[bool] = True
    entries: ClassVar[Mapping[str, type]] = {"judge": JudgeCheckEntry}

    inspection: Inspection
    suggestions: tuple[Suggestion, ...] = ()
    splits: tuple[RunsSplit, ...] = ()
    passes: tuple[PassCurve, ...] = ()
    judge: JudgeCheck | None = None

    def meta(self) -> Mapping[str, Any]:
        """Return the ``meta`` entries: models, pairing, repeats and problems."""
        inspection = self.inspection
        return {
            "table": {
                "rows": inspection.rows,
                "models": [
                    {"model": item.name} | attributes(item, "samples", "only_here")
                    for item in inspection.models
                ],
                "common_samples": inspection.common_samples,
                "clusters": inspection.clusters,
                "tasks": [
                    {"task": task.name}
                    | attributes(task, "samples", "weight", "metrics", "fewest_scores", "most_scores")
                    for task in inspection.tasks
                ]
                or None,
                **({"holes": [asdict(hole) for hole in inspection.holes]} if inspection.holes else {}),
                "paired": inspection.same_samples,
                **attributes(inspection, "fewest_repeats", "most_repeats", "repeated_cells"),
            },
            "problems": [
                {
                    name: spell(text, flags=True) or None
                    for name, text in attributes(problem, *_PROBLEM_FIELDS).items()
                }
                for problem in inspection.problems
            ],
            "variance": [entry for split in self.splits for entry in split.entries(self.provenance.models)],
            "passes": [curve.entry() for curve in self.passes],
            "suggestions": [attributes(item, "purpose", "command") for item in self.suggestions],
            **({} if self.judge is None else {"judge": asdict(self.judge.entry)}),
        }

    @property
    def refusal(self) -> InputError | None:
        """Error that all other commands would raise for this table, or None if the table is valid."""
        errors = _problems_of_severity(self.inspection, "error")
        if not errors:
            return None
        first, n_more = errors[0], len(errors) - 1
        more = f" (and {n_more} more problem{'s' if n_more > 1 else ''})" if n_more else ""
        return InputError(
            first.what + more, found=first.found, hint=first.hint, suggestions=first.suggestions
        )


def check(inspection: Inspection) -> CheckDocument:
    """Report the contents and problems of a score table.

    Parameters
    ----------
    inspection : Inspection
        Result of :func:`~riskrank.scores.table.inspection.inspect_scores`, which also describes invalid
        tables. These cannot be read as a `ScoreTable`.

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
        to_problem(error)
        for name, magnitude in magnitudes
        if (error := too_large_error(name, magnitude, n_samples))
    ]
    inspection = replace(inspection, problems=(*large, *inspection.problems))
    runs = [*zip(inspection.specs, inspection.runs, strict=bool(inspection.runs))]
    return CheckDocument(
        provenance=Provenance(
            command="check",
            settings=changed_settings(Settings(), inspection.options),
            inputs=[vars(entry) for entry in inspection.inputs],
            models=models,
            metrics=[describe_metric(spec) for spec in inspection.specs],
            samples=inspection.samples,
            scored=inspection.scored,
            warnings=[problem.what for problem in _problems_of_severity(inspection, "warning")],
        ),
        rows=[*inspection.metrics],
        verdict=_verdict(inspection),
        inspection=inspection,
        judge=judge,
        suggestions=suggestions(inspection),
        splits=tuple(filter(None, (split_run_variance(spec.name, scores) for spec, scores in runs))),
        passes=tuple(
            curve
            for spec, scores in runs
            for curve in pass_curves(spec.name, scores, models, less_is_better=spec.direction == "lower")
        ),
    )


def _verdict(inspection: Inspection) -> str:
    """Return a sentence that states whether the table can be used, and its size."""
    size_text = (
        f"{counted(len(inspection.models), 'model')}, {counted(inspection.samples, 'sample')} and "
        f"{counted(len(inspection.metrics), 'metric')}"
    )
    errors, warnings = (len(_problems_of_severity(inspection, severity)) for severity in ("error", "warning"))
    if errors:
        return f"The table cannot be used as it is: {counted(errors, 'problem')}."
    warning_text = f", with {counted(warnings, 'warning')}" if warnings else ""
    commands = {suggestion.command.split()[1]: "" for suggestion in suggestions(inspection)}
    is_limited = {*commands} <= _WITHOUT_TESTS
    only = f" for {listing(name for name in commands if name != 'check') or 'descriptions'} only" * is_limited
    return f"The table can be used{only}{warning_text}: {size_text}."


def _problems_of_severity(inspection: Inspection, severity: str) -> Sequence[Problem]:
    """Return the problems with the given severity: "error" or "warning"."""
    return [problem for problem in inspection.problems if problem.severity == severity]
