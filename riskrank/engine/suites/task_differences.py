"""Pairwise comparison of models on each task (method §8, "Task by task").

The family consists of all tasks × all pairs, with Holm's correction. A family of tasks × models would suffice
for a model named in advance, but the leader is selected from the same data. For 3 to 20 identical models and
5 to 60 tasks, the smaller family leads to a false positive in .05 to .08 of the tables. With two tasks and
twenty models, the rate is .15. With all pairs in the family, it is .00 to .04.

The p-values are those of gates (method §4, "Means"). A difference that Student's t does not separate keeps
Student's p-value, because that of a gate is not smaller.

The mean on a task is a sum of contributions, one per independent unit (a sample or a cluster of samples).
Their deviations sum to zero, and the standard errors on the task are computed from them. If clusters differ
in size, the mean is a ratio of sums, and the contributions are those to this ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.evidence.mean_differences import MeanContrast, is_binary, mean_evidence
from riskrank.engine.evidence.student import Student, safe_norm
from riskrank.engine.family import Family
from riskrank.engine.sampling.degrees_of_freedom import kish_size
from riskrank.engine.sampling.design import MIN_SAMPLES, ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class TaskScores:
    """One score column of k models on T tasks.

    Attributes
    ----------
    values : tuple of k ndarrays, shapes (n_i,)
        Scores; larger is better.
    tasks : tuple of k ndarrays of int, shapes (n_i,)
        Task of each score, 0 to T − 1; every model has scores on every task.
    units : tuple of k ndarrays of int, shapes (n_i,)
        Resampling unit of each score; a unit belongs to one task.
    weights : ndarray, shape (T,)
        Weights of the tasks, with sum 1.
    paired : bool
        True if all models share their resampling units.
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
        """Build task scores; the parameters are the attributes of the class.

        By default, each score is a separate unit and tasks have equal weights. The weights are scaled to sum
        to 1.
        """
        scores = tuple(np.asarray(value, dtype=np.float64) for value in values)
        codes = tuple(np.asarray(task, dtype=np.int64) for task in tasks)
        count = 1 + max(int(task.max()) for task in codes)
        labels = [np.arange(score.size) for score in scores] if units is None else units
        task_weights = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
        unit_codes = tuple(np.asarray(unit, dtype=np.int64) for unit in labels)
        return cls(scores, codes, unit_codes, task_weights / task_weights.sum(), paired)

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
        """Indices of each model's scores on each task: ``rows[model][task]`` is an array of indices."""
        result = []
        for task in self.tasks:
            order = np.argsort(task, kind="stable")
            cuts = np.searchsorted(task[order], np.arange(1, self.count))
            result.append(tuple(np.split(order, cuts)))
        return tuple(result)

    @cached_property
    def mean(self) -> Floats:
        """Mean of each model on each task, shape (k, T)."""
        models = zip(self.values, self.rows, strict=True)
        return np.array([[float(value[rows].mean()) for rows in by_task] for value, by_task in models])

    @property
    def macro_means(self) -> Floats:
        """Weighted mean of each model over tasks, shape (k,)."""
        return self.mean @ self.weights

    def clustered(self, *, random: bool = False) -> ClusteredScores:
        """Return the scores as a sampling design with fixed or random tasks.

        If `random`, tasks are resampled instead of the units within them.
        """
        names = [str(task) for task in range(self.count)]
        tasks = TaskDesign.build(names, self.tasks, weights=self.weights, random=random)
        return ClusteredScores.build(self.values, self.units, paired=self.paired, tasks=tasks)

    @cached_property
    def samples(self) -> Integers:
        """Number of units on each task, for the model with the fewest, shape (T,)."""
        return np.array([min(len(part) for part in self.parts(task)) for task in range(self.count)])

    @cached_property
    def effective_sizes(self) -> Floats:
        """Kish's effective number of units of each model on each task, shape (k, T)."""
        sizes = np.empty((self.models, self.count))
        for model, (unit, by_task) in enumerate(zip(self.units, self.rows, strict=True)):
            sizes[model] = [kish_size(np.unique(unit[rows], return_inverse=True)[1]) for rows in by_task]
        return sizes

    def parts(self, task: int) -> tuple[Floats, ...]:
        """Return each unit's contribution to the error of each model's mean on a task.

        There is one array per model, with one contribution per unit. For contributions z of C units, the
        squared standard error of the mean is Σz²/(C(C − 1)). The same formula applies to differences of
        contributions of paired models.
        """
        result: list[Floats] = []
        for model, (value, unit) in enumerate(zip(self.values, self.units, strict=True)):
            rows = self.rows[model][task]
            codes = np.unique(unit[rows], return_inverse=True)[1]
            centred = value[rows] - self.mean[model, task]
            scale = (int(codes.max()) + 1) / rows.size
            result.append(np.asarray(np.bincount(codes, centred * scale), dtype=np.float64))
        return tuple(result)


