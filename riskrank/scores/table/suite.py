"""Suites: samples grouped into tasks, the weights of tasks, and the metric of each task."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans, Floats, Integers, Names
from riskrank.errors import InputError, UsageError, listing, option, unknown_name
from riskrank.options.values import misplaced_option_error, number_or_nan
from riskrank.scores.files import parsing
from riskrank.scores.files.parsing import join_columns
from riskrank.scores.table.metric_specs import MetricSpec, Specs, TaskMetrics
from riskrank.scores.table.scores import DROPPED, Scores, crosstab, unique_inverse
from riskrank.scores.table.typed_rows import categories

# Scale of suites that add the scores of different metrics without rescaling.
MIXED = "mixed"


@dataclass(frozen=True, kw_only=True, eq=False)
class Suite:
    """The tasks of a score table; :data:`NO_SUITE` is false.

    Attributes
    ----------
    names : tuple of str
        Task names, sorted; at least two, or none.
    task_codes : ndarray of int64, shape (samples,)
        Task of each sample, as an index into `names`. Each sample belongs to one task: samples with the same
        name in two tasks are different samples. Read-only.
    weights : ndarray of float64, shape (tasks,)
        Weights with sum 1, equal by default. Read-only.
    specs : tuple of MetricSpec
        Metric of each task, if tasks have different metrics: the table then has a single column, ``score``,
        oriented task by task. Otherwise empty.
    means : ndarray, shape (metrics, models, tasks), or None
        Means in original units, if the scores of the table were rescaled.
    scale : {"none", "mixed", "rank", "bounds"}
        Scale of the scores; `MIXED` if they belong to different metrics without a common scale.
    weighted : bool
        True if task weights were given.
    """

    names: tuple[str, ...]
    task_codes: Integers
    weights: Floats
    specs: tuple[MetricSpec, ...] = ()
    means: Floats | None = None
    scale: str = "none"
    weighted: bool = False

    def __bool__(self) -> bool:
        """Return True if there are tasks."""
        return bool(self.names)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Name of each task's metric, if tasks have different metrics."""
        return tuple(spec.name for spec in self.specs)

    @property
    def sizes(self) -> Integers:
        """Number of samples in each task, over all models."""
        return np.bincount(self.task_codes, minlength=len(self.names))

    def subset(self, samples: Sequence[int]) -> Suite:
        """Return the suite restricted to the samples at the given indices.

        Return `NO_SUITE` if only one task, or no positive weight, remains.
        """
        used, numbers = np.unique(self.task_codes[samples], return_inverse=True)
        total = self.weights[used].sum()
        if used.size < 2 or not total:
            return NO_SUITE
        return Suite(
            names=tuple(self.names[task] for task in used),
            task_codes=read_only(numbers.astype(np.int64)),
            weights=read_only(self.weights[used] / total),
            specs=tuple(self.specs[task] for task in used) if self.specs else (),
            weighted=self.weighted,
        )

    def pooling_note(self) -> str:
        """Describe the weights that tasks have if all samples are pooled."""
        sizes = self.sizes
        largest = int(sizes.argmax())
        share = 100 * sizes[largest] / sizes.sum()
        return (
            f"{len(self.names)} tasks are pooled and all samples weighted equally; the largest task, "
            f"{self.names[largest]}, has {share:.0f} % of the samples"
        )


# The suite of a table without tasks, or with a single one.
NO_SUITE = Suite(names=(), task_codes=np.empty(0, dtype=np.int64), weights=np.empty(0))


def build_suite(
    scores: Scores, samples: Names, row_samples: Sequence[Integers], task_metrics: TaskMetrics = None
) -> Suite:
    """Build the suite of a table.

    Parameters
    ----------
    scores : Scores
    samples : sequence of str
        Samples that remain in the table.
    row_samples : sequence of ndarray of int
        Sample of each row, per model.
    task_metrics : mapping of str to MetricSpec, optional
        Metric of each task, if tasks have different metrics.

    Returns
    -------
    Suite
        `NO_SUITE` if all samples belong to one task, or if the user did not name the task column and it has
        one task per sample.

    Raises
    ------
    UsageError
        If the weights name an unknown task or are invalid.
    """
    names, requested = scores.names("task"), scores.options.task_weight
    task_codes = np.zeros(len(samples), dtype=np.int64)
    if names:
        codes = pl.Series(samples, dtype=pl.String).cast(pl.Enum(scores.samples)).to_physical().to_numpy()
        task_codes = scores.task_of_samples()[codes]
    used, numbers = np.unique(task_codes, return_inverse=True)
    if names and used.size == len(samples) and not requested and not scores.notes.tasks_named:
        return NO_SUITE
    tasks = tuple(names[code] for code in used) if names else ()
    if len(tasks) < 2:
        if requested:
            problem = f"{option('task_weight', requested[0])} needs at least two tasks"
            detail = f"one task, {tasks[0]}" if tasks else "no task column"
            column = f", or name a task column, {option('task', 'COL')}"
            raise misplaced_option_error(problem, detail, "task_weight", column)
        return NO_SUITE
    # Number of models that have each sample.
    counts = np.bincount(np.concatenate([*map(np.unique, row_samples)]), minlength=len(samples))
    sizes: Floats = np.bincount(numbers, weights=counts, minlength=len(tasks)).astype(np.float64)
    weights = _task_weights(tasks, sizes, requested)
    return Suite(
        names=tasks,
        task_codes=read_only(numbers.astype(np.int64)),
        weights=read_only(weights / weights.sum()),
        specs=() if task_metrics is None else tuple(task_metrics[task] for task in tasks),
        weighted=bool(requested),
    )


