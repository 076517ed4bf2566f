"""Analysis of a suite of tasks, for each score column, with its sentences and JSON entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
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
    """Names, sizes and weights of the tasks to which the samples belong.

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
        """Phrase such as ``12 tasks, weighted equally, 60 to 14,000 samples each``."""
        weighting, heaviest = "weighted equally", max(self.weights)
        if not self.equally_weighted:
            task = self.names[self.weights.index(heaviest)]
            weighting = f"weights {_format_share(min(self.weights))} to {_format_share(heaviest)} ({task})"
        sizes = f"{count_range(self.samples)} samples each{_SCALES[self.scale]}"
        return f"{counted(len(self.names), 'task')}, {weighting}, {sizes}"


@dataclass(frozen=True, eq=False)
class SuiteAnalysis(SuiteOutline):
    """Results by task, for each metric or combined score.

    Attributes
    ----------
    metrics : tuple of str
        Metric of each task if tasks have different metrics; otherwise empty.
    scope : {"fixed", "random"}
        Scope of the ranking: these tasks (fixed), or tasks like these (random).
    models : tuple of str
        Names of the models.
    columns : mapping of str to SuiteColumn
        Results by metric or portfolio.
    family : Family
        Family of tests over all tasks and pairs.
    tested : bool
        True if differences were tested.
    """

    metrics: tuple[str, ...]
    scope: str
    models: tuple[str, ...]
    columns: Mapping[str, SuiteColumn]
    family: Family
    tested: bool

    @property
    def scope_text(self) -> str:
        """Phrase for the tasks to which a verdict refers, such as ``on these 12 tasks``.

        Tasks with weight 0 do not count.
        """
        count, weighing = len(self.names), int(np.count_nonzero(self.weights))
        if weighing < count:
            return f"on {weighing} of these {count} tasks"
        return f"on these {count} tasks" if self.scope == FIXED else f"on tasks like these {count}"


def suite_outline(table: ScoreTable) -> SuiteOutline | None:
    """Return the tasks of a table with their sizes and weights, or None if the table has no tasks."""
    suite = table.suite
    if not suite:
        return None
    task_count = len(suite.names)
    counts = [np.bincount(suite.task_codes[np.unique(at)], minlength=task_count) for at in table.row_samples]
    sizes = tuple(np.min(counts, axis=0).tolist())
    return SuiteOutline(suite.names, sizes, tuple(suite.weights.tolist()), suite.scale)


