"""Tasks as strata: which task each unit of resampling belongs to, and how much a task weighs (method §8).

A suite mixes its tasks, F = Σ_t w_t F_t: each of the n_t scores of task t weighs w_t/n_t. Of *these tasks*
the samples are drawn again within each task. For *tasks like these* the tasks are what is drawn, whole.

Samples that people scored, and those that only a judge did, are two such strata (method §12): there every
score has a weight of its own, which is negative where a judge's score is taken away again.

Numbers of samples and of the clusters they lie in, the same for models that share them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, listing, option

# Fewer tasks say next to nothing of others like them; fewer samples of a task say nothing of its spread.
FEWEST_TASKS = 6
FEWEST_IN_TASK = 2

# Weights that differ by less are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class TaskDesign:
    """The tasks of a suite, as scores are given.

    Attributes
    ----------
    names : tuple of T str
    weights : ndarray, shape (T,)
        Non-negative, of sum 1.
    of_row : tuple of k ndarrays of int, shapes (n_i,)
        Task of each score of each model.
    random : bool
        Whether the tasks themselves were drawn, and are drawn again, instead of the samples within them.
    signed : tuple of k ndarrays, shapes (n_i,)
        Weight of each score of each model, of sum 1, some negative; empty where tasks share theirs out.
    """

    names: tuple[str, ...]
    weights: Floats
    of_row: tuple[Integers, ...]
    random: bool = False
    signed: tuple[Floats, ...] = ()

    @classmethod
    def build(
        cls,
        names: Sequence[str],
        of_row: Sequence[ArrayLike],
        *,
        weights: ArrayLike | None = None,
        random: bool = False,
    ) -> TaskDesign:
        """Collect arrays; tasks weigh alike by default."""
        share = np.ones(len(names)) if weights is None else np.asarray(weights, dtype=np.float64)
        rows = tuple(np.asarray(tasks, dtype=np.int64) for tasks in of_row)
        return cls(tuple(names), share / share.sum(), rows, random)

    def present(self) -> TaskDesign | None:
        """The tasks that scores are left of, as in a group of samples; None where that is one."""
        used = np.unique(np.concatenate([np.unique(rows) for rows in self.of_row]))
        if used.size < 2:
            return None
        if used.size == len(self.names) or self.signed:
            return self
        rows, names = [np.searchsorted(used, own) for own in self.of_row], [self.names[task] for task in used]
        return TaskDesign.build(names, rows, weights=self.weights[used], random=self.random)

    def picked(self, part: Callable[[Sequence[NDArray]], tuple[NDArray, ...]]) -> TaskDesign:
        """The tasks of some of the scores; `part` takes these from k arrays."""
        return replace(self, of_row=part(self.of_row), signed=part(self.signed) if self.signed else ())

    def share_of(self, model: int) -> Floats:
        """Weight of each score of a model."""
        if self.signed:
            return self.signed[model]
        rows = self.of_row[model]
        return (self.weights / np.bincount(rows, minlength=len(self.names)))[rows]

    def labels(self, clusters: Sequence[NDArray]) -> list[Integers]:
        """Name the unit of resampling of each score, tasks one after the other: a task, or a cluster in one.

        Parameters
        ----------
        clusters : sequence of k ndarrays, shapes (n_i,)
            Clusters, which may bear one name in several tasks.
        """
        if self.random:
            return list(self.of_row)
        _, numbers = np.unique(np.concatenate(clusters), return_inverse=True)
        cuts = np.cumsum([cluster.size for cluster in clusters])[:-1]
        most = int(numbers.max()) + 1
        return [rows * most + own for rows, own in zip(self.of_row, np.split(numbers, cuts), strict=True)]

    def strata(self, labels: Sequence[Integers]) -> Strata:
        """Tasks of the units that :meth:`labels` named, in their order."""
        found = []
        for rows, label in zip(self.of_row, labels, strict=True):
            _, first = np.unique(label, return_index=True)
            found.append(rows[first].astype(np.int64))
        # In the order of the units, as scores are kept.
        both = zip(self.signed, labels, strict=False)
        signed = tuple(own[np.argsort(label, kind="stable")] for own, label in both)
        return Strata(self.names, self.weights, tuple(found), self.random, signed)


@dataclass(frozen=True)
class Strata:
    """The tasks of a suite, as scores are drawn again.

    Attributes
    ----------
    names : tuple of T str
    weights : ndarray, shape (T,)
        Of the tasks, of sum 1.
    of_cluster : tuple of k ndarrays of int, shapes (C_i,)
        Task of each unit of resampling, non-decreasing; where tasks are drawn, each is a unit of its own.
    random : bool
        Whether tasks are drawn, instead of units within them.
    signed : tuple of k ndarrays, shapes (n_i,)
        As of :class:`TaskDesign`, in the order of the units.
    """

    names: tuple[str, ...]
    weights: Floats
    of_cluster: tuple[Integers, ...]
    random: bool = False
    signed: tuple[Floats, ...] = ()

    @classmethod
    def one(cls, clusters: Sequence[Integers]) -> Strata:
        """All units in one task."""
        of_cluster = tuple(np.zeros(int(own[-1]) + 1, dtype=np.int64) for own in clusters)
        return cls(("",), np.ones(1), of_cluster)

    @property
    def tasks(self) -> int:
        """Number of tasks, T."""
        return len(self.names)

    @property
    def several(self) -> bool:
        """Whether there is more than one."""
        return len(self.names) > 1

    def counts(self, model: int) -> Integers:
        """Units of resampling in each task, shape (T,)."""
        return np.bincount(self.of_cluster[model], minlength=self.tasks)

    def bounds(self, model: int) -> Integers:
        """Where the units of each task begin, and where the last ones end, shape (T + 1,)."""
        return np.concatenate(([0], np.cumsum(self.counts(model))))

    def of_models(self, models: Sequence[int]) -> Strata:
        """The tasks of some models' units."""
        signed = tuple(self.signed[model] for model in models) if self.signed else ()
        return replace(self, of_cluster=tuple(self.of_cluster[model] for model in models), signed=signed)

    def shares(self, model: int, clusters: Integers) -> Floats:
        """What each score of a model counts in its mean, w_t/n_t or signed; `clusters` are their units."""
        if self.signed:
            return self.signed[model]
        tasks = self.of_cluster[model][clusters]
        return (self.weights / np.bincount(tasks, minlength=self.tasks))[tasks]

    def plain(self, clusters: Sequence[Integers]) -> bool:
        """Whether all scores of a model weigh one and the same number in every resample."""
        if not self.several:
            return True
        return (
            not (self.random or self.signed)
            and all(np.ptp(np.bincount(own)) == 0 for own in clusters)
            and all(_alike(self.weights / self.counts(model)) for model in range(len(clusters)))
        )

    def require_testable(self) -> None:
        """Refuse a test on tasks that tell nothing of what varies.

        Raises
        ------
        InputError
            If tasks are drawn and there are fewer than six, by their number or by Kish's of their weights, or
            a task has fewer than two units.
        """
        if self.random:
            if self.tasks < FEWEST_TASKS:
                raise InputError(
                    f"to speak of tasks like these takes at least {FEWEST_TASKS} tasks",
                    found=f"{self.tasks} tasks: {listing(self.names)}",
                    hint=f"add tasks, or speak of these tasks only: {option('tasks', 'fixed')}",
                )
            if not self.weights.all():
                raise InputError(
                    "tasks like these have no weight of 0",
                    found=f"weight 0 of {self.names[int(self.weights.argmin())]}",
                    hint=f"leave the task out, or speak of these tasks only: {option('tasks', 'fixed')}",
                )
            alike = float(self.weights.sum() ** 2 / (self.weights**2).sum())
            if alike < FEWEST_TASKS - _ROUNDING * len(self.names):
                raise InputError(
                    f"to speak of tasks like these takes weights worth at least {FEWEST_TASKS} equal tasks",
                    found=f"{self.tasks} tasks, weighed as if they were {alike:.2g} (Kish's number)",
                    hint=f"weigh tasks alike, or speak of these tasks only: {option('tasks', 'fixed')}",
                )
            return
        fewest = np.min([self.counts(model) for model in range(len(self.of_cluster))], axis=0)
        short = np.flatnonzero((fewest < FEWEST_IN_TASK) & (self.weights > 0))
        if short.size:
            raise InputError(
                f"a task needs at least {FEWEST_IN_TASK} samples of every model",
                found=f"{int(fewest[short].min())} in {listing([self.names[task] for task in short])}",
                hint="score more samples of the task, or leave it out",
            )


