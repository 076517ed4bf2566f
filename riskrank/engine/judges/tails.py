"""A judge as far as it knows the tail: what it says of the worst samples may be worth less than of the mean.

The λ that is best for a mean takes too much of a judge that mistakes good answers for bad ones: intervals
of tail means are then wider than by the labels alone. The influence of a score x on the mean of the worst
share p is min(x, Q(p))/p but for a constant, and the λ of these is the tail's own (method §12).

Whose score a row of a judged column is (method §12).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.judges.correction import Correction, for_differences
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats


@dataclass(frozen=True)
class JudgedRows:
    """A judged column of one model: people's scores, and the judge's of the same samples and of the others.

    Attributes
    ----------
    values, signed : ndarray, shape (n,)
        The scores, and how much each weighs.
    labelled : ndarray of bool, shape (n,)
        Rows of samples that people scored, theirs and the judge's.
    people : ndarray of bool, shape (n,)
        People's own.
    """

    values: Floats
    signed: Floats
    labelled: Booleans
    people: Booleans

    @classmethod
    def of(cls, scores: ClusteredScores, model: int) -> JudgedRows:
        """Those of one model; the scores must have signed weights."""
        labelled, signed = scores.strata.of_cluster[model][scores.clusters[model]] == 0, scores.shares[model]
        return cls(scores.values[model], signed, labelled, labelled & (signed > 0))


def for_tail(scores: ClusteredScores, level: float) -> ClusteredScores:
    """Scores whose judge is taken as far as it is good for the mean of the worst share; others as they are.

    Parameters
    ----------
    scores : ClusteredScores
    level : float
        Share p of the worst scores.
    """
    if not scores.judged:
        return scores
    models = [JudgedRows.of(scores, model) for model in range(scores.models)]
    cut = for_differences([_below(rows, level) for rows in models])
    signed = tuple(_weights(rows, one.power) for rows, one in zip(models, cut, strict=True))
    return replace(scores, strata=replace(scores.strata, signed=signed))


def tail_values(scores: ClusteredScores, levels: Floats) -> Floats:
    """Means of the worst shares of every model, the judge taken at each as far as it is good for that share.

    Parameters
    ----------
    scores : ClusteredScores
    levels : ndarray, shape (l,)
        Shares in (0, 1].

    Returns
    -------
    ndarray, shape (k, l)
    """
    found = []
    for level in levels.tolist():
        tuned = for_tail(scores, level)
        both = zip(tuned.values, tuned.weights, strict=True)
        found.append([tail_value_at_risk(own, level, weights) for own, weights in both])
    return np.array(found, dtype=np.float64).T


def _below(rows: JudgedRows, level: float) -> Correction:
    """What the tail's mean is corrected by: scores cut at the labels' quantile."""
    human, labelled = rows.values[rows.people], rows.values[rows.labelled & ~rows.people]
    judge = np.concatenate((labelled, rows.values[~rows.labelled]))
    edge = float(np.quantile(human, level, method="inverted_cdf"))
    return Correction.of(np.minimum(human, edge), np.minimum(judge, edge))


def _weights(rows: JudgedRows, power: float) -> Floats:
    """Signed weights of the rows with another λ."""
    n = int(rows.people.sum())
    total = rows.values.size - n
    found = np.full(rows.values.size, power / total)
    found[rows.labelled] = power * (1 / total - 1 / n)
    found[rows.people] = 1 / n
    return found
