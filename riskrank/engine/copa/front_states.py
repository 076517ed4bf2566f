"""Who is on the Pareto front for sure, who is off it for sure, and of whom that is open (method §7).

"j dominates i" is an intersection–union claim: shown if j is shown to be as good on every objective (the
largest of the p-values), Holm over all ordered pairs. Where margins or equal prices leave open whether j is
better anywhere, that has to be shown besides. A model is off the front if another dominates it; on it if
against every other some objective is shown to be better (the smallest p-value times the number of objectives,
largest over the others, Holm over models); open otherwise.

What samples say of models objective by objective: p-values of one being as good as another, and better.

Means are compared by Student's t with the one sample more of gates that speaks against the claim, and, where
nobody knows how bad a score can be, by Johnson's without it: among many samples that agree that one would be
all the skewness there is. The larger p-value counts. Tail means are compared by counting resamples with that
sample. Costs per success are compared by the t of their logarithms (method §18). The family of all ordered
pairs asks for p-values that few resamples can show; t knows them (method §7).

References
----------
R. L. Berger (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4), 295-300.
doi:10.1080/00401706.1982.10487790
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.replicates import ObjectiveScores
from riskrank.engine.evidence.cost_per_success import p_cheaper
from riskrank.engine.family import Family, Side
from riskrank.engine.gates.worst_case_sample import Comparison
from riskrank.engine.sampling.degrees_of_freedom import expanded_p_value
from riskrank.engine.types import Booleans, Floats, Integers


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


FRONT = {Side.SHOWN: "on", Side.REFUTED: "off", Side.OPEN: "open"}
"""What documents say of a model and the front."""


@dataclass(frozen=True, eq=False)
class FrontStates:
    """The front with its doubt.

    Attributes
    ----------
    state : tuple of N Side
        Whether each is on the front.
    dominates : ndarray, shape (N, N)
        Adjusted p-values of "the first dominates the second"; 1 on the diagonal.
    dominating : ndarray of bool, shape (N, N)
        Where that is shown.
    dominator : ndarray of int, shape (N,)
        The model that dominates each with the smallest p-value; −1 of those that nobody is shown to.
    stands : ndarray, shape (N,)
        Adjusted p-values of "no other dominates it".
    standing : ndarray of bool, shape (N,)
        Where that is shown.
    rival : ndarray of int, shape (N,)
        The other model that each is least shown to be better than somewhere; −1 where there is none.
    best_on : ndarray of int, shape (N, N)
        The objective on which the first is best shown to be better than the second; −1 where on none.
    """

    state: tuple[Side, ...]
    dominates: Floats
    dominating: Booleans
    dominator: Integers
    stands: Floats
    standing: Booleans
    rival: Integers
    best_on: Integers

    @property
    def words(self) -> tuple[str, ...]:
        """The states as documents spell them: ``on``, ``off``, ``open``."""
        return tuple(FRONT[one] for one in self.state)


def front_states(
    evidence: Sequence[ObjectiveEvidence],
    family: Family = Family(),
    *,
    allowed: Booleans | None = None,
    meets: Sequence[Side] | None = None,
) -> FrontStates:
    """Find the front with its doubt.

    Parameters
    ----------
    evidence : sequence of K ObjectiveEvidence
    family : Family
        Level and correction of either family: all ordered pairs, and all models.
    allowed : ndarray of bool, shape (N,), optional
        The models that meet constraints as measured: nobody else rules a model out.
    meets : sequence of N Side, optional
        Whether each is shown to meet them.

    Returns
    -------
    FrontStates
    """
    N = len(evidence[0].as_good)
    allowed = np.ones(N, dtype=bool) if allowed is None else allowed
    answers = [Side.SHOWN] * N if meets is None else list(meets)
    dominates = family.adjusted(_domination(evidence), ~np.eye(N, dtype=bool))
    dominating = family.significant(dominates)
    against = np.where(allowed[:, None], dominates, np.inf)
    np.fill_diagonal(against, np.inf)
    dominator = np.where(family.significant(against.min(axis=0)), against.argmin(axis=0), -1)
    better, best_on = _better_somewhere(evidence)
    open_to = np.where(allowed, better, -1.0)
    np.fill_diagonal(open_to, -1.0)
    rival = np.where(open_to.max(axis=1) >= 0, open_to.argmax(axis=1), -1)
    stands = family.adjusted(np.maximum(open_to.max(axis=1), 0.0))
    standing = family.significant(stands)
    meeting = np.array(answers)
    on, off = standing & (meeting == Side.SHOWN), (dominator >= 0) | (meeting == Side.REFUTED)
    state = tuple(map(Side, np.where(off, Side.REFUTED, np.where(on, Side.SHOWN, Side.OPEN)).tolist()))
    return FrontStates(state, dominates, dominating, dominator, stands, standing, rival, best_on)


def _domination(evidence: Sequence[ObjectiveEvidence]) -> Floats:
    """P-values of "the first dominates the second", before any correction."""
    everywhere = np.max([one.as_good for one in evidence], axis=0)
    # Shown to be as good without a margin is shown to be better; a lower price is one.
    strict = np.zeros(everywhere.shape, dtype=bool)
    for one in evidence:
        strict |= np.where(one.tested, one.margin == 0, one.better == 0)
    somewhere, _ = _better_somewhere(evidence)
    return np.where(strict, everywhere, np.maximum(everywhere, somewhere))


def _better_somewhere(evidence: Sequence[ObjectiveEvidence]) -> tuple[Floats, Integers]:
    """P-values of "the first is better on some objective", and the objective that shows it best."""
    p = np.stack([one.better for one in evidence])
    tests = np.sum([one.tested for one in evidence], axis=0)
    # What was not tested is known, and costs nothing.
    p = np.where(p == 0, 0.0, np.minimum(p * np.maximum(tests, 1), 1.0))
    least = p.min(axis=0)
    return least, np.where(least < 1, p.argmin(axis=0), -1)
