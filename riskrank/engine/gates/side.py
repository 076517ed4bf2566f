"""One model's scores in a comparison, and their resampling units.

Resampling units may belong to tasks, or be tasks themselves; method §8 defines their weights. Without tasks,
all units belong to one task.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.evidence.student import MeanDifference, mean_difference
from riskrank.engine.matrix_products import weighted_sums
from riskrank.engine.sampling.degrees_of_freedom import minimum_df, satterthwaite
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats, Integers

# Scores have been scaled to at most 1.
_ROUNDING = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class SideTasks:
    """Tasks of one model's resampling units.

    Attributes ---------- unit_tasks : ndarray of int, shape (C,)
        Task of each unit; if tasks are sampled, each unit is a task.
    weights : ndarray, shape (T,)
    random : bool
        True if tasks are sampled.
    """

    unit_tasks: Integers
    weights: Floats
    random: bool = False

    @property
    def has_several(self) -> bool:
        """True if there is more than one task."""
        return self.weights.size > 1

    @property
    def heaviest_task(self) -> int:
        """Index of the task in which one additional unit changes the mean most."""
        return int(np.argmax(self.weights / np.maximum(np.bincount(self.unit_tasks), 1)))

    def weigh(self, unit_weights: Floats, sizes: Floats) -> Floats:
        """Return the weight of each score of every unit in each resample; in total they sum to 1.

        Parameters
        ----------
        unit_weights : ndarray, shape (B, C)
            Weight of each unit.
        sizes : ndarray, shape (C,)
            Number of scores of each unit.

        Returns
        -------
        ndarray, shape (B, C)
        """
        if self.random:
            result = unit_weights * (self.weights / sizes)
            return result / weighted_sums(result, sizes)[:, None]
        result = np.empty_like(unit_weights)
        for task, weight in enumerate(self.weights.tolist()):
            units = np.flatnonzero(self.unit_tasks == task) if self.has_several else slice(None)
            task_weights = unit_weights[:, units]
            result[:, units] = task_weights * (weight / weighted_sums(task_weights, sizes[units]))[:, None]
        return result

    def variances(self, contributions: Floats) -> Floats:
        """Return the estimated variance of the sum of contributions, per stratum."""
        strata = np.zeros_like(self.unit_tasks) if self.random else self.unit_tasks
        count = np.maximum(np.bincount(strata), 2).astype(np.float64)
        return np.bincount(strata, contributions**2) * count / (count - 1)

    @property
    def counts(self) -> Floats:
        """Number of independent units per stratum; for sampled tasks, Kish's effective sample size."""
        if self.random:
            return np.array([self.weights.sum() ** 2 / (self.weights**2).sum()])
        return np.bincount(self.unit_tasks).astype(np.float64)


SINGLE_TASK = SideTasks(np.empty(0, dtype=np.int64), np.ones(1))
"""Placeholder for units without tasks; all belong to one task."""


