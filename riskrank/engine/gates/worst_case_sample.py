"""An additional worst-case sample, which accounts for failures that resamples cannot contain.

Resamples only contain observed scores. If two models agree on all of 30 samples, every resample shows no
difference, although one sample in 25 may be a loss. If 6 of 100 samples differ, all in one direction, one
resample in 400 shows no difference. Six tosses of a fair coin agree on a given side once in 64. The exact
limit of a proportion (Clopper and Pearson 1934) counts one loss more than observed, and so does this module.
Before the lower limit of an interval is resampled, one sample is added against the claim; before the upper
limit, one in its favour. Its score is the mean of the bad samples and the worst possible score. It has the
most weight if few bad samples are known, and less than a fifth of a standard error among 30 normal scores.

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
from riskrank.engine.gates.judged_sides import LabelledPair, TailSide, calibration_residuals
from riskrank.engine.gates.side import SideScores, difference_of_means
from riskrank.engine.judges.tails import tune_for_tail
from riskrank.engine.sampling.degrees_of_freedom import kish_size
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats

MEAN_SHARE = 0.5


@dataclass(frozen=True)
class Comparison:
    """Two models on one column of scores, and the statistic that is compared.

    Attributes
    ----------
    new, old : SideScores
    paired : bool
        True if both models share the units.
    level : float or None
        Tail level p: proportion of the worst scores; None for a comparison of means.
    lowest, highest : float
        The worst and the best possible score.
    limits_known : bool
        True if these limits are declared; otherwise they are the observed extremes.
    labelled : LabelledPair or None
        Human labels, if a judge scored all samples.
    factor : float
        Factor already applied to the old model's scores, but not to `lowest` and `highest`.
    """

    new: SideScores
    old: SideScores
    paired: bool
    level: float | None
    lowest: float
    highest: float
    limits_known: bool = True
    labelled: LabelledPair | None = None
    factor: float = 1.0

    @classmethod
    def from_scores(
        cls,
        scores: ClusteredScores,
        new: int,
        old: int,
        level: float | None,
        limits: tuple[float, float],
        limits_known: bool,
    ) -> Comparison:
        """Create the comparison of two models, given by index, with the worst and best possible score."""
        if not scores.judged:
            sides = [SideScores.from_scores(scores, model) for model in (new, old)]
            return cls(sides[0], sides[1], scores.joint_resamples, level, *limits, limits_known)
        # Judge scores are calibrated on human labels: tails use scores and shares, means use residuals.
        labelled = LabelledPair.from_scores(scores, new, old)
        if level is not None:
            tuned = tune_for_tail(scores, level)
            tails = [TailSide.from_scores(tuned, model) for model in (new, old)]
            return cls(tails[0], tails[1], True, level, *limits, limits_known, labelled)
        (first, larger), (second, _) = (calibration_residuals(scores, model) for model in (new, old))
        lowest, highest = (larger * end for end in limits)
        return cls(first, second, True, None, lowest, highest, limits_known, labelled)

    @property
    def effective_size(self) -> float:
        """Kish's effective number of units, of the model with fewer units."""
        return min(kish_size(side.clusters) for side in (self.new, self.old))

    @property
    def johnson_difference(self) -> MeanDifference | None:
        """Difference in means for Johnson's modified t; None if that test is not needed."""
        if self.level is not None or (self.limits_known and not self.random_tasks):
            return None
        return self.mean_difference

    @property
    def mean_difference(self) -> MeanDifference:
        """Difference in means, new minus old, with its standard error and skewness."""
        return difference_of_means(self.new, self.old, paired=self.paired)

    @property
    def irreducible_proportion(self) -> float:
        """Proportion of a difference's variance that more human labels cannot remove; 1 if unknown."""
        if not self.labelled:
            return 0.0
        if self.level is not None:
            return 1.0
        parts = self.new.contributions() - self.old.contributions()
        return self.labelled.irreducible_proportion(float(self.new.tasks.variances(parts).sum()))

    @property
    def max_samples(self) -> float:
        """Largest possible number of samples: limited with a judge, otherwise infinite."""
        return self.labelled.max_labels if self.labelled else inf

    @property
    def random_tasks(self) -> bool:
        """True if the units are whole tasks, whose means cannot be a single unobserved failure."""
        return self.new.tasks.random

    @property
    def samples(self) -> int:
        """Number of independent units of the model with fewer units; with a judge, the number of labels."""
        if self.labelled:
            return self.labelled.labels
        return int(min(self.new.clusters[-1], self.old.clusters[-1])) + 1

    def with_adverse_sample(self) -> Comparison:
        """Return a copy with a worst-case sample against the new model; unchanged for sampled tasks."""
        if self.random_tasks:
            return self
        return self._with_units(*self._adverse_scores())

    def with_favourable_sample(self) -> Comparison:
        """Return a copy with a worst-case sample against the old model; unchanged for sampled tasks."""
        if self.random_tasks:
            return self
        old, new = self._swapped()._adverse_scores()
        return self._with_units(new, old)

    def _swapped(self) -> Comparison:
        """Return the comparison with the two models swapped."""
        lowest, highest = self.factor * self.lowest, self.factor * self.highest
        times = 1 / self.factor
        return replace(self, new=self.old, old=self.new, lowest=lowest, highest=highest, factor=times)

    def _with_units(self, new: float, old: float) -> Comparison:
        """Return a copy with one unit of the given score added to each model."""
        return replace(self, new=self.new.with_unit(new), old=self.old.with_unit(old))

    def _adverse_scores(self) -> tuple[float, float]:
        """Return the scores of the new and the old model on the worst-case sample against the new model."""
        if self.level is not None:
            low = worst_mean(self.new.observed, self.lowest, self.new.worst_quantile(self.level))
            return low, float(np.median(self.old.observed))
        new, old = self.new.heaviest_task_side(), self.old.heaviest_task_side()
        if self.paired:
            differences = new.sums / new.sizes - old.sums / old.sizes
            middle = float(old.values.mean())
            return middle + worst_mean(differences, self.lowest - self.factor * self.highest), middle
        return worst_mean(new.values, self.lowest), -worst_mean(-old.values, -self.factor * self.highest)


def worst_mean(values: Floats, worst: float, quantile: float | None = None) -> float:
    """Return the mean of the worst possible value and all values below a quantile (by default the median)."""
    if quantile is None:
        quantile = float(np.quantile(values, MEAN_SHARE, method="inverted_cdf"))
    below = values[values < quantile]
    return float((worst + below.sum()) / (1 + below.size))
