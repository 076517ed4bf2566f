"""Terminal output of ``check``: the contents and problems of a score table."""

from collections.abc import Sequence
from functools import partial

from riskrank.errors import listing
from riskrank.options.reading import NO_COLUMN
from riskrank.render.screens import follow_up_sections, hidden_count_lines
from riskrank.render.view import Cell, Column, Line, RowColumn, Section, Table, build_table
from riskrank.studies import wording
from riskrank.studies.check import study
from riskrank.studies.judge.screen import pair_lines, pair_table
from riskrank.studies.repeats import PassCurve

# Maximum numbers of commands, problems, metrics and tasks on a screen, and of missing scores and models.
_MOST_COMMANDS, _MOST_PROBLEMS, _MOST_METRICS, _MOST_TASKS = 3, 2, 8, 6
_MOST_HOLES, _MOST_MODELS = 4, 4


def build_sections(document: study.CheckDocument) -> list[Section]:
    """Return the sections of the screen: metrics, problems and suggested commands, then the details."""
    inspection, judge = document.inspection, document.judge
    texts = {"Missing:": _describe_missing_scores(inspection)} if inspection.holes else {}
    texts |= {} if inspection.holes else {"Samples:": _describe_samples(inspection)}
    texts |= {"Tasks:": _describe_tasks(inspection.tasks)} if inspection.tasks else {}
    if inspection.most_repeats > 1:
        count = wording.count_range((inspection.fewest_repeats, inspection.most_repeats))
        several = f"{inspection.repeated_cells:,} cells have several"
        texts["Repeats:"] = f"{count} scores per model, sample and metric; {several}."
    texts |= {"Variance:": document.splits[0].sentence} if document.splits else {}
    texts |= {"Flaky:": _describe_flaky_samples(document.passes)} if document.passes else {}
    if judge is not None:
        texts |= {"Judge:": judge.agreement, "Judge's bias:": judge.bias, "Labels:": judge.use}
    return [
        _metrics_table(document.rows[:_MOST_METRICS]),
        *hidden_count_lines(len(document.rows) - _MOST_METRICS, "metric"),
        *(Line(text, label) for label, text in texts.items()),
        *pair_lines(inspection.agreements),
        *_problem_lines(inspection),
        *_command_lines(document.suggestions[:_MOST_COMMANDS]),
        *follow_up_sections(_details(document)),
    ]


def _details(document: study.CheckDocument) -> list[Section]:
    """Return the sections for ``--explain``: all numbers, further problems and further commands."""
    inspection, judge = document.inspection, document.judge
    limit = Line("Clusters are detected only from a column or from the names of the samples.", "Limits:")
    return [
        _metrics_table(document.rows, detailed=True),
        *([limit] if inspection.clusters is None else []),
        *([_task_table(inspection.tasks)] if inspection.tasks else []),
        *([] if inspection.same_samples else [_model_table(inspection)]),
        *map(_problem_line, inspection.problems[_MOST_PROBLEMS:]),
        *([] if judge is None else [_judge_table(judge)]),
        *pair_table(inspection.agreements),
        *(Line(split.sentence, "Variance:") for split in document.splits[1:]),
        *([_pass_table(document.passes)] if document.passes else []),
        *_command_lines(document.suggestions[_MOST_COMMANDS:]),
    ]


def _judge_table(judge: study.JudgeCheck) -> Table:
    """Return a table of the judge's agreement with human scores and its bias, by model."""
    columns: list[RowColumn] = [
        (Column("model", "left"), lambda entries: entries[0].model),
        (Column("rank\ncorrelation"), lambda entries: _format_fixed_or_dash(entries[0].agreement, 2)),
        (Column("bias"), lambda entries: wording.format_number(entries[0].bias)),
        (
            Column("95 % interval,\nsimultaneous", "left"),
            lambda entries: wording.format_range(entries[0].bias_low, entries[0].bias_high),
        ),
        (Column("labelled\n− others"), lambda entries: wording.format_number(entries[0].shift)),
        (Column("p"), lambda entries: f"{entries[0].shift_p:.2g}"),
        (Column("λ"), lambda entries: f"{entries[1].power:.2f}"),
        (Column("effective\nlabels"), lambda entries: f"{entries[1].effective_labels:,.0f}"),
    ]
    entries = zip(judge.entry.by_model, judge.entry.models, strict=True)
    return build_table("Judge by model", columns, entries)


