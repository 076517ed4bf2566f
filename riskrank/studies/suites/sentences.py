"""Sentences on a suite: tasks for and against the leader, and the result in the other scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from riskrank.options.inference import FIXED, RANDOM
from riskrank.studies.suites.section import SuiteAnalysis
from riskrank.studies.targets import COMBINED
from riskrank.studies.wording import join_names, p_value_phrase

if TYPE_CHECKING:
    from riskrank.studies.suites.column import SuiteColumn


def task_sentence(chapter: SuiteAnalysis, column: SuiteColumn, first: int, other: int) -> str:
    """Return a sentence on how many tasks one model wins and loses against another.

    The sentence also states whether a single task decides.

    Example: ``better on 7, worse on 1 (gsm8k), undecided on 4; no single task decides``
    """
    if not chapter.tested:
        return omission_sentence(chapter, column, first, other)
    won, lost = column.tasks_won(first, other), column.tasks_won(other, first)
    count = len(chapter.names)
    parts = [_task_count_text("better on", [chapter.names[t] for t in won], count)]
    parts += [_task_count_text("worse on", [chapter.names[t] for t in lost], count)]
    parts += (
        [f"undecided on {column.undecided_tasks(first, other)}"]
        if column.undecided_tasks(first, other)
        else []
    )
    counts = (
        "undecided on every task"
        if column.undecided_tasks(first, other) == count
        else ", ".join(filter(None, parts))
    )
    return "; ".join(filter(None, (counts, omission_sentence(chapter, column, first, other))))


def task_counts(chapter: SuiteAnalysis, column: SuiteColumn, first: int, other: int) -> dict[str, float]:
    """Return the numbers of tasks that `first` wins, loses and leaves undecided.

    The dict is empty if the tasks were not tested.
    """
    if not chapter.tested:
        return {}
    counts = (
        len(column.tasks_won(first, other)),
        len(column.tasks_won(other, first)),
        column.undecided_tasks(first, other),
    )
    return dict(zip(("better", "worse", "undecided"), counts, strict=True))


def _task_count_text(prefix: str, tasks: list[str], count: int) -> str:
    """Format the number of tasks after a prefix, with their names if there are at most two."""
    if not tasks:
        return ""
    if len(tasks) == count:
        return f"{prefix} every task"
    named = f" ({join_names(tasks)})" if len(tasks) <= 2 else ""
    return f"{prefix} {len(tasks)}{named}"


def omission_sentence(chapter: SuiteAnalysis, column: SuiteColumn, first: int, other: int) -> str:
    """Return a sentence that names the model that leads if the most critical task is omitted.

    The leader is determined by the ranking method or by the macro mean.
    If no omission changes the leader, state whether its lead over another model remains significant.
    """
    by_method = column.decisive_tasks() if first == column.first.model else []
    if by_method:
        task, model = by_method[0]
        return _without_task_text(chapter, task, model, "comes first", len(by_method) - 1)
    if column.left_out is None or column.by_mean[0] != first:
        return ""
    changes = column.left_out.decisive_tasks(first)
    if not changes:
        return _lead_without_tasks(chapter, column, first, other)
    model = int(column.left_out.leader[changes[0]])
    return _without_task_text(chapter, changes[0], model, "has the best macro mean", len(changes) - 1)


def _lead_without_tasks(chapter: SuiteAnalysis, column: SuiteColumn, first: int, other: int) -> str:
    """Return text that states whether a lead stays significant when any single task is omitted.

    The text is empty if the lead is not significant to begin with.
    """
    p = column.scopes[chapter.scope].p_adjusted[first, other] if chapter.scope in column.scopes else 1.0
    significant = chapter.family.significant(p) and (
        column.first.ahead is None or column.first.ahead[first, other]
    )
    if column.left_out is None or first != column.first.model or not chapter.tested or not significant:
        return ""
    p_without = column.left_out.p_adjusted[:, other]
    lost = np.flatnonzero(~chapter.family.significant(p_without))
    if not lost.size:
        return "no single task decides"
    task = int(lost[np.argmax(p_without[lost])])
    suffix = f" (nor without {lost.size - 1} more)" if lost.size > 1 else ""
    return f"without {chapter.names[task]}, the lead is not significant{suffix}"


def _without_task_text(chapter: SuiteAnalysis, task: int, model: int, predicate: str, more_tasks: int) -> str:
    """Return a clause on a model's result without one task, and the number of tasks with the same effect."""
    suffix = f" (as without {more_tasks} more)" if more_tasks else ""
    return f"without {chapter.names[task]}, {chapter.models[model]} {predicate}{suffix}"


def other_scope_answer(
    chapter: SuiteAnalysis, column: SuiteColumn, first: int, other: int
) -> Iterator[tuple[float, str]]:
    """Yield the p-value and a sentence for the scope that the ranking does not use.

    If the second model is ahead in the ranking, the sentence is about that model. A lead is reported as
    significant on tasks like these only if it is also significant on these tasks. If the ranking is about
    tasks like these, a nonsignificant result on these tasks is not reported.

    Parameters
    ----------
    chapter : SuiteAnalysis
    column : SuiteColumn
    first, other : int
        Models to compare.
    """
    scope = RANDOM if chapter.scope == FIXED else FIXED
    if not chapter.tested or scope not in column.scopes:
        return
    ahead = column.first.ahead
    if ahead is not None and ahead[other, first]:
        first, other = other, first
    p = float(column.scopes[scope].p_adjusted[first, other])
    significant, ranked = bool(chapter.family.significant(p)), ahead is None or bool(ahead[first, other])
    score = " on the combined score" if column.units.label == COMBINED else ""
    comparison = f"significantly better than {chapter.models[other]}{score}"
    corrected = len(chapter.models) > 2 and chapter.family.correction != "none"
    test = "t test over the tasks, " if scope == RANDOM else ""
    size = f" ({test}{p_value_phrase(p)}{', corrected over all pairs' if corrected else ''})"
    if scope == RANDOM:
        answer = "is" if significant and ranked else "is not"
        size = "" if significant and not ranked else size
        yield p, f"On tasks like these, {chapter.models[first]} {answer} {comparison}{size}."
    elif significant or not ranked or ahead is None:
        answer, count = "is" if significant else "is not", len(chapter.names)
        yield p, f"On these {count} tasks themselves, {chapter.models[first]} {answer} {comparison}{size}."
