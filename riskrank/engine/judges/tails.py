"""A judge as far as it knows the tail: what it says of the worst samples may be worth less than of the mean.

The λ that is best for a mean takes too much of a judge that mistakes good answers for bad ones: intervals
of tail means are then wider than by the labels alone. The influence of a score x on the mean of the worst
share p is min(x, Q(p))/p but for a constant, and the λ of these is the tail's own (method §12).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.judges.correction import Correction
from riskrank.engine.judges.differences import for_differences
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats


def for_tail(scores: ClusteredScores, level: float) -> ClusteredScores:
    """Scores whose judge is taken as far as it is good for the mean of the worst share; others as they are.

    Parameters
    ----------
    scores : ClusteredScores
    level : float
        Share p of the worst scores.
    """
    strata = scores.strata
    if strata is None or strata.signed is None:
        return scores
    models = [_TailRows.of(scores, model) for model in range(scores.models)]
    cut = for_differences([one.below(level) for one in models])
    signed = tuple(one.weights(own.power) for one, own in zip(models, cut, strict=True))
    tuned = replace(strata, signed=signed)
    return replace(scores, strata=tuned, weights=tuned.score_weights(scores.clusters, scores.values))


@dataclass(frozen=True)
class _TailRows:
    """One model's rows: which are of labelled samples, and which of these people's."""

    values: Floats
    labelled: Booleans
    people: Booleans

    @classmethod
    def of(cls, scores: ClusteredScores, model: int) -> _TailRows:
        strata = scores.strata
        assert strata is not None
        assert strata.signed is not None
        labelled = strata.of_cluster[model][scores.clusters[model]] == 0
        return cls(scores.values[model], labelled, labelled & (strata.signed[model] > 0))

    def below(self, level: float) -> Correction:
        """What the tail's mean is corrected by: scores cut at the labels' quantile."""
        human, labelled = self.values[self.people], self.values[self.labelled & ~self.people]
        judge = np.concatenate((labelled, self.values[~self.labelled]))
        edge = float(np.quantile(human, level, method="inverted_cdf"))
        return Correction.of(np.minimum(human, edge), np.minimum(judge, edge))

    def weights(self, power: float) -> Floats:
        """Signed weights of the rows."""
        n = int(self.people.sum())
        total = self.values.size - n
        found = np.full(self.values.size, power / total)
        found[self.labelled] = power * (1 / total - 1 / n)
        found[self.people] = 1 / n
        return found
