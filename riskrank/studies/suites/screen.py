"""Tables on a suite: significance marks by task, task means, macro means, and leave-one-task-out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from riskrank.options.inference import FIXED, RANDOM
from riskrank.render.mean_tables import score_label
from riskrank.render.numbers import format_p_value
from riskrank.render.screens import as_details
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.suites.section import SuiteAnalysis, macro_intervals, other_scope_answer
from riskrank.studies.targets import COMBINED
from riskrank.studies.wording import decimals_for_gaps, decimals_from_errors, format_fixed, join_names

if TYPE_CHECKING:
    from riskrank.studies.suites.column import SuiteColumn

MARKS = {1: "+", -1: "-", 0: "."}
_STYLES = {1: "green", -1: "red", 0: ""}

# Maximum number of marks in a row, and of task names next to them.
_LONGEST, _NAMED = 60, 3


def suite_sections(
    analysis: SuiteAnalysis,
    models_by_column: Mapping[str, Sequence[int]],
    omitted: Sequence[str],
    *,
    per_task: bool,
    marks_by_task: bool = True,
) -> Iterator[Section]:
    """Yield the tables and lines about tasks that follow the ranking.

    Parameters
    ----------
    analysis : SuiteAnalysis
        Results of a suite by task.
    models_by_column : mapping of str to sequence of int
        Indices of the models to list by metric or combined score, in the order of the ranking.
    omitted : sequence of str
        Sentences that did not fit into the verdict.
    per_task : bool
        True to add a table of means by task and model for each score.
    marks_by_task : bool
        True to add a table of significance marks by task, if there is a single, tested score.
    """
    selected = [(analysis.columns[name], models) for name, models in models_by_column.items()]
    several = len(selected) > 1
    if marks_by_task and analysis.tested and len(selected) == 1:
        yield marks_table(analysis, *selected[0])
    if per_task:
        yield from (task_table(analysis, column, models) for column, models in selected)
    for column, models in selected:
        answers = other_scope_answer(analysis, column, *column.first.pair) if len(models) > 1 else ()
        label = f"{column.name}:" if several else ""
        yield from (Line(answer, label) for _, answer in answers if several or answer in omitted)


def details(analysis: SuiteAnalysis, *, per_task: bool) -> list[Section]:
    """Return the tables about tasks that do not fit on the first screen, and an explanation.

    `per_task` is True if the first screen already has the tables of means by task.
    """
    sections: list[Section] = []
    for column in analysis.columns.values():
        if not per_task:
            sections.append(task_table(analysis, column, column.by_mean))
        sections.append(macro_table(analysis, column))
        sections += leave_one_out_tables(analysis, column)
    correction = analysis.family.correction
    rule = "uncorrected over" if correction == "none" else f"{correction.capitalize()} over"
    text = (
        f"a mark is a significant difference on one task ({rule} all tasks and pairs), tested as by gate. "
        "Tasks with fewer than ten samples are tested only if scores are binary. Intervals of macro means "
        "hold for one model at a time. Worst tasks: the worst tenth of all tasks, but at least one. The test "
        "for similar tasks resamples tasks, and needs at least six."
    )
    return as_details([*sections, Line(text, "Tasks:")])


def marks_table(analysis: SuiteAnalysis, column: SuiteColumn, models: Sequence[int]) -> Table:
    """Return a table that marks each task on which a model differs significantly from the reference model.

    A few of these tasks are named.
    """
    reference = analysis.models[column.reference]
    fits = len(analysis.names) <= _LONGEST
    # Name the combined score, because the means of single metrics above may contradict it.
    head, note = ("combined", " (combined score)") if column.units.label == COMBINED else ("tasks", "")

    def format_marks(i: int) -> str:
        """Return the significance marks of model number `i`, one character per task."""
        return "".join(MARKS[int(mark)] for mark in column.marks[i, column.reference])

    columns: list[ModelColumn | None] = [
        (Column("model", "left"), lambda i: analysis.models[i]),
        (Column(head, "left", medium="terminal"), format_marks) if fits else None,
        (
            Column(f"+ better than {reference} on", "left", f"+ better than {reference} on{note}"),
            lambda i: _format_tasks(analysis, column.tasks_won(i, column.reference)),
        ),
        (
            Column("- worse on", "left", f"- worse than {reference} on{note}"),
            lambda i: _format_tasks(analysis, column.tasks_won(column.reference, i)),
        ),
        (
            Column(". undecided", name="undecided tasks", optional=True),
            lambda i: str(column.undecided_tasks(i, column.reference)),
        ),
    ]
    return build_table("", columns, [i for i in models if i != column.reference])


def _format_tasks(analysis: SuiteAnalysis, tasks: Sequence[int]) -> str:
    """Format the number of tasks, followed by the names of up to three."""
    names = join_names([analysis.names[t] for t in tasks], _NAMED)
    return f"{len(tasks)}: {names}" if tasks else "0"


def task_table(analysis: SuiteAnalysis, column: SuiteColumn, models: Sequence[int]) -> Table:
    """Return a table of means by task and model, with significance marks, and of macro means.

    Marks compare each model with the reference model.
    """
    errors = [column.task_differences.error[i, j] for i in models for j in models if i < j]
    digits = [decimals_from_errors(float(error[t]) for error in errors) for t in range(len(analysis.names))]
    if column.file_means is not None:  # errors are on the scale of the comparison
        digits = [decimals_for_gaps(column.mean[:, t].tolist()) for t in range(len(analysis.names))]
    macro_means = column.units.to_file_units(column.scores.macro_means)
    macro_digits = decimals_from_errors(column.scopes[FIXED].means.error)

    def mean_cell(i: int, t: int) -> Cell:
        """Return a cell with the mean of model number `i` on task number `t`, and its significance mark."""
        mark = int(column.marks[i, column.reference, t])
        text = format_fixed(float(column.mean[i, t]), digits[t])
        return Cell(f"{text} {MARKS[mark] if mark else ' '}" if analysis.tested else text, _STYLES[mark])

    columns: list[ModelColumn | None] = [
        (Column("task", "left"), lambda t: analysis.names[t]),
        (Column("metric", "left"), lambda t: analysis.metrics[t]) if analysis.metrics else None,
        (Column("samples"), lambda t: f"{analysis.samples[t]:,}"),
        None
        if analysis.equally_weighted
        else (Column("weight"), lambda t: f"{100 * analysis.weights[t]:.2g} %"),
        *((Column(analysis.models[i]), partial(mean_cell, i)) for i in models),
    ]
    label, title = "macro mean", f"Means of {score_label(column.name)} by task"
    if column.file_means is not None:
        label, title = f"{label}, rescaled", f"{title}, in the units of the file"
    if analysis.tested:
        title += f"; + better, - worse than {analysis.models[column.reference]}"
    table = build_table(title, columns, range(len(analysis.names)))
    blank = [""] * (len(table.columns) - 1 - len(models))
    macro_cells = [format_fixed(float(macro_means[i]), macro_digits) + "  " * analysis.tested for i in models]
    return replace(table, rows=(*table.rows, (Cell(label, "bold"), *blank, *macro_cells)))


def macro_table(analysis: SuiteAnalysis, column: SuiteColumn) -> Table:
    """Return a table of macro means with intervals for fixed and random tasks, and of worst tasks."""
    value = column.units.to_file_units(column.scores.macro_means)
    digits = decimals_from_errors(column.scopes[FIXED].means.error)
    intervals = macro_intervals(analysis, column)
    level = f"{100 * analysis.family.confidence:g} %"

    def format_interval(scope: str, i: int) -> str:
        """Format the interval of the macro mean of model number `i`, for fixed or random tasks."""
        low, high = intervals[scope][i]
        return f"{format_fixed(low, digits)} to {format_fixed(high, digits)}"

    columns: list[ModelColumn] = [
        (Column("model", "left"), lambda i: analysis.models[i]),
        (Column("macro\nmean"), lambda i: format_fixed(float(value[i]), digits)),
        (Column(f"{level} on\nthese tasks", "left"), partial(format_interval, FIXED)),
    ]
    if RANDOM in intervals:
        columns.append((Column(f"{level} on tasks\nlike these", "left"), partial(format_interval, RANDOM)))
    sign, worst = column.units.sign, column.worst
    columns += [
        (Column("worst tasks", "left"), lambda i: join_names([analysis.names[t] for t in worst[i].tasks])),
        (Column("mean of\nworst"), lambda i: format_fixed(float(sign * worst[i].mean), digits)),
    ]
    return build_table(f"Macro means of {score_label(column.name)}", columns, column.by_mean)


def leave_one_out_tables(analysis: SuiteAnalysis, column: SuiteColumn) -> list[Section]:
    """Return a list with a table of the results without each task, or an empty list.

    The table has the leader, the best macro mean and the lead.
    """
    if (without_task := column.left_out) is None:
        return []
    ranked, leaders = dict(column.decisive_tasks()), without_task.leader
    rival = next(i for i in column.first.pair if i != column.first.model)
    leads = column.units.to_file_units(without_task.leads)
    digits = decimals_from_errors(column.scopes[FIXED].means.error)
    columns: list[ModelColumn | None] = [
        (Column("without", "left"), lambda t: analysis.names[t]),
        (Column("samples"), lambda t: f"{analysis.samples[t]:,}"),
        (Column("first", "left"), lambda t: analysis.models[ranked.get(t, column.first.model)]),
        (Column("best macro mean", "left"), lambda t: analysis.models[int(leaders[t])]),
        (Column("lead"), lambda t: format_fixed(float(leads[t, rival]), digits)),
        (Column("p"), lambda t: format_p_value(float(without_task.p_adjusted[t, rival])))
        if analysis.tested
        else None,
    ]
    lead = f"lead of {analysis.models[column.first.model]} over {analysis.models[rival]}"
    title = f"Without each task: macro means of {score_label(column.name)}, {lead}"
    return [build_table(title, columns, range(len(analysis.names)))]