@dataclass(frozen=True)
class SideScores:
    """Scores of one model in a comparison.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Scores; larger is better.
    clusters : ndarray of int, shape (n,)
        Resampling unit of each score, 0, 1, ... without gaps.
    tasks : SideTasks
        Tasks of the units.
    """

    values: Floats
    clusters: Integers
    tasks: SideTasks = SINGLE_TASK

    def __post_init__(self) -> None:
        if self.tasks is SINGLE_TASK:
            of_unit = np.zeros(int(self.clusters[-1]) + 1, dtype=np.int64)
            object.__setattr__(self, "tasks", replace(SINGLE_TASK, unit_tasks=of_unit))

    @classmethod
    def from_scores(cls, scores: ClusteredScores, model: int) -> SideScores:
        """Create the side of one model, given by index."""
        strata = scores.strata
        tasks = SideTasks(strata.cluster_tasks[model], strata.weights, strata.random)
        return cls(scores.values[model], scores.clusters[model], tasks)

    @property
    def sizes(self) -> NDArray[np.int_]:
        """Number of scores of each unit."""
        return np.bincount(self.clusters)

    @property
    def sums(self) -> Floats:
        """Sum of the scores of each unit."""
        return np.asarray(np.bincount(self.clusters, self.values), dtype=np.float64)

    @property
    def observed(self) -> Floats:
        """Observed scores that indicate how bad a score can be."""
        return self.values

    @property
    def weights(self) -> Floats:
        """Weight of each score, per unit, shape (C,)."""
        return self.weigh(np.ones((1, len(self.sizes))))[0]

    @property
    def mean(self) -> float:
        """Mean score, weighted by task."""
        return float(self.weights @ self.sums) if self.tasks.has_several else float(self.values.mean())

    def weigh(self, unit_weights: Floats) -> Floats:
        """Return the weight of each score, per unit, in each resample, given unit weights of shape (B, C)."""
        return self.tasks.weigh(unit_weights, self.sizes.astype(np.float64))

    def worst_quantile(self, proportion: float) -> float:
        """Return the quantile of the scores at the given proportion, weighted by task."""
        weights = self.weights[self.clusters] if self.tasks.has_several else None
        return float(np.quantile(self.values, proportion, method="inverted_cdf", weights=weights))

    def heaviest_task_side(self) -> SideScores:
        """Return this side, restricted to the task that receives an additional unit."""
        rows = np.flatnonzero(self.tasks.unit_tasks[self.clusters] == self.tasks.heaviest_task)
        return SideScores(self.values[rows], np.unique(self.clusters[rows], return_inverse=True)[1])

    def with_unit(self, score: float) -> SideScores:
        """Return a copy with a unit of average size and equal scores added to the heaviest task."""
        count = max(round(float(self.heaviest_task_side().sizes.mean())), 1)
        return SideScores(
            np.concatenate([self.values, np.full(count, score)]),
            np.concatenate([self.clusters, np.full(count, self.clusters[-1] + 1)]),
            replace(self.tasks, unit_tasks=np.append(self.tasks.unit_tasks, self.tasks.heaviest_task)),
        )

    def contributions(self) -> Floats:
        """Return the contribution of each unit to the weighted mean, shape (C,)."""
        weights, sums, sizes = self.weights, self.sums, self.sizes
        if self.tasks.random:
            return np.asarray(weights * (sums - sizes * float(weights @ sums)), dtype=np.float64)
        of_score = self.tasks.unit_tasks[self.clusters]
        means = np.bincount(of_score, self.values) / np.bincount(of_score)
        return np.asarray(weights * (sums - sizes * means[self.tasks.unit_tasks]), dtype=np.float64)


def difference_of_means(first: SideScores, second: SideScores, *, paired: bool) -> MeanDifference:
    """Compute the difference in weighted means, first minus second, with its standard error and skewness.

    This extends :func:`riskrank.engine.evidence.student.mean_difference` to tasks. The number of samples is
    then Satterthwaite's degrees of freedom plus 1.

    Parameters
    ----------
    first, second : SideScores
    paired : bool
        True if both models share the units.

    Returns
    -------
    MeanDifference
    """
    sides = (first, second)
    if not first.tasks.has_several:
        (new, old) = ((side.values, side.clusters) for side in sides)
        return mean_difference(new, old, paired=paired)
    exponent = max(int(np.frexp(np.abs(side.values).max())[1]) for side in sides)
    scaled = [SideScores(np.ldexp(side.values, -exponent), side.clusters, side.tasks) for side in sides]
    means, parts = [side.mean for side in scaled], [side.contributions() for side in scaled]
    effects = [parts[0] - parts[1]] if paired else [parts[0], -parts[1]]
    effects = [np.where(np.abs(part) <= _ROUNDING, 0.0, part) for part in effects]
    variances = [side.tasks.variances(part) for side, part in zip(sides, effects, strict=False)]
    freedoms = [satterthwaite(var, side.tasks.counts) for side, var in zip(sides, variances, strict=False)]
    freedom = freedoms[0] if paired else minimum_df(*freedoms)
    error = float(np.sqrt(sum(var.sum() for var in variances)))
    third = sum(float(np.sum(part**3)) for part in effects)
    skewness = third / error**3 if error > 0 else 0.0
    with np.errstate(over="ignore"):
        estimate, error = (float(np.ldexp(value, exponent)) for value in (means[0] - means[1], error))
    return MeanDifference(estimate, error, skewness, float(freedom.df) + 1)
