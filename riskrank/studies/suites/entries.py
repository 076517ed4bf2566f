"""A suite as documents write it: types the JSON Schema is made of, means and differences as in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from riskrank.options.suites import FIXED, RANDOM
from riskrank.studies.document import of, rows_from
from riskrank.studies.suites.section import SuiteChapter

if TYPE_CHECKING:
    from riskrank.studies.suites.column import SuiteColumn

BETTER, WORSE, OPEN = "better", "worse", "open"
_MARKS = {1: BETTER, -1: WORSE, 0: OPEN}


@dataclass(frozen=True)
class TaskEntry:
    """A task."""

    task: str
    weight: float
    samples: int
    metric: str | None


@dataclass(frozen=True)
class MacroEntry:
    """A model's macro mean, with its interval on these tasks and on tasks like these; its worst tasks."""

    metric: str = of(lambda one: one.name)
    model: str = of(lambda chapter, i: chapter.models[i])
    mean: float = of(lambda one, i: float(one.units.of(one.scores.macro[i])))
    low: float = of(lambda i, these: these[i][0])
    high: float = of(lambda i, these: these[i][1])
    like_these_low: float | None = of(lambda i, like: like and like[i][0])
    like_these_high: float | None = of(lambda i, like: like and like[i][1])
    worst_tasks: Sequence[str] = of(
        lambda chapter, one, i: [chapter.names[task] for task in one.worst[i].tasks]
    )
    worst_mean: float = of(lambda one, i: float(one.units.sign * one.worst[i].mean + 0.0))


@dataclass(frozen=True)
class TaskMeanEntry:
    """A model's mean on a task, and whether it is better or worse there than the leader.

    ``leader`` is the model of the verdict, which may say to look at another than the first. ``mean`` is as
    the file has it, ``difference`` on the scale that tasks are compared on.
    """

    metric: str = of(lambda one: one.name)
    task: str = of(lambda chapter, t: chapter.names[t])
    model: str = of(lambda chapter, i: chapter.models[i])
    mean: float = of(lambda one, t, i: float(one.mean[i, t]))
    leader: str = of(lambda chapter, one: chapter.models[one.against])
    difference: float = of(
        lambda one, t, i: float(one.signs[t] * one.found.difference[i, one.against, t] + 0.0)
    )
    p_value: float = of(lambda one, t, i: float(one.found.p_value[i, one.against, t]))
    p_adjusted: float = of(lambda one, t, i: float(one.found.p_adjusted[i, one.against, t]))
    mark: str = of(lambda one, t, i: _MARKS[int(one.marks[i, one.against, t])])


@dataclass(frozen=True)
class PairEntry:
    """A pair, the larger macro mean first: their difference, p-values of its lead, and tasks by answer."""

    metric: str = of(lambda one: one.name)
    model: str = of(lambda chapter, i: chapter.models[i])
    other: str = of(lambda chapter, j: chapter.models[j])
    difference: float = of(lambda one, i, j: float(one.units.of(one.scopes[FIXED].differences.value[i, j])))
    p_these: float = of(lambda one, i, j: float(one.scopes[FIXED].p_adjusted[i, j]))
    p_like_these: float | None = of(lambda one, i, j: one.p_like_these(i, j))
    better: int = of(lambda one, i, j: len(one.won(i, j)))
    worse: int = of(lambda one, i, j: len(one.won(j, i)))
    open: int = of(lambda one, i, j: one.open(i, j))


@dataclass(frozen=True)
class LeftOutEntry:
    """The suite without a task: the best macro mean, who ranks first, the leader's lead over the others."""

    metric: str = of(lambda one: one.name)
    task: str = of(lambda chapter, t: chapter.names[t])
    first: str = of(lambda chapter, one, t: chapter.models[int(one.left_out.leader[t])])
    first_as_ranked: str | None = of(
        lambda chapter, one, t: (
            None if one.first_without is None else chapter.models[int(one.first_without[t])]
        )
    )
    ahead: float = of(lambda one, t, closest: float(one.units.of(one.left_out.ahead[t, closest])))
    p_adjusted: float = of(lambda one, t, closest: float(one.left_out.p_adjusted[t, closest]))


