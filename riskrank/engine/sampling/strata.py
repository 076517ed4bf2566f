"""Tasks as strata: the task of each resampling unit, and the weights of the tasks (method §8).

A suite has the mixture distribution F = Σ_t w_t F_t: each of the n_t scores on task t has weight w_t/n_t. For
inference about *these tasks*, samples are resampled within each task. For inference about *tasks like these*,
the tasks themselves are resampled as clusters.

Samples with human labels and samples scored only by a judge also form two strata (method §12). In this case
each score has a separate weight, which is negative where a judge's score is subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, listing, option

# Smallest number of random tasks, and smallest number of samples to estimate the variance of a task.
MIN_TASKS = 6
MIN_TASK_UNITS = 2

# Weights that differ by less are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class TaskDesign:
    """Tasks of a suite: the task of each input row, and the task weights.

    Attributes
    ----------
    names : tuple of T str
        Names of the tasks.
    weights : ndarray, shape (T,)
        Weights of the tasks, non-negative and with sum 1.
    row_tasks : tuple of k ndarrays of int, shapes (n_i,)
        Task of each score, by model.
    random : bool
        True if the tasks are considered a random sample and are resampled, instead of the samples within
        them.
    signed : tuple of k ndarrays, shapes (n_i,)
        Signed weight of each score, with sum 1, by model; empty if the weights follow from the tasks.
    """

    names: tuple[str, ...]
    weights: Floats
    row_tasks: tuple[Integers, ...]
    random: bool = False
    signed: tuple[Floats, ...] = ()

    @classmethod
    def build(
        cls,
        names: Sequence[str],
        row_tasks: Sequence[ArrayLike],
        *,
        weights: ArrayLike | None = None,
        random: bool = False,
    ) -> TaskDesign:
        """Build a task design; the parameters are the attributes of the class.

        The weights are scaled to sum to 1, and are equal by default.
        """
        share = np.ones(len(names)) if weights is None else np.asarray(weights, dtype=np.float64)
        rows = tuple(np.asarray(tasks, dtype=np.int64) for tasks in row_tasks)
        return cls(tuple(names), share / share.sum(), rows, random)

    def drop_empty(self) -> TaskDesign | None:
        """Return the design without tasks that have no scores, or None if fewer than two remain."""
        used = np.unique(np.concatenate([np.unique(rows) for rows in self.row_tasks]))
        if used.size < 2:
            return None
        if used.size == len(self.names) or self.signed:
            return self
        rows, names = [np.searchsorted(used, row) for row in self.row_tasks], [self.names[t] for t in used]
        return TaskDesign.build(names, rows, weights=self.weights[used], random=self.random)

    def select_rows(self, pick: Callable[[Sequence[NDArray]], tuple[NDArray, ...]]) -> TaskDesign:
        """Return the design for a subset of the scores.

        The function `pick` maps the k arrays of all scores to those of the subset.
        """
        return replace(self, row_tasks=pick(self.row_tasks), signed=pick(self.signed) if self.signed else ())

    def unit_labels(self, clusters: Sequence[NDArray]) -> list[Integers]:
        """Label the resampling unit of each score: its task, or its cluster within the task.

        Labels are sorted by task.

        Parameters
        ----------
        clusters : sequence of k ndarrays, shapes (n_i,)
            Cluster of each score; the same name may occur in several tasks.
        """
        if self.random:
            return list(self.row_tasks)
        _, numbers = np.unique(np.concatenate(clusters), return_inverse=True)
        cuts = np.cumsum([cluster.size for cluster in clusters])[:-1]
        n = int(numbers.max()) + 1
        return [row * n + code for row, code in zip(self.row_tasks, np.split(numbers, cuts), strict=True)]

    def strata(self, labels: Sequence[Integers]) -> Strata:
        """Build the strata from the resampling unit of each score, as labelled by :meth:`unit_labels`."""
        tasks = []
        for rows, label in zip(self.row_tasks, labels, strict=True):
            _, first = np.unique(label, return_index=True)
            tasks.append(rows[first].astype(np.int64))
        # Scores are sorted by unit.
        pairs = zip(self.signed, labels, strict=False)
        signed = tuple(weights[np.argsort(label, kind="stable")] for weights, label in pairs)
        return Strata(self.names, self.weights, tuple(tasks), self.random, signed)


@dataclass(frozen=True)
class Strata:
    """Tasks of a suite: the task of each resampling unit, and the task weights.

    Attributes
    ----------
    names : tuple of T str
        Names of the tasks.
    weights : ndarray, shape (T,)
        Weights of the tasks, with sum 1.
    cluster_tasks : tuple of k ndarrays of int, shapes (C_i,)
        Task of each resampling unit, non-decreasing; if tasks are random, each task is a unit.
    random : bool
        True if tasks are resampled, instead of units within them.
    signed : tuple of k ndarrays, shapes (n_i,)
        Signed weights as in :class:`TaskDesign`, in the order of the resampling units.
    """

    names: tuple[str, ...]
    weights: Floats
    cluster_tasks: tuple[Integers, ...]
    random: bool = False
    signed: tuple[Floats, ...] = ()

    @classmethod
    def single(cls, clusters: Sequence[Integers]) -> Strata:
        """Return strata with a single task to which all units belong.

        `clusters` holds the unit of each score for each model, numbered from 0.
        """
        cluster_tasks = tuple(np.zeros(int(units[-1]) + 1, dtype=np.int64) for units in clusters)
        return cls(("",), np.ones(1), cluster_tasks)

    @property
    def tasks(self) -> int:
        """Number of tasks, T."""
        return len(self.names)

    @property
    def has_several_tasks(self) -> bool:
        """True if there is more than one task."""
        return len(self.names) > 1

    def counts(self, model: int) -> Integers:
        """Return the number of resampling units in each task, shape (T,).

        `model` is the index of the model.
        """
        return np.bincount(self.cluster_tasks[model], minlength=self.tasks)

    def bounds(self, model: int) -> Integers:
        """Return the index of the first unit in each task, followed by the number of units.

        `model` is the index of the model. The shape is (T + 1,).
        """
        return np.concatenate(([0], np.cumsum(self.counts(model))))

    def select_models(self, models: Sequence[int]) -> Strata:
        """Return the strata of the models with the given indices, in that order."""
        signed = tuple(self.signed[model] for model in models) if self.signed else ()
        return replace(self, cluster_tasks=tuple(self.cluster_tasks[i] for i in models), signed=signed)

    def mean_weights(self, model: int, clusters: Integers) -> Floats:
        """Return the weight of each score in the model's mean: w_t/n_t, or its signed weight.

        Parameters
        ----------
        model : int
            Index of the model.
        clusters : ndarray of int, shape (n,)
            Resampling unit of each score.
        """
        if self.signed:
            return self.signed[model]
        tasks = self.cluster_tasks[model][clusters]
        return (self.weights / np.bincount(tasks, minlength=self.tasks))[tasks]

    def is_unweighted(self, clusters: Sequence[Integers]) -> bool:
        """Return True if every drawn score of a model counts equally, so that no task weights are needed.

        `clusters` holds the resampling unit of each score for each model.
        """
        if not self.has_several_tasks:
            return True
        if self.random or self.signed or any(np.ptp(np.bincount(units)) > 0 for units in clusters):
            return False
        shares = [self.weights / self.counts(model) for model in range(len(clusters))]
        return all(np.ptp(share) <= _ROUNDING * share.max() for share in shares)

    def require_testable(self) -> None:
        """Raise an error if the design does not allow for estimating variances.

        Raises
        ------
        InputError
            If tasks are random and one has weight 0, or their effective number (Kish) is below six; or if a
            task has fewer than two units.
        """
        if self.random:
            if self.tasks < MIN_TASKS:
                problem = f"generalising to other tasks needs at least {MIN_TASKS} tasks"
                hint = f"add tasks, or limit the claims to these tasks: {option('tasks', 'fixed')}"
                raise InputError(problem, found=f"{self.tasks} tasks: {listing(self.names)}", hint=hint)
            if not self.weights.all():
                problem = "generalising to other tasks needs positive task weights"
                detail = f"weight 0 of {self.names[int(self.weights.argmin())]}"
                hint = f"exclude the task, or limit the claims to these tasks: {option('tasks', 'fixed')}"
                raise InputError(problem, found=detail, hint=hint)
            effective = float(self.weights.sum() ** 2 / (self.weights**2).sum())
            if effective < MIN_TASKS - _ROUNDING * len(self.names):
                problem = (
                    f"generalising to other tasks needs an effective number of at least {MIN_TASKS} tasks"
                )
                detail = f"{self.tasks} tasks, effective number {effective:.2g} by their weights (Kish)"
                hint = f"weight tasks equally, or limit the claims to these tasks: {option('tasks', 'fixed')}"
                raise InputError(problem, found=detail, hint=hint)
            return
        fewest = np.min([self.counts(model) for model in range(len(self.cluster_tasks))], axis=0)
        too_few = np.flatnonzero((fewest < MIN_TASK_UNITS) & (self.weights > 0))
        if too_few.size:
            problem = f"every task needs at least {MIN_TASK_UNITS} samples of every model"
            detail = f"{int(fewest[too_few].min())} in {listing([self.names[task] for task in too_few])}"
            hint = "score more samples of the task, or exclude the task"
            raise InputError(problem, found=detail, hint=hint)


# Strata of scores without tasks; `ClusteredScores` replaces them by a single task.
NO_STRATA = Strata((), np.empty(0), ())


def number_labels(
    labels: Sequence[NDArray], sortings: Sequence[NDArray[np.intp]], paired: bool
) -> tuple[Integers, ...]:
    """Replace the labels of each model by consecutive numbers from 0, in sorted order.

    `sortings` holds the order that sorts the labels of each model.

    Raises
    ------
    InputError
        If the models of a paired design have different labels.
    """
    pairs = zip(labels, sortings, strict=True)
    numbered = [np.unique(label[sorting], return_inverse=True) for label, sorting in pairs]
    if paired and any(not np.array_equal(names, numbered[0][0]) for names, _ in numbered):
        problem = "paired models must be scored on the same samples"
        hint = f"use {option('unpaired', True)}, or keep the common samples with {option('missing', 'drop')}"
        raise InputError(problem, found="models with different samples", hint=hint)
    return tuple(number.astype(np.int64) for _, number in numbered)


def sort_nested(
    values: Sequence[Floats], clusters: Sequence[NDArray], samples: Sequence[NDArray], paired: bool
) -> tuple[tuple[Floats, ...], tuple[Integers, ...], bool, tuple[Integers, ...]]:
    """Sort the scores of each model by cluster and sample, and number both from 0.

    Returns
    -------
    values, clusters : tuples of k ndarrays, shapes (n_i,)
    paired : bool
    samples : tuple of k ndarrays, shapes (n_i,)
        Empty if every cluster consists of one sample.

    Raises
    ------
    InputError
        If the models of a paired design have different samples or clusters.
    """
    sortings = [np.lexsort(pair) for pair in zip(samples, clusters, strict=True)]
    number_labels(samples, sortings, paired)
    ordered = tuple(value[sorting] for value, sorting in zip(values, sortings, strict=True))
    numbers = number_labels(clusters, sortings, paired)
    grouped = []
    for sample, sorting in zip(samples, sortings, strict=True):
        # Each sample is in one cluster, so a new sample starts where the label changes.
        changes = sample[sorting][1:] != sample[sorting][:-1]
        grouped.append(np.concatenate(([0], np.cumsum(changes))).astype(np.int64))
    if all(np.array_equal(*numbering) for numbering in zip(numbers, grouped, strict=True)):
        return ordered, numbers, paired, ()
    return ordered, numbers, paired, tuple(grouped)