def analyze_suite(
    table: ScoreTable,
    tables: ScoreTables,
    leaders: Mapping[str, TopModel],
    inference: Inference,
    scope: str = FIXED,
) -> SuiteAnalysis | None:
    """Analyse the scores task by task, or return None if the table has no tasks.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    tables : ScoreTables
        Scores to rank.
    leaders : mapping of str to TopModel
        Leader by each metric or combined score.
    inference : Inference
        Test settings: level, correction, resamples and seed.
    scope : {"fixed", "random"}
        Tasks to which the results refer: the given ones, or similar ones.
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
    """Format a weight between 0 and 1 in percent."""
    points = 100 * weight
    if 0 < points < 0.01:
        return "under 0.01 %"
    return f"{points:.0f} %" if points >= 10 else f"{points:.2g} %"


def task_sentence(analysis: SuiteAnalysis, column: SuiteColumn, first: int, other: int) -> str:
    """Return a phrase with the numbers of tasks on which model `first` is better or worse than `other`.

    It also says whether the lead depends on a single task. Example: ``better on 7, worse on 1 (gsm8k),
    undecided on 4; no single task decides``.
    """
    if not analysis.tested:
        return omission_clause(analysis, column, first, other)
    parts, count = [], len(analysis.names)
    for prefix, pair in (("better on", (first, other)), ("worse on", (other, first))):
        tasks = [analysis.names[t] for t in column.tasks_won(*pair)]
        names = f" ({join_names(tasks)})" if len(tasks) <= 2 else ""
        number = "every task" if len(tasks) == count else f"{len(tasks)}{names}"
        parts += [f"{prefix} {number}"] if tasks else []
    if undecided := column.undecided_tasks(first, other):
        parts.append("undecided on every task" if undecided == count else f"undecided on {undecided}")
    return "; ".join(filter(None, (", ".join(parts), omission_clause(analysis, column, first, other))))


def task_counts(analysis: SuiteAnalysis, column: SuiteColumn, first: int, other: int) -> dict[str, float]:
    """Return the numbers of tasks on which `first` is better than `other`, worse, or neither.

    The dictionary is empty if the tasks were not tested.
    """
    if not analysis.tested:
        return {}
    won, lost = len(column.tasks_won(first, other)), len(column.tasks_won(other, first))
    return {"better": won, "worse": lost, "undecided": column.undecided_tasks(first, other)}


def omission_clause(analysis: SuiteAnalysis, column: SuiteColumn, first: int, other: int) -> str:
    """Return a clause about a task without which the leader changes, or its lead is not significant.

    The leader is that of the ranking. If no omission changes it, it is the model with the best macro mean.
    The lead is that over the model `other`. The clause is empty if `first` is not the leader.
    """
    by_method = column.decisive_tasks() if first == column.first.model else []
    if by_method:
        task, model = by_method[0]
        return _describe_omission(analysis, task, model, "comes first", len(by_method) - 1)
    if column.left_out is None or column.by_mean[0] != first:
        return ""
    changes = column.left_out.decisive_tasks(first)
    if not changes:
        return _describe_lead_without_tasks(analysis, column, first, other)
    model = int(column.left_out.leader[changes[0]])
    return _describe_omission(analysis, changes[0], model, "has the best macro mean", len(changes) - 1)


def _describe_lead_without_tasks(analysis: SuiteAnalysis, column: SuiteColumn, first: int, other: int) -> str:
    """Return a clause on whether the lead of `first` over `other` stays significant without any one task.

    The clause is empty if the lead over all tasks is not significant.
    """
    p = column.scopes[analysis.scope].p_adjusted[first, other] if analysis.scope in column.scopes else 1.0
    ahead = column.first.ahead is None or column.first.ahead[first, other]
    significant = analysis.family.significant(p) and ahead
    if column.left_out is None or first != column.first.model or not analysis.tested or not significant:
        return ""
    p_without = column.left_out.p_adjusted[:, other]
    lost = np.flatnonzero(~analysis.family.significant(p_without))
    if not lost.size:
        return "no single task decides"
    task = int(lost[np.argmax(p_without[lost])])
    suffix = f" (nor without any of {lost.size - 1} other tasks)" if lost.size > 1 else ""
    return f"without {analysis.names[task]}, the lead is not significant{suffix}"


def _describe_omission(analysis: SuiteAnalysis, task: int, model: int, predicate: str, others: int) -> str:
    """Return a clause such as ``without gsm8k, new comes first (as without 2 more)``.

    Parameters
    ----------
    analysis : SuiteAnalysis
        Results of a suite by task.
    task, model : int
        Indices of the omitted task and of the model.
    predicate : str
        Predicate of the clause, such as ``comes first``.
    others : int
        Number of other tasks whose omission has the same effect.
    """
    suffix = f" (also without any of {others} other tasks)" if others else ""
    return f"without {analysis.names[task]}, {analysis.models[model]} {predicate}{suffix}"


def other_scope_answer(
    analysis: SuiteAnalysis, column: SuiteColumn, first: int, other: int
) -> Iterator[tuple[float, str]]:
    """Yield a p-value and a sentence for the kind of tasks that the ranking does not use: fixed or random.

    If the second model is ahead in the ranking, the sentence is about that model. A lead is reported as
    significant on similar tasks only if it is also significant on these tasks. If the ranking is about
    similar tasks, a nonsignificant result on these tasks is not reported. Nothing is yielded without tests.

    Parameters
    ----------
    analysis : SuiteAnalysis
        Results of a suite by task.
    column : SuiteColumn
        Results by task on one metric or combined score.
    first, other : int
        Models to compare.
    """
    scope = RANDOM if analysis.scope == FIXED else FIXED
    if not analysis.tested or scope not in column.scopes:
        return
    ahead = column.first.ahead
    if ahead is not None and ahead[other, first]:
        first, other = other, first
    p = float(column.scopes[scope].p_adjusted[first, other])
    significant, ranked = bool(analysis.family.significant(p)), ahead is None or bool(ahead[first, other])
    score = " on the combined score" if column.units.label == COMBINED else ""
    comparison = f"significantly better than {analysis.models[other]}{score}"
    corrected = len(analysis.models) > 2 and analysis.family.correction != "none"
    test = "test over the tasks, " if scope == RANDOM else ""
    p_text = f" ({test}{p_value_phrase(p)}{', corrected over all pairs' if corrected else ''})"
    if scope == RANDOM:
        verb = "is" if significant and ranked else "is not"
        p_text = "" if significant and not ranked else p_text
        yield p, f"On tasks like these, {analysis.models[first]} {verb} {comparison}{p_text}."
    elif significant or not ranked or ahead is None:
        verb, count = "is" if significant else "is not", len(analysis.names)
        yield p, f"On these {count} tasks themselves, {analysis.models[first]} {verb} {comparison}{p_text}."


BETTER, WORSE, UNDECIDED = "better", "worse", "undecided"
_MARKS = {1: BETTER, -1: WORSE, 0: UNDECIDED}


@dataclass(frozen=True)
class TaskEntry:
    """A task with its weight and number of samples.

    ``metric`` is None unless tasks have different metrics.
    """

    task: str
    weight: float
    samples: int
    metric: str | None


@dataclass(frozen=True)
class MacroEntry:
    """A model's mean over tasks, its intervals for these tasks and for similar ones, and its worst tasks."""

    metric: str = computed(lambda column: column.name)
    model: str = computed(lambda analysis, i: analysis.models[i])
    mean: float = computed(lambda column, i: float(column.units.to_file_units(column.scores.macro_means[i])))
    low: float = computed(lambda i, fixed: fixed[i][0])
    high: float = computed(lambda i, fixed: fixed[i][1])
    like_these_low: float | None = computed(lambda i, random: random and random[i][0])
    like_these_high: float | None = computed(lambda i, random: random and random[i][1])
    worst_tasks: Sequence[str] = computed(
        lambda analysis, column, i: [analysis.names[task] for task in column.worst[i].tasks]
    )
    worst_mean: float = computed(lambda column, i: float(column.units.sign * column.worst[i].mean + 0.0))


