"""Report the contents and problems of a score table, and suggest commands for it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from riskrank.engine.judges import inspect_judge
from riskrank.errors import InputError, listing, shell_quote, spell
from riskrank.options.commands import BY_NAME
from riskrank.options.interfaces import flag_arguments
from riskrank.options.option import Settings, changed_settings, non_defaults
from riskrank.options.output import OutputOptions
from riskrank.options.reading import NO_COLUMN, SHARED, ReadOptions
from riskrank.scores.layouts.layout import READ, Layout, warning_kind
from riskrank.scores.names.directions import looks_like_a_cost
from riskrank.scores.names.vocabulary import is_factor
from riskrank.scores.table.columns import parse_columns
from riskrank.scores.table.dependence import noise_options
from riskrank.scores.table.inspection import InspectedTask, Inspection, MetricRow, Problem, to_problem
from riskrank.scores.table.metric_specs import likely_bounds_line
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.validate import FEW_MODELS
from riskrank.studies.document import Document, Provenance, computed, none_if_nan, rows_from_records
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gsd.options import CriteriaSettings
from riskrank.studies.judge.section import JudgeAnalysis, JudgedEntry, analyze_judge, describe_agreement
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.repeats import PassCurve, RunsSplit, pass_curves, split_run_variance
from riskrank.studies.settings import describe_metric
from riskrank.studies.targets import column_units, too_large_error
from riskrank.studies.wording import counted, format_number, join_names, typeset

__all__ = ["CheckDocument", "InspectedTask", "Inspection", "MetricRow", "Problem", "check"]

# Minimum number of samples for tests. With fewer, only descriptive statistics are available.
_FEWEST_SAMPLES = 10
# Numbers of distinct values of a rating. Two values are binary scores, and more are a measurement.
_FEWEST_LEVELS, _MOST_LEVELS = 3, 10
# Maximum number of grouping columns to suggest.
_MOST_DIVISIONS = 2
# Maximum number of metrics to list by name. More metrics are written as ``*``.
_MOST_NAMED = 8
# Commands for tables on which nothing can be tested.
_WITHOUT_TESTS = {"check", "copa", "mrm", "portfolio"}


@dataclass(frozen=True)
class JudgeOfModelEntry:
    """Agreement and bias of a judge on the answers of one model.

    ``agreement`` is Spearman's rank correlation with the human scores. ``same`` is the proportion of equal
    scores, or None if the judge uses another scale. ``bias`` is the judge's mean minus the human mean on the
    labelled samples, in the units of the file. Its intervals hold simultaneously for all models. ``shift`` is
    the judge's mean on labelled samples minus its mean on the others. ``shift_p`` is the p-value of Welch's t
    test, adjusted by Holm's method.
    """

    model: str = computed(lambda model: model)
    agreement: float | None = computed(lambda inspection, i: none_if_nan(float(inspection.agreement[i])))
    same: float | None = computed(
        lambda inspection, i: None if inspection.identical is None else float(inspection.identical[i])
    )
    bias: float = computed(lambda bias, i: float(bias[0][i]))
    bias_low: float = computed(lambda bias, i: float(bias[1][i]))
    bias_high: float = computed(lambda bias, i: float(bias[2][i]))
    shift: float = computed(lambda sign, inspection, i: float(sign * inspection.shift[i] + 0.0))
    shift_p: float = computed(lambda inspection, i: float(np.minimum(inspection.shift_p[i], 1.0)))


@dataclass(frozen=True)
class JudgeCheckEntry(JudgedEntry):
    """Agreement of a judge with human labels, and its bias, as stored in the JSON output.

    ``separated_by_labels`` and ``separated`` are the numbers of pairs of models whose means differ
    significantly: by the labels alone, and with the judge.
    """

    by_model: Sequence[JudgeOfModelEntry]
    separated_by_labels: int
    separated: int


@dataclass(frozen=True)
class JudgeCheck:
    """Results of comparing a judge with human scores, as numbers and as sentences."""

    entry: JudgeCheckEntry
    section: JudgeAnalysis

    @property
    def agreement(self) -> str:
        """Sentence on how well the judge agrees with human scores."""
        agreements = [model.agreement for model in self.entry.by_model if model.agreement is not None]
        if not agreements:
            return "no rank correlation, because the scores are constant"
        low, high = (typeset(f"{value:.2f}") for value in (min(agreements), max(agreements)))
        text = f"Spearman's rank correlation {low if low == high else f'{low} to {high}'} by model"
        text = f"{describe_agreement(self.entry.agreement)} with human scores, {text}"
        shares = [model.same for model in self.entry.by_model if model.same is not None]
        if not shares:
            return f"{text} on {self.entry.labelled:,} labelled samples."
        low, high = (f"{100 * value:.0f}" for value in (min(shares), max(shares)))
        share = low if low == high else f"{low} to {high}"
        return f"{text}, equal scores on {share} % of {self.entry.labelled:,} labelled samples."

    @property
    def bias(self) -> str:
        """Sentence on the models for which the judge is significantly biased."""
        if self.entry.mapped:
            return "not measurable, because its scores are mapped to the human scale."
        biased = [model for model in self.entry.by_model if model.bias_low > 0 or model.bias_high < 0]
        if not biased:
            return "not significant for any model."
        texts = [
            f"{format_number(model.bias)} for {model.model} "
            f"({format_number(model.bias_low)} to {format_number(model.bias_high)})"
            for model in sorted(biased, key=lambda model: -abs(model.bias))
        ]
        n_other = len(self.entry.by_model) - len(biased)
        others = f"; not significant for {n_other} other{'s' * (n_other > 1)}" if n_other else ""
        return f"{join_names(texts, 3)}{others}."

    @property
    def use(self) -> str:
        """Sentence on how much precision the judge adds to the labels."""
        entry = self.entry
        pairs = len(entry.by_model) * (len(entry.by_model) - 1) // 2
        labels_text = f"the labels alone separate {entry.separated_by_labels} of {pairs} pairs"
        note = "; the labels suffice" if entry.separated_by_labels == pairs else ""
        return (
            f"{self.section.gain_sentence} By means, {labels_text}, with the judge {entry.separated}{note}."
        )

    @property
    def problems(self) -> list[str]:
        """List with a warning if the judge ranks models in the opposite direction, otherwise empty."""
        if not self.section.direction_hint:
            return []
        text = f"{self.entry.judge} is negatively correlated with human scores for every model"
        return [f"{text}: {self.section.direction_hint}"]


def check_judge(table: ScoreTable) -> JudgeCheck | None:
    """Check the judge of a table against the human labels, or return None if the table has no judge."""
    judged, analysis = table.judged, analyze_judge(table)
    if judged is None or analysis is None:
        return None
    inspection = inspect_judge(judged.corrections, judged.raw, mapped=bool(judged.mapping_reason))
    units, sign = column_units(judged.human, table.metrics), judged.judge_sign
    limits = units.interval_to_file_units(inspection.bias_low, inspection.bias_high)
    bias = (units.to_file_units(inspection.bias), *limits)
    records = ((model, inspection, bias, sign, i) for i, model in enumerate(table.models))
    entry = JudgeCheckEntry(
        **vars(analysis.entry),
        by_model=rows_from_records(JudgeOfModelEntry, "model inspection bias sign i", records),
        separated_by_labels=inspection.separated_by_labels,
        separated=inspection.separated,
    )
    return JudgeCheck(entry, analysis)


@dataclass(frozen=True)
class Suggestion:
    """A suggested command and its purpose."""

    purpose: str
    command: str


def _suggest_levels(inspection: Inspection, suggest: Callable[..., Suggestion]) -> Iterator[Suggestion]:
    """Yield a gate that tests the only model against a number, for the first metric with scores."""
    for spec, metric in zip(inspection.specs, inspection.metrics, strict=True):
        if metric.mean is not None:
            number = ((spec.name, float(f"{metric.mean:.2g}")),)
            claim = ClaimSettings(at_most=number) if spec.sign < 0 else ClaimSettings(at_least=number)
            yield suggest("Test one model against a number of your choice:", "gate", *flag_arguments(claim))
            return


def suggest_commands(inspection: Inspection) -> Iterator[Suggestion]:
    """Yield commands that apply to a table, the most useful first; none if the table is invalid."""
    if _problems_of_severity(inspection, "error"):
        return
    declared = options = declared_options(inspection)
    suggest = partial(_build_suggestion, _source_arguments(inspection), declared)
    if not all(spec.declared for spec in inspection.specs):
        yield suggest("Declare the direction of each metric, if this guess is right:", "check")
    if inspection.judged is not None:
        yield suggest("Rank the models by human scores, with tests:", "rank")
        yield suggest("Compare every pair of models:", "dominance")
        return
    if len(inspection.models) == 1:
        yield from _suggest_levels(inspection, suggest)
        return
    several = len(inspection.metrics) > 1 and len({task.metrics for task in inspection.tasks}) < 2
    if options.uncertainty:
        yield suggest("Rank the models, with tests on the published uncertainty:", "rank")
    if inspection.common_samples <= 1 and inspection.samples <= 1:
        if several:
            yield suggest("One row per model: choose by several objectives without a common unit:", "copa")
        return
    if options.missing == SHARED:
        yield suggest("Rank the models, comparing each pair on its common samples:", "rank")
        return
    if inspection.folds or options.noise:
        metric_flags = flag_arguments(RankSettings(per_metric=True)) if several else []
        noise_text = "the dependence of folds" if inspection.folds else "every source of noise"
        yield suggest(f"Rank the models by their means, including {noise_text}:", "rank", *metric_flags)
        return
    if _independent_samples(inspection) >= _FEWEST_SAMPLES:
        yield suggest("Rank the models, with tests:", "rank")
        if len(inspection.models) == 2:
            yield suggest("Test whether one model is better than the other:", "dominance")
        if several:
            metric_flags = flag_arguments(RankSettings(per_metric=True))
            yield suggest("Rank the models on each metric separately:", "rank", *metric_flags)
        for column in inspection.divisions[:_MOST_DIVISIONS]:
            group_flags = flag_arguments(ReadOptions(group_by=column))
            yield suggest(f"Check whether the ranking is the same for every {column}:", "rank", *group_flags)
        yield suggest("Plan the number of samples for the next comparison:", "power")
    else:
        no_test_flags = flag_arguments(RankSettings(no_test=True))
        yield suggest("Rank without tests, because there are fewer than 10 samples:", "rank", *no_test_flags)
    ratings = [metric.metric for metric in inspection.metrics if _looks_ordinal(metric)]
    is_unpaired = options.unpaired or options.cluster not in (None, NO_COLUMN)
    if ratings and several and not is_unpaired and not inspection.tasks:
        ordinal = flag_arguments(CriteriaSettings(ordinal=tuple(ratings)))
        yield suggest("Compare ratings and measurements, using only the order of ratings:", "gsd", *ordinal)
    if several:
        output = flag_arguments(OutputOptions(output=("portfolio.parquet",)))
        yield suggest("Combine the metrics into one score per sample:", "portfolio", *output)
        if not is_unpaired and options.missing == "error":
            # copa compares means, so it can average repeats.
            averaged = replace(declared, repeats="mean") if declared.repeats == "draws" else declared
            purpose = "Choose by several objectives without a common unit:"
            yield _build_suggestion(_source_arguments(inspection), averaged, purpose, "copa")


def declared_options(inspection: Inspection) -> ReadOptions:
    """Return the reading options that define the table's layout explicitly, including all directions."""
    options = inspection.options
    if is_factor(draw := parse_columns(options.columns).get("draw", "run")) and options.repeats != "error":
        options = replace(options, **noise_options(draw, options))
    undeclared = [spec.name for spec in inspection.specs if not spec.declared]
    lower = tuple(name for name in undeclared if looks_like_a_cost(name))
    higher = tuple(name for name in undeclared if name not in lower)
    higher = ("*",) if len(higher) > _MOST_NAMED else higher
    return replace(options, lower=options.lower + lower, higher=options.higher + higher)


