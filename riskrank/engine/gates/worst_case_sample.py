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
from math import inf

import numpy as np

from riskrank.engine.evidence.student import MeanDifference
from riskrank.engine.gates.judged_sides import LabelledPair, TailSide, mean_side
from riskrank.engine.gates.side import SideScores, difference_of_means
from riskrank.engine.judges.tails import for_tail
from riskrank.engine.sampling.degrees_of_freedom import kish
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats

MEAN_SHARE = 0.5


@dataclass(frozen=True)
class Comparison:
    """Two models on one column of scores, and the statistic they differ in.

    Attributes
    ----------
    new, old : SideScores
    paired : bool
        Whether unit c is the same for both.
    level : float or None
        Share of the worst scores whose mean is compared; None for the mean of all.
    lowest, highest : float
        The worst and the best score there can be.
    bounded : bool
        Whether those are known; otherwise they are what was seen, and there may be worse.
    labelled : LabelledPair or None
        What people scored, where a judge scored all samples.
    times : float
        The old model's scores have been multiplied by it, which its worst and best score are not yet.
    """

    new: SideScores
    old: SideScores
    paired: bool
    level: float | None
    lowest: float
    highest: float
    bounded: bool = True
    labelled: LabelledPair | None = None
    times: float = 1.0

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
        if not scores.judged:
            sides = [SideScores.of(scores, model) for model in (new, old)]
            return cls(sides[0], sides[1], scores.drawn_together, level, *limits, bounded)
        # A judge is corrected by people: a tail has scores and shares, a mean residuals.
        labelled = LabelledPair.of(scores, new, old)
        if level is not None:
            tuned = for_tail(scores, level)
            tails = [TailSide.of(tuned, model) for model in (new, old)]
            return cls(tails[0], tails[1], True, level, *limits, bounded, labelled)
        (first, larger), (second, _) = (mean_side(scores, model) for model in (new, old))
        lowest, highest = (larger * end for end in limits)
        return cls(first, second, True, None, lowest, highest, bounded, labelled)

    @property
    def independent(self) -> float:
        """Units of equal size that tell as much of the model that has fewer (Kish's number)."""
        return min(kish(side.clusters) for side in (self.new, self.old))

    @property
    def modified(self) -> MeanDifference | None:
        """The difference of unbounded means for Johnson's modified t; None where there is no need of it."""
        if self.level is not None or (self.bounded and not self.drawn_tasks):
            return None
        return self.mean_difference

    @property
    def mean_difference(self) -> MeanDifference:
        """The difference of the means, new minus old, with its cumulants."""
        return difference_of_means(self.new, self.old, paired=self.paired)

    @property
    def kept(self) -> float:
        """Share of a difference's variance that more human scores would leave; 1 where that is not known."""
        if not self.labelled:
            return 0.0
        if self.level is not None:
            return 1.0
        return self.labelled.kept(float(self.new.tasks.variances(self.new.parts() - self.old.parts()).sum()))

    @property
    def most(self) -> float:
        """Samples there can be: labels of all that a judge scored, or any number."""
        return self.labelled.most if self.labelled else inf

    @property
    def drawn_tasks(self) -> bool:
        """Whether the units are whole tasks: means of many scores, of which none is an unseen failure."""
        return self.new.tasks.random

    @property
    def samples(self) -> int:
        """Independent units behind the model that has fewer; with a judge those that people scored."""
        if self.labelled:
            return self.labelled.labels
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
        lowest, highest = self.times * self.lowest, self.times * self.highest
        times = 1 / self.times
        return replace(self, new=self.old, old=self.new, lowest=lowest, highest=highest, times=times)

    def _with_units(self, new: float, old: float) -> Comparison:
        return replace(self, new=self.new.with_unit(new), old=self.old.with_unit(old))

    def _units(self) -> tuple[float, float]:
        """Scores of the new and the old model on a sample that speaks against the new one."""
        if self.level is not None:
            low = beyond(self.new.seen, self.lowest, self.new.worst_share(self.level))
            return low, float(np.median(self.old.seen))
        new, old = self.new.where_it_weighs(), self.old.where_it_weighs()
        if self.paired:
            differences = new.sums / new.sizes - old.sums / old.sizes
            middle = float(old.values.mean())
            return middle + beyond(differences, self.lowest - self.times * self.highest), middle
        return beyond(new.values, self.lowest), -beyond(-old.values, -self.times * self.highest)


def beyond(values: Floats, worst: float, quantile: float | None = None) -> float:
    """Mean of the worst value there can be and all that lie below a quantile, the median by default."""
    if quantile is None:
        quantile = float(np.quantile(values, MEAN_SHARE, method="inverted_cdf"))
    below = values[values < quantile]
    return float((worst + below.sum()) / (1 + below.size))
