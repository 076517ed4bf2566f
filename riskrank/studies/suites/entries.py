"""A suite as documents write it: types the JSON Schema is made of, means and differences as in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riskrank.asked.suites import FIXED, RANDOM
from riskrank.studies.suites.chapter import SuiteChapter

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

    metric: str
    model: str
    mean: float
    low: float
    high: float
    like_these_low: float | None
    like_these_high: float | None
    worst_tasks: Sequence[str]
    worst_mean: float


@dataclass(frozen=True)
class TaskMeanEntry:
    """A model's mean on a task, and whether it is better or worse there than the leader.

    ``leader`` is the model of the verdict, which may say to look at another than the first. ``mean`` is as
    the file has it, ``difference`` on the scale that tasks are compared on.
    """

    metric: str
    task: str
    model: str
    mean: float
    leader: str
    difference: float
    p_value: float
    p_adjusted: float
    mark: str


@dataclass(frozen=True)
class PairEntry:
    """A pair, the larger macro mean first: their difference, p-values of its lead, and tasks by answer."""

    metric: str
    model: str
    other: str
    difference: float
    p_these: float
    p_like_these: float | None
    better: int
    worse: int
    open: int


@dataclass(frozen=True)
class LeftOutEntry:
    """The suite without a task: the best macro mean, who ranks first, the leader's lead over the others."""

    metric: str
    task: str
    first: str
    first_as_ranked: str | None
    ahead: float
    p_adjusted: float


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
    return {} if chapter is None else {"suite": asdict(suite_entry(chapter))}


def suite_entry(chapter: SuiteChapter) -> SuiteEntry:
    """Write down a suite."""
    columns = chapter.columns.values()
    own = chapter.metrics or [None] * len(chapter.names)
    tasks = zip(chapter.names, chapter.weights, chapter.samples, own, strict=True)
    return SuiteEntry(
        scope=chapter.scope,
        tasks=[TaskEntry(*task) for task in tasks],
        macro_means=[entry for one in columns for entry in _macro(chapter, one)],
        task_means=[entry for one in columns for entry in _task_means(chapter, one)],
        pairs=[entry for one in columns for entry in _pairs(chapter, one)],
        left_out=[entry for one in columns for entry in _left_out(chapter, one)],
    )


def by_task(chapter: SuiteChapter) -> dict[str, list[Any]]:
    """Means of every model on every task, each with its interval, and marks against the leader.

    Where tasks are compared on another scale than the file's, means are the file's and have no interval.
    """
    columns: dict[str, list[Any]] = {
        name: [] for name in ("model", "task", "metric", "mean", "low", "high", "mark")
    }
    from riskrank.engine.suites.macro_means import task_means  # most tables are no suite

    for one in chapter.columns.values():
        low, high = task_means(one.scores).interval(chapter.family.level(1))
        ends = np.sort(np.array([low, high]) * one.signs, axis=0) + 0.0
        for entry in _task_means(chapter, one):
            t, i = chapter.names.index(entry.task), chapter.models.index(entry.model)
            span = [None, None] if one.file_means is not None else ends[:, i, t].tolist()
            metric = entry.metric if chapter.metrics is None else chapter.metrics[t]
            row = (entry.model, entry.task, metric, entry.mean, *span, entry.mark if chapter.tested else None)
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
    return columns


def _macro(chapter: SuiteChapter, one: SuiteColumn) -> Iterator[MacroEntry]:
    mean = one.units.of(one.scores.macro)
    these = ends(chapter, one, FIXED)
    like = ends(chapter, one, RANDOM) if RANDOM in one.scopes else None
    for i, model in enumerate(chapter.models):
        worst, outer = one.worst[i], (None, None) if like is None else like[i]
        yield MacroEntry(
            one.name,
            model,
            float(mean[i]),
            these[i][0],
            these[i][1],
            outer[0],
            outer[1],
            [chapter.names[task] for task in worst.tasks],
            float(one.units.sign * worst.mean + 0.0),
        )


def ends(chapter: SuiteChapter, one: SuiteColumn, scope: str) -> list[tuple[float, float]]:
    """Intervals of macro means as the file has them."""
    low, high = one.units.interval(*one.scopes[scope].means.interval(chapter.family.level(1)))
    assert low is not None
    assert high is not None
    return [*zip(low.tolist(), high.tolist(), strict=True)]


def _task_means(chapter: SuiteChapter, one: SuiteColumn) -> Iterator[TaskMeanEntry]:
    leader, found = one.against, one.found
    for t, task in enumerate(chapter.names):
        for i, model in enumerate(chapter.models):
            yield TaskMeanEntry(
                one.name,
                task,
                model,
                float(one.mean[i, t]),
                chapter.models[leader],
                float(one.signs[t] * found.difference[i, leader, t] + 0.0),
                float(found.p_value[i, leader, t]),
                float(found.p_adjusted[i, leader, t]),
                _MARKS[int(one.marks[i, leader, t])],
            )


def _pairs(chapter: SuiteChapter, one: SuiteColumn) -> Iterator[PairEntry]:
    differences, like = one.scopes[FIXED].differences.value, one.scopes.get(RANDOM)
    order = np.argsort(-one.scores.macro, kind="stable").tolist()
    for at, i in enumerate(order):
        for j in order[at + 1 :]:
            yield PairEntry(
                one.name,
                chapter.models[i],
                chapter.models[j],
                float(one.units.of(differences[i, j])),
                float(one.scopes[FIXED].p_adjusted[i, j]),
                None if like is None else float(like.p_adjusted[i, j]),
                len(one.won(i, j)),
                len(one.won(j, i)),
                one.open(i, j),
            )


def _left_out(chapter: SuiteChapter, one: SuiteColumn) -> Iterator[LeftOutEntry]:
    if one.left_out is None:
        return
    others = [i for i in range(len(chapter.models)) if i != one.leader]
    for t, task in enumerate(chapter.names):
        ahead = one.left_out.ahead[t, others]
        next_ = others[int(ahead.argmin())]
        yield LeftOutEntry(
            one.name,
            task,
            chapter.models[int(one.left_out.leader[t])],
            None if one.first_without is None else chapter.models[int(one.first_without[t])],
            float(one.units.of(ahead.min())),
            float(one.left_out.p_adjusted[t, next_]),
        )
