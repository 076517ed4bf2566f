"""Sentences on a suite: tasks that speak for and against the first, and the question nobody asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from riskrank.options.suites import FIXED, RANDOM
from riskrank.studies.suites.section import SuiteChapter
from riskrank.studies.targets import COMBINED
from riskrank.studies.wording import names, p_words

if TYPE_CHECKING:
    from riskrank.studies.suites.column import SuiteColumn


def by_task(chapter: SuiteChapter, one: SuiteColumn, first: int, other: int) -> str:
    """Tasks won and lost against another model, and whether a single task decides.

    ``better on 7, worse on 1 (gsm8k), open on 4; no single task decides``
    """
    if not chapter.tested:
        return without_a_task(chapter, one, first, other)
    won, lost = one.won(first, other), one.won(other, first)
    count = len(chapter.names)
    parts = [_on("better on", [chapter.names[t] for t in won], count)]
    parts += [_on("worse on", [chapter.names[t] for t in lost], count)]
    parts += [f"open on {one.open(first, other)}"] if one.open(first, other) else []
    found = "open on every task" if one.open(first, other) == count else ", ".join(filter(None, parts))
    return "; ".join(filter(None, (found, without_a_task(chapter, one, first, other))))


def task_figures(chapter: SuiteChapter, one: SuiteColumn, first: int, other: int) -> dict[str, float]:
    """How many tasks are won, lost and open against another model, where tasks are tested."""
    if not chapter.tested:
        return {}
    counts = len(one.won(first, other)), len(one.won(other, first)), one.open(first, other)
    return dict(zip(("better", "worse", "open"), counts, strict=True))


def _on(how: str, tasks: list[str], count: int) -> str:
    """Few tasks are named."""
    if not tasks:
        return ""
    if len(tasks) == count:
        return f"{how} every task"
    named = f" ({names(tasks)})" if len(tasks) <= 2 else ""
    return f"{how} {len(tasks)}{named}"


def without_a_task(chapter: SuiteChapter, one: SuiteColumn, first: int, other: int) -> str:
    """Who comes first without each task in turn, by the method that ranks and by the macro mean.

    Where nobody else does: whether the lead over another is still shown.
    """
    by_method = one.deciding() if first == one.first.model else []
    if by_method:
        task, model = by_method[0]
        return _without(chapter, task, model, "comes first", len(by_method) - 1)
    if one.left_out is None or one.by_mean[0] != first:
        return ""
    changes = one.left_out.changes(first)
    if not changes:
        return _still_shown(chapter, one, first, other)
    model = int(one.left_out.leader[changes[0]])
    return _without(chapter, changes[0], model, "has the best macro mean", len(changes) - 1)


def _still_shown(chapter: SuiteChapter, one: SuiteColumn, first: int, other: int) -> str:
    """Whether a lead that is shown is so without each task, too."""
    p = one.scopes[chapter.scope].p_adjusted[first, other] if chapter.scope in one.scopes else 1.0
    shown = chapter.family.significant(p) and (one.first.ahead is None or one.first.ahead[first, other])
    if one.left_out is None or first != one.first.model or not chapter.tested or not shown:
        return ""
    left = one.left_out.p_adjusted[:, other]
    lost = np.flatnonzero(~chapter.family.significant(left))
    if not lost.size:
        return "no single task decides"
    task = int(lost[np.argmax(left[lost])])
    more = f" (so without {lost.size - 1} more)" if lost.size > 1 else ""
    return f"without {chapter.names[task]} the lead is no longer shown{more}"


def _without(chapter: SuiteChapter, task: int, model: int, what: str, others: int) -> str:
    more = f" (so without {others} more)" if others else ""
    return f"without {chapter.names[task]} {chapter.models[model]} {what}{more}"


def other_scope(
    chapter: SuiteChapter, one: SuiteColumn, first: int, other: int
) -> Iterator[tuple[float, str]]:
    """The p-value and the answer to the question the ranking does not ask: tasks like these, or these tasks.

    Where the ranking shows the other of the two ahead, the question is about that one. Of tasks like these
    nothing is shown that the ranking does not show of these; where it shows that, nobody says of these that
    it is not shown.
    """
    asked = RANDOM if chapter.scope == FIXED else FIXED
    if not chapter.tested or asked not in one.scopes:
        return
    ahead = one.first.ahead
    if ahead is not None and ahead[other, first]:
        first, other = other, first
    p = float(one.scopes[asked].p_adjusted[first, other])
    shown, ranked = bool(chapter.family.significant(p)), ahead is None or bool(ahead[first, other])
    score = "the combined score of " if one.units.label == COMBINED else ""
    whom = f"{chapter.models[first]} is better than {chapter.models[other]} on {score}"
    every = len(chapter.models) > 2 and chapter.family.correction != "none"
    test = "t test over the tasks, " if asked == RANDOM else ""
    size = f" ({test}{p_words(p)}{', corrected over all pairs' if every else ''})"
    if asked == RANDOM:
        answer = f"shown{size}" if shown and ranked else "not shown" if shown else f"not shown{size}"
        yield p, f"Whether {whom}tasks like these: {answer}."
    elif shown or not ranked or ahead is None:
        answer = "shown" if shown else "not shown"
        yield p, f"Whether {whom}these {len(chapter.names)} tasks themselves: {answer}{size}."
