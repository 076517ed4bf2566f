"""What a score table holds and what is wrong with it: the study behind ``check``."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from riskrank.errors import InputError, spell
from riskrank.options.option import Settings, told
from riskrank.scores.table.inspection import InspectedTask, Inspection, MetricRow, Problem, refusing
from riskrank.studies.check.judge import JudgeCheck, JudgeCheckEntry, judge_check
from riskrank.studies.check.suggestions import Suggestion, suggestions
from riskrank.studies.document import Document, Provenance, entries
from riskrank.studies.repeats import PassCurve, RunsSplit, pass_curves, split_of_runs
from riskrank.studies.settings import described_metric
from riskrank.studies.targets import too_large
from riskrank.studies.wording import counted

__all__ = ["CheckDocument", "InspectedTask", "Inspection", "MetricRow", "Problem", "check"]


_TOLD = ("severity", "what", "found", "hint")


@dataclass(frozen=True, kw_only=True)
class CheckDocument(Document[MetricRow], schema="check"):
    """What the files hold.

    Attributes
    ----------
    inspection : Inspection
        With all problems, errors first.
    suggestions : tuple of Suggestion
        What can be done with the table.
    splits : tuple of RunsSplit
        Of every metric that has repeats.
    passes : tuple of PassCurve
        Of every model on every metric of zeros and ones that has repeats.
    judge : JudgeCheck or None
        What people's scores say of a judge.
    """

    tells_warnings: ClassVar[bool] = True
    entries: ClassVar[Mapping[str, type]] = {"judge": JudgeCheckEntry}

    inspection: Inspection
    suggestions: tuple[Suggestion, ...] = ()
    splits: tuple[RunsSplit, ...] = ()
    passes: tuple[PassCurve, ...] = ()
    judge: JudgeCheck | None = None

    def meta(self) -> Mapping[str, Any]:
        """Models, pairing, repeats and problems."""
        inspection = self.inspection
        return {
            "table": {
                "rows": inspection.rows,
                "models": [
                    {"model": one.name} | entries(one, "samples", "only_here") for one in inspection.models
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
                {name: spell(text, flags=True) or None for name, text in entries(problem, *_TOLD).items()}
                for problem in inspection.problems
            ],
            "variance": [entry for split in self.splits for entry in split.described(self.provenance.models)],
            "passes": [curve.described() for curve in self.passes],
            "suggestions": [entries(one, "purpose", "command") for one in self.suggestions],
            **({} if self.judge is None else {"judge": asdict(self.judge.entry)}),
        }

    @property
    def refusal(self) -> InputError | None:
        """Why the other commands would refuse this table, with a count of further reasons."""
        errors = _of_severity(self.inspection, "error")
        if not errors:
            return None
        first, rest = errors[0], len(errors) - 1
        more = f" (and {rest} more problem{'s' if rest > 1 else ''})" if rest else ""
        return InputError(first.what + more, found=first.found, hint=first.hint, ways=first.ways)


def check(inspection: Inspection) -> CheckDocument:
    """Say what a score table holds and what is wrong with it.

    Parameters
    ----------
    inspection : Inspection
        From :func:`~riskrank.scores.table.inspection.inspect_scores`: a wrong table cannot be read as one.

    Returns
    -------
    CheckDocument
    """
    judge = None if inspection.judged is None else judge_check(inspection.judged)
    if judge is not None:
        doubts = tuple(Problem(severity="warning", what=text) for text in judge.doubts)
        inspection = replace(inspection, problems=(*inspection.problems, *doubts))
    models = [model.name for model in inspection.models]
    most = max((model.samples for model in inspection.models), default=0) or 1
    ends = ((one.metric, max(map(abs, (one.minimum or 0, one.maximum or 0)))) for one in inspection.metrics)
    large = [refusing(error) for name, end in ends if (error := too_large(name, end, most))]
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
            warnings=[problem.what for problem in _of_severity(inspection, "warning")],
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
    """Whether the table can be used, and how large it is."""
    holds = (
        f"{counted(len(inspection.models), 'model')}, {counted(inspection.samples, 'sample')} and "
        f"{counted(len(inspection.metrics), 'metric')}"
    )
    errors, warnings = (len(_of_severity(inspection, severity)) for severity in ("error", "warning"))
    if errors:
        return f"The table cannot be used as it is: {counted(errors, 'problem')}."
    doubt = f", with {counted(warnings, 'warning')}" if warnings else ""
    return f"The table can be used{doubt}: {holds}."


def _of_severity(inspection: Inspection, severity: str) -> Sequence[Problem]:
    return [problem for problem in inspection.problems if problem.severity == severity]
