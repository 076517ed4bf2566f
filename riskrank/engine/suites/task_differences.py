"""Who is better than whom on which task, by one test a task and pair (method §8, "Task by task").

The family is all tasks × all pairs, by Holm. Tasks × models would do for a model that somebody names, but
the leader is chosen by these very data: of identical models (k = 3 to 20, 5 to 60 tasks) some mark then
stands in .05 to .08 of the tables, and with two tasks and twenty models in .15; with all pairs in the
family in .00 to .04.

A family like that asks for levels far below .05, and the test is chosen for them. Where a task's scores
take two values, as 0 and 1, it is McNemar's exact test, whose level holds however few samples differ: a t
test of 5 losses and no win among 60 says .02 in the place of .06. Elsewhere it is the larger of Student's
and Johnson's p-value of the paired differences (Welch's standard error where models have samples of their
own), as in gates.

References
----------
Q. McNemar (1947). Note on the sampling error of the difference between correlated proportions or
percentages. Psychometrika 12(2), 153-157. doi:10.1007/BF02295996

Scores of several models on the tasks of a suite: means by task, and what every unit adds to them.

Of a task's mean, each independent unit (a sample, or a cluster of them) has a part; the parts of all units
sum to nothing, and they are what any standard error of the task is made of. Where clusters differ in size,
a mean is a ratio of sums, and its parts are those of such a ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # loads its functions when they are first used
from numpy.typing import ArrayLike

from riskrank.engine.evidence.student import Student
from riskrank.engine.family import Family
from riskrank.engine.sampling.degrees_of_freedom import kish
from riskrank.engine.sampling.design import FEWEST_SAMPLES
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
        both = zip(self.values, self.rows, strict=True)
        return np.array([[float(value[rows].mean()) for rows in by_task] for value, by_task in both])

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
        found = np.empty((self.models, self.count))
        for model, (unit, by_task) in enumerate(zip(self.units, self.rows, strict=True)):
            found[model] = [kish(np.unique(unit[rows], return_inverse=True)[1]) for rows in by_task]
        return found

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


# Spread of differences below so many units of rounding of the largest score is none.
_ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class TaskDifferences:
    """Differences of the means of all pairs of k models on T tasks.

    Attributes
    ----------
    difference : ndarray, shape (k, k, T)
        Mean of the first minus that of the second, larger is better.
    error : ndarray, shape (k, k, T)
        Standard errors.
    p_value, p_adjusted : ndarray, shape (k, k, T)
        Two-sided; 1 of a model against itself. Adjusted over tasks × pairs.
    """

    difference: Floats
    error: Floats
    p_value: Floats
    p_adjusted: Floats
    marks: Integers


def task_differences(scores: TaskScores, family: Family = Family()) -> TaskDifferences:
    """Compare all pairs of models, task by task.

    Parameters
    ----------
    scores : TaskScores
    family : Family, optional

    Returns
    -------
    TaskDifferences
    """
    k, count = scores.models, scores.count
    difference = scores.mean[:, None] - scores.mean[None]
    error, p_value = np.zeros((k, k, count)), np.ones((k, k, count))
    for task in range(count):
        error[..., task], skewness = _cumulants(scores, task)
        wins = _wins(scores, task)
        if wins is None:
            independent = scores.independent[:, task]
            least = np.minimum(independent[:, None], independent[None])
            p_value[..., task] = _modified_t(difference[..., task], error[..., task], skewness, least)
        else:
            p_value[..., task] = _mcnemar(wins)
    once = np.triu(np.ones((k, k), dtype=bool), 1)
    adjusted = family.adjusted(p_value, np.repeat(once[..., None], count, axis=2))
    adjusted = np.where(once.T[..., None], adjusted.swapaxes(0, 1), adjusted)
    marks = np.where(family.significant(adjusted), np.sign(difference), 0).astype(np.int64)
    return TaskDifferences(difference, error, p_value, adjusted, marks)


def _cumulants(scores: TaskScores, task: int) -> tuple[Floats, Floats]:
    """Standard error and skewness of every pair's difference of means on a task, shapes (k, k)."""
    parts = scores.parts(task)
    # Cubes of large scores would overflow, and a power of two changes no digit.
    exponent = int(np.frexp(max(float(np.abs(part).max()) for part in parts))[1])
    scaled = [np.ldexp(part, -exponent) for part in parts]
    both = zip(scores.values, scores.rows, strict=True)
    largest = max(float(np.abs(value[rows[task]]).max()) for value, rows in both)
    rounding = float(np.ldexp(largest, -exponent)) * _ROUNDING
    k = scores.models
    variance, third = np.zeros((k, k)), np.zeros((k, k))
    if scores.paired:
        together = np.array(scaled)
        for i in range(k):
            apart = together[i] - together
            apart[np.abs(apart) <= rounding] = 0.0
            variance[i], third[i] = _moments(apart)
    else:
        own = np.array([_moments(np.where(np.abs(part) <= rounding, 0.0, part)) for part in scaled])
        variance, third = own[:, None, 0] + own[None, :, 0], own[:, None, 1] - own[None, :, 1]
    error = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(error > 0, third / error**3, 0.0)
    return np.ldexp(error, exponent), skewness


def _moments(parts: Floats) -> tuple[Floats, Floats]:
    """Variance and third cumulant of a mean, from what its units add to it."""
    count = parts.shape[-1]
    return (parts**2).sum(axis=-1) / (count * max(count - 1, 1)), (parts**3).sum(axis=-1) / count**3


def _modified_t(difference: Floats, error: Floats, skewness: Floats, samples: Floats) -> Floats:
    """Two-sided p-values; where nothing varies, those of all samples having one sign."""
    found = Student(difference, error, np.maximum(samples, FEWEST_SAMPLES) - 1, skewness).evidence().p_value
    return np.where(samples < FEWEST_SAMPLES, 1.0, found)


def _wins(scores: TaskScores, task: int) -> Floats | None:
    """Samples on which the first of a pair has the larger of a task's two values; None where it has more."""
    if not scores.paired:
        return None
    sides = []
    for value, unit, rows in zip(scores.values, scores.units, scores.rows, strict=True):
        mine = unit[rows[task]]
        order = np.argsort(mine, kind="stable")
        if np.any(mine[order][1:] == mine[order][:-1]):
            return None
        sides.append(value[rows[task]][order])
    together = np.array(sides)
    high = together == together.max()
    if not np.all(high | (together == together.min())):
        return None
    return high.astype(np.float64) @ (~high).astype(np.float64).T


def _mcnemar(wins: Floats) -> Floats:
    """Two-sided p-values of a fair coin for the samples on which two models differ."""
    most, least = np.maximum(wins, wins.T), np.minimum(wins, wins.T)
    # P(at least `most` heads of all) for a fair coin.
    heads = scipy.special.betainc(np.maximum(most, 1), least + 1, 0.5)
    return np.where(most == least, 1.0, np.minimum(1.0, 2 * heads))