def _task_weights(tasks: Names, sizes: Floats, texts: Names) -> Floats:
    """Return the weight of each task as the options state it, before normalisation.

    Parameters
    ----------
    tasks : sequence of str
    sizes : ndarray of float
        Number of samples in each task.
    texts : sequence of str
        ``equal``, ``samples`` or ``TASK=NUMBER``; equal weights if empty.

    Raises
    ------
    UsageError
        If a text is invalid.
    """
    if not texts or tuple(texts) == ("equal",):
        return np.ones(len(tasks))
    if tuple(texts) == ("samples",):
        return sizes
    weights = dict.fromkeys(tasks, 1.0)
    seen: set[str] = set()
    for text in texts:
        name, _, value = text.rpartition("=")
        if name not in weights:
            if name and "=" not in name:
                write = partial("{1}={0}".format, value)
                raise unknown_name(name, tasks, kind="task", parameter="task_weight", write=write)
            problem = f"{option('task_weight', text)} does not name a task"
            hint = f"write {option('task_weight', tasks[0] + '=2')} for each task, or equal or samples"
            raise UsageError(problem, found=f"the tasks are {listing(tasks)}", hint=hint)
        if name in seen:
            hint = "set each weight once"
            raise UsageError(f"{option('task_weight')} names {name} twice", found=listing(texts), hint=hint)
        seen.add(name)
        weights[name] = number_or_nan(value)
        if not (math.isfinite(weights[name]) and weights[name] >= 0):
            problem = f"{option('task_weight', text)} is not valid"
            hint = "write a finite number of at least 0; the default weight is 1"
            raise UsageError(problem, found=value or "nothing", hint=hint)
    values = np.array([weights[name] for name in tasks])
    if not values.sum():
        hint = "give at least one task a positive weight"
        raise UsageError("the weights of all tasks are 0", found=listing(texts), hint=hint)
    return values


def read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


# Name of the merged column if each task has its own metric.
SCORE = "score"
# Tasks or metrics listed in a message.
_MAX_NAMES = 4


