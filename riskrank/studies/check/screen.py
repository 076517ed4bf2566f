"""What a score table holds and what is wrong with it, in words."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.errors import listing, option
from riskrank.shown import numbers
from riskrank.shown.all_rows import unshown
from riskrank.shown.view import Cell, Column, Line, Section, Table, asked_for, headed
from riskrank.studies.check.judge import JudgeCheck
from riskrank.studies.check.study import CheckDocument, InspectedTask, Inspection, MetricRow, Problem
from riskrank.studies.check.suggestions import Suggestion
from riskrank.studies.rounding import decimals_of_range, rounded, typeset
from riskrank.studies.runs import PassCurve
from riskrank.studies.wording import counted, number

# Commands, problems, metrics and tasks a screen has room for; holes, and models of each.
_COMMANDS, _PROBLEMS, _METRICS, _TASKS = 3, 2, 8, 6
_HOLES, _MODELS = 4, 4


def view(document: CheckDocument) -> list[Section]:
    """What it is, what is wrong, and the commands to copy; then every figure and every other command."""
    found = document.inspection
    return [
        _metrics(document),
        Line(_holes(found), "Holes:") if found.holes else Line(_pairing(found), "Samples:"),
        *([Line(_suite(found.tasks), "Tasks:")] if found.tasks else []),
        *([Line(_repeats(found), "Repeats:")] if found.most_repeats > 1 else []),
        *([Line(_flaky(document.passes), "Flaky:")] if document.passes else []),
        *([] if document.judge is None else _judge(document.judge)),
        *_problems(found),
        *_commands(document.suggestions[:_COMMANDS]),
        Line(option("explain", True), "Also:"),
        *asked_for(_details(document)),
    ]


def _details(document: CheckDocument) -> list[Section]:
    """All figures, what is wrong, and what can be done."""
    found = document.inspection
    sections: list[Section] = [Line(_holdings(found), "Table:")]
    if found.most_repeats <= 1:
        sections.append(Line(_repeats(found), "Repeats:"))
    sections.append(_metric_table(document))
    if found.tasks:
        sections.append(_task_table(found.tasks))
    if not found.same_samples:
        sections.append(_model_table(found))
    sections += [_problem_line(problem) for problem in found.problems]
    if document.judge is not None:
        sections.append(_judge_table(document.judge))
    if document.splits:
        sections.append(_split_table(document))
    if document.passes:
        sections.append(_pass_table(document.passes))
    return [*sections, *_commands(document.suggestions[_COMMANDS:])]


def _judge(found: JudgeCheck) -> list[Section]:
    return [
        Line(found.agreement, "Judge:"),
        Line(found.bias, "Judge's bias:"),
        Line(found.use, "Labels:"),
    ]


def _judge_table(found: JudgeCheck) -> Table:
    """Every model's judge."""
    columns = (
        Column("model", "left"),
        Column("rank\ncorrelation"),
        Column("bias"),
        Column("95 %, together", "left"),
        Column("labelled\n− others"),
        Column("p"),
        Column("λ"),
        Column("worth to its\nmean, labels"),
    )
    rows = tuple(
        (
            one.model,
            "–" if one.agreement is None else typeset(f"{one.agreement:.2f}"),
            number(one.bias),
            f"{number(one.bias_low)} to {number(one.bias_high)}",
            number(one.shift),
            f"{one.shift_p:.2g}",
            f"{model.power:.2f}",
            f"{model.worth:,.0f}",
        )
        for one, model in zip(found.entry.by_model, found.entry.models, strict=True)
    )
    return Table("The judge, model by model", columns, rows)


def _commands(suggestions: Sequence[Suggestion]) -> list[Section]:
    sections: list[Section] = []
    for one in suggestions:
        sections += [Line(one.purpose, "What fits:"), Line(one.command, verbatim=True)]
    return sections


