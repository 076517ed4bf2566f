"""Tasks: qualify sample names by task, and determine the metric of each task."""

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans
from riskrank.errors import InputError, listing, option
from riskrank.scores.files import parsing
from riskrank.scores.files.parsing import join_columns
from riskrank.scores.table.metrics_file import MetricSpec, Specs, TaskMetrics
from riskrank.scores.table.missing_scores import DROPPED
from riskrank.scores.table.score_counts import crosstab, unique_inverse
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.typed_rows import categories

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
    pair = sample * len(tasks) + task
    used, number = unique_inverse(pair, len(samples) * len(tasks))
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
    """Drop tasks without scores, and metrics that do not apply to a task.

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
        return (
            _filter_tasks(scores, np.repeat(scored[:, None], has_score.shape[1], axis=1)) if empty else scores
        )
    if not scores.options.metric:
        scores, has_score = _select_primary_metrics(scores, has_score)
    if (has_score.sum(axis=1) > 1).any():
        raise _several_metrics_error(scores, has_score)
    return _filter_tasks(scores, has_score)


def _select_primary_metrics(scores: Scores, has_score: Booleans) -> tuple[Scores, Booleans]:
    """Restrict tasks with several metrics to their primary metric, if the harness states one.

    Returns
    -------
    scores : Scores
        With a note if any task was restricted.
    has_score : ndarray of bool, shape (tasks, metrics)
        True if a task has a score on a metric.
    """
    selected, used = has_score.copy(), Counter[str]()
    for task, name in enumerate(scores.names("task")):
        metric = scores.notes.primary.get(name)
        if (
            has_score[task].sum() > 1
            and metric in scores.metrics
            and has_score[task, scores.metrics.index(metric)]
        ):
            selected[task] = np.arange(has_score.shape[1]) == scores.metrics.index(metric)
            used[metric] += 1
    if not used or (selected.sum(axis=1) > 1).any():
        return scores, selected
    counts = ", ".join(f"{name} ({count} task{'s' if count > 1 else ''})" for name, count in used.items())
    note = f"tasks with several metrics use the primary metric of their harness: {counts}"
    return scores.with_warnings(note), selected


def merge_task_metrics(scores: Scores, specs: Specs) -> tuple[Scores, Specs, TaskMetrics]:
    """Merge the metrics into one column if each task has its own metric.

    Otherwise, the scores and specifications are returned unchanged.

    Returns
    -------
    scores : Scores
    specs : tuple of MetricSpec
    of_task : dict of str to MetricSpec, or None
        Metric of each task.
    """
    if not scores.uses_tasks or len(specs) < 2 or not scores.options.weighs_tasks:
        return scores, specs, None
    has_score = _score_mask(scores)
    if (has_score.sum(axis=1) > 1).any():
        return scores, specs, None
    tasks = zip(scores.names("task"), has_score, strict=True)
    of_task = {name: specs[int(present.argmax())] for name, present in tasks if present.any()}
    scale = "cardinal" if all(spec.scale == "cardinal" for spec in of_task.values()) else "ordinal"
    declared = all(spec.declared for spec in of_task.values())
    merged = pl.Series([SCORE], dtype=pl.Enum([SCORE])).new_from_index(0, scores.frame.height)
    frame = scores.frame.with_columns(merged.alias("metric"))
    result = replace(scores, frame=frame, original_metric=scores.frame["metric"])
    return result, (MetricSpec(name=SCORE, scale=scale, declared=declared),), of_task


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
    """Keep the rows of tasks and metrics that have scores."""
    mask = has_score[scores.codes("task"), scores.codes("metric")]
    return scores if mask.all() else scores.filter(mask)


def _several_metrics_error(scores: Scores, has_score: Booleans) -> InputError:
    """Return the error for tasks with several metrics, from which the user must choose."""
    names = scores.names("task")
    by_task = {
        name: [scores.metrics[at] for at in np.flatnonzero(metrics)]
        for name, metrics in zip(names, has_score, strict=True)
        if metrics.any()
    }
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
    return InputError(problem, found=detail, hint=hint)