@dataclass(frozen=True)
class TaskMeanEntry:
    """A model's mean on one task, and its difference from the reference model.

    ``leader`` is the reference model of the verdict, which need not be first in the ranking. ``mean`` is
    in the units of the file; ``difference`` is on the scale on which tasks are compared.
    """

    metric: str = computed(lambda column: column.name)
    task: str = computed(lambda analysis, t: analysis.names[t])
    model: str = computed(lambda analysis, i: analysis.models[i])
    mean: float = computed(lambda column, t, i: float(column.mean[i, t]))
    leader: str = computed(lambda analysis, column: analysis.models[column.reference])
    difference: float = computed(
        lambda column, t, at: float(column.signs[t] * column.task_differences.difference[at] + 0.0)
    )
    p_value: float = computed(lambda column, at: float(column.task_differences.p_value[at]))
    p_adjusted: float = computed(lambda column, at: float(column.task_differences.p_adjusted[at]))
    mark: str = computed(lambda column, at: _MARKS[int(column.marks[at])])


@dataclass(frozen=True)
class PairEntry:
    """Comparison of two models over all tasks, the one with the larger macro mean first.

    ``p_these`` is the p-value for the given tasks, and ``p_like_these`` that for similar tasks. ``better``,
    ``worse`` and ``open`` count the tasks on which the first model is significantly better, significantly
    worse, or neither.
    """

    metric: str = computed(lambda column: column.name)
    model: str = computed(lambda analysis, i: analysis.models[i])
    other: str = computed(lambda analysis, j: analysis.models[j])
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
    """Results if one task is left out.

    ``first`` is the model with the best macro mean, and ``first_as_ranked`` the leader of the ranking.
    ``ahead`` is the smallest lead, without this task, that the leader of the ranking on all tasks has over
    another model.
    """

    metric: str = computed(lambda column: column.name)
    task: str = computed(lambda analysis, t: analysis.names[t])
    first: str = computed(lambda analysis, column, t: analysis.models[int(column.left_out.leader[t])])
    first_as_ranked: str | None = computed(
        lambda analysis, column, t: (
            None if column.first_without is None else analysis.models[int(column.first_without[t])]
        )
    )
    ahead: float = computed(
        lambda column, t, closest: float(column.units.to_file_units(column.left_out.leads[t, closest]))
    )
    p_adjusted: float = computed(lambda column, t, closest: float(column.left_out.p_adjusted[t, closest]))


