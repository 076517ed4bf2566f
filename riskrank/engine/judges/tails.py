"""A judge as far as it knows the tail: what it says of the worst samples may be worth less than of the mean.

The λ that is best for a mean takes too much of a judge that mistakes good answers for bad ones: intervals
of tail means are then wider than by the labels alone. The influence of a score x on the mean of the worst
share p is min(x, Q(p))/p but for a constant, and the λ of these is the tail's own (method §12).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from riskrank.engine.judges.correction import Correction
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats


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
    signed = tuple(_signed(scores, model, level) for model in range(scores.models))
    tuned = replace(strata, signed=signed)
    return replace(scores, strata=tuned, weights=tuned.score_weights(scores.clusters, scores.values))


def _signed(scores: ClusteredScores, model: int, level: float) -> Floats:
    """Weights of one model's rows by the λ of the tail."""
    strata, values = scores.strata, scores.values[model]
    assert strata is not None
    assert strata.signed is not None
    labelled = strata.of_cluster[model][scores.clusters[model]] == 0
    people = labelled & (strata.signed[model] > 0)
    human, judge = values[people], np.concatenate((values[labelled & ~people], values[~labelled]))
    edge = float(np.quantile(human, level, method="inverted_cdf"))
    power = Correction.of(np.minimum(human, edge), np.minimum(judge, edge)).power
    n, total = human.size, judge.size
    found = np.full(values.size, power / total)
    found[labelled] = power * (1 / total - 1 / n)
    found[people] = 1 / n
    return found
