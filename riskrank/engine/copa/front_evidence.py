"""What samples say of models objective by objective: p-values of one being as good as another, and better.

Means are compared by Student's t with the one sample more of gates that speaks against the claim, and, where
nobody knows how bad a score can be, by Johnson's without it: among many samples that agree that one would be
all the skewness there is. The larger p-value counts. Tail means are compared by counting resamples with that
sample. Costs per success are compared by the t of their logarithms (method §18). The family of all ordered
pairs asks for p-values that few resamples can show; t knows them (method §7).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.objective_scores import ObjectiveScores
from riskrank.engine.evidence.costs import p_cheaper
from riskrank.engine.gates.caution import Comparison
from riskrank.engine.sampling.expanded_percentile import expanded_p_value
from riskrank.engine.types import Booleans, Floats


@dataclass(frozen=True, eq=False)
class ObjectiveEvidence:
    """All ordered pairs of N models on one objective.

    Attributes
    ----------
    as_good : ndarray, shape (N, N)
        One-sided p-values of "the first is as good as the second", up to the margin.
    better : ndarray, shape (N, N)
        Of "the first is better by more than the margin".
    tested : ndarray of bool, shape (N, N)
        Where that was tested; elsewhere values are compared as they are, and p-values are 0 or 1.
    margin : float
    """

    as_good: Floats
    better: Floats
    tested: Booleans
    margin: float


def objective_evidence(
    objective: ObjectiveScores, low: Floats | None = None, high: Floats | None = None
) -> ObjectiveEvidence:
    """Compare all pairs of models on one objective.

    Parameters
    ----------
    objective : ObjectiveScores
    low, high : ndarray, shape (B, N), optional
        Replicates with one unit more, of a tail mean (`ObjectiveReplicates`).

    Returns
    -------
    ObjectiveEvidence
    """
    margin, values = objective.margin, objective.values
    # Two models that have no value are as good as each other.
    with np.errstate(invalid="ignore"):
        away = values[:, None] - values
    away = np.where(values[:, None] == values, 0.0, away)
    tested = np.logical_and.outer(objective.varies, objective.varies)
    as_good = np.where(away >= -margin, 0.0, 1.0)
    better = np.where(away > margin, 0.0, 1.0)
    as_good[tested] = better[tested] = 1.0
    np.fill_diagonal(tested, val=False)
    for first, second, at_least, above in _pairs(objective, away, low, high):
        as_good[first, second], better[first, second] = at_least, above
    return ObjectiveEvidence(as_good, better, tested, margin)


def _pairs(
    objective: ObjectiveScores, away: Floats, low: Floats | None, high: Floats | None
) -> Iterator[tuple[int, int, float, float]]:
    """Both p-values of the pairs whose values do not speak against the claim; the others' stay 1."""
    if objective.scores is None:
        return
    margin, models = objective.margin, objective.models.tolist()
    behind = objective.independent()
    for at, first in enumerate(models):
        for other, second in enumerate(models):
            if at == other or away[first, second] <= -margin:
                continue
            if objective.costs:
                both, paired = (objective.costs[at], objective.costs[other]), objective.scores.paired
                found = [p_cheaper(*both, more, paired=paired) for more in (margin, -margin)]
            elif objective.level is None:
                comparison = objective.comparison(at, other)
                found = [_p_value(comparison, -margin)]
                found += [_p_value(comparison, margin)] if margin else []
            else:
                assert low is not None
                assert high is not None
                drawn = low[:, first] - high[:, second]
                shares = [(1 + np.count_nonzero(drawn <= -margin)) / (len(drawn) + 1)]
                shares += [(1 + np.count_nonzero(drawn <= margin)) / (len(drawn) + 1)] if margin else []
                found = [float(p) for p in expanded_p_value(np.array(shares), min(behind[at], behind[other]))]
            yield first, second, found[0], found[-1]


def _p_value(comparison: Comparison, boundary: float) -> float:
    """One-sided, of "the difference of the means is at most the boundary"."""
    cautious, modified = comparison.against().mean_difference, comparison.modified
    skewed = 0.0 if modified is None else modified.johnson_p_value(boundary)
    # Signs of so many units fall alike by chance with this probability; whole tasks are means, not signs.
    least = 0.0 if comparison.drawn_tasks else 0.5**comparison.independent
    return max(cautious.student_p_value(boundary), skewed, least)
