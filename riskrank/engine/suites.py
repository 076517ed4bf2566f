"""Means on single tasks, macro means over tasks, and their differences between models (method §8).

*Fixed tasks*: the mean on each task varies with its samples. With e_t the standard error and n_t the number
of samples of task t (Kish's number for clusters), the variance is V = Σ w_t² e_t². Satterthwaite's degrees of
freedom are V² / Σ ((w_t² e_t²)² / (n_t − 1)). *Tasks like these*: the T tasks are the sample (Kish's number
for unequal weights), with T − 1 degrees of freedom.

The module also computes the mean over a model's worst tasks, and a leave-one-out analysis of the leader
without each task (method §8).

Performance profiles show the task-weighted proportion of scores above τ, with a confidence band (method §8).
The profile of a model is 1 − F(τ), with F the weighted mixture of its score distributions by task. With one
score per run and task, it is the profile defined by Agarwal et al. (2021). The band is based on Student's t
at each τ separately, with Satterthwaite's degrees of freedom from the samples within tasks, clipped to
[0, 1].

*Pairwise comparison on each task* ("Task by task"): the family consists of all tasks × all pairs, with Holm's
correction. A family of tasks × models would suffice for a model named in advance, but the leader is selected
from the same data. For 3 to 20 identical models and 5 to 60 tasks, the smaller family leads to a false
positive in .05 to .08 of the tables. With two tasks and twenty models, the rate is .15. With all pairs in the
family, it is .00 to .04.

The p-values are those of gates (method §4, "Means"). A difference that Student's t does not separate keeps
Student's p-value, because that of a gate is not smaller.

The mean on a task is a sum of contributions, one per independent unit (a sample or a cluster of samples).
Their deviations sum to zero, and the standard errors on the task are computed from them. If clusters differ
in size, the mean is a ratio of sums, and the contributions are those to this ratio.

References
----------
F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components. Biometrics
Bulletin 2(6), 110-114. doi:10.2307/3002019
R. Agarwal, M. Schwarzer, P. S. Castro, A. Courville, M. G. Bellemare (2021). Deep reinforcement learning at
the edge of the statistical precipice. Advances in Neural Information Processing Systems 34.
doi:10.48550/arXiv.2108.13264
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.ranking import violation_ratios
from riskrank.engine.evidence.mean_differences import MeanContrast, is_binary, mean_evidence
from riskrank.engine.evidence.student import Student, independent_sum, safe_norm, weighted_mean
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


FIXED, RANDOM = "fixed", "random"


def effective_tasks(weights: Floats) -> float:
    """Return Kish's effective number of tasks for the given task weights."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def task_means(scores: TaskScores) -> Student:
    """Return each model's mean on each task, shape (k, T), with standard errors based on its samples."""
    error = np.zeros_like(scores.mean)
    for task in range(scores.count):
        for model, part in enumerate(scores.parts(task)):
            error[model, task] = safe_norm(part) / np.sqrt(part.size * max(part.size - 1, 1))
    return Student(scores.mean, error, np.maximum(scores.effective_sizes - 1, 1))


def macro_differences(
    scores: TaskScores, differences: TaskDifferences, scope: str = FIXED, *, weights: Floats | None = None
) -> Student:
    """Return the differences in macro means of all pairs, first minus second model, shape (k, k).

    Parameters
    ----------
    scores : TaskScores
        Scores of k models on T tasks.
    differences : TaskDifferences
        Differences by task for the same scores.
    scope : {"fixed", "random"}
        Whether the results refer to these tasks only, or the tasks are a random sample.
    weights : ndarray, shape (T,), optional
        Weights with sum 1 that replace those of the scores.
    """
    task_weights = scores.weights if weights is None else weights
    if scope == RANDOM:
        return weighted_mean(differences.difference, task_weights)
    samples = np.minimum(scores.effective_sizes[:, None], scores.effective_sizes[None])
    return weighted_sum(differences.difference, differences.error, samples, task_weights)