def qualify_samples(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Name samples by task and sample if tasks reuse sample names.

    Returns
    -------
    frame : DataFrame
        Rows in which each sample belongs to one task.
    notes : tuple of str
        A warning if all tasks have the same sample names, because the column may not contain tasks.
    """
    if frame.schema["task"] == pl.Null:
        return frame, ()
    tasks, samples = categories(frame["task"]), categories(frame["sample"])
    task, sample = (frame[name].to_physical().to_numpy().astype(np.int64) for name in ("task", "sample"))
    used, number = unique_inverse(sample * len(tasks) + task, len(samples) * len(tasks))
    if used.size == len(samples):
        return frame, ()
    parts = pl.DataFrame(
        [tasks.gather(used % len(tasks)).alias("task"), samples.gather(used // len(tasks)).alias("sample")]
    )
    only_tasks = len(samples) == 1 and samples[0] == ""
    names = parts["task"] if only_tasks else parts.select(join_columns(("task", "sample"))).to_series()
    coded = names.cast(pl.Enum(names.sort())).gather(number).alias("sample")
    notes: tuple[str, ...] = ()
    if used.size == len(samples) * len(tasks) and not only_tasks:
        notes = (
            f"the {len(tasks)} tasks share sample names, which count as different samples. If the tasks "
            f"are metrics of the same samples, use {option('columns', 'metric=task')}",
        )
    return frame.with_columns(coded), notes


def drop_unscored_tasks(scores: Scores) -> Scores:
    """Drop the tasks without scores, and the rows of metrics that do not apply to a task.

    Raises
    ------
    InputError
        If tasks have different metrics and some have several.
    """
    if not scores.uses_tasks:
        return scores
    has_score, names = _score_mask(scores), scores.names("task")
    scored: Booleans = np.any(has_score, axis=1)
    empty = [name for name, any_ in zip(names, scored.tolist(), strict=True) if not any_]
    if empty and len(empty) < len(names):
        selected = f"of {listing(scores.metrics, _MAX_NAMES)}" if scores.options.metric else "at all"
        note = f"{DROPPED}{len(empty)} of {len(names)} tasks without a score {selected}: {listing(empty)}"
        if scores.options.metric:
            note += f"; {option('metric', f'{empty[0]}=NAME')} adds a task with another metric"
        scores = scores.with_warnings(note)
    remaining = has_score[scored]
    if len(remaining) < 2 or (remaining == remaining[0]).all() or not scores.options.weighs_tasks:
        kept = np.repeat(scored[:, None], has_score.shape[1], axis=1)
        return _filter_tasks(scores, kept) if empty else scores
    if not scores.options.metric:
        scores, has_score = _select_primary_metrics(scores, has_score)
    if (has_score.sum(axis=1) > 1).any():
        raise _several_metrics_error(scores, has_score)
    return _filter_tasks(scores, has_score)


def _select_primary_metrics(scores: Scores, has_score: Booleans) -> tuple[Scores, Booleans]:
    """Keep only the primary metric of each task that has several, if the harness states one.

    Returns
    -------
    scores : Scores
        With a note if any task was restricted.
    has_score : ndarray of bool, shape (tasks, metrics)
        True if a task has a score on a metric.
    """
    selected, used = has_score.copy(), Counter[str]()
    for row, name in zip(selected, scores.names("task"), strict=True):
        metric = scores.notes.primary.get(name)
        is_primary = np.array([name == metric for name in scores.metrics])
        if row.sum() > 1 and row[is_primary].any():
            row[:] = is_primary
            used[str(metric)] += 1
    if not used or (selected.sum(axis=1) > 1).any():
        return scores, selected
    counts = ", ".join(f"{name} ({count} task{'s' if count > 1 else ''})" for name, count in used.items())
    note = f"tasks with several metrics use the primary metric of their harness: {counts}"
    return scores.with_warnings(note), selected


def merge_task_metrics(scores: Scores, specs: Specs) -> tuple[Scores, Specs, TaskMetrics]:
    """Merge the metrics of all tasks into one, if each task has its own metric.

    Otherwise, the scores and specifications are returned unchanged.

    Returns
    -------
    scores : Scores
    specs : tuple of MetricSpec
    task_metrics : dict of str to MetricSpec, or None
        Metric of each task.
    """
    if not scores.uses_tasks or len(specs) < 2 or not scores.options.weighs_tasks:
        return scores, specs, None
    has_score = _score_mask(scores)
    if (has_score.sum(axis=1) > 1).any():
        return scores, specs, None
    tasks = zip(scores.names("task"), has_score, strict=True)
    task_metrics = {name: specs[int(present.argmax())] for name, present in tasks if present.any()}
    scale = "cardinal" if all(spec.scale == "cardinal" for spec in task_metrics.values()) else "ordinal"
    declared = all(spec.declared for spec in task_metrics.values())
    merged = pl.Series([SCORE], dtype=pl.Enum([SCORE])).new_from_index(0, scores.frame.height)
    frame = scores.frame.with_columns(merged.alias("metric"))
    result = replace(scores, frame=frame, original_metric=scores.frame["metric"])
    return result, (MetricSpec(name=SCORE, scale=scale, declared=declared),), task_metrics


def _score_mask(scores: Scores) -> Booleans:
    """Return a mask of the metrics on which each task has any score, usable or not.

    Returns
    -------
    ndarray of bool, shape (tasks, metrics)
    """
    present = np.isin(scores.states, (parsing.VALID, parsing.TEXT, parsing.INFINITE))
    shape = (len(scores.names("task")), len(scores.metrics))
    return crosstab(scores.codes("task")[present], scores.codes("metric")[present], shape) > 0


def _filter_tasks(scores: Scores, has_score: Booleans) -> Scores:
    """Keep the rows of tasks and metrics that have scores.

    `has_score` is a mask of shape (tasks, metrics).
    """
    mask = has_score[scores.codes("task"), scores.codes("metric")]
    return scores if mask.all() else scores.filter(mask)


def _several_metrics_error(scores: Scores, has_score: Booleans) -> InputError:
    """Return the error for tasks that have several metrics; the user must select one per task.

    `has_score` is a mask of shape (tasks, metrics).
    """
    names = scores.names("task")
    scored = [(name, np.flatnonzero(row)) for name, row in zip(names, has_score, strict=True) if row.any()]
    by_task = {name: [scores.metrics[at] for at in metrics] for name, metrics in scored}
    several = [name for name, metrics in by_task.items() if len(metrics) > 1]
    order = [*several, *(name for name in by_task if name not in several)]
    line = " ".join(option("metric", f"{name}={by_task[name][0]}") for name in several)
    common = [metric for metric in scores.metrics if all(metric in metrics for metrics in by_task.values())]
    hint = f"select one metric per task: {line}"
    if common:
        hint = f"{option('metric', common[0])} uses a metric that all tasks have; or {hint}"
    detail = listing((f"{name} ({', '.join(by_task[name][:_MAX_NAMES])})" for name in order), _MAX_NAMES)
    subject = f"{listing(several, _MAX_NAMES)} {'has' if len(several) == 1 else 'have'}"
    problem = f"{scores.file_names()}: the tasks have different metrics, and {subject} more than one"
    fixes = [("", {"metric": (name,)}) for name in common[:_MAX_NAMES]]
    return InputError(problem, found=detail, hint=hint, suggestions=fixes)
