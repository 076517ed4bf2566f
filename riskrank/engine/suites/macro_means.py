"""Means over tasks, weighed, and their differences: of these tasks, or of tasks like these (method §8).

*These tasks*: each task's mean varies by its samples; V = Σ w_t² e_t² with the degrees of freedom of
Satterthwaite, V² / Σ (w_t² e_t²)² / (n_t − 1), e_t the standard error and n_t the samples of task t (Kish's
number of clusters). *Tasks like these*: the tasks are the sample, T of them (Kish's number of unequal
weights), with T − 1 degrees of freedom.

Risk over tasks: the mean of a model's worst tasks (method §8).

References
----------
F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components. Biometrics
Bulletin 2(6), 110-114. doi:10.2307/3002019

What a suite says without each of its tasks: who leads, and which task decides that (method §8).

Performance profiles: the share of a suite's scores above τ, tasks weighed, with a band (method §8).

The profile of a model is 1 − F(τ), F the weighted mixture of its tasks' distribution functions; with one
score a run and task it is that of Agarwal and others. The band is Student's t at each τ by itself, with
Satterthwaite's degrees of freedom from the samples within tasks, cut to [0, 1].

References
----------
R. Agarwal, M. Schwarzer, P. S. Castro, A. Courville, M. G. Bellemare (2021). Deep reinforcement learning at
the edge of the statistical precipice. Advances in Neural Information Processing Systems 34.
doi:10.48550/arXiv.2108.13264
"""

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.ranking import matrices_of
from riskrank.engine.evidence.student import Student, norm, sum_of, weighted_mean
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.suites.task_differences import TaskDifferences, TaskScores, task_differences
from riskrank.engine.types import Floats, Integers

FIXED, RANDOM = "fixed", "random"


def task_number(weights: Floats) -> float:
    """Tasks of equal weight that tell as much: Kish's number of the weights."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def macro_means(scores: TaskScores, scope: str = FIXED) -> Student:
    """Macro mean of every model, shape (k,)."""
    if scope == RANDOM:
        return replace(weighted_mean(scores.mean, scores.weights), skewness=0.0)
    found = task_means(scores)
    return within_tasks(found.value, found.error, scores.independent, scores.weights)


def task_means(scores: TaskScores) -> Student:
    """Mean of every model on every task, shape (k, T), as its samples vary."""
    error = np.zeros_like(scores.mean)
    for task in range(scores.count):
        for model, part in enumerate(scores.parts(task)):
            error[model, task] = norm(part) / np.sqrt(part.size * max(part.size - 1, 1))
    return Student(scores.mean, error, np.maximum(scores.independent - 1, 1))


def macro_differences(
    scores: TaskScores, found: TaskDifferences, scope: str = FIXED, *, weights: Floats | None = None
) -> Student:
    """Differences of the macro means of all pairs, first minus second, shape (k, k).

    Parameters
    ----------
    scores : TaskScores
    found : TaskDifferences
        Of the same scores.
    scope : {"fixed", "random"}
    weights : ndarray, shape (T,), optional
        Others than those of the scores; they sum to 1.
    """
    weighed = scores.weights if weights is None else weights
    if scope == RANDOM:
        return weighted_mean(found.difference, weighed)
    samples = np.minimum(scores.independent[:, None], scores.independent[None])
    return within_tasks(found.difference, found.error, samples, weighed)


def shares_between_tasks(scores: ClusteredScores) -> Floats:
    """Return the share of the variance of a difference of macro means that lies between random tasks, (k, k).

    Of the variance, Σ w_t² e_t² comes from the samples within the tasks. Only the rest is of the tasks: with
    unlimited samples on each, fewer tasks would be enough by as much. Where nothing varies it is 0.
    """
    weights = scores.strata.weights
    tasks = TaskScores.build(
        scores.values, scores.clusters, units=scores.samples, weights=weights, paired=scores.paired
    )
    differences = task_differences(tasks)
    whole = macro_differences(tasks, differences, RANDOM).error ** 2
    within = ((weights * differences.error) ** 2).sum(axis=-1)
    return np.maximum(np.where(whole > 0, 1 - within / np.where(whole > 0, whole, 1.0), 0.0), 0.0)


def within_tasks(value: Floats, error: Floats, samples: Floats, weights: Floats) -> Student:
    """Weighted means of T estimates with errors of so many samples each, tasks on the last axis."""
    df = np.maximum(samples - 1, 1e-9)
    return sum_of(weights * value, weights * error, df, samples.sum(axis=-1) - samples.shape[-1])


SHARE = 0.1
"""Of the tasks; at least one."""


@dataclass(frozen=True)
class WorstTasks:
    """The worst tasks of a model.

    Attributes
    ----------
    tasks : tuple of int
        The worst first; equal means in the order of the tasks.
    mean : float
        Of their means, by the tasks' weights among themselves.
    """

    tasks: tuple[int, ...]
    mean: float


def worst_tasks(mean: Floats, weights: Floats) -> WorstTasks:
    """Find a tenth of the tasks that weigh anything, at least one.

    Parameters
    ----------
    mean : ndarray, shape (T,)
        Of one model, larger is better.
    weights : ndarray, shape (T,)
    """
    weighed = np.flatnonzero(weights)
    count = max(int(SHARE * weighed.size), 1)
    worst = weighed[np.argsort(mean[weighed], kind="stable")[:count]]
    return WorstTasks(tuple(worst.tolist()), float(np.average(mean[worst], weights=weights[worst])))


# Scores times pairs times tasks: about a second.
_MOST_WORK = 3e7


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The suite without each of its T tasks in turn; the others weigh among themselves as before.

    Attributes
    ----------
    leader : ndarray of int, shape (T,)
        The model with the largest macro mean.
    ahead : ndarray, shape (T, k)
        Of one model: how far it is ahead of every other.
    p_adjusted : ndarray, shape (T, k)
        One-sided, of that lead; adjusted over all pairs.
    """

    leader: Integers
    ahead: Floats
    p_adjusted: Floats

    def changes(self, leader: int) -> list[int]:
        """Tasks without which another model leads, the one that decides most first."""
        found = np.flatnonzero(self.leader != leader)
        return found[np.argsort(self.ahead[found].min(axis=1), kind="stable")].tolist()