@dataclass(frozen=True)
class SuiteEntry:
    """Results by task, as stored in the JSON output."""

    scope: str
    tasks: Sequence[TaskEntry]
    macro_means: Sequence[MacroEntry]
    task_means: Sequence[TaskMeanEntry]
    pairs: Sequence[PairEntry]
    left_out: Sequence[LeftOutEntry]


def suite_meta(analysis: SuiteAnalysis | None) -> dict[str, Any]:
    """Return the results by task for the JSON object ``meta``, or an empty dictionary without tasks."""
    if analysis is None:
        return {}
    columns, models = analysis.columns.values(), range(len(analysis.models))
    task_metrics, task_numbers = analysis.metrics or [None] * len(analysis.names), range(len(analysis.names))
    means = (
        (analysis, column, t, i, (i, column.reference, t))
        for column in columns
        for t, i in product(task_numbers, models)
    )
    pairs = ((analysis, column, i, j) for column in columns for i, j in combinations(column.by_mean, 2))
    tasks = zip(analysis.names, analysis.weights, analysis.samples, task_metrics, strict=True)
    entry = SuiteEntry(
        analysis.scope,
        [TaskEntry(*task) for task in tasks],
        rows_from_records(MacroEntry, "analysis column i fixed random", _macro_records(analysis)),
        rows_from_records(TaskMeanEntry, "analysis column t i at", means),
        rows_from_records(PairEntry, "analysis column i j", pairs),
        rows_from_records(LeftOutEntry, "analysis column t closest", _left_out_records(analysis)),
    )
    return {"suite": asdict(entry)}


def task_columns(analysis: SuiteAnalysis) -> dict[str, list[Any]]:
    """Return a table with each model's mean, interval and significance mark on each task, as columns.

    Marks compare a model with the reference model. If tasks are compared on another scale, means are still in
    the units of the file, but have no intervals.
    """
    from riskrank.engine import suites  # imported here because most tables have no suite

    rows: list[tuple[Any, ...]] = []
    for column in analysis.columns.values():
        low, high = suites.task_means(column.scores).interval(analysis.family.interval_level(1))
        bounds = np.sort(np.array([low, high]) * column.signs, axis=0) + 0.0
        for t, i in np.ndindex(len(analysis.names), len(analysis.models)):
            span = [None, None] if column.file_means is not None else bounds[:, i, t].tolist()
            metric, mean = analysis.metrics[t] if analysis.metrics else column.name, float(column.mean[i, t])
            mark = _MARKS[int(column.marks[i, column.reference, t])] if analysis.tested else None
            rows.append((analysis.models[i], analysis.names[t], metric, mean, *span, mark))
    names = ("model", "task", "metric", "mean", "low", "high", "mark")
    return {name: [*values] for name, values in zip(names, zip(*rows, strict=True), strict=True)}


def _macro_records(analysis: SuiteAnalysis) -> Iterator[tuple[Any, ...]]:
    """Yield the values for one `MacroEntry` per metric or combined score and model."""
    for column in analysis.columns.values():
        intervals = macro_intervals(analysis, column)
        both = intervals[FIXED], intervals.get(RANDOM)
        yield from ((analysis, column, i, *both) for i in range(len(analysis.models)))


def macro_intervals(analysis: SuiteAnalysis, column: SuiteColumn) -> dict[str, list[list[float]]]:
    """Return the interval [low, high] of each model's macro mean, for fixed and for random tasks.

    Intervals are in the units of the input file.
    """
    level = analysis.family.interval_level(1)
    return {
        name: np.transpose(column.units.interval_to_file_units(*scope.means.interval(level))).tolist()
        for name, scope in column.scopes.items()
    }


def _left_out_records(analysis: SuiteAnalysis) -> Iterator[tuple[Any, ...]]:
    """Yield the values for one `LeftOutEntry` per metric or combined score and omitted task."""
    for column in analysis.columns.values():
        if column.left_out is not None:
            rivals = [i for i in range(len(analysis.models)) if i != column.first.model]
            for t in range(len(analysis.names)):
                yield analysis, column, t, rivals[int(column.left_out.leads[t, rivals].argmin())]