# Differences below this multiple of the largest score are rounding errors.
_ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class TaskDifferences:
    """Differences in means for all pairs of k models on T tasks.

    Attributes
    ----------
    difference : ndarray, shape (k, k, T)
        Mean of the first model minus mean of the second; larger is better.
    error : ndarray, shape (k, k, T)
        Standard errors.
    p_value, p_adjusted : ndarray, shape (k, k, T)
        Two-sided p-values, unadjusted and adjusted for tasks × pairs; 1 for a model against itself.
    marks : ndarray of int, shape (k, k, T)
        Sign of each significant difference; 0 if not significant.
    """

    difference: Floats
    error: Floats
    p_value: Floats
    p_adjusted: Floats
    marks: Integers


def task_differences(scores: TaskScores, family: Family = Family()) -> TaskDifferences:
    """Compare the means of all pairs of models on each task.

    The p-values are adjusted for the number of tasks times the number of pairs.
    """
    difference = scores.mean[:, None] - scores.mean[None]
    error = np.stack([_errors(scores, task) for task in range(scores.count)], axis=-1)
    samples = np.minimum(scores.effective_sizes[:, None], scores.effective_sizes[None])
    student = Student(difference, error, np.maximum(samples, MIN_SAMPLES) - 1).evidence()
    upper = np.repeat(np.triu(np.ones(difference.shape[:2], dtype=bool), 1)[..., None], scores.count, axis=2)
    untested = (samples < MIN_SAMPLES) | np.eye(scores.models, dtype=bool)[..., None]
    p_value = np.where(untested, 1.0, student.p_value)
    # No p-value is below Student's, so resamples are only drawn where Student's is significant.
    separated = family.significant(family.adjust_p_values(p_value, upper)) & upper
    for task in range(scores.count):
        values = [value[rows[task]] for value, rows in zip(scores.values, scores.rows, strict=True)]
        pairs = np.argwhere(upper[..., task] if is_binary(values) else separated[..., task])
        if pairs.size:
            units = [unit[rows[task]] for unit, rows in zip(scores.units, scores.rows, strict=True)]
            column = ClusteredScores.build(values, units, paired=scores.paired)
            contrasts = [MeanContrast.from_scores(column, i, j) for i, j in pairs.tolist()]
            p_value[(*pairs.T, task)] = p_value[(*pairs.T[::-1], task)] = mean_evidence(contrasts).p_value
    adjusted = family.adjust_p_values(p_value, upper)
    adjusted = np.where(upper.swapaxes(0, 1), adjusted.swapaxes(0, 1), adjusted)
    marks = np.where(family.significant(adjusted), np.sign(difference), 0).astype(np.int64)
    return TaskDifferences(difference, error, p_value, adjusted, marks)


def _errors(scores: TaskScores, task: int) -> Floats:
    """Return the standard error of each pair's difference in means on one task, shape (k, k).

    `task` is the index of the task.
    """
    models = zip(scores.values, scores.rows, strict=True)
    rounding = max(float(np.abs(value[rows[task]]).max()) for value, rows in models) * _ROUNDING
    parts = scores.parts(task)
    if scores.paired:
        deviations = [part - np.array(parts) for part in parts]
    else:
        deviations = [part[None] for part in parts]
    varying = [np.where(np.abs(rows) <= rounding, 0.0, rows) for rows in deviations]
    errors = np.array(
        [safe_norm(rows) / np.sqrt(rows.shape[1] * max(rows.shape[1] - 1, 1)) for rows in varying]
    )
    return errors if scores.paired else np.hypot(errors, errors.T)
