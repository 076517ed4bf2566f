"""Tasks among scores: whose names they tell apart, and the metric of each."""

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans
from riskrank.errors import InputError, listing, option
from riskrank.scores.files import parsing
from riskrank.scores.files.parsing import as_one_name
from riskrank.scores.table.metrics_file import MetricSpec, OfTask, Specs
from riskrank.scores.table.missing_scores import DROPPED
from riskrank.scores.table.score_counts import counts_by, numbered
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.typed_rows import list_of

# The one column of tasks that have metrics of their own.
SCORE = "score"
# Tasks or metrics that a message names.
_MOST_NAMED = 4


def told_apart(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Name samples by task and sample where tasks give the same names to theirs.

    Returns
    -------
    frame : DataFrame
        In which a sample lies in one task.
    notes : tuple of str
        If every name stands in every task: then the tasks may be something else.
    """
    if frame.schema["task"] == pl.Null:
        return frame, ()
    tasks, samples = list_of(frame["task"]), list_of(frame["sample"])
    task, sample = (frame[name].to_physical().to_numpy().astype(np.int64) for name in ("task", "sample"))
    pair = sample * len(tasks) + task
    there, number = numbered(pair, len(samples) * len(tasks))
    if there.size == len(samples):
        return frame, ()
    parts = pl.DataFrame(
        [tasks.gather(there % len(tasks)).alias("task"), samples.gather(there // len(tasks)).alias("sample")]
    )
    only_tasks = len(samples) == 1 and samples[0] == ""
    names = parts["task"] if only_tasks else parts.select(as_one_name(("task", "sample"))).to_series()
    coded = names.cast(pl.Enum(names.sort())).gather(number).alias("sample")
    notes: tuple[str, ...] = ()
    if there.size == len(samples) * len(tasks) and not only_tasks:
        notes = (
            f"all {len(tasks)} tasks give their samples the same names: each is a sample of its own in every "
            f"task. If a task is a way to score the same samples, {option('columns', 'metric=task')} says so",
        )
    return frame.with_columns(coded), notes


def of_scored_tasks(scores: Scores) -> Scores:
    """Leave out what no score stands for: tasks without a score, and metrics in tasks that have others.

    Raises
    ------
    InputError
        If tasks have different metrics, and one has several of them.
    """
    if not scores.in_tasks:
        return scores
    has, names = _has(scores), scores.names("task")
    scored: Booleans = np.any(has, axis=1)
    gone = [name for name, any_ in zip(names, scored.tolist(), strict=True) if not any_]
    if gone and len(gone) < len(names):
        selected = f"of {listing(scores.metrics, _MOST_NAMED)}" if scores.options.metric else "in it"
        note = f"{DROPPED}{len(gone)} of {len(names)} tasks, with no score {selected}: {listing(gone)}"
        if scores.options.metric:
            note += f"; {option('metric', f'{gone[0]}=NAME')} adds one by a metric of its own"
        scores = scores.noting(note)
    left = has[scored]
    if len(left) < 2 or (left == left[0]).all() or not scores.options.weighs_tasks:
        return _kept(scores, np.repeat(scored[:, None], has.shape[1], axis=1)) if gone else scores
    if not scores.options.metric:
        scores, has = _judged_by_harness(scores, has)
    if (has.sum(axis=1) > 1).any():
        raise _several_metrics(scores, has)
    return _kept(scores, has)


def _judged_by_harness(scores: Scores, has: Booleans) -> tuple[Scores, Booleans]:
    """Of tasks with several metrics the one by which their harness judges them, where it says so."""
    found, used = has.copy(), Counter[str]()
    for task, name in enumerate(scores.names("task")):
        metric = scores.notes.primary.get(name)
        if has[task].sum() > 1 and metric in scores.metrics and has[task, scores.metrics.index(metric)]:
            found[task] = np.arange(has.shape[1]) == scores.metrics.index(metric)
            used[metric] += 1
    if not used or (found.sum(axis=1) > 1).any():
        return scores, found
    told = ", ".join(f"{name} ({count} task{'s' if count > 1 else ''})" for name, count in used.items())
    note = f"of several metrics of a task that counts by which its harness judges it: {told}"
    return scores.noting(note), found


def of_one_column(scores: Scores, specs: Specs) -> tuple[Scores, Specs, OfTask]:
    """One column of scores, where each task has a metric of its own; else all as it was.

    Returns
    -------
    scores : Scores
    specs : tuple of MetricSpec
    of_task : dict of str to MetricSpec, or None
        The metric of each task.
    """
    if not scores.in_tasks or len(specs) < 2 or not scores.options.weighs_tasks:
        return scores, specs, None
    has = _has(scores)
    if (has.sum(axis=1) > 1).any():
        return scores, specs, None
    tasks = zip(scores.names("task"), has, strict=True)
    of_task = {name: specs[int(own.argmax())] for name, own in tasks if own.any()}
    scale = "cardinal" if all(spec.scale == "cardinal" for spec in of_task.values()) else "ordinal"
    declared = all(spec.declared for spec in of_task.values())
    merged = pl.Series([SCORE], dtype=pl.Enum([SCORE])).new_from_index(0, scores.frame.height)
    frame = scores.frame.with_columns(merged.alias("metric"))
    one = replace(scores, frame=frame, metric_read=scores.frame["metric"])
    return one, (MetricSpec(name=SCORE, scale=scale, declared=declared),), of_task


def _has(scores: Scores) -> Booleans:
    """Whether a task has a score of a metric, even one that cannot be used: shape (tasks, metrics)."""
    present = np.isin(scores.states, (parsing.VALID, parsing.TEXT, parsing.INFINITE))
    shape = (len(scores.names("task")), len(scores.metrics))
    return counts_by(scores.codes("task")[present], scores.codes("metric")[present], shape) > 0


def _kept(scores: Scores, has: Booleans) -> Scores:
    """The rows of tasks and metrics that have scores."""
    kept = has[scores.codes("task"), scores.codes("metric")]
    return scores if kept.all() else scores.only(kept)


def _several_metrics(scores: Scores, has: Booleans) -> InputError:
    """Tasks with different metrics, of which some have several: which one counts is for a person to say."""
    names = scores.names("task")
    own = {
        name: [scores.metrics[at] for at in np.flatnonzero(metrics)]
        for name, metrics in zip(names, has, strict=True)
        if metrics.any()
    }
    several = [name for name, metrics in own.items() if len(metrics) > 1]
    shown = [*several, *(name for name in own if name not in several)]
    line = " ".join(option("metric", f"{name}={own[name][0]}") for name in several)
    common = [metric for metric in scores.metrics if all(metric in metrics for metrics in own.values())]
    hint = f"name the one that counts in each: {line}"
    if common:
        hint = f"{option('metric', common[0])} compares on what all tasks have; or {hint}"
    found = listing((f"{name} ({', '.join(own[name][:_MOST_NAMED])})" for name in shown), _MOST_NAMED)
    have = f"{listing(several, _MOST_NAMED)} {'has' if len(several) == 1 else 'have'}"
    what = f"{scores.files()}: the tasks have different metrics, and {have} several"
    return InputError(what, found=found, hint=hint)