def _problems(found: Inspection) -> list[Section]:
    """The gravest problems whole, the rest counted."""
    if not found.problems:
        return [Line("none: every command can read this table.", "Problems:", "green")]
    shown = map(_problem_line, found.problems[:_PROBLEMS])
    return [*shown, *unshown(len(found.problems) - _PROBLEMS, "problem")]


def _metrics(document: CheckDocument) -> Table:
    """What the scores look like: direction, range and mean, with the digits a range leaves."""
    rows: list[tuple[Cell | str, ...]] = []
    for metric in document.rows[:_METRICS]:
        low, mean, high = metric.minimum, metric.mean, metric.maximum
        decimals = 0 if low is None or high is None else decimals_of_range(low, high, metric.n)
        rows.append(
            (
                metric.metric,
                _better(metric),
                *("–" if value is None else rounded(value, decimals) for value in (low, mean, high)),
                Cell(f"{metric.missing:,}", "red" if metric.missing else ""),
            )
        )
    left = len(document.rows) - _METRICS
    if left > 0:
        rows.append((f"… {left} more", "", "", "", "", ""))
    return Table("", headed("metric", "better", right=("min", "mean", "max", "missing")), tuple(rows))


def _holdings(found: Inspection) -> str:
    return (
        f"{counted(found.rows, 'row')}, {counted(len(found.models), 'model')}, "
        f"{counted(found.samples, 'sample')}, {counted(len(found.metrics), 'metric')}."
    )


def _pairing(found: Inspection) -> str:
    grouped = f" They belong to {found.clusters:,} clusters, which are drawn whole." if found.clusters else ""
    if found.same_samples:
        return f"all models have the same {counted(found.samples, 'sample')} (paired).{grouped}"
    return f"{found.common_samples:,} of {found.samples:,} samples are common to all models.{grouped}"


def _holes(found: Inspection) -> str:
    """Which samples models lack, and who is not compared for that."""
    count = sum(len(hole.models) for hole in found.holes)
    told = [f"{hole.sample} lacks {listing(hole.models, _MODELS)}" for hole in found.holes[:_HOLES]]
    told += [f"{len(found.holes) - _HOLES} more lack some"] if len(found.holes) > _HOLES else []
    apart = listing((f"{one} and {other}" for one, other in found.apart), _MODELS)
    alone = f" Too few are shared to compare {apart}." if found.apart else ""
    cells = len(found.models) * found.samples
    return (
        f"{count:,} of {cells:,} scores: {'; '.join(told)}. Each pair is compared on what both have, and no "
        f"hole may depend on how well a model did.{alone}"
    )


def _suite(tasks: Sequence[InspectedTask]) -> str:
    """How many tasks there are, of which sizes, and what each counts."""
    sizes, weights = ([getattr(task, of) for task in tasks] for of in ("samples", "weight"))
    span = f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
    alike = "weighed alike" if min(weights) == max(weights) else "weighed as asked"
    own = len({task.metrics for task in tasks}) > 1
    return (
        f"a suite of {len(tasks)} tasks, {alike}, {span} samples each{', with metrics of their own' * own}: "
        f"{listing([task.name for task in tasks], _TASKS)}."
    )


def _task_table(tasks: Sequence[InspectedTask]) -> Table:
    columns = (*headed("task", right=("samples", "weight", "scores\na model")), Column("metric", "left"))
    rows = tuple(
        (
            task.name,
            f"{task.samples:,}",
            f"{100 * task.weight:.1f} %",
            f"{task.most_scores:,}"
            if task.fewest_scores == task.most_scores
            else f"{task.fewest_scores:,} to {task.most_scores:,}",
            listing(task.metrics),
        )
        for task in tasks
    )
    return Table("Tasks", columns, rows)


def _repeats(found: Inspection) -> str:
    if found.most_repeats <= 1:
        return "one score a model, sample and metric."
    fewest, most = found.fewest_repeats, found.most_repeats
    count = f"{most}" if fewest == most else f"{fewest} to {most}"
    return f"{count} scores a model, sample and metric; {found.repeated_cells:,} cells hold several."