def _command_lines(suggestions: Sequence[study.Suggestion]) -> list[Section]:
    """Return two lines per suggested command: its purpose, and the command."""
    sections: list[Section] = []
    for suggestion in suggestions:
        sections += [Line(suggestion.purpose, "Suggestion:"), Line(suggestion.command, verbatim=True)]
    return sections


def _problem_lines(inspection: study.Inspection) -> list[Section]:
    """Return the most severe problems and the number of others, or the commands that can use the table."""
    if inspection.problems:
        lines = map(_problem_line, inspection.problems[:_MOST_PROBLEMS])
        return [*lines, *hidden_count_lines(len(inspection.problems) - _MOST_PROBLEMS, "problem")]
    usable = "every command can read this table"
    if inspection.samples <= 1:
        usable = "copa can read this table (one row per model); other commands need samples"
    elif inspection.options.noise:
        usable = "rank, gate, power and copa support sources of noise; other commands do not"
    elif inspection.options.cluster not in (None, NO_COLUMN):
        usable = "every command except gsd can read this table"
    return [Line(f"none: {usable}.", "Problems:", "green")]


def _metrics_table(rows: Sequence[study.MetricRow], *, detailed: bool = False) -> Table:
    """Return a table with the direction, range and mean of each metric, rounded to suit its range.

    `detailed` adds columns for the numbers of scores, distinct values and ties.
    """

    def format_value(name: str, metric: study.MetricRow) -> str:
        """Format the minimum, mean or maximum of a metric; `name` is the name of the attribute."""
        low, high = metric.minimum, metric.maximum
        decimals = 0 if low is None or high is None else wording.decimals_from_range(low, high, metric.n)
        return _format_fixed_or_dash(getattr(metric, name), decimals)

    range_fields = {"min": "minimum", "mean": "mean", "max": "maximum"}
    columns: list[RowColumn | None] = [
        (Column("metric", "left"), lambda metric: metric.metric),
        (Column("better", "left"), _format_direction),
        (Column("n"), lambda metric: f"{metric.n:,}") if detailed else None,
        *((Column(head), partial(format_value, name)) for head, name in range_fields.items()),
        (Column("distinct"), lambda metric: f"{metric.distinct:,}") if detailed else None,
        (Column("ties"), lambda metric: f"{100 * metric.tied_share:.0f} %") if detailed else None,
        (Column("missing"), lambda metric: Cell(f"{metric.missing:,}", "red" if metric.missing else "")),
    ]
    return build_table("Metrics, in the units of the file" if detailed else "", columns, rows)


def _format_fixed_or_dash(value: float | None, decimals: int) -> str:
    """Format a number with fixed decimals, or return a dash for None."""
    return "–" if value is None else wording.format_fixed(value, decimals)


def _describe_samples(inspection: study.Inspection) -> str:
    """Return sentences about the samples that the models have in common, and about the clusters."""
    clusters = inspection.clusters
    cluster_text = f" They belong to {clusters:,} clusters, which are resampled as units." if clusters else ""
    if inspection.same_samples:
        samples = wording.counted(inspection.samples, "sample")
        return f"all models have the same {samples} (paired).{cluster_text}"
    shared = f"{inspection.common_samples:,} of {inspection.samples:,}"
    return f"{shared} samples are common to all models.{cluster_text}"


def _describe_missing_scores(inspection: study.Inspection) -> str:
    """Return sentences about missing scores, and about models that cannot be compared."""
    holes = inspection.holes
    count, unlisted = sum(len(hole.models) for hole in holes), len(holes) - _MOST_HOLES
    sentences = [f"{hole.sample} lacks {listing(hole.models, _MOST_MODELS)}" for hole in holes[:_MOST_HOLES]]
    sentences += [f"{unlisted} more samples lack models"] if unlisted > 0 else []
    pairs = listing((f"{first} and {second}" for first, second in inspection.sparse_pairs), _MOST_MODELS)
    unpaired_text = f" Too few samples are shared to compare {pairs}." if inspection.sparse_pairs else ""
    cells = len(inspection.models) * inspection.samples
    return (
        f"{count:,} of {cells:,} scores: {'; '.join(sentences)}. Each pair is compared on its common "
        f"samples, assuming that missing scores do not depend on performance.{unpaired_text}"
    )


