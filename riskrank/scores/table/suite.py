"""Suites: samples grouped into tasks, and the weights of tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from riskrank.engine.types import Floats, Integers, Names
from riskrank.errors import UsageError, listing, option, unknown_name
from riskrank.options.values import misplaced_option, number_or_nan
from riskrank.scores.table.metrics_file import MetricSpec, TaskMetrics
from riskrank.scores.table.scores import Scores

# Weight of tasks that are not named if other weights are given.
_DEFAULT_WEIGHT = 1.0


MIXED = "mixed"
"""Scale of suites that add the scores of different metrics without rescaling."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Suite:
    """The tasks of a score table; :data:`NO_SUITE` is false.

    Attributes
    ----------
    names : tuple of str
        Task names, sorted; at least two, or none.
    of_sample : ndarray of int64, shape (samples,)
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
    of_sample: Integers
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
        return np.bincount(self.of_sample, minlength=len(self.names))

    def subset(self, samples: Sequence[int]) -> Suite:
        """Return the suite restricted to some samples.

        Return `NO_SUITE` if only one task, or no positive weight, remains.
        """
        used, numbers = np.unique(self.of_sample[samples], return_inverse=True)
        total = self.weights[used].sum()
        if used.size < 2 or not total:
            return NO_SUITE
        return Suite(
            names=tuple(self.names[task] for task in used),
            of_sample=read_only(numbers.astype(np.int64)),
            weights=read_only(self.weights[used] / total),
            specs=tuple(self.specs[task] for task in used) if self.specs else (),
            weighted=self.weighted,
        )

    def pooling_note(self) -> str:
        """Return a note on the effect of pooling all samples."""
        sizes = self.sizes
        largest = int(sizes.argmax())
        share = 100 * sizes[largest] / sizes.sum()
        return (
            f"{len(self.names)} tasks are pooled and all samples weighted equally; the largest task, "
            f"{self.names[largest]}, has {share:.0f} % of the samples"
        )


NO_SUITE = Suite(names=(), of_sample=np.empty(0, dtype=np.int64), weights=np.empty(0))
"""The suite of a table without tasks, or with a single one."""


def build_suite(
    scores: Scores, samples: Names, row_samples: Sequence[Integers], of_task: TaskMetrics = None
) -> Suite:
    """Build the suite of a table.

    Parameters
    ----------
    scores : Scores
    samples : sequence of str
        Samples that remain in the table.
    row_samples : sequence of ndarray of int
        Sample of each row, per model.
    of_task : mapping of str to MetricSpec, optional
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
    of_sample = np.zeros(len(samples), dtype=np.int64)
    if names:
        codes = pl.Series(samples, dtype=pl.String).cast(pl.Enum(scores.samples)).to_physical().to_numpy()
        of_sample = scores.task_of_samples()[codes]
    used, numbers = np.unique(of_sample, return_inverse=True)
    if names and used.size == len(samples) and not requested and not scores.notes.tasks_named:
        return NO_SUITE
    tasks = tuple(names[code] for code in used) if names else ()
    if len(tasks) < 2:
        if requested:
            problem = f"{option('task_weight', requested[0])} needs at least two tasks"
            detail = f"one task, {tasks[0]}" if tasks else "no task column"
            column = f", or name a task column, {option('task', 'COL')}"
            raise misplaced_option(problem, detail, "task_weight", column)
        return NO_SUITE
    # Number of models that have each sample.
    counts = np.bincount(np.concatenate([*map(np.unique, row_samples)]), minlength=len(samples))
    sizes: Floats = np.bincount(numbers, weights=counts, minlength=len(tasks)).astype(np.float64)
    weights = _task_weights(tasks, sizes, requested)
    return Suite(
        names=tasks,
        of_sample=read_only(numbers.astype(np.int64)),
        weights=read_only(weights / weights.sum()),
        specs=() if of_task is None else tuple(of_task[task] for task in tasks),
        weighted=bool(requested),
    )


def _task_weights(tasks: Names, sizes: Floats, texts: Names) -> Floats:
    """Return the weight of each task, before normalisation.

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
    weights = dict.fromkeys(tasks, _DEFAULT_WEIGHT)
    seen: set[str] = set()
    for text in texts:
        name, _, value = text.rpartition("=")
        if name not in weights:
            if name and "=" not in name:
                write = partial("{1}={0}".format, value)
                raise unknown_name(name, tasks, kind="task", parameter="task_weight", write=write)
            raise UsageError(
                f"{option('task_weight', text)} does not name a task",
                found=f"the tasks are {listing(tasks)}",
                hint=f"write {option('task_weight', tasks[0] + '=2')} for each task, or equal or samples",
            )
        if name in seen:
            hint = "set each weight once"
            raise UsageError(f"{option('task_weight')} names {name} twice", found=listing(texts), hint=hint)
        seen.add(name)
        weights[name] = _parse_weight(text, value)
    values = np.array([weights[name] for name in tasks])
    if not values.sum():
        hint = "give at least one task a positive weight"
        raise UsageError("the weights of all tasks are 0", found=listing(texts), hint=hint)
    return values


def _parse_weight(text: str, value: str) -> float:
    """Parse the weight in an option of the form ``TASK=NUMBER``.

    Parameters
    ----------
    text : str
        The whole option, for messages.
    value : str
        The number in it.

    Raises
    ------
    UsageError
        If the weight is negative or not finite.
    """
    number = number_or_nan(value)
    if not (math.isfinite(number) and number >= 0):
        hint = "write a finite number of at least 0; the default weight is 1"
        raise UsageError(f"{option('task_weight', text)} is not valid", found=value or "nothing", hint=hint)
    return number


def read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array
