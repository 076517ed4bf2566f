"""Scores of several models on the tasks of a suite: means by task, and what every unit adds to them.

Of a task's mean, each independent unit (a sample, or a cluster of them) has a part; the parts of all units
sum to nothing, and they are what any standard error of the task is made of. Where clusters differ in size,
a mean is a ratio of sums, and its parts are those of such a ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.sampling.freedom import kish
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class TaskScores:
    """One column of scores of k models on T tasks.

    Attributes
    ----------
    values : tuple of k ndarrays, shapes (n_i,)
        Larger is better.
    tasks : tuple of k ndarrays of int, shapes (n_i,)
        Task of each score, 0 to T − 1; every model has scores on every task.
    units : tuple of k ndarrays of int, shapes (n_i,)
        Unit of resampling of each score; one lies within a task.
    weights : ndarray, shape (T,)
        Of the tasks, together 1.
    paired : bool
        Whether a unit is the same for all models.
    """

    values: tuple[Floats, ...]
    tasks: tuple[Integers, ...]
    units: tuple[Integers, ...]
    weights: Floats
    paired: bool = True

    @classmethod
    def build(
        cls,
        values: Sequence[ArrayLike],
        tasks: Sequence[ArrayLike],
        *,
        units: Sequence[ArrayLike] | None = None,
        weights: ArrayLike | None = None,
        paired: bool = True,
    ) -> TaskScores:
        """Take arrays as they come: by default every score is a unit, and all tasks weigh alike."""
        scores = tuple(np.asarray(value, dtype=np.float64) for value in values)
        codes = tuple(np.asarray(task, dtype=np.int64) for task in tasks)
        count = 1 + max(int(task.max()) for task in codes)
        given = [np.arange(score.size) for score in scores] if units is None else units
        weighed = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
        numbered = tuple(np.asarray(unit, dtype=np.int64) for unit in given)
        return cls(scores, codes, numbered, weighed / weighed.sum(), paired)

    @property
    def models(self) -> int:
        """Number of models, k."""
        return len(self.values)

    @property
    def count(self) -> int:
        """Number of tasks, T."""
        return len(self.weights)

    @cached_property
    def rows(self) -> tuple[tuple[Integers, ...], ...]:
        """Rows of each model on each task."""
        found = []
        for task in self.tasks:
            order = np.argsort(task, kind="stable")
            cuts = np.searchsorted(task[order], np.arange(1, self.count))
            found.append(tuple(np.split(order, cuts)))
        return tuple(found)

    @cached_property
    def mean(self) -> Floats:
        """Mean of every model on every task, shape (k, T)."""
        return np.array(
            [
                [float(value[rows].mean()) for rows in by_task]
                for value, by_task in zip(self.values, self.rows, strict=True)
            ]
        )

    @property
    def macro(self) -> Floats:
        """Weighted mean over tasks, shape (k,)."""
        return self.mean @ self.weights

    @cached_property
    def samples(self) -> Integers:
        """Units of the model with the fewest, by task, shape (T,)."""
        return np.array([min(len(part) for part in self.parts(task)) for task in range(self.count)])

    @cached_property
    def independent(self) -> Floats:
        """Kish's number of units of every model on every task, shape (k, T)."""
        return np.array(
            [
                [kish(np.unique(unit[rows], return_inverse=True)[1]) for rows in by_task]
                for unit, by_task in zip(self.units, self.rows, strict=True)
            ]
        )

    def parts(self, task: int) -> tuple[Floats, ...]:
        """What every unit of a task adds to each model's mean there: k arrays that sum to 0.

        The squared standard error of a mean, or of a sum of paired parts, is Σz²/(C(C − 1)) over its C units.
        """
        found: list[Floats] = []
        for model, (value, unit) in enumerate(zip(self.values, self.units, strict=True)):
            rows = self.rows[model][task]
            number = np.unique(unit[rows], return_inverse=True)[1]
            away = value[rows] - self.mean[model, task]
            share = (int(number.max()) + 1) / rows.size
            found.append(np.asarray(np.bincount(number, away * share), dtype=np.float64))
        return tuple(found)