def _describe_tasks(tasks: Sequence[study.InspectedTask]) -> str:
    """Return a sentence about the number of tasks, their sizes and their weights."""
    sizes, weights = ([getattr(task, field) for task in tasks] for field in ("samples", "weight"))
    weighting = "weighted equally" if min(weights) == max(weights) else "weighted as requested"
    has_task_metrics = len({task.metrics for task in tasks}) > 1
    names = listing([task.task for task in tasks], _MOST_TASKS)
    return (
        f"a suite of {len(tasks)} tasks, {weighting}, {wording.count_range(sizes)} samples each"
        f"{', with different metrics' * has_task_metrics}: {names}."
    )


def _task_table(tasks: Sequence[study.InspectedTask]) -> Table:
    """Return a table of the tasks with their sizes, weights and metrics."""
    columns: list[RowColumn] = [
        (Column("task", "left"), lambda task: task.task),
        (Column("samples"), lambda task: f"{task.samples:,}"),
        (Column("weight"), lambda task: f"{100 * task.weight:.1f} %"),
        (
            Column("scores\nper model"),
            lambda task: wording.count_range((task.fewest_scores, task.most_scores)),
        ),
        (Column("metric", "left"), lambda task: listing(task.metrics)),
    ]
    return build_table("Tasks", columns, tasks)


def _describe_flaky_samples(curves: Sequence[PassCurve]) -> str:
    """Return a sentence about the samples that pass only in some runs, for the model with most of them."""
    worst = max(curves, key=lambda curve: curve.flaky / curve.samples)
    first, last = worst.curve[0][0], worst.curve[-1][0]
    return (
        f"{worst.flaky:,} of {worst.samples:,} samples of {worst.model} pass in some runs and fail in others "
        f"({worst.metric}); one run passes on {100 * first:.0f} % of samples, all {len(worst.curve)} runs on "
        f"{100 * last:.0f} %."
    )


def _pass_table(curves: Sequence[PassCurve]) -> Table:
    """Return a table of pass^k for every model, at the smallest, a middle and the largest k."""
    longest = max(len(curve.curve) for curve in curves)
    orders = sorted({1, min(2, longest), (longest + 1) // 2, longest})
    columns: list[RowColumn] = [
        (Column("metric", "left"), lambda curve: curve.metric),
        (Column("model", "left"), lambda curve: curve.model),
        (Column("always"), lambda curve: f"{curve.always:,}"),
        (Column("flaky"), lambda curve: f"{curve.flaky:,}"),
        (Column("never"), lambda curve: f"{curve.never:,}"),
        *((Column(f"pass^{k}"), partial(_format_pass_rate, k)) for k in orders),
        (Column(f"pass^{longest}, 95 %", "left"), partial(_format_pass_rate, longest, interval=True)),
    ]
    return build_table("pass^k: probability that k runs of a sample all pass", columns, curves, stub=2)


def _format_pass_rate(k: int, curve: PassCurve, *, interval: bool = False) -> str:
    """Format the rate at which all of `k` runs pass, or its interval; a dash if there are fewer runs."""
    if k > len(curve.curve):
        return "–"
    share, low, high = curve.curve[k - 1]
    return f"{low:.3f} to {high:.3f}" if interval else f"{share:.3f}"


def _format_direction(metric: study.MetricRow) -> str:
    """Return which direction is better in the file: "higher" or "lower", with a note if it is assumed.

    A negative logarithm reverses the direction.
    """
    lower = (metric.direction == "lower") != (metric.transform == "neg_log")
    return ("lower" if lower else "higher") + ("" if metric.declared else " (assumed)")


def _model_table(inspection: study.Inspection) -> Table:
    """Return a table of the number of samples by model."""
    columns: list[RowColumn] = [
        (Column("model", "left"), lambda model: model.model),
        (Column("samples"), lambda model: f"{model.samples:,}"),
        (Column("only for\nthis model"), lambda model: f"{model.only_here:,}"),
    ]
    return build_table("Samples by model", columns, inspection.models)


def _problem_line(problem: study.Problem) -> Line:
    """Return a line that states a problem, the values that cause it, and how to fix it."""
    details = {"found": problem.found, "hint": problem.hint}
    parts = [problem.what, *(f"{name}: {text}" for name, text in details.items() if text)]
    label, style = ("Error:", "red") if problem.severity == "error" else ("Warning:", "yellow")
    return Line("\n".join(parts), label, style)
