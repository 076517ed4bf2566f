"""Means over tasks, weighed, and their differences: of these tasks, or of tasks like these (method §8).

*These tasks*: each task's mean varies by its samples; V = Σ w_t² e_t² with the degrees of freedom of
Satterthwaite, V² / Σ (w_t² e_t²)² / (n_t − 1), e_t the standard error and n_t the samples of task t (Kish's
number of clusters). *Tasks like these*: the tasks are the sample, T of them (Kish's number of unequal
weights), with T − 1 degrees of freedom.

References
----------
F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components. Biometrics
Bulletin 2(6), 110-114. doi:10.2307/3002019
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from riskrank.engine.evidence.johnson import p_above
from riskrank.engine.family import Family
from riskrank.engine.suites.task_differences import TaskDifferences
from riskrank.engine.suites.task_scores import TaskScores
from riskrank.engine.types import Floats

FIXED, RANDOM = "fixed", "random"


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of one shape that vary as Student's t says, and Johnson's where they are skewed.

    Attributes
    ----------
    value, error, df : ndarray
        Estimate, standard error, degrees of freedom.
    skewness : ndarray or float
        Of the estimate; 0 where nothing skewed is drawn.
    """

    value: Floats
    error: Floats
    df: Floats
    skewness: Floats | float = 0.0

    def interval(self, level: float = 0.05) -> tuple[Floats, Floats]:
        """Both ends at a two-sided level, each for one estimate at a time.

        None leaves out 0 where the p-value does not.
        """
        wide = self.error * -stdtrit(self.df, level / 2)
        mirrored = replace(self, value=-self.value, skewness=-self.skewness)
        ends = self.value - wide, self.value + wide
        low = np.where(self.p_positive() > level / 2, np.minimum(ends[0], 0.0), ends[0])
        return low, np.where(mirrored.p_positive() > level / 2, np.maximum(ends[1], 0.0), ends[1])

    def p_positive(self) -> Floats:
        """One-sided p-values of "it is not above 0"."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = self.value / self.error
        # Without any spread there are df + 1 equal observations of one sign.
        sure = np.where(self.value > 0, 0.5 ** (self.df + 1), 1.0)
        larger = p_above(np.where(self.error > 0, t, 0.0), np.asarray(self.skewness), self.df)
        return np.where(self.error > 0, larger, sure)

    def p_pairs(self, family: Family = Family()) -> Floats:
        """Of differences of all pairs: one-sided p-values adjusted over the k(k − 1), 1 on the diagonal."""
        return family.adjusted(self.p_positive(), ~np.eye(len(self.value), dtype=bool))


def task_number(weights: Floats) -> float:
    """Tasks of equal weight that tell as much: Kish's number of the weights."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def macro_means(scores: TaskScores, scope: str = FIXED) -> Estimates:
    """Macro mean of every model, shape (k,)."""
    if scope == RANDOM:
        return replace(_over_tasks(scores.mean, scores.weights), skewness=0.0)
    found = task_means(scores)
    return within_tasks(found.value, found.error, scores.independent, scores.weights)


def task_means(scores: TaskScores) -> Estimates:
    """Mean of every model on every task, shape (k, T), as its samples vary."""
    error = np.zeros_like(scores.mean)
    for task in range(scores.count):
        for model, part in enumerate(scores.parts(task)):
            error[model, task] = _norm(part) / np.sqrt(part.size * max(part.size - 1, 1))
    return Estimates(scores.mean, error, np.maximum(scores.independent - 1, 1))


def macro_differences(
    scores: TaskScores, found: TaskDifferences, scope: str = FIXED, *, weights: Floats | None = None
) -> Estimates:
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
        return _over_tasks(found.difference, weighed)
    samples = np.minimum(scores.independent[:, None], scores.independent[None])
    return within_tasks(found.difference, found.error, samples, weighed)


def within_tasks(value: Floats, error: Floats, samples: Floats, weights: Floats) -> Estimates:
    """Weighted means of T estimates with errors of so many samples each, tasks on the last axis."""
    spread = weights * error
    whole = _norm(spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = spread / whole[..., None]
        df = 1 / (share**4 / np.maximum(samples - 1, 1e-9)).sum(axis=-1)
    df = np.where(whole > 0, df, samples.sum(axis=-1) - samples.shape[-1])
    return Estimates(value @ weights, whole, df)


def _norm(parts: Floats) -> Floats:
    """Root of the sum of squares on the last axis, which stays a number whatever the unit."""
    exponent = np.frexp(np.abs(parts).max(axis=-1, keepdims=True))[1]
    return np.ldexp(np.sqrt((np.ldexp(parts, -exponent) ** 2).sum(axis=-1)), exponent[..., 0])


def _over_tasks(value: Floats, weights: Floats) -> Estimates:
    mean, count = value @ weights, task_number(weights)
    away = value - mean[..., None]
    # Rounding of the mean itself is no spread.
    away[np.abs(away) <= 8 * np.finfo(np.float64).eps * np.abs(value).max()] = 0.0
    error = _norm(weights * away) * np.sqrt(count / max(count - 1, 1e-9))
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(error > 0, ((weights * away / error[..., None]) ** 3).sum(axis=-1), 0.0)
    return Estimates(mean, error, np.full(mean.shape, max(count - 1, 1e-9)), skewness)
