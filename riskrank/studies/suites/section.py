"""Analysis of a suite of tasks, for each score column, with its sentences and JSON entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from riskrank.engine.dominance.column_tests import TopModel
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.family import Family
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.options.inference import BOUNDS, FIXED, NONE, RANDOM, RANK
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import MIXED
from riskrank.studies.document import computed, rows_from_records
from riskrank.studies.targets import COMBINED
from riskrank.studies.wording import count_range, counted, join_names, p_value_phrase

if TYPE_CHECKING:
    from riskrank.studies.suites.column import SuiteColumn


_SCALES = {
    NONE: "",
    MIXED: "; metrics of different tasks are averaged without rescaling",
    RANK: "; scores are ranks within the task, 0 to 1",
    BOUNDS: "; scores are rescaled to their bounds",
}


@dataclass(frozen=True, eq=False)
class SuiteOutline:
    """Tasks of a suite, with their sizes and weights.

    Attributes
    ----------
    names : tuple of str
        Names of the tasks.
    samples : tuple of int
        Number of samples or clusters of each task, as the minimum over models.
    weights : tuple of float
        Weights of the tasks, which sum to 1.
    scale : {"none", "mixed", "rank", "bounds"}
        Scale on which the scores of different tasks are combined.
    """

    names: tuple[str, ...]
    samples: tuple[int, ...]
    weights: tuple[float, ...]
    scale: str

    @property
    def equally_weighted(self) -> bool:
        """True if all tasks have the same weight."""
        return bool(np.ptp(self.weights) < 1e-12)

    @property
    def summary(self) -> str:
        """One-line summary: ``12 tasks, weighted equally, 60 to 14,000 samples each``."""
        weighting, heaviest = "weighted equally", max(self.weights)
        if not self.equally_weighted:
            task = self.names[self.weights.index(heaviest)]
            weighting = f"weights {_format_share(min(self.weights))} to {_format_share(heaviest)} ({task})"
        sizes = f"{count_range(self.samples)} samples each{_SCALES[self.scale]}"
        return f"{counted(len(self.names), 'task')}, {weighting}, {sizes}"


@dataclass(frozen=True, eq=False)
class SuiteAnalysis(SuiteOutline):
    """Results on a suite of tasks, by score column.

    Attributes
    ----------
    metrics : tuple of str
        Metric of each task if tasks have different metrics; otherwise empty.
    scope : {"fixed", "random"}
        Scope of the ranking: these tasks (fixed), or tasks like these (random).
    models : tuple of str
    columns : mapping of str to SuiteColumn
        Results by metric or portfolio.
    family : Family
        Family of tests over all tasks and pairs.
    tested : bool
    """

    metrics: tuple[str, ...]
    scope: str
    models: tuple[str, ...]
    columns: Mapping[str, SuiteColumn]
    family: Family
    tested: bool

    @property
    def scope_text(self) -> str:
        """Phrase for a verdict's scope, such as ``on these 12 tasks``.

        Tasks with weight 0 do not count.
        """
        count, weighing = len(self.names), int(np.count_nonzero(self.weights))
        if weighing < count:
            return f"on {weighing} of these {count} tasks"
        return f"on these {count} tasks" if self.scope == FIXED else f"on tasks like these {count}"


def suite_outline(table: ScoreTable) -> SuiteOutline | None:
    """Return the tasks of a table with their sizes and weights, or None if the table has no suite."""
    suite = table.suite
    if not suite:
        return None
    numbered = (np.unique(rows, return_index=True)[1] for rows in table.clusters)
    tasks = [suite.of_sample[rows[at]] for rows, at in zip(table.row_samples, numbered, strict=True)]
    counts = np.min([np.bincount(rows, minlength=len(suite.names)) for rows in tasks], axis=0)
    return SuiteOutline(suite.names, tuple(counts.tolist()), tuple(suite.weights.tolist()), suite.scale)


def analyze_suite(
    table: ScoreTable,
    tables: ScoreTables,
    leaders: Mapping[str, TopModel],
    inference: Inference,
    scope: str = FIXED,
) -> SuiteAnalysis | None:
    """Analyse the suite of a table task by task, or return None if the table has no suite.

    Parameters
    ----------
    table : ScoreTable
    tables : ScoreTables
        Scores to rank.
    leaders : mapping of str to TopModel
        Leader of each metric or portfolio.
    inference : Inference
    scope : {"fixed", "random"}
    """
    outline = suite_outline(table)
    if outline is None or not leaders:
        return None
    from riskrank.studies.suites.column import suite_column  # imported here because most tables have no suite

    columns = {
        name: suite_column(name, tables.column_scores(name), table, first, inference, scope)
        for name, first in leaders.items()
    }
    return SuiteAnalysis(
        **vars(outline),
        metrics=table.suite.metrics,
        scope=scope,
        models=table.models,
        columns=columns,
        family=inference.family,
        tested=inference.test,
    )


def _format_share(weight: float) -> str:
    """Format a weight in percent."""
    points = 100 * weight
    if 0 < points < 0.01:
        return "under 0.01 %"
    return f"{points:.0f} %" if points >= 10 else f"{points:.2g} %"


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
    if undecided := column.undecided_tasks(first, other):
        parts.append(f"undecided on {undecided}")
    counts = "undecided on every task" if undecided == count else ", ".join(filter(None, parts))
    return "; ".join(filter(None, (counts, omission_sentence(chapter, column, first, other))))


def task_counts(chapter: SuiteAnalysis, column: SuiteColumn, first: int, other: int) -> dict[str, float]:
    """Return the numbers of tasks that `first` wins, loses and leaves undecided.

    The dict is empty if the tasks were not tested.
    """
    if not chapter.tested:
        return {}
    won, lost = len(column.tasks_won(first, other)), len(column.tasks_won(other, first))
    return {"better": won, "worse": lost, "undecided": column.undecided_tasks(first, other)}


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
    columns, models = chapter.columns.values(), range(len(chapter.models))
    task_metrics, task_numbers = chapter.metrics or [None] * len(chapter.names), range(len(chapter.names))
    means = ((chapter, column, t, i) for column in columns for t in task_numbers for i in models)
    pairs = ((chapter, column, i, j) for column in columns for i, j in combinations(column.by_mean, 2))
    tasks = zip(chapter.names, chapter.weights, chapter.samples, task_metrics, strict=True)
    entry = SuiteEntry(
        chapter.scope,
        [TaskEntry(*task) for task in tasks],
        rows_from_records(MacroEntry, "chapter column i these like", _macro_records(chapter)),
        rows_from_records(TaskMeanEntry, "chapter column t i", means),
        rows_from_records(PairEntry, "chapter column i j", pairs),
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


def _left_out_records(chapter: SuiteAnalysis) -> Iterator[tuple[Any, ...]]:
    """Yield one record per omitted task, with the model closest to the leader without this task."""
    for column in chapter.columns.values():
        if column.left_out is not None:
            rivals = [i for i in range(len(chapter.models)) if i != column.first.model]
            for t in range(len(chapter.names)):
                yield chapter, column, t, rivals[int(column.left_out.leads[t, rivals].argmin())]
