"""One model's scores in a comparison, and the units they are resampled by.

Units may lie in tasks, or be tasks: what each weighs then is method §8's. Without tasks all lie in one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.evidence.student import MeanDifference, mean_difference
from riskrank.engine.matrix_products import weighted_sums
from riskrank.engine.sampling.degrees_of_freedom import satterthwaite, smallest
from riskrank.engine.sampling.design import ClusteredScores
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
    random: bool = False

    @property
    def several(self) -> bool:
        """Whether there is more than one."""
        return self.weights.size > 1

    @property
    def heaviest(self) -> int:
        """The task in which one unit more moves the mean most."""
        return int(np.argmax(self.weights / np.maximum(np.bincount(self.of_unit), 1)))

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
            units = np.flatnonzero(self.of_unit == task) if self.several else slice(None)
            own = drawn[:, units]
            weighed[:, units] = own * (weight / weighted_sums(own, sizes[units]))[:, None]
        return weighed

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


UNTOLD = SideTasks(np.empty(0, dtype=np.int64), np.ones(1))
"""Of units whose tasks nobody told: all lie in one."""


@dataclass(frozen=True)
class SideScores:
    """Scores of one model in a comparison.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Larger is better.
    clusters : ndarray of int, shape (n,)
        Unit of resampling of each score, 0, 1, ... without gaps.
    tasks : SideTasks
        Of the units.
    """

    values: Floats
    clusters: Integers
    tasks: SideTasks = UNTOLD

    def __post_init__(self) -> None:
        if self.tasks is UNTOLD:
            of_unit = np.zeros(int(self.clusters[-1]) + 1, dtype=np.int64)
            object.__setattr__(self, "tasks", replace(UNTOLD, of_unit=of_unit))

    @classmethod
    def of(cls, scores: ClusteredScores, model: int) -> SideScores:
        """Of a model's scores."""
        strata = scores.strata
        tasks = SideTasks(strata.of_cluster[model], strata.weights, strata.random)
        return cls(scores.values[model], scores.clusters[model], tasks)

    @property
    def sizes(self) -> NDArray[np.int_]:
        """Scores of each unit."""
        return np.bincount(self.clusters)

    @property
    def sums(self) -> Floats:
        """Sum of the scores of each unit."""
        return np.asarray(np.bincount(self.clusters, self.values), dtype=np.float64)

    @property
    def seen(self) -> Floats:
        """Scores that tell how bad a score can be."""
        return self.values

    @property
    def weights(self) -> Floats:
        """Weight of each score of the units, shape (C,)."""
        return self.weigh(np.ones((1, len(self.sizes))))[0]

    @property
    def mean(self) -> float:
        """Mean score, weighted over its tasks."""
        return float(self.weights @ self.sums) if self.tasks.several else float(self.values.mean())

    def weigh(self, drawn: Floats) -> Floats:
        """Weight of each score of the units in resamples, shape (B, C), for counts of the units."""
        return self.tasks.weigh(drawn, self.sizes.astype(np.float64))

    def worst_share(self, share: float) -> float:
        """Quantile of the scores, weighted over tasks."""
        weights = self.weights[self.clusters] if self.tasks.several else None
        return float(np.quantile(self.values, share, method="inverted_cdf", weights=weights))

    def where_it_weighs(self) -> SideScores:
        """The scores of the task to which one unit more is added."""
        kept = np.flatnonzero(self.tasks.of_unit[self.clusters] == self.tasks.heaviest)
        return SideScores(self.values[kept], np.unique(self.clusters[kept], return_inverse=True)[1])

    def with_unit(self, score: float) -> SideScores:
        """Add a unit of usual size whose scores are all the same, to the heaviest task."""
        count = max(round(float(self.where_it_weighs().sizes.mean())), 1)
        return SideScores(
            np.concatenate([self.values, np.full(count, score)]),
            np.concatenate([self.clusters, np.full(count, self.clusters[-1] + 1)]),
            replace(self.tasks, of_unit=np.append(self.tasks.of_unit, self.tasks.heaviest)),
        )

    def parts(self) -> Floats:
        """What each unit moves the weighted mean by, shape (C,)."""
        weights, sums, sizes = self.weights, self.sums, self.sizes
        if self.tasks.random:
            return np.asarray(weights * (sums - sizes * float(weights @ sums)), dtype=np.float64)
        of_score = self.tasks.of_unit[self.clusters]
        means = np.bincount(of_score, self.values) / np.bincount(of_score)
        return np.asarray(weights * (sums - sizes * means[self.tasks.of_unit]), dtype=np.float64)


def difference_of_means(first: SideScores, second: SideScores, *, paired: bool) -> MeanDifference:
    """Difference of weighted means, first minus second, with its cumulants.

    As :func:`riskrank.engine.evidence.student.mean_difference`; over tasks its samples are one more than
    Satterthwaite's degrees of freedom.

    Parameters
    ----------
    first, second : SideScores
    paired : bool
        Whether unit c is the same for both.

    Returns
    -------
    MeanDifference
    """
    sides = (first, second)
    if not first.tasks.several:
        (one, other) = ((side.values, side.clusters) for side in sides)
        return mean_difference(one, other, paired=paired)
    exponent = max(int(np.frexp(np.abs(side.values).max())[1]) for side in sides)
    scaled = [SideScores(np.ldexp(side.values, -exponent), side.clusters, side.tasks) for side in sides]
    means, parts = [side.mean for side in scaled], [side.parts() for side in scaled]
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
