"""A suite on the screen: a strip of marks a model, tasks by models, and what single tasks decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from riskrank.options.suites import FIXED, RANDOM
from riskrank.render.mean_tables import in_words
from riskrank.render.numbers import p_value
from riskrank.render.screens import asked_for
from riskrank.render.view import Cell, Column, Line, OfModel, Section, Table, by_row
from riskrank.studies.suites.entries import ends
from riskrank.studies.suites.section import SuiteChapter
from riskrank.studies.suites.sentences import other_scope
from riskrank.studies.targets import COMBINED
from riskrank.studies.wording import decimals_apart, decimals_of, names, rounded

if TYPE_CHECKING:
    from riskrank.studies.suites.column import SuiteColumn

MARKS = {1: "+", -1: "-", 0: "."}
_STYLES = {1: "green", -1: "red", 0: ""}

# Tasks that a strip has room for beside the names of some of them, and names it says.
_LONGEST, _NAMED = 60, 3


def screen(
    chapter: SuiteChapter,
    shown: Mapping[str, Sequence[int]],
    more: Sequence[str],
    *,
    per_task: bool,
    strip: bool = True,
) -> Iterator[Section]:
    """Of one column a strip of marks a model; of each all tasks by models, where that was asked for.

    Parameters
    ----------
    chapter : SuiteChapter
    shown : mapping of str to sequence of int
        Models of every column, in their order.
    more : sequence of str
        Sentences the verdict had no room for: the answer to the other question is one that is never left out.
    per_task, strip : bool
    """
    told = [(chapter.columns[name], models) for name, models in shown.items()]
    if strip and chapter.tested and len(shown) == 1:
        yield strips(chapter, *told[0])
    if per_task:
        yield from (by_task(chapter, one, models) for one, models in told)
    for one, models in told:
        answers = other_scope(chapter, one, *one.first.pair) if len(models) > 1 else ()
        on = "" if len(shown) == 1 else f"{one.name}:"
        yield from (Line(answer, on) for _, answer in answers if len(shown) > 1 or answer in more)


def details(chapter: SuiteChapter, *, per_task: bool) -> list[Section]:
    """Of every column, what a screen has no room for."""
    sections: list[Section] = []
    for one in chapter.columns.values():
        if not per_task:
            sections.append(by_task(chapter, one, one.by_mean))
        sections.append(macro(chapter, one))
        sections += left_out(chapter, one)
    return asked_for([*sections, _reading(chapter)])


def strips(chapter: SuiteChapter, one: SuiteColumn, shown: Sequence[int]) -> Table:
    """A mark a task and model, against the model of the verdict; few tasks are named."""
    against = chapter.models[one.against]
    drawn = len(chapter.names) <= _LONGEST
    # Means of single metrics stand above, and may say the opposite of the score that is compared here.
    head, by = ("combined", " (combined score)") if one.units.label == COMBINED else ("tasks", "")

    def strip(i: int) -> str:
        return "".join(MARKS[int(mark)] for mark in one.marks[i, one.against])

    columns: list[OfModel | None] = [
        (Column("model", "left"), lambda i: chapter.models[i]),
        (Column(head, "left", only="terminal"), strip) if drawn else None,
        (
            Column(f"+ better than {against} on", "left", f"+ better than {against} on{by}"),
            lambda i: _named(chapter, one.won(i, one.against)),
        ),
        (
            Column("- worse on", "left", f"- worse than {against} on{by}"),
            lambda i: _named(chapter, one.won(one.against, i)),
        ),
        (Column(". open", name="open tasks", spare=True), lambda i: str(one.open(i, one.against))),
    ]
    return by_row("", columns, [i for i in shown if i != one.against])


def _named(chapter: SuiteChapter, tasks: Sequence[int]) -> str:
    if not tasks:
        return "0"
    return f"{len(tasks)}: {names([chapter.names[t] for t in tasks], _NAMED)}"


def by_task(chapter: SuiteChapter, one: SuiteColumn, shown: Sequence[int]) -> Table:
    """Means of every task and model, marked against the model of the verdict; the macro mean below."""
    errors = [one.found.error[i, j] for i in shown for j in shown if i < j]
    digits = [decimals_of(float(error[t]) for error in errors) for t in range(len(chapter.names))]
    if one.file_means is not None:  # errors are on the scale of the comparison
        digits = [decimals_apart(one.mean[:, t].tolist()) for t in range(len(chapter.names))]
    macro, together = one.units.of(one.scores.macro), decimals_of(one.scopes[FIXED].means.error)

    def cell(i: int, t: int) -> Cell:
        mark = int(one.marks[i, one.against, t])
        said = rounded(float(one.mean[i, t]), digits[t])
        return Cell(f"{said} {MARKS[mark] if mark else ' '}" if chapter.tested else said, _STYLES[mark])

    columns: list[OfModel | None] = [
        (Column("task", "left"), lambda t: chapter.names[t]),
        (Column("metric", "left"), lambda t: chapter.metrics[t]) if chapter.metrics else None,
        (Column("samples"), lambda t: f"{chapter.samples[t]:,}"),
        None if chapter.alike else (Column("weight"), lambda t: f"{100 * chapter.weights[t]:.2g} %"),
        *((Column(chapter.models[i]), partial(cell, i)) for i in shown),
    ]
    label, title = "macro mean", f"Means of {in_words(one.name)} by task"
    if one.file_means is not None:
        label, title = f"{label}, as compared", f"{title}, as the file has them"
    if chapter.tested:
        title += f"; + better, - worse than {chapter.models[one.against]}"
    table = by_row(title, columns, range(len(chapter.names)))
    blank = [""] * (len(table.columns) - 1 - len(shown))
    below = [rounded(float(macro[i]), together) + "  " * chapter.tested for i in shown]
    return replace(table, rows=(*table.rows, (Cell(label, "bold"), *blank, *below)))


def macro(chapter: SuiteChapter, one: SuiteColumn) -> Table:
    """Macro means with intervals of both questions, and the worst tasks."""
    value = one.units.of(one.scores.macro)
    digits = decimals_of(one.scopes[FIXED].means.error)
    said = {scope: ends(chapter, one, scope) for scope in one.scopes}
    level = f"{100 * chapter.family.confidence:g} %"

    def interval(scope: str, i: int) -> str:
        low, high = said[scope][i]
        return f"{rounded(low, digits)} to {rounded(high, digits)}"

    columns: list[OfModel] = [
        (Column("model", "left"), lambda i: chapter.models[i]),
        (Column("macro\nmean"), lambda i: rounded(float(value[i]), digits)),
        (Column(f"{level} on\nthese tasks", "left"), partial(interval, FIXED)),
    ]
    if RANDOM in said:
        columns.append((Column(f"{level} on tasks\nlike these", "left"), partial(interval, RANDOM)))
    columns += [
        (Column("worst tasks", "left"), lambda i: names([chapter.names[t] for t in one.worst[i].tasks])),
        (Column("their\nmean"), lambda i: rounded(float(one.units.sign * one.worst[i].mean), digits)),
    ]
    return by_row(f"Macro means of {in_words(one.name)}", columns, one.by_mean)


def left_out(chapter: SuiteChapter, one: SuiteColumn) -> list[Section]:
    """Without each task who is first, who has the best macro mean, and the lead over the rival."""
    if (left := one.left_out) is None:
        return []
    ranked, leaders = dict(one.deciding()), left.leader
    other = next(i for i in one.first.pair if i != one.first.model)
    ahead, digits = one.units.of(left.ahead), decimals_of(one.scopes[FIXED].means.error)
    columns: list[OfModel | None] = [
        (Column("without", "left"), lambda t: chapter.names[t]),
        (Column("samples"), lambda t: f"{chapter.samples[t]:,}"),
        (Column("first", "left"), lambda t: chapter.models[ranked.get(t, one.first.model)]),
        (Column("best macro mean", "left"), lambda t: chapter.models[int(leaders[t])]),
        (Column("lead"), lambda t: rounded(float(ahead[t, other]), digits)),
        (Column("p"), lambda t: p_value(float(left.p_adjusted[t, other]))) if chapter.tested else None,
    ]
    lead = f"lead: of {chapter.models[one.first.model]} over {chapter.models[other]}"
    title = f"Without each task, by macro means of {in_words(one.name)}; {lead}"
    return [by_row(title, columns, range(len(chapter.names)))]


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
