"""One sample more, against the claim: what resamples of few or equal scores know nothing of.

Resamples know what was seen. Where two models agree on all of 30 samples, each resample says that they are
equal, although one sample in 25 may be a loss; where 6 of 100 samples differ, all in one direction, one
resample in 400 shows no difference, while a coin falls like that once in 64. The exact limit of a share
(Clopper and Pearson 1934) counts one loss more than there was. So does this: before the low end of an
interval is resampled, one sample is added that speaks against it, and one for it before the high end. It is
the mean of the bad samples and the worst one the scores allow, so that it weighs most where few bad samples
are known, and less than a fifth of a standard error among 30 normal scores.

References
----------
C. J. Clopper and E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in the case of
the binomial. Biometrika 26(4), 404-413. doi:10.1093/biomet/26.4.404
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.gates.side_tasks import SideTasks, TaskSide, mean_difference_of_tasks
from riskrank.engine.products import weighted_sums
from riskrank.engine.sampling.design import ClusteredScores, kish
from riskrank.engine.sampling.modified_t import MeanDifference, mean_difference
from riskrank.engine.types import Floats, Integers

MEAN_SHARE = 0.5


@dataclass(frozen=True)
class Side:
    """Scores of one model in a comparison.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Larger is better.
    clusters : ndarray of int, shape (n,)
        Unit of resampling of each score, 0, 1, ... without gaps.
    tasks : SideTasks or None
        Of the units of a suite.
    """

    values: Floats
    clusters: Integers
    tasks: SideTasks | None = None

    @property
    def sizes(self) -> NDArray[np.int_]:
        """Scores of each unit."""
        return np.bincount(self.clusters)

    @property
    def sums(self) -> Floats:
        """Sum of the scores of each unit."""
        return np.asarray(np.bincount(self.clusters, self.values), dtype=np.float64)

    @property
    def mean(self) -> float:
        """Mean score, of a suite weighted over its tasks."""
        if self.tasks is None:
            return float(self.values.mean())
        weights = self.weigh(np.ones((1, len(self.sizes))))
        return float(weighted_sums(weights, self.sums)[0])

    def weigh(self, drawn: Floats) -> Floats:
        """Weight of each score of the units in resamples, shape (B, C), for counts of the units."""
        return drawn if self.tasks is None else self.tasks.weigh(drawn, self.sizes.astype(np.float64))

    def worst_share(self, share: float) -> float:
        """Quantile of the scores, of a suite of its weighted tasks."""
        if self.tasks is None:
            return float(np.quantile(self.values, share, method="inverted_cdf"))
        weights = self.weigh(np.ones((1, len(self.sizes))))[0][self.clusters]
        return float(np.quantile(self.values, share, method="inverted_cdf", weights=weights))

    def where_it_weighs(self) -> Side:
        """The scores of the task to which one unit more is added."""
        if self.tasks is None:
            return self
        kept = np.flatnonzero(self.tasks.of_unit[self.clusters] == self.tasks.heaviest)
        return Side(self.values[kept], np.unique(self.clusters[kept], return_inverse=True)[1])

    def with_unit(self, score: float) -> Side:
        """Add a unit of usual size whose scores are all the same."""
        count = max(round(float(self.where_it_weighs().sizes.mean())), 1)
        return Side(
            np.concatenate([self.values, np.full(count, score)]),
            np.concatenate([self.clusters, np.full(count, self.clusters[-1] + 1)]),
            None if self.tasks is None else self.tasks.with_unit(),
        )


@dataclass(frozen=True)
class Comparison:
    """Two models on one column of scores, and the statistic they differ in.

    Attributes
    ----------
    new, old : Side
    paired : bool
        Whether unit c is the same for both.
    level : float or None
        Share of the worst scores whose mean is compared; None for the mean of all.
    lowest, highest : float
        The worst and the best score there can be.
    bounded : bool
        Whether those are known; otherwise they are what was seen, and there may be worse.
    """

    new: Side
    old: Side
    paired: bool
    level: float | None
    lowest: float
    highest: float
    bounded: bool = True

    @classmethod
    def of(
        cls,
        scores: ClusteredScores,
        new: int,
        old: int,
        level: float | None,
        limits: tuple[float, float],
        bounded: bool,
    ) -> Comparison:
        """Two models of a column of scores, by number, and the worst and the best score there can be."""
        sides = [
            Side(scores.values[model], scores.clusters[model], SideTasks.of(scores, model))
            for model in (new, old)
        ]
        return cls(sides[0], sides[1], scores.drawn_together, level, *limits, bounded)

    @property
    def independent(self) -> float:
        """Units of equal size that tell as much of the model that has fewer (Kish's number)."""
        return min(kish(side.clusters) for side in (self.new, self.old))

    @property
    def modified(self) -> MeanDifference | None:
        """The difference of unbounded means for Johnson's modified t; None where there is no need of it."""
        if self.level is not None or (self.bounded and not self.drawn_tasks):
            return None
        if self.new.tasks is not None and self.old.tasks is not None:
            first = TaskSide(self.new.values, self.new.clusters, self.new.tasks)
            second = TaskSide(self.old.values, self.old.clusters, self.old.tasks)
            return mean_difference_of_tasks(first, second, paired=self.paired)
        new, old = ((side.values, side.clusters) for side in (self.new, self.old))
        return mean_difference(new, old, paired=self.paired)

    @property
    def drawn_tasks(self) -> bool:
        """Whether the units are whole tasks: means of many scores, of which none is an unseen failure."""
        return self.new.tasks is not None and self.new.tasks.random

    @property
    def samples(self) -> int:
        """Independent units behind the model that has fewer."""
        return int(min(self.new.clusters[-1], self.old.clusters[-1])) + 1

    def against(self) -> Comparison:
        """Add a sample that speaks against the new model; of drawn tasks the modified t is caution enough."""
        if self.drawn_tasks:
            return self
        return self._with_units(*self._units())

    def in_favour(self) -> Comparison:
        """Add a sample that speaks for the new model."""
        if self.drawn_tasks:
            return self
        old, new = self._mirrored()._units()
        return self._with_units(new, old)

    def _mirrored(self) -> Comparison:
        return replace(self, new=self.old, old=self.new)

    def _with_units(self, new: float, old: float) -> Comparison:
        return replace(self, new=self.new.with_unit(new), old=self.old.with_unit(old))

    def _units(self) -> tuple[float, float]:
        """Scores of the new and the old model on a sample that speaks against the new one."""
        if self.level is not None:
            low = _beyond(self.new.values, self.lowest, self.new.worst_share(self.level))
            return low, float(np.median(self.old.values))
        new, old = self.new.where_it_weighs(), self.old.where_it_weighs()
        if self.paired:
            differences = new.sums / new.sizes - old.sums / old.sizes
            middle = float(old.values.mean())
            return middle + _beyond(differences, self.lowest - self.highest), middle
        return _beyond(new.values, self.lowest), -_beyond(-old.values, -self.highest)


def _beyond(values: Floats, worst: float, quantile: float | None = None) -> float:
    """Mean of the worst value there can be and all that lie below a quantile, the median by default."""
    if quantile is None:
        quantile = float(np.quantile(values, MEAN_SHARE, method="inverted_cdf"))
    below = values[values < quantile]
    return float((worst + below.sum()) / (1 + below.size))