def _flaky(curves: Sequence[PassCurve]) -> str:
    """How many samples pass in some runs only: of the model with most of them."""
    most = max(curves, key=lambda curve: curve.flaky / curve.samples)
    text = f"{most.flaky:,} of {most.samples:,} samples of {most.model} pass in some runs and fail in others"
    k = len(most.curve)
    return (
        f"{text} ({most.metric}); a run passes {100 * most.curve[0][0]:.0f} %, all of {k} runs "
        f"{100 * most.curve[-1][0]:.0f} %."
    )


def _pass_table(curves: Sequence[PassCurve]) -> Table:
    """pass^k of every model, for the smallest, a middle and the largest k."""
    longest = max(len(curve.curve) for curve in curves)
    shown = sorted({1, min(2, longest), (longest + 1) // 2, longest})
    columns = (
        *headed("metric", "model", right=("always", "flaky", "never", *(f"pass^{k}" for k in shown))),
        Column(f"pass^{longest}, 95 %", "left"),
    )
    rows = tuple(
        (
            curve.metric,
            curve.model,
            f"{curve.always:,}",
            f"{curve.flaky:,}",
            f"{curve.never:,}",
            *(f"{curve.curve[k - 1][0]:.3f}" if k <= len(curve.curve) else "–" for k in shown),
            f"{curve.curve[-1][1]:.3f} to {curve.curve[-1][2]:.3f}" if len(curve.curve) == longest else "–",
        )
        for curve in curves
    )
    return Table("Runs that all pass: pass^k is the chance that k runs of a sample do", columns, rows, stub=2)


def _metric_table(document: CheckDocument) -> Table:
    columns = headed("metric", "better", right=("n", "min", "mean", "max", "distinct", "ties", "missing"))
    rows: list[tuple[Cell | str, ...]] = []
    for metric in document.rows:
        values = (metric.minimum, metric.mean, metric.maximum)
        rows.append(
            (
                metric.metric,
                _better(metric),
                f"{metric.n:,}",
                *("–" if value is None else numbers.score(value) for value in values),
                f"{metric.distinct:,}",
                f"{100 * metric.tied_share:.0f} %",
                Cell(f"{metric.missing:,}", "red" if metric.missing else ""),
            )
        )
    return Table("Metrics, in the units of the file", columns, tuple(rows))


def _split_table(document: CheckDocument) -> Table:
    columns = (
        *headed("metric", right=("from\nruns", "from\nsamples", "twice the\nruns", "twice the\nsamples")),
        Column("what would help", "left"),
    )
    rows = tuple(
        (
            split.metric,
            *(f"{100 * share:.0f} %" for share in (split.share, 1 - split.share)),
            *(f"−{100 * share:.0f} %" for share in (split.share / 2, 0.5)),
            split.advice,
        )
        for split in document.splits
    )
    return Table("Variance of a model's mean (median of the models)", columns, rows)


def _better(metric: MetricRow) -> str:
    """Direction as it applies to the numbers in the file: a negative logarithm turns it around."""
    lower = (metric.direction == "lower") != (metric.transform == "neg_log")
    return ("lower" if lower else "higher") + ("" if metric.declared else " (assumed)")


def _model_table(found: Inspection) -> Table:
    rows = tuple((model.name, f"{model.samples:,}", f"{model.only_here:,}") for model in found.models)
    columns = (Column("model", "left"), Column("samples"), Column("no other\nmodel has"))
    return Table("Samples by model", columns, rows)


def _problem_line(problem: Problem) -> Line:
    parts = [problem.what]
    parts += [f"found: {problem.found}"] if problem.found else []
    parts += [f"hint: {problem.hint}"] if problem.hint else []
    label = "Error:" if problem.severity == "error" else "Warning:"
    return Line("\n".join(parts), label, "red" if problem.severity == "error" else "yellow")
