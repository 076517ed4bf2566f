"""JSON entries of a suite, which also define its JSON schema.

Means are in the units of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from riskrank.options.inference import FIXED, RANDOM
from riskrank.studies.document import computed, rows_from_records
from riskrank.studies.suites.section import SuiteAnalysis

if TYPE_CHECKING:
    from riskrank.studies.suites.column import SuiteColumn

BETTER, WORSE, UNDECIDED = "better", "worse", "undecided"
_MARKS = {1: BETTER, -1: WORSE, 0: UNDECIDED}


@dataclass(frozen=True)
class TaskEntry:
    """One task of a suite, with its weight and number of samples."""

    task: str
    weight: float
    samples: int
    metric: str | None


@dataclass(frozen=True)
class MacroEntry:
    """A model's macro mean, its intervals for these tasks and for tasks like these, and its worst tasks."""

    metric: str = computed(lambda column: column.name)
    model: str = computed(lambda chapter, i: chapter.models[i])
    mean: float = computed(lambda column, i: float(column.units.to_file_units(column.scores.macro_means[i])))
    low: float = computed(lambda i, these: these[i][0])
    high: float = computed(lambda i, these: these[i][1])
    like_these_low: float | None = computed(lambda i, like: like and like[i][0])
    like_these_high: float | None = computed(lambda i, like: like and like[i][1])
    worst_tasks: Sequence[str] = computed(
        lambda chapter, column, i: [chapter.names[task] for task in column.worst[i].tasks]
    )
    worst_mean: float = computed(lambda column, i: float(column.units.sign * column.worst[i].mean + 0.0))


@dataclass(frozen=True)
class TaskMeanEntry:
    """A model's mean on one task, and its difference from the reference model.

    ``leader`` is the reference model of the verdict, which need not be first in the ranking. ``mean`` is
    in the units of the file; ``difference`` is on the scale on which tasks are compared.
    """

    metric: str = computed(lambda column: column.name)
    task: str = computed(lambda chapter, t: chapter.names[t])
    model: str = computed(lambda chapter, i: chapter.models[i])
    mean: float = computed(lambda column, t, i: float(column.mean[i, t]))
    leader: str = computed(lambda chapter, column: chapter.models[column.reference])
    difference: float = computed(
        lambda column, t, i: float(
            column.signs[t] * column.task_differences.difference[i, column.reference, t] + 0.0
        )
    )
    p_value: float = computed(
        lambda column, t, i: float(column.task_differences.p_value[i, column.reference, t])
    )
    p_adjusted: float = computed(
        lambda column, t, i: float(column.task_differences.p_adjusted[i, column.reference, t])
    )
    mark: str = computed(lambda column, t, i: _MARKS[int(column.marks[i, column.reference, t])])


@dataclass(frozen=True)
class PairEntry:
    """Two models, the larger macro mean first: their difference, p-values, and task counts by answer."""

    metric: str = computed(lambda column: column.name)
    model: str = computed(lambda chapter, i: chapter.models[i])
    other: str = computed(lambda chapter, j: chapter.models[j])
    difference: float = computed(
        lambda column, i, j: float(column.units.to_file_units(column.scopes[FIXED].differences.value[i, j]))
    )
    p_these: float = computed(lambda column, i, j: float(column.scopes[FIXED].p_adjusted[i, j]))
    p_like_these: float | None = computed(lambda column, i, j: column.p_random_tasks(i, j))
    better: int = computed(lambda column, i, j: len(column.tasks_won(i, j)))
    worse: int = computed(lambda column, i, j: len(column.tasks_won(j, i)))
    open: int = computed(lambda column, i, j: column.undecided_tasks(i, j))


@dataclass(frozen=True)
class LeftOutEntry:
    """Results without one task: the best macro mean, the leader of the ranking, and the smallest lead."""

    metric: str = computed(lambda column: column.name)
    task: str = computed(lambda chapter, t: chapter.names[t])
    first: str = computed(lambda chapter, column, t: chapter.models[int(column.left_out.leader[t])])
    first_as_ranked: str | None = computed(
        lambda chapter, column, t: (
            None if column.first_without is None else chapter.models[int(column.first_without[t])]
        )
    )
    ahead: float = computed(
        lambda column, t, closest: float(column.units.to_file_units(column.left_out.leads[t, closest]))
    )
    p_adjusted: float = computed(lambda column, t, closest: float(column.left_out.p_adjusted[t, closest]))