def table_layout(inspection: Inspection) -> Layout:
    """Return the layout of a table to save in a configuration file, with the likely bounds of its metrics."""
    options = declared_options(inspection)
    notes = [spell(text.what, flags=True) for text in inspection.problems if warning_kind(text.what) == READ]
    bounds = [
        likely_bounds_line(metric.metric, np.array([metric.minimum, metric.maximum]))
        for metric in inspection.metrics
        if metric.n
    ]
    return Layout(options=non_defaults(options), notes=tuple(notes), bounds=tuple(filter(None, bounds)))


def _source_arguments(inspection: Inspection) -> list[str]:
    """Return the files of a table as command-line arguments; a source without a name becomes SCORES."""
    names = [source if isinstance(source, str) else "SCORES" for source in inspection.sources]
    # A name with a leading dash would be parsed as an option.
    return [f"./{name}" if name.startswith("-") and name != "-" else name for name in names]


def _build_suggestion(
    sources: Sequence[str], options: ReadOptions, purpose: str, command: str, *flags: str
) -> Suggestion:
    """Create a suggested command line from the sources, the reading options and further flags.

    `purpose` is the text that explains the command.
    """
    row = BY_NAME[command]
    # Groups are suggested separately.
    words = [*sources, *flag_arguments(options, {"group_by", *row.excluded, *row.rejected_options}), *flags]
    return Suggestion(purpose, " ".join(["riskrank", command, *map(shell_quote, words)]))


