"""Tables on a suite: significance marks by task, task means, macro means, and leave-one-task-out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from riskrank.options.suites import FIXED, RANDOM
from riskrank.render.mean_tables import score_label
from riskrank.render.numbers import format_p_value
from riskrank.render.screens import as_details
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.suites.entries import macro_intervals
from riskrank.studies.suites.section import SuiteChapter
from riskrank.studies.suites.sentences import other_scope_answer
from riskrank.studies.targets import COMBINED
from riskrank.studies.wording import decimals_apart, decimals_of, names, rounded

if TYPE_CHECKING:
    from riskrank.studies.suites.column import SuiteColumn

MARKS = {1: "+", -1: "-", 0: "."}
_STYLES = {1: "green", -1: "red", 0: ""}

# Maximum number of marks in a row, and of task names next to them.
_LONGEST, _NAMED = 60, 3


def suite_sections(
    chapter: SuiteChapter,
    models_by_column: Mapping[str, Sequence[int]],
    omitted: Sequence[str],
    *,
    per_task: bool,
    strip: bool = True,
) -> Iterator[Section]:
    """Yield the tables and lines on a suite that follow the ranking.

    Parameters
    ----------
    chapter : SuiteChapter
    models_by_column : mapping of str to sequence of int
        Models of every column, in the order of their rows.
    omitted : sequence of str
        Sentences that did not fit into the verdict.
    per_task : bool
        Add a table of all tasks by models for each column.
    strip : bool
        Add a table of significance marks by task, if there is one column and it was tested.
    """
    selected = [(chapter.columns[name], models) for name, models in models_by_column.items()]
    if strip and chapter.tested and len(models_by_column) == 1:
        yield marks_table(chapter, *selected[0])
    if per_task:
        yield from (task_table(chapter, column, models) for column, models in selected)
    for column, models in selected:
        answers = other_scope_answer(chapter, column, *column.first.pair) if len(models) > 1 else ()
        label = "" if len(models_by_column) == 1 else f"{column.name}:"
        yield from (
            Line(answer, label) for _, answer in answers if len(models_by_column) > 1 or answer in omitted
        )


def details(chapter: SuiteChapter, *, per_task: bool) -> list[Section]:
    """Return the tables on every column that do not fit on the first screen."""
    sections: list[Section] = []
    for column in chapter.columns.values():
        if not per_task:
            sections.append(task_table(chapter, column, column.by_mean))
        sections.append(macro_table(chapter, column))
        sections += left_out_tables(chapter, column)
    return as_details([*sections, _reading(chapter)])


def marks_table(chapter: SuiteChapter, column: SuiteColumn, models: Sequence[int]) -> Table:
    """Return a table of significance marks by task against the reference model; a few tasks are named."""
    reference = chapter.models[column.reference]
    fits = len(chapter.names) <= _LONGEST
    # Name the combined score, because the means of single metrics above may contradict it.
    head, note = ("combined", " (combined score)") if column.units.label == COMBINED else ("tasks", "")

    def marks_text(i: int) -> str:
        return "".join(MARKS[int(mark)] for mark in column.marks[i, column.reference])

    columns: list[ModelColumn | None] = [
        (Column("model", "left"), lambda i: chapter.models[i]),
        (Column(head, "left", medium="terminal"), marks_text) if fits else None,
        (
            Column(f"+ better than {reference} on", "left", f"+ better than {reference} on{note}"),
            lambda i: _format_tasks(chapter, column.tasks_won(i, column.reference)),
        ),
        (
            Column("- worse on", "left", f"- worse than {reference} on{note}"),
            lambda i: _format_tasks(chapter, column.tasks_won(column.reference, i)),
        ),
        (
            Column(". open", name="open tasks", optional=True),
            lambda i: str(column.undecided_tasks(i, column.reference)),
        ),
    ]
    return build_table("", columns, [i for i in models if i != column.reference])


def _format_tasks(chapter: SuiteChapter, tasks: Sequence[int]) -> str:
    if not tasks:
        return "0"
    return f"{len(tasks)}: {names([chapter.names[t] for t in tasks], _NAMED)}"


def task_table(chapter: SuiteChapter, column: SuiteColumn, models: Sequence[int]) -> Table:
    """Return a table of means by task and model, marked against the reference model, with the macro means."""
    errors = [column.task_differences.error[i, j] for i in models for j in models if i < j]
    digits = [decimals_of(float(error[t]) for error in errors) for t in range(len(chapter.names))]
    if column.file_means is not None:  # errors are on the scale of the comparison
        digits = [decimals_apart(column.mean[:, t].tolist()) for t in range(len(chapter.names))]
    macro_means, macro_digits = (
        column.units.of(column.scores.macro),
        decimals_of(column.scopes[FIXED].means.error),
    )

    def cell(i: int, t: int) -> Cell:
        mark = int(column.marks[i, column.reference, t])
        text = rounded(float(column.mean[i, t]), digits[t])
        return Cell(f"{text} {MARKS[mark] if mark else ' '}" if chapter.tested else text, _STYLES[mark])

    columns: list[ModelColumn | None] = [
        (Column("task", "left"), lambda t: chapter.names[t]),
        (Column("metric", "left"), lambda t: chapter.metrics[t]) if chapter.metrics else None,
        (Column("samples"), lambda t: f"{chapter.samples[t]:,}"),
        None
        if chapter.equally_weighted
        else (Column("weight"), lambda t: f"{100 * chapter.weights[t]:.2g} %"),
        *((Column(chapter.models[i]), partial(cell, i)) for i in models),
    ]
    label, title = "macro mean", f"Means of {score_label(column.name)} by task"
    if column.file_means is not None:
        label, title = f"{label}, as compared", f"{title}, as the file has them"
    if chapter.tested:
        title += f"; + better, - worse than {chapter.models[column.reference]}"
    table = build_table(title, columns, range(len(chapter.names)))
    blank = [""] * (len(table.columns) - 1 - len(models))
    macro_cells = [rounded(float(macro_means[i]), macro_digits) + "  " * chapter.tested for i in models]
    return replace(table, rows=(*table.rows, (Cell(label, "bold"), *blank, *macro_cells)))


def macro_table(chapter: SuiteChapter, column: SuiteColumn) -> Table:
    """Return a table of macro means with intervals of both scopes, and the worst tasks of each model."""
    value = column.units.of(column.scores.macro)
    digits = decimals_of(column.scopes[FIXED].means.error)
    intervals = {scope: macro_intervals(chapter, column, scope) for scope in column.scopes}
    level = f"{100 * chapter.family.confidence:g} %"

    def interval(scope: str, i: int) -> str:
        low, high = intervals[scope][i]
        return f"{rounded(low, digits)} to {rounded(high, digits)}"

    columns: list[ModelColumn] = [
        (Column("model", "left"), lambda i: chapter.models[i]),
        (Column("macro\nmean"), lambda i: rounded(float(value[i]), digits)),
        (Column(f"{level} on\nthese tasks", "left"), partial(interval, FIXED)),
    ]
    if RANDOM in intervals:
        columns.append((Column(f"{level} on tasks\nlike these", "left"), partial(interval, RANDOM)))
    columns += [
        (Column("worst tasks", "left"), lambda i: names([chapter.names[t] for t in column.worst[i].tasks])),
        (Column("their\nmean"), lambda i: rounded(float(column.units.sign * column.worst[i].mean), digits)),
    ]
    return build_table(f"Macro means of {score_label(column.name)}", columns, column.by_mean)


def left_out_tables(chapter: SuiteChapter, column: SuiteColumn) -> list[Section]:
    """Return a table of the leader, the best macro mean and the lead without each task, if computed."""
    if (without_task := column.left_out) is None:
        return []
    ranked, leaders = dict(column.decisive_tasks()), without_task.leader
    rival = next(i for i in column.first.pair if i != column.first.model)
    leads, digits = column.units.of(without_task.ahead), decimals_of(column.scopes[FIXED].means.error)
    columns: list[ModelColumn | None] = [
        (Column("without", "left"), lambda t: chapter.names[t]),
        (Column("samples"), lambda t: f"{chapter.samples[t]:,}"),
        (Column("first", "left"), lambda t: chapter.models[ranked.get(t, column.first.model)]),
        (Column("best macro mean", "left"), lambda t: chapter.models[int(leaders[t])]),
        (Column("lead"), lambda t: rounded(float(leads[t, rival]), digits)),
        (Column("p"), lambda t: format_p_value(float(without_task.p_adjusted[t, rival])))
        if chapter.tested
        else None,
    ]
    lead = f"lead: of {chapter.models[column.first.model]} over {chapter.models[rival]}"
    title = f"Without each task, by macro means of {score_label(column.name)}; {lead}"
    return [build_table(title, columns, range(len(chapter.names)))]


def _reading(chapter: SuiteChapter) -> Line:
    correction = chapter.family.correction
    rule = "not corrected for" if correction == "none" else f"{correction.capitalize()} over"
    text = (
        f"a mark is a significant difference on one task, {rule} all tasks and pairs; McNemar's exact test "
        "of 0/1 scores, Student's and Johnson's of others, none below ten samples. Intervals of macro means "
        "are for one model at a time; the worst tasks are a tenth of them, at least one. Of tasks like "
        "these, spoken of from six on, Student's or Johnson's t of the tasks' means tells, whichever p is "
        "larger."
    )
    return Line(text, "Tasks:")
