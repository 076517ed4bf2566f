"""What a score table holds and what is wrong with it, in words."""

from collections.abc import Sequence
from functools import partial

from riskrank.errors import listing
from riskrank.options.judges import NO_COLUMN
from riskrank.render.screens import offered, unshown
from riskrank.render.view import Cell, Column, Line, OfRow, Section, Table, by_row
from riskrank.studies.check.judge import JudgeCheck
from riskrank.studies.check.study import CheckDocument, InspectedTask, Inspection, MetricRow, Problem
from riskrank.studies.check.suggestions import Suggestion
from riskrank.studies.repeats import PassCurve
from riskrank.studies.wording import counted, decimals_of_range, interval, number, rounded, span

# Commands, problems, metrics and tasks a screen has room for; holes, and models of each.
_COMMANDS, _PROBLEMS, _METRICS, _TASKS = 3, 2, 8, 6
_HOLES, _MODELS = 4, 4


def view(document: CheckDocument) -> list[Section]:
    """What it is, what is wrong, and the commands to copy; then every figure and every other command."""
    found = document.inspection
    return [
        _metrics(document.rows[:_METRICS]),
        *unshown(len(document.rows) - _METRICS, "metric"),
        Line(_holes(found), "Holes:") if found.holes else Line(_pairing(found), "Samples:"),
        *([Line(_suite(found.tasks), "Tasks:")] if found.tasks else []),
        *([Line(_repeats(found), "Repeats:")] if found.most_repeats > 1 else []),
        *([Line(_flaky(document.passes), "Flaky:")] if document.passes else []),
        *([] if document.judge is None else _judge(document.judge)),
        *_problems(found),
        *_commands(document.suggestions[:_COMMANDS]),
        *offered(_details(document)),
    ]


def _details(document: CheckDocument) -> list[Section]:
    """All figures, what is wrong, and what can be done."""
    found, judge = document.inspection, document.judge
    return [
        _metrics(document.rows, every=True),
        *([_task_table(found.tasks)] if found.tasks else []),
        *([] if found.same_samples else [_model_table(found)]),
        *map(_problem_line, found.problems[_PROBLEMS:]),
        *([] if judge is None else [_judge_table(judge)]),
        *([_split_table(document)] if document.splits else []),
        *([_pass_table(document.passes)] if document.passes else []),
        *_commands(document.suggestions[_COMMANDS:]),
    ]


def _judge(found: JudgeCheck) -> list[Section]:
    said = {"Judge:": found.agreement, "Judge's bias:": found.bias, "Labels:": found.use}
    return [Line(text, label) for label, text in said.items()]


def _judge_table(found: JudgeCheck) -> Table:
    """Every model's judge."""
    columns: list[OfRow] = [
        (Column("model", "left"), lambda both: both[0].model),
        (Column("rank\ncorrelation"), lambda both: _rounded(both[0].agreement, 2)),
        (Column("bias"), lambda both: number(both[0].bias)),
        (Column("95 %, together", "left"), lambda both: interval(both[0].bias_low, both[0].bias_high)),
        (Column("labelled\n− others"), lambda both: number(both[0].shift)),
        (Column("p"), lambda both: f"{both[0].shift_p:.2g}"),
        (Column("λ"), lambda both: f"{both[1].power:.2f}"),
        (Column("worth to its\nmean, labels"), lambda both: f"{both[1].worth:,.0f}"),
    ]
    both = zip(found.entry.by_model, found.entry.models, strict=True)
    return by_row("The judge, model by model", columns, both)


def _commands(suggestions: Sequence[Suggestion]) -> list[Section]:
    sections: list[Section] = []
    for one in suggestions:
        sections += [Line(one.purpose, "What fits:"), Line(one.command, verbatim=True)]
    return sections


def _readers(found: Inspection) -> str:
    """The commands that can read a table."""
    if found.samples <= 1:
        return "copa can read this table, a row a model; others need samples"
    if found.options.noise:
        return "rank, gate, power and copa take sources of noise; others look at single samples"
    if found.options.cluster not in (None, NO_COLUMN):
        return "every command but gsd can read this table"
    return "every command can read this table"


def _problems(found: Inspection) -> list[Section]:
    """The gravest problems whole, the rest counted."""
    if not found.problems:
        return [Line(f"none: {_readers(found)}.", "Problems:", "green")]
    shown = map(_problem_line, found.problems[:_PROBLEMS])
    return [*shown, *unshown(len(found.problems) - _PROBLEMS, "problem")]