def _independent_samples(inspection: Inspection) -> int:
    """Return the number of independent samples or clusters that are available for a test."""
    if inspection.effective_size is not None:
        return inspection.effective_size
    if inspection.clusters is not None:
        return inspection.clusters
    if inspection.options.unpaired:
        return min((model.samples for model in inspection.models), default=0)
    return inspection.common_samples


def _looks_ordinal(metric: MetricRow) -> bool:
    """Return True if a metric has few distinct integer values that repeat often, as ratings do."""
    low, high, levels = metric.minimum, metric.maximum, metric.distinct
    if low is None or high is None or not (low.is_integer() and high.is_integer()):
        return False
    return _FEWEST_LEVELS <= levels <= min(_MOST_LEVELS, high - low + 1) and metric.n >= 5 * levels


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
        """Return results for the JSON object ``meta``: models, pairing, repeats and problems."""
        inspection = self.inspection
        return {
            "table": {
                "rows": inspection.rows,
                "models": [*map(asdict, inspection.models)],
                "common_samples": inspection.common_samples,
                "clusters": inspection.clusters,
                "tasks": [*map(asdict, inspection.tasks)] or None,
                **({"holes": [*map(asdict, inspection.holes)]} if inspection.holes else {}),
                "paired": inspection.same_samples,
                "fewest_repeats": inspection.fewest_repeats,
                "most_repeats": inspection.most_repeats,
                "repeated_cells": inspection.repeated_cells,
            },
            "problems": [
                {
                    name: spell(text, flags=True) or None
                    for name, text in vars(problem).items()
                    if name != "suggestions"
                }
                for problem in inspection.problems
            ],
            "variance": [entry for split in self.splits for entry in split.entries(self.provenance.models)],
            "passes": [curve.entry() for curve in self.passes],
            "suggestions": [*map(asdict, self.suggestions)],
            **({} if self.judge is None else {"judge": asdict(self.judge.entry)}),
            **({"judges": [*map(asdict, inspection.agreements)]} if inspection.agreements else {}),
        }

    @property
    def refusal(self) -> InputError | None:
        """Error that all other commands would raise for this table, or None if the table is valid."""
        errors = _problems_of_severity(self.inspection, "error")
        if not errors:
            return None
        first, n_more = errors[0], len(errors) - 1
        more = f" (and {n_more} more problem{'s' if n_more > 1 else ''})" if n_more else ""
        problem = first.what + more
        return InputError(problem, found=first.found, hint=first.hint, suggestions=first.suggestions)


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
    judge_warnings = [] if judge is None else judge.problems
    models = [model.model for model in inspection.models]
    n_samples = max((model.samples for model in inspection.models), default=0) or 1
    errors = (
        too_large_error(metric.metric, max(abs(metric.minimum or 0), abs(metric.maximum or 0)), n_samples)
        for metric in inspection.metrics
    )
    problems = [*map(to_problem, filter(None, errors)), *inspection.problems]
    problems += [Problem(severity="warning", what=text) for text in judge_warnings]
    if len(inspection.models) == 1:
        problems = [replace(p, severity="warning") if FEW_MODELS in p.what else p for p in problems]
    inspection = replace(inspection, problems=tuple(problems))
    suggestions = tuple(suggest_commands(inspection))
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
        verdict=_verdict(inspection, suggestions),
        inspection=inspection,
        judge=judge,
        suggestions=suggestions,
        splits=tuple(filter(None, (split_run_variance(spec.name, scores) for spec, scores in runs))),
        passes=tuple(
            curve
            for spec, scores in runs
            for curve in pass_curves(spec.name, scores, models, less_is_better=spec.direction == "lower")
        ),
    )


def _verdict(inspection: Inspection, suggestions: Sequence[Suggestion]) -> str:
    """Return a sentence that says whether the table can be used, and how large it is."""
    models, samples = counted(len(inspection.models), "model"), counted(inspection.samples, "sample")
    size_text = f"{models}, {samples} and {counted(len(inspection.metrics), 'metric')}"
    errors, warnings = (len(_problems_of_severity(inspection, severity)) for severity in ("error", "warning"))
    if errors:
        return f"The table cannot be used as it is: {counted(errors, 'problem')}."
    warning_text = f", with {counted(warnings, 'warning')}" if warnings else ""
    commands = dict.fromkeys(suggestion.command.split()[1] for suggestion in suggestions)
    purposes = listing([name for name in commands if name != "check"] or ["descriptions"])
    only = f" for {purposes} only" if commands.keys() <= _WITHOUT_TESTS else ""
    only = " for the level of one model, not for comparisons" if len(inspection.models) == 1 else only
    return f"The table can be used{only}{warning_text}: {size_text}."


def _problems_of_severity(inspection: Inspection, severity: str) -> Sequence[Problem]:
    """Return the problems with the given severity: "error" or "warning"."""
    return [problem for problem in inspection.problems if problem.severity == severity]