@dataclass(frozen=True)
class SuiteEntry:
    """Results on a suite of tasks."""

    scope: str
    tasks: Sequence[TaskEntry]
    macro_means: Sequence[MacroEntry]
    task_means: Sequence[TaskMeanEntry]
    pairs: Sequence[PairEntry]
    left_out: Sequence[LeftOutEntry]


def suite_meta(chapter: SuiteAnalysis | None) -> dict[str, Any]:
    """Return the ``meta`` entry ``suite``, or an empty dict if there is no suite."""
    if chapter is None:
        return {}
    task_metrics = chapter.metrics or [None] * len(chapter.names)
    tasks = zip(chapter.names, chapter.weights, chapter.samples, task_metrics, strict=True)
    entry = SuiteEntry(
        chapter.scope,
        [TaskEntry(*task) for task in tasks],
        rows_from_records(MacroEntry, "chapter column i these like", _macro_records(chapter)),
        rows_from_records(TaskMeanEntry, "chapter column t i", _task_mean_records(chapter)),
        rows_from_records(PairEntry, "chapter column i j", _pair_records(chapter)),
        rows_from_records(LeftOutEntry, "chapter column t closest", _left_out_records(chapter)),
    )
    return {"suite": asdict(entry)}


def task_columns(chapter: SuiteAnalysis) -> dict[str, list[Any]]:
    """Return a dict of columns with each model's mean, interval and mark against the reference on each task.

    If tasks are compared on another scale, means are still in the units of the file but have no intervals.
    """
    rows: list[tuple[Any, ...]] = []
    from riskrank.engine.suites.macro_means import (
        task_means,
    )  # imported here because most tables have no suite

    for column in chapter.columns.values():
        low, high = task_means(column.scores).interval(chapter.family.interval_level(1))
        bounds = np.sort(np.array([low, high]) * column.signs, axis=0) + 0.0
        for t, i in np.ndindex(len(chapter.names), len(chapter.models)):
            span = [None, None] if column.file_means is not None else bounds[:, i, t].tolist()
            metric = chapter.metrics[t] if chapter.metrics else column.name
            mark = _MARKS[int(column.marks[i, column.reference, t])] if chapter.tested else None
            rows.append((chapter.models[i], chapter.names[t], metric, float(column.mean[i, t]), *span, mark))
    names = ("model", "task", "metric", "mean", "low", "high", "mark")
    return {name: [*values] for name, values in zip(names, zip(*rows, strict=True), strict=True)}


def _macro_records(chapter: SuiteAnalysis) -> Iterator[tuple[Any, ...]]:
    """Yield one record per score column and model."""
    for column in chapter.columns.values():
        both = [
            macro_intervals(chapter, column, scope) if scope in column.scopes else None
            for scope in (FIXED, RANDOM)
        ]
        yield from ((chapter, column, i, *both) for i in range(len(chapter.models)))


def macro_intervals(chapter: SuiteAnalysis, column: SuiteColumn, scope: str) -> list[tuple[float, float]]:
    """Return the interval (low, high) of each model's macro mean, in the units of the file."""
    low, high = column.units.interval_to_file_units(
        *column.scopes[scope].means.interval(chapter.family.interval_level(1))
    )
    return [*zip(low.tolist(), high.tolist(), strict=True)]


def _task_mean_records(chapter: SuiteAnalysis) -> Iterator[tuple[Any, ...]]:
    """Yield one record per score column, task and model."""
    for column in chapter.columns.values():
        yield from ((chapter, column, *at) for at in np.ndindex(len(chapter.names), len(chapter.models)))


def _pair_records(chapter: SuiteAnalysis) -> Iterator[tuple[Any, ...]]:
    """Yield one record per score column and pair of models, the larger macro mean first."""
    for column in chapter.columns.values():
        yield from ((chapter, column, *pair) for pair in combinations(column.by_mean, 2))


def _left_out_records(chapter: SuiteAnalysis) -> Iterator[tuple[Any, ...]]:
    """Yield one record per omitted task, with the model closest to the leader without this task."""
    for column in chapter.columns.values():
        if column.left_out is not None:
            rivals = [i for i in range(len(chapter.models)) if i != column.first.model]
            for t in range(len(chapter.names)):
                yield chapter, column, t, rivals[int(column.left_out.leads[t, rivals].argmin())]
