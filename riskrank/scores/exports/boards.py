"""Averages of tasks, without the scores they are of: a board, whose samples are the tasks."""

from collections import Counter
from dataclasses import replace

import polars as pl

from riskrank.errors import UsageError, listing, option
from riskrank.scores.exports.gathering import wanted_metrics
from riskrank.scores.exports.interface import Export, ExportRules

SCORE = "score"


def as_board(export: Export, rules: ExportRules) -> Export:
    """A board of averages: the metrics that all tasks have, or those that somebody names.

    Parameters
    ----------
    export : Export
        A row a model, task and metric; the sample is the task.
    rules : ExportRules
        `metrics`, by name or ``TASK=NAME``; one a task, and not the same one, is called ``score``.

    Raises
    ------
    UsageError
        If tasks have no metric in common and nobody says which counts.
    """
    pairs = export.rows.select("sample", "metric").unique(maintain_order=True)
    there = {str(task): [*of["metric"]] for (task,), of in pairs.group_by("sample", maintain_order=True)}
    spread = Counter(metric for metrics in there.values() for metric in metrics)
    common = {metric for metric, times in spread.items() if times == len(there)}
    wanted = wanted_metrics(rules.metrics, there)
    kept = [(task, one) for task, names in there.items() for one in names if one in (wanted[task] or common)]
    if not kept:
        first, _ = spread.most_common(1)[0]
        each = [first, *(f"{task}={min(names)}" for task, names in there.items() if first not in names)]
        raise UsageError(
            "tasks have different metrics, and which counts has to be said",
            found=listing((f"{metric} of {times} tasks" for metric, times in spread.most_common()), 8),
            hint=f"for example {' '.join(option('metric', one) for one in each)}",
        )
    left = pl.DataFrame(kept, schema=["sample", "metric"], orient="row")
    rows = export.rows.join(left, on=["sample", "metric"], how="semi", maintain_order="left")
    told = Counter(metric for _, metric in kept)
    said = [f"averages of {rows['sample'].n_unique()} tasks, without their scores: tasks are the samples"]
    said += [f"left out: {listing(sorted(gone), 8)}"] if (gone := spread.keys() - told.keys()) else []
    ways = {export.directions.get(metric, "") for metric in told}
    directions = dict(export.directions)
    if len(told) > 1 and len(ways) == 1 and max(Counter(task for task, _ in kept).values()) == 1:
        rows, directions = rows.with_columns(metric=pl.lit(SCORE)), dict.fromkeys([SCORE], ways.pop())
        said += [f"{SCORE}: {', '.join(f'{metric} of {times} tasks' for metric, times in told.items())}"]
    known = {name: way for name, way in directions.items() if way and name in {SCORE, *told}}
    return replace(export, rows=rows, directions=known, notes=(*export.notes, *said))
