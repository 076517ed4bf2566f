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

    noninferior: Floats
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
        difference = values[:, None] - values
    difference = np.where(values[:, None] == values, 0.0, difference)
    tested = np.logical_and.outer(objective.is_sampled, objective.is_sampled)
    as_good = np.where(difference >= -margin, 0.0, 1.0)
    better = np.where(difference > margin, 0.0, 1.0)
    as_good[tested] = better[tested] = 1.0
    np.fill_diagonal(tested, val=False)
    for first, second, p_noninferior, p_better in _pair_p_values(objective, difference, low, high):
        as_good[first, second], better[first, second] = p_noninferior, p_better
    return ObjectiveEvidence(as_good, better, tested, margin)


def _pair_p_values(
    objective: ObjectiveScores, difference: Floats, low: Floats | None, high: Floats | None
) -> Iterator[tuple[int, int, float, float]]:
    """Both p-values of the pairs whose values do not speak against the claim; the others' stay 1."""
    if objective.scores is None:
        return
    margin, models = objective.margin, objective.models.tolist()
    sample_sizes = objective.independent()
    for i, first in enumerate(models):
        for j, second in enumerate(models):
            if i == j or difference[first, second] <= -margin:
                continue
            if objective.costs:
                pair_costs, paired = (objective.costs[i], objective.costs[j]), objective.scores.paired
                p_values = [p_cheaper(*pair_costs, bound, paired=paired) for bound in (margin, -margin)]
            elif objective.level is None:
                comparison = objective.comparison(i, j)
                p_values = [_mean_p_value(comparison, -margin)]
                p_values += [_mean_p_value(comparison, margin)] if margin else []
            else:
                assert low is not None
                assert high is not None
                replicate_difference = low[:, first] - high[:, second]
                shares = [
                    (1 + np.count_nonzero(replicate_difference <= -margin)) / (len(replicate_difference) + 1)
                ]
                shares += (
                    [(1 + np.count_nonzero(replicate_difference <= margin)) / (len(replicate_difference) + 1)]
                    if margin
                    else []
                )
                p_values = [
                    float(p)
                    for p in expanded_p_value(np.array(shares), min(sample_sizes[i], sample_sizes[j]))
                ]
            yield first, second, p_values[0], p_values[-1]


def _mean_p_value(comparison: Comparison, boundary: float) -> float:
    """One-sided, of "the difference of the means is at most the boundary"."""
    worst_case, modified = comparison.against().mean_difference, comparison.modified
    johnson_p = 0.0 if modified is None else modified.johnson_p_value(boundary)
    # Signs of so many units fall alike by chance with this probability; whole tasks are means, not signs.
    smallest = 0.0 if comparison.drawn_tasks else 0.5**comparison.independent
    return max(worst_case.student_p_value(boundary), johnson_p, smallest)


STATE_WORDS = {Side.SHOWN: "on", Side.REFUTED: "off", Side.OPEN: "open"}
"""What documents say of a model and the front."""


@dataclass(frozen=True, eq=False)
class FrontMembership:
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
    p_dominates: Floats
    significantly_dominates: Booleans
    dominator: Integers
    p_nondominated: Floats
    nondominated: Booleans
    rival: Integers
    best_on: Integers

    @property
    def state_words(self) -> tuple[str, ...]:
        """The states as documents spell them: ``on``, ``off``, ``open``."""
        return tuple(STATE_WORDS[side] for side in self.state)


def front_membership(
    evidence: Sequence[ObjectiveEvidence],
    family: Family = Family(),
    *,
    feasible: Booleans | None = None,
    constraint_answers: Sequence[Side] | None = None,
) -> FrontMembership:
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
    N = len(evidence[0].noninferior)
    feasible = np.ones(N, dtype=bool) if feasible is None else feasible
    meet_sides = [Side.SHOWN] * N if constraint_answers is None else list(constraint_answers)
    p_dominates = family.adjusted(_dominance_p_values(evidence), ~np.eye(N, dtype=bool))
    significantly_dominates = family.significant(p_dominates)
    p_feasible_dominates = np.where(feasible[:, None], p_dominates, np.inf)
    np.fill_diagonal(p_feasible_dominates, np.inf)
    dominator = np.where(
        family.significant(p_feasible_dominates.min(axis=0)), p_feasible_dominates.argmin(axis=0), -1
    )
    p_better, best_on = _superiority_p_values(evidence)
    p_better_than_feasible = np.where(feasible, p_better, -1.0)
    np.fill_diagonal(p_better_than_feasible, -1.0)
    rival = np.where(p_better_than_feasible.max(axis=1) >= 0, p_better_than_feasible.argmax(axis=1), -1)
    p_nondominated = family.adjusted(np.maximum(p_better_than_feasible.max(axis=1), 0.0))
    nondominated = family.significant(p_nondominated)
    meets_constraints = np.array(meet_sides)
    on, off = (
        nondominated & (meets_constraints == Side.SHOWN),
        (dominator >= 0) | (meets_constraints == Side.REFUTED),
    )
    state = tuple(map(Side, np.where(off, Side.REFUTED, np.where(on, Side.SHOWN, Side.OPEN)).tolist()))
    return FrontMembership(
        state, p_dominates, significantly_dominates, dominator, p_nondominated, nondominated, rival, best_on
    )


def _dominance_p_values(evidence: Sequence[ObjectiveEvidence]) -> Floats:
    """P-values of "the first dominates the second", before any correction."""
    p_noninferior = np.max([objective.noninferior for objective in evidence], axis=0)
    # Shown to be as good without a margin is shown to be better; a lower price is one.
    strict = np.zeros(p_noninferior.shape, dtype=bool)
    for objective in evidence:
        strict |= np.where(objective.tested, objective.margin == 0, objective.better == 0)
    p_better, _ = _superiority_p_values(evidence)
    return np.where(strict, p_noninferior, np.maximum(p_noninferior, p_better))


def _superiority_p_values(evidence: Sequence[ObjectiveEvidence]) -> tuple[Floats, Integers]:
    """P-values of "the first is better on some objective", and the objective that shows it best."""
    p = np.stack([objective.better for objective in evidence])
    n_tested = np.sum([objective.tested for objective in evidence], axis=0)
    # What was not tested is known, and costs nothing.
    p = np.where(p == 0, 0.0, np.minimum(p * np.maximum(n_tested, 1), 1.0))
    smallest = p.min(axis=0)
    return smallest, np.where(smallest < 1, p.argmin(axis=0), -1)
