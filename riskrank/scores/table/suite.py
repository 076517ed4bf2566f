"""A suite: samples that belong to tasks, and how much each task weighs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from riskrank.engine.types import Floats, Integers, Names
from riskrank.errors import UsageError, listing, no_such, option
from riskrank.options.values import number_or_nan, out_of_place
from riskrank.scores.table.metrics_file import MetricSpec, OfTask
from riskrank.scores.table.scores import Scores

# What a task weighs where weights are given to others only.
_OTHERS = 1.0


MIXED = "mixed"
"""The scale of tasks whose metrics differ and are added as they are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Suite:
    """The tasks of a score table; false where there is none of :data:`NO_SUITE`.

    Attributes
    ----------
    names : tuple of str
        Of the tasks, sorted; at least two, or none.
    of_sample : ndarray of int64, shape (samples,)
        The task of each sample, as an index into `names`: a sample lies in one task, since the same name in
        two tasks is two samples. Read-only.
    weights : ndarray of float64, shape (tasks,)
        Sum to 1; equal unless asked for otherwise. Read-only.
    specs : tuple of MetricSpec
        The metric of each task, where tasks have metrics of their own: the table then has one column,
        ``score``, oriented task by task. Else empty.
    means : ndarray, shape (metrics, models, tasks), or None
        Means as the file has them, where the table's scores were brought onto another scale.
    scale : {"none", "mixed", "rank", "bounds"}
        The scale the table's scores are on; `MIXED` are those of metrics that nobody made comparable.
    weighed : bool
        Whether somebody said how much each task counts.
    """

    names: tuple[str, ...]
    of_sample: Integers
    weights: Floats
    specs: tuple[MetricSpec, ...] = ()
    means: Floats | None = None
    scale: str = "none"
    weighed: bool = False

    def __bool__(self) -> bool:
        return bool(self.names)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The name of each task's metric, where tasks have metrics of their own."""
        return tuple(spec.name for spec in self.specs)

    @property
    def sizes(self) -> Integers:
        """Samples of each task, of all models together."""
        return np.bincount(self.of_sample, minlength=len(self.names))

    def part(self, samples: Sequence[int]) -> Suite:
        """The suite of some samples, which is none if they are all of one task, or no task of them weighs."""
        used, numbers = np.unique(self.of_sample[samples], return_inverse=True)
        total = self.weights[used].sum()
        if used.size < 2 or not total:
            return NO_SUITE
        return Suite(
            names=tuple(self.names[task] for task in used),
            of_sample=fixed(numbers.astype(np.int64)),
            weights=fixed(self.weights[used] / total),
            specs=tuple(self.specs[task] for task in used) if self.specs else (),
            weighed=self.weighed,
        )

    def pooled(self) -> str:
        """What it means to take all samples as one."""
        sizes = self.sizes
        largest = int(sizes.argmax())
        share = 100 * sizes[largest] / sizes.sum()
        return (
            f"{len(self.names)} tasks are pooled, and every sample counts the same: the largest, "
            f"{self.names[largest]}, has {share:.0f} % of the samples"
        )


NO_SUITE = Suite(names=(), of_sample=np.empty(0, dtype=np.int64), weights=np.empty(0))
"""Of a table whose samples belong to no task, or all to one."""


def suite_of(
    scores: Scores, samples: Names, row_samples: Sequence[Integers], of_task: OfTask = None
) -> Suite:
    """The suite of a table; none where its samples are of one task, or a task is what each is called.

    Parameters
    ----------
    scores : Scores
    samples : sequence of str
        Those that are left.
    row_samples : sequence of ndarray of int
        Per model, the sample of each row.
    of_task : mapping of str to MetricSpec, optional
        Of tasks with metrics of their own.

    Raises
    ------
    UsageError
        If the weights name an unknown task, or are no weights.
    """
    names, asked = scores.names("task"), scores.options.task_weight
    of_sample = np.zeros(len(samples), dtype=np.int64)
    if names:
        left = pl.Series(samples, dtype=pl.String).cast(pl.Enum(scores.samples)).to_physical().to_numpy()
        of_sample = scores.task_of_samples()[left]
    used, numbers = np.unique(of_sample, return_inverse=True)
    if names and used.size == len(samples) and not asked and not scores.notes.tasks_named:
        return NO_SUITE
    tasks = tuple(names[code] for code in used) if names else ()
    if len(tasks) < 2:
        if asked:
            what = f"{option('task_weight', asked[0])} weighs tasks, and there are none"
            found = f"one task, {tasks[0]}" if tasks else "no column of tasks"
            column = f", or name a column of tasks, {option('task', 'COL')}"
            raise out_of_place(what, found, "task_weight", column)
        return NO_SUITE
    # How many models have each sample.
    held = np.bincount(np.concatenate([*map(np.unique, row_samples)]), minlength=len(samples))
    sizes: Floats = np.bincount(numbers, weights=held, minlength=len(tasks)).astype(np.float64)
    weights = _weights(tasks, sizes, asked)
    return Suite(
        names=tasks,
        of_sample=fixed(numbers.astype(np.int64)),
        weights=fixed(weights / weights.sum()),
        specs=() if of_task is None else tuple(of_task[task] for task in tasks),
        weighed=bool(asked),
    )


def _weights(tasks: Names, sizes: Floats, asked: Names) -> Floats:
    if not asked or tuple(asked) == ("equal",):
        return np.ones(len(tasks))
    if tuple(asked) == ("samples",):
        return sizes
    weights = dict.fromkeys(tasks, _OTHERS)
    given: set[str] = set()
    for text in asked:
        name, _, value = text.rpartition("=")
        if name not in weights:
            if name and "=" not in name:
                write = partial("{1}={0}".format, value)
                raise no_such(name, tasks, kind="task", parameter="task_weight", write=write)
            raise UsageError(
                f"{option('task_weight', text)} is no weight of a task",
                found=f"the tasks are {listing(tasks)}",
                hint=f"write {option('task_weight', tasks[0] + '=2')} once a task, or equal or samples",
            )
        if name in given:
            hint = "give it once"
            raise UsageError(f"{option('task_weight')} names {name} twice", found=listing(asked), hint=hint)
        given.add(name)
        weights[name] = _number(text, value)
    found = np.array([weights[name] for name in tasks])
    if not found.sum():
        hint = "give at least one task a positive weight"
        raise UsageError("the weights of all tasks are 0", found=listing(asked), hint=hint)
    return found


def _number(text: str, value: str) -> float:
    number = number_or_nan(value)
    if not (math.isfinite(number) and number >= 0):
        hint = "a weight is a finite number that is zero or positive; tasks that are not named weigh 1"
        raise UsageError(f"{option('task_weight', text)} is no weight", found=value or "nothing", hint=hint)
    return number


def fixed(array: np.ndarray) -> np.ndarray:
    """The array, which nobody changes any more."""
    array.flags.writeable = False
    return array