@dataclass(frozen=True)
class SuiteEntry:
    """A suite, task by task."""

    scope: str
    tasks: Sequence[TaskEntry]
    macro_means: Sequence[MacroEntry]
    task_means: Sequence[TaskMeanEntry]
    pairs: Sequence[PairEntry]
    left_out: Sequence[LeftOutEntry]


def suite_meta(chapter: SuiteChapter | None) -> dict[str, Any]:
    """The entry ``suite`` of a document's ``meta``, where there is a suite."""
    if chapter is None:
        return {}
    own = chapter.metrics or [None] * len(chapter.names)
    tasks = zip(chapter.names, chapter.weights, chapter.samples, own, strict=True)
    entry = SuiteEntry(
        chapter.scope,
        [TaskEntry(*task) for task in tasks],
        rows_from(MacroEntry, "chapter one i these like", _macro(chapter)),
        rows_from(TaskMeanEntry, "chapter one t i", _task_means(chapter)),
        rows_from(PairEntry, "chapter one i j", _pairs(chapter)),
        rows_from(LeftOutEntry, "chapter one t closest", _left_out(chapter)),
    )
    return {"suite": asdict(entry)}


def by_task(chapter: SuiteChapter) -> dict[str, list[Any]]:
    """Means of every model on every task, each with its interval, and marks against the leader.

    Where tasks are compared on another scale than the file's, means are the file's and have no interval.
    """
    rows: list[tuple[Any, ...]] = []
    from riskrank.engine.suites.macro_means import task_means  # most tables are no suite

    for one in chapter.columns.values():
        low, high = task_means(one.scores).interval(chapter.family.level(1))
        ends = np.sort(np.array([low, high]) * one.signs, axis=0) + 0.0
        for t, i in np.ndindex(len(chapter.names), len(chapter.models)):
            span = [None, None] if one.file_means is not None else ends[:, i, t].tolist()
            metric = chapter.metrics[t] if chapter.metrics else one.name
            mark = _MARKS[int(one.marks[i, one.against, t])] if chapter.tested else None
            rows.append((chapter.models[i], chapter.names[t], metric, float(one.mean[i, t]), *span, mark))
    names = ("model", "task", "metric", "mean", "low", "high", "mark")
    return {name: [*own] for name, own in zip(names, zip(*rows, strict=True), strict=True)}


def _macro(chapter: SuiteChapter) -> Iterator[tuple[Any, ...]]:
    for one in chapter.columns.values():
        both = [ends(chapter, one, scope) if scope in one.scopes else None for scope in (FIXED, RANDOM)]
        yield from ((chapter, one, i, *both) for i in range(len(chapter.models)))


def ends(chapter: SuiteChapter, one: SuiteColumn, scope: str) -> list[tuple[float, float]]:
    """Intervals of macro means as the file has them."""
    low, high = one.units.ends(*one.scopes[scope].means.interval(chapter.family.level(1)))
    return [*zip(low.tolist(), high.tolist(), strict=True)]


def _task_means(chapter: SuiteChapter) -> Iterator[tuple[Any, ...]]:
    for one in chapter.columns.values():
        yield from ((chapter, one, *at) for at in np.ndindex(len(chapter.names), len(chapter.models)))


def _pairs(chapter: SuiteChapter) -> Iterator[tuple[Any, ...]]:
    for one in chapter.columns.values():
        yield from ((chapter, one, *pair) for pair in combinations(one.by_mean, 2))


def _left_out(chapter: SuiteChapter) -> Iterator[tuple[Any, ...]]:
    """The suite without each task, with the model that then comes closest to the leader."""
    for one in chapter.columns.values():
        if one.left_out is not None:
            others = [i for i in range(len(chapter.models)) if i != one.first.model]
            for t in range(len(chapter.names)):
                yield chapter, one, t, others[int(one.left_out.ahead[t, others].argmin())]
