"""Tasks as strata: which task each unit of resampling belongs to, and how much a task weighs (method §8).

A suite mixes its tasks, F = Σ_t w_t F_t: each of the n_t scores of task t weighs w_t/n_t. Of *these tasks*
the samples are drawn again within each task. For *tasks like these* the tasks are what is drawn, whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """

    names: tuple[str, ...]
    weights: Floats
    of_row: tuple[Integers, ...]
    random: bool = False

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
        if used.size == len(self.names):
            return self
        rows = [np.searchsorted(used, own) for own in self.of_row]
        return TaskDesign.build(
            [self.names[task] for task in used], rows, weights=self.weights[used], random=self.random
        )

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
        return Strata(self.names, self.weights, tuple(found), self.random)


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
    """

    names: tuple[str, ...]
    weights: Floats
    of_cluster: tuple[Integers, ...]
    random: bool = False

    @property
    def tasks(self) -> int:
        """Number of tasks, T."""
        return len(self.names)

    def counts(self, model: int) -> Integers:
        """Units of resampling in each task, shape (T,)."""
        return np.bincount(self.of_cluster[model], minlength=self.tasks)

    def bounds(self, model: int) -> Integers:
        """Where the units of each task begin, and where the last ones end, shape (T + 1,)."""
        return np.concatenate(([0], np.cumsum(self.counts(model))))

    def score_weights(self, clusters: Sequence[Integers]) -> tuple[Floats, ...] | None:
        """Weight of each score, w_t/n_t; None where it is one number in every resample.

        Parameters
        ----------
        clusters : sequence of k ndarrays of int, shapes (n_i,)
            Unit of resampling of each score.
        """
        found, alike = [], not self.random
        for of_cluster, own in zip(self.of_cluster, clusters, strict=True):
            tasks = of_cluster[own]
            share = self.weights / np.bincount(tasks, minlength=self.tasks)
            found.append(share[tasks])
            even = np.ptp(np.bincount(own)) == 0
            alike &= bool(even and np.ptp(share) <= _ROUNDING * share.max())
        return None if alike else tuple(found)

    def require_testable(self) -> None:
        """Refuse a test on tasks that tell nothing of what varies.

        Raises
        ------
        InputError
            If tasks are drawn and there are fewer than six, or a task has fewer than two units.
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
            return
        fewest = np.min([self.counts(model) for model in range(len(self.of_cluster))], axis=0)
        short = np.flatnonzero((fewest < FEWEST_IN_TASK) & (self.weights > 0))
        if short.size:
            raise InputError(
                f"a task needs at least {FEWEST_IN_TASK} samples of every model",
                found=f"{int(fewest[short].min())} in {listing([self.names[task] for task in short])}",
                hint="score more samples of the task, or leave it out",
            )