def between_task_shares(scores: ClusteredScores) -> Floats:
    """Return the part of each macro difference's variance that is due to sampling tasks, shape (k, k).

    It is a proportion. Samples within tasks contribute Σ w_t² e_t² to the variance, and the rest is due to
    tasks. With unlimited samples per task, the required number of tasks decreases by this factor. The
    proportion is 0 if the variance is 0.
    """
    weights = scores.strata.weights
    tasks = TaskScores.build(
        scores.values, scores.clusters, units=scores.samples, weights=weights, paired=scores.paired
    )
    differences = task_differences(tasks)
    total = macro_differences(tasks, differences, RANDOM).error ** 2
    within = ((weights * differences.error) ** 2).sum(axis=-1)
    return np.maximum(np.where(total > 0, 1 - within / np.where(total > 0, total, 1.0), 0.0), 0.0)


def weighted_sum(value: Floats, error: Floats, samples: Floats, weights: Floats) -> Student:
    """Return weighted sums of T independent estimates, with standard errors and degrees of freedom.

    Parameters
    ----------
    value, error : ndarray, shape (..., T)
        Estimates and their standard errors.
    samples : ndarray, shape (..., T)
        Number of samples behind each estimate.
    weights : ndarray, shape (T,)
        Weights of the estimates.
    """
    df = np.maximum(samples - 1, 1e-9)
    return independent_sum(weights * value, weights * error, df, samples.sum(axis=-1) - samples.shape[-1])


# Share of the tasks that count as worst; at least one task.
WORST_SHARE = 0.1


@dataclass(frozen=True)
class WorstTasks:
    """The worst tasks of a model, and the mean over them.

    Attributes
    ----------
    tasks : tuple of int
        Task indices, worst first; ties keep the order of the tasks.
    mean : float
        Weighted mean over these tasks.
    """

    tasks: tuple[int, ...]
    mean: float


def worst_tasks(mean: Floats, weights: Floats) -> WorstTasks:
    """Return the worst tenth of a model's tasks, and the mean over them.

    The result has at least one task. Tasks of weight 0 are ignored.

    Parameters
    ----------
    mean : ndarray, shape (T,)
        Means of one model by task; larger is better.
    weights : ndarray, shape (T,)
        Weights of the tasks.
    """
    positive = np.flatnonzero(weights)
    count = max(int(WORST_SHARE * positive.size), 1)
    worst = positive[np.argsort(mean[positive], kind="stable")[:count]]
    return WorstTasks(tuple(worst.tolist()), float(np.average(mean[worst], weights=weights[worst])))


