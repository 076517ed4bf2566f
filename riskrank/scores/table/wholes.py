"""What samples belong to, cluster, group or task: of the rows and samples that are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from riskrank.asked.reading import ReadOptions
from riskrank.engine.types import Integers
from riskrank.scores.table.columns import named_roles
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.rows import Rows
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.suite import Suite, weighed_suite


def whole_of(
    scores: Scores, whole: str, rows: Rows, options: ReadOptions
) -> tuple[Integers, tuple[str, ...]]:
    """Cluster or group of the sample of each row, as an index into the names of those that are left."""
    # Models with samples of their own may use one name for different samples.
    owner = len(scores.samples) if options.unpaired else 0
    known, first = np.unique(scores.codes("model") * owner + scores.codes("sample"), return_index=True)
    at = np.searchsorted(known, rows.model * owner + rows.sample)
    used, numbers = np.unique(scores.codes(whole)[first[at]], return_inverse=True)
    numbers = np.ascontiguousarray(numbers, dtype=np.int64)
    numbers.flags.writeable = False
    names = scores.names(whole)
    return numbers, tuple(names[code] for code in used)


def suite_of(
    scores: Scores,
    samples: Sequence[str],
    row_samples: Sequence[Integers],
    options: ReadOptions,
    of_task: Mapping[str, MetricSpec] | None = None,
) -> Suite | None:
    """The suite of a table; None where its samples are of one task, or a task is what each is called.

    Parameters
    ----------
    scores : Scores
    samples : sequence of str
        Those that are left.
    row_samples : sequence of ndarray of int
        Per model, the sample of each row.
    options : ReadOptions
    of_task : mapping of str to MetricSpec, optional
        Of tasks with metrics of their own.

    Raises
    ------
    UsageError
        If the weights of tasks are none.
    """
    of_sample = np.zeros(len(samples), dtype=np.int64)
    if scores.has("task"):
        left = pl.Series(samples, dtype=pl.String).cast(pl.Enum(scores.samples)).to_physical().to_numpy()
        of_sample = task_of_samples(scores)[left]
        if np.unique(of_sample).size == len(samples) and not options.task_weight and not names_tasks(options):
            return None
    held = np.zeros(len(samples), dtype=np.int64)
    for rows in row_samples:
        held[np.unique(rows)] += 1
    return weighed_suite(scores.names("task"), of_sample, held, options.task_weight, of_task)


def names_tasks(options: ReadOptions) -> bool:
    """Whether somebody named the column of the tasks, so that it is one of tasks whatever it holds."""
    return "task" in named_roles(options)


def task_of_samples(scores: Scores) -> Integers:
    """The task of each sample, as an index into the names of the tasks; 0 for samples without a row."""
    found = np.zeros(len(scores.samples), dtype=np.int64)
    found[scores.codes("sample")] = scores.codes("task")
    return found