def leave_one_out(
    scores: TaskScores, found: TaskDifferences, model: int, *, scope: str = FIXED, family: Family = Family()
) -> LeftOut | None:
    """Leave out one task after the other.

    Parameters
    ----------
    scores : TaskScores
    found : TaskDifferences
        Of the same scores.
    model : int
        The model whose lead is asked about.
    scope : {"fixed", "random"}
    family : Family, optional

    Returns
    -------
    LeftOut or None
        None where fewer than two tasks weigh anything.
    """
    if np.count_nonzero(scores.weights) < 2:
        return None
    macro, p_adjusted = [], []
    for task in range(scores.count):
        kept = np.where(np.arange(scores.count) == task, 0.0, scores.weights)
        weights = kept / kept.sum()
        macro.append(scores.mean @ weights)
        ahead = macro_differences(scores, found, scope, weights=weights)
        p_adjusted.append(ahead.p_pairs(family)[model])
    means = np.array(macro)
    return LeftOut(means.argmax(axis=1), means[:, [model]] - means, np.array(p_adjusted))


def first_by_ratio(scores: TaskScores, order: int) -> Integers | None:
    """Without each task in turn, the model with the smallest mean violation ratio against the others.

    Parameters
    ----------
    scores : TaskScores
    order : {1, 2}
        Of dominance.

    Returns
    -------
    ndarray of int, shape (T,), or None
        None where fewer than two tasks weigh anything, or that would take longer than a reader waits.
    """
    pairs = scores.models * (scores.models - 1) // 2
    work = scores.count * pairs * max(value.size for value in scores.values)
    if np.count_nonzero(scores.weights) < 2 or work > _MOST_WORK:
        return None
    names = [str(task) for task in range(scores.count)]
    tasks = TaskDesign.build(names, scores.tasks, weights=scores.weights)
    whole = ClusteredScores.build(scores.values, scores.units, paired=scores.paired, tasks=tasks)
    found = []
    for task in range(scores.count):
        kept = np.where(np.arange(scores.count) == task, 0.0, scores.weights)
        rest = replace(whole, strata=replace(whole.strata, weights=kept / kept.sum()))
        found.append(int(matrices_of(rest, orders=(order,))[0].sum(axis=1).argmin()))
    return np.array(found)


# Values of τ; more are not seen in a picture.
MOST = 201


@dataclass(frozen=True, eq=False)
class Profile:
    """Shares of scores above g values of τ.

    Attributes
    ----------
    tau : ndarray, shape (g,)
        Increasing.
    share, low, high : ndarray, shape (k, g)
        With the ends of the band.
    """

    tau: Floats
    share: Floats
    low: Floats
    high: Floats


def thresholds(scores: TaskScores) -> Floats:
    """Every value a score takes, or as many of them as are seen, evenly by their number."""
    values = np.unique(np.concatenate(scores.values))
    if values.size <= MOST:
        return values
    return values[np.round(np.linspace(0, values.size - 1, MOST)).astype(int)]


def profile(scores: TaskScores, tau: Floats, level: float = 0.05) -> Profile:
    """Share of scores above each τ.

    Parameters
    ----------
    scores : TaskScores
    tau : ndarray, shape (g,)
        Increasing.
    level : float
        Two-sided, of the band at each τ by itself.
    """
    share = np.empty((scores.models, scores.count, tau.size))
    error, samples = np.empty_like(share), scores.independent
    for model, (value, unit) in enumerate(zip(scores.values, scores.units, strict=True)):
        for task, rows in enumerate(scores.rows[model]):
            order = rows[np.argsort(unit[rows], kind="stable")]
            above = value[order, None] > tau
            share[model, task] = above.mean(axis=0)
            begins = np.flatnonzero(np.r_[True, unit[order][1:] != unit[order][:-1]])
            parts = np.add.reduceat(above - share[model, task], begins, axis=0)
            count = len(begins)
            error[model, task] = np.sqrt((parts**2).sum(axis=0) * count / max(count - 1, 1)) / len(order)
    each = zip(share, error, samples, strict=True)
    means = [within_tasks(own.T, spread.T, count, scores.weights) for own, spread, count in each]
    low, high = np.moveaxis(np.array([one.interval(level) for one in means]), 1, 0)
    low, high = np.clip((low, high), 0.0, 1.0)
    return Profile(tau, np.array([one.value for one in means]), low, high)