UNTOLD = Strata((), np.empty(0), ())
"""Of scores whose tasks nobody told: they count as one."""


def _alike(weights: Floats) -> bool:
    return bool(np.ptp(weights) <= _ROUNDING * weights.max())


def unit_numbers(
    labels: Sequence[NDArray], sortings: Sequence[NDArray[np.intp]], paired: bool
) -> tuple[Integers, ...]:
    """Number the sorted labels of each model 0, 1, ...; models of a paired design must have the same.

    Raises
    ------
    InputError
    """
    found = [
        np.unique(label[sorting], return_inverse=True)
        for label, sorting in zip(labels, sortings, strict=True)
    ]
    if paired and any(not np.array_equal(names, found[0][0]) for names, _ in found):
        raise InputError(
            "paired models must be scored on the same samples",
            found="models with different samples",
            hint=f"use {option('unpaired', True)}, or keep the common samples with "
            f"{option('missing', 'drop')}",
        )
    return tuple(number.astype(np.int64) for _, number in found)


def nested(
    values: Sequence[Floats], clusters: Sequence[NDArray], samples: Sequence[NDArray], paired: bool
) -> tuple[tuple[Floats, ...], tuple[Integers, ...], bool, tuple[Integers, ...]]:
    """Values, clusters, pairing and samples of a design whose clusters hold several samples.

    Raises
    ------
    InputError
        If models of a paired design do not share samples and clusters.
    """
    sortings = [np.lexsort(pair) for pair in zip(samples, clusters, strict=True)]
    unit_numbers(samples, sortings, paired)
    ordered = tuple(value[sorting] for value, sorting in zip(values, sortings, strict=True))
    numbers = unit_numbers(clusters, sortings, paired)
    grouped = []
    for sample, sorting in zip(samples, sortings, strict=True):
        # A sample lies in one cluster, so that the next row begins another one where its name changes.
        changes = sample[sorting][1:] != sample[sorting][:-1]
        grouped.append(np.concatenate(([0], np.cumsum(changes))).astype(np.int64))
    if all(np.array_equal(*both) for both in zip(numbers, grouped, strict=True)):
        return ordered, numbers, paired, ()
    return ordered, numbers, paired, tuple(grouped)