# Limit of scores × pairs × tasks, about one second.
_MAX_WORK = 3e7


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Results for the suite after each of its T tasks is removed in turn.

    The weights of the remaining tasks are rescaled.

    Attributes
    ----------
    leader : ndarray of int, shape (T,)
        Model with the largest macro mean.
    leads : ndarray, shape (T, k)
        Difference in macro means between a given model and every other.
    p_adjusted : ndarray, shape (T, k)
        One-sided p-values of these differences, adjusted for all pairs.
    """

    leader: Integers
    leads: Floats
    p_adjusted: Floats

    def decisive_tasks(self, leader: int) -> list[int]:
        """Return the tasks whose removal changes the leader, the most decisive first."""
        tasks = np.flatnonzero(self.leader != leader)
        return tasks[np.argsort(self.leads[tasks].min(axis=1), kind="stable")].tolist()


def leave_one_out(
    scores: TaskScores, tasks: TaskDifferences, model: int, *, scope: str = FIXED, family: Family = Family()
) -> LeaveOneOut | None:
    """Compare a model with all others, leaving out each task of the suite in turn.

    Parameters
    ----------
    scores : TaskScores
        Scores of k models on T tasks.
    tasks : TaskDifferences
        Differences by task for the same scores.
    model : int
        Index of the model to compare with all others.
    scope : {"fixed", "random"}
        Whether the results refer to these tasks only, or the tasks are a random sample.
    family : Family, optional
        Level and correction for multiple tests.

    Returns
    -------
    LeaveOneOut or None
        None if fewer than two tasks have positive weight.
    """
    if np.count_nonzero(scores.weights) < 2:
        return None
    macro, p_adjusted = [], []
    for task in range(scores.count):
        remaining = np.where(np.arange(scores.count) == task, 0.0, scores.weights)
        weights = remaining / remaining.sum()
        macro.append(scores.mean @ weights)
        leads = macro_differences(scores, tasks, scope, weights=weights)
        p_adjusted.append(leads.pair_p_values(family)[model])
    means = np.array(macro)
    return LeaveOneOut(means.argmax(axis=1), means[:, [model]] - means, np.array(p_adjusted))


def leaders_by_ratio(scores: TaskScores, order: int) -> Integers | None:
    """Find the model with the best mean violation ratio after each task of the suite is left out in turn.

    Parameters
    ----------
    scores : TaskScores
        Scores of k models on T tasks.
    order : {1, 2}
        Order of dominance.

    Returns
    -------
    ndarray of int, shape (T,), or None
        None if fewer than two tasks have positive weight, or if the computation would take too long.
    """
    pairs = scores.models * (scores.models - 1) // 2
    work = scores.count * pairs * max(value.size for value in scores.values)
    if np.count_nonzero(scores.weights) < 2 or work > _MAX_WORK:
        return None
    suite, leaders = scores.clustered(), []
    for task in range(scores.count):
        remaining = np.where(np.arange(scores.count) == task, 0.0, scores.weights)
        reduced = replace(suite, strata=replace(suite.strata, weights=remaining / remaining.sum()))
        leaders.append(int(violation_ratios(reduced, orders=(order,))[0].sum(axis=1).argmin()))
    return np.array(leaders)


# Largest number of values of τ; more are not visible in a plot.
MAX_THRESHOLDS = 201


@dataclass(frozen=True, eq=False)
class Profile:
    """Performance profiles: proportions of scores above g thresholds τ.

    Attributes
    ----------
    tau : ndarray, shape (g,)
        Thresholds, increasing.
    share, low, high : ndarray, shape (k, g)
        Proportions, and the limits of their confidence band.
    """

    tau: Floats
    share: Floats
    low: Floats
    high: Floats


def profile_thresholds(scores: TaskScores) -> Floats:
    """Return the thresholds τ of performance profiles: all distinct scores, or a regular selection.

    A selection has :data:`MAX_THRESHOLDS` scores, at equal steps of rank.
    """
    values = np.unique(np.concatenate(scores.values))
    if values.size <= MAX_THRESHOLDS:
        return values
    return values[np.round(np.linspace(0, values.size - 1, MAX_THRESHOLDS)).astype(int)]


def performance_profile(scores: TaskScores, tau: Floats, level: float = 0.05) -> Profile:
    """Compute the proportion of each model's scores above each threshold, with pointwise confidence bands.

    Parameters
    ----------
    scores : TaskScores
        Scores of k models on T tasks.
    tau : ndarray, shape (g,)
        Thresholds, increasing.
    level : float
        Two-sided error level α of the band at each threshold.
    """
    share = np.empty((scores.models, scores.count, tau.size))
    error, samples = np.empty_like(share), scores.effective_sizes
    for model, (value, unit) in enumerate(zip(scores.values, scores.units, strict=True)):
        for task, rows in enumerate(scores.rows[model]):
            order = rows[np.argsort(unit[rows], kind="stable")]
            above = value[order, None] > tau
            share[model, task] = above.mean(axis=0)
            starts = np.flatnonzero(np.r_[True, unit[order][1:] != unit[order][:-1]])
            parts = np.add.reduceat(above - share[model, task], starts, axis=0)
            count = len(starts)
            error[model, task] = np.sqrt((parts**2).sum(axis=0) * count / max(count - 1, 1)) / len(order)
    models = zip(share, error, samples, strict=True)
    means = [weighted_sum(shares.T, errors.T, count, scores.weights) for shares, errors, count in models]
    low, high = np.moveaxis(np.array([mean.interval(level) for mean in means]), 1, 0)
    low, high = np.clip((low, high), 0.0, 1.0)
    return Profile(tau, np.array([mean.value for mean in means]), low, high)
