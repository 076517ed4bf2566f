"""Units of a gate that lie in tasks, or are tasks: what each of them weighs in a resample (method §8)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.evidence.johnson import MeanDifference
from riskrank.engine.products import weighted_sums
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.freedom import satterthwaite, smallest
from riskrank.engine.types import Floats, Integers

# Scores are at most 1 where this is asked.
_ROUNDING = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class SideTasks:
    """The tasks of one model's units of resampling.

    Attributes
    ----------
    of_unit : ndarray of int, shape (C,)
        Task of each unit; where tasks are drawn, each unit is one.
    weights : ndarray, shape (T,)
    random : bool
        Whether tasks are drawn.
    """

    of_unit: Integers
    weights: Floats
    random: bool

    @classmethod
    def of(cls, scores: ClusteredScores, model: int) -> SideTasks | None:
        """Of one model's scores; None where they are no suite."""
        strata = scores.strata
        if not strata.several:
            return None
        return cls(strata.of_cluster[model], strata.weights, strata.random)

    @property
    def heaviest(self) -> int:
        """The task in which one unit more moves the mean most."""
        return int(np.argmax(self.weights / np.maximum(np.bincount(self.of_unit), 1)))

    def with_unit(self) -> SideTasks:
        """Add a unit to the heaviest task, where samples are drawn within tasks."""
        return replace(self, of_unit=np.append(self.of_unit, self.heaviest))

    def weigh(self, drawn: Floats, sizes: Floats) -> Floats:
        """Weight of each score of every unit in resamples, so that all scores together weigh 1.

        Parameters
        ----------
        drawn : ndarray, shape (B, C)
            How much each unit counts.
        sizes : ndarray, shape (C,)
            Scores of each unit.

        Returns
        -------
        ndarray, shape (B, C)
        """
        if self.random:
            weighed = drawn * (self.weights / sizes)
            return weighed / weighted_sums(weighed, sizes)[:, None]
        weighed = np.empty_like(drawn)
        for task, weight in enumerate(self.weights.tolist()):
            units = np.flatnonzero(self.of_unit == task)
            own = drawn[:, units]
            weighed[:, units] = own * (weight / weighted_sums(own, sizes[units]))[:, None]
        return weighed

    def parts(self, values: Floats, clusters: Integers) -> Floats:
        """What each unit moves the weighted mean of some scores by, shape (C,)."""
        sizes = np.bincount(clusters).astype(np.float64)
        weights = self.weigh(np.ones((1, sizes.size)), sizes)[0]
        sums = np.bincount(clusters, values)
        if self.random:
            return np.asarray(weights * (sums - sizes * float(weights @ sums)), dtype=np.float64)
        of_score = self.of_unit[clusters]
        means = np.bincount(of_score, values) / np.bincount(of_score)
        return np.asarray(weights * (sums - sizes * means[self.of_unit]), dtype=np.float64)

    def variances(self, parts: Floats) -> Floats:
        """Variance of each stratum's sum of parts."""
        strata = np.zeros_like(self.of_unit) if self.random else self.of_unit
        count = np.maximum(np.bincount(strata), 2).astype(np.float64)
        return np.bincount(strata, parts**2) * count / (count - 1)

    @property
    def counts(self) -> Floats:
        """Independent units of each stratum; of drawn tasks Kish's number of their weights."""
        if self.random:
            return np.array([self.weights.sum() ** 2 / (self.weights**2).sum()])
        return np.bincount(self.of_unit).astype(np.float64)


@dataclass(frozen=True)
class TaskSide:
    """One model's scores with their tasks, as a difference of means looks at them."""

    values: Floats
    clusters: Integers
    tasks: SideTasks


def mean_difference_of_tasks(first: TaskSide, second: TaskSide, *, paired: bool) -> MeanDifference:
    """Difference of weighted means over tasks, first minus second, with its cumulants.

    As :func:`riskrank.engine.evidence.johnson.mean_difference`; its samples are one more than
    Satterthwaite's degrees of freedom.

    Parameters
    ----------
    first, second : TaskSide
    paired : bool
        Whether unit c is the same for both.

    Returns
    -------
    MeanDifference
    """
    sides = (first, second)
    exponent = max(int(np.frexp(np.abs(side.values).max())[1]) for side in sides)
    scaled = [np.ldexp(side.values, -exponent) for side in sides]
    means, parts = [], []
    for side, values in zip(sides, scaled, strict=True):
        sizes = np.bincount(side.clusters).astype(np.float64)
        weights = side.tasks.weigh(np.ones((1, sizes.size)), sizes)[0]
        means.append(float(weights @ np.bincount(side.clusters, values)))
        parts.append(side.tasks.parts(values, side.clusters))
    looked = [parts[0] - parts[1]] if paired else [parts[0], -parts[1]]
    looked = [np.where(np.abs(part) <= _ROUNDING, 0.0, part) for part in looked]
    variances = [side.tasks.variances(part) for side, part in zip(sides, looked, strict=False)]
    freedoms = [satterthwaite(own, side.tasks.counts) for side, own in zip(sides, variances, strict=False)]
    freedom = freedoms[0] if paired else smallest(*freedoms)
    error = float(np.sqrt(sum(own.sum() for own in variances)))
    third = sum(float(np.sum(part**3)) for part in looked)
    skewness = third / error**3 if error > 0 else 0.0
    with np.errstate(over="ignore"):
        estimate, error = (float(np.ldexp(value, exponent)) for value in (means[0] - means[1], error))
    return MeanDifference(estimate, error, skewness, float(freedom.df) + 1)