def _metrics(rows: Sequence[MetricRow], *, every: bool = False) -> Table:
    """What the scores look like: direction, range and mean, with the digits a range leaves."""

    def said(name: str, metric: MetricRow) -> str:
        low, high = metric.minimum, metric.maximum
        decimals = 0 if low is None or high is None else decimals_of_range(low, high, metric.n)
        return _rounded(getattr(metric, name), decimals)

    columns: list[OfRow | None] = [
        (Column("metric", "left"), lambda metric: metric.metric),
        (Column("better", "left"), _better),
        (Column("n"), lambda metric: f"{metric.n:,}") if every else None,
        *((Column(head), partial(said, name)) for head, name in _RANGE.items()),
        (Column("distinct"), lambda metric: f"{metric.distinct:,}") if every else None,
        (Column("ties"), lambda metric: f"{100 * metric.tied_share:.0f} %") if every else None,
        (Column("missing"), lambda metric: Cell(f"{metric.missing:,}", "red" if metric.missing else "")),
    ]
    return by_row("Metrics, in the units of the file" if every else "", columns, rows)


_RANGE = {"min": "minimum", "mean": "mean", "max": "maximum"}


def _rounded(value: float | None, decimals: int) -> str:
    return "–" if value is None else rounded(value, decimals)


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
    alike = "weighed alike" if min(weights) == max(weights) else "weighed as asked"
    own = len({task.metrics for task in tasks}) > 1
    return (
        f"a suite of {len(tasks)} tasks, {alike}, {span(sizes)} samples each"
        f"{', with metrics of their own' * own}: {listing([task.name for task in tasks], _TASKS)}."
    )


def _task_table(tasks: Sequence[InspectedTask]) -> Table:
    columns: list[OfRow] = [
        (Column("task", "left"), lambda task: task.name),
        (Column("samples"), lambda task: f"{task.samples:,}"),
        (Column("weight"), lambda task: f"{100 * task.weight:.1f} %"),
        (Column("scores\na model"), lambda task: span((task.fewest_scores, task.most_scores))),
        (Column("metric", "left"), lambda task: listing(task.metrics)),
    ]
    return by_row("Tasks", columns, tasks)


def _repeats(found: Inspection) -> str:
    count = span((found.fewest_repeats, found.most_repeats))
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
    columns: list[OfRow] = [
        (Column("metric", "left"), lambda curve: curve.metric),
        (Column("model", "left"), lambda curve: curve.model),
        (Column("always"), lambda curve: f"{curve.always:,}"),
        (Column("flaky"), lambda curve: f"{curve.flaky:,}"),
        (Column("never"), lambda curve: f"{curve.never:,}"),
        *((Column(f"pass^{k}"), partial(_passing, k)) for k in shown),
        (Column(f"pass^{longest}, 95 %", "left"), partial(_passing, longest, ends=True)),
    ]
    return by_row(
        "Runs that all pass: pass^k is the chance that k runs of a sample do", columns, curves, stub=2
    )


def _passing(k: int, curve: PassCurve, *, ends: bool = False) -> str:
    if k > len(curve.curve):
        return "–"
    share, low, high = curve.curve[k - 1]
    return f"{low:.3f} to {high:.3f}" if ends else f"{share:.3f}"


def _split_table(document: CheckDocument) -> Table:
    columns: list[OfRow] = [
        (Column("metric", "left"), lambda split: split.metric),
        (Column("from\nruns"), lambda split: f"{100 * split.share:.0f} %"),
        (Column("twice the\nruns"), lambda split: f"−{50 * split.share:.0f} %"),
        (Column("what would help", "left"), lambda split: split.advice),
    ]
    return by_row("Variance of a model's mean (median of the models)", columns, document.splits)


def _better(metric: MetricRow) -> str:
    """Direction as it applies to the numbers in the file: a negative logarithm turns it around."""
    lower = (metric.direction == "lower") != (metric.transform == "neg_log")
    return ("lower" if lower else "higher") + ("" if metric.declared else " (assumed)")


def _model_table(found: Inspection) -> Table:
    columns: list[OfRow] = [
        (Column("model", "left"), lambda model: model.name),
        (Column("samples"), lambda model: f"{model.samples:,}"),
        (Column("no other\nmodel has"), lambda model: f"{model.only_here:,}"),
    ]
    return by_row("Samples by model", columns, found.models)


def _problem_line(problem: Problem) -> Line:
    beside = {"found": problem.found, "hint": problem.hint}
    parts = [problem.what, *(f"{name}: {text}" for name, text in beside.items() if text)]
    label = "Error:" if problem.severity == "error" else "Warning:"
    return Line("\n".join(parts), label, "red" if problem.severity == "error" else "yellow")
