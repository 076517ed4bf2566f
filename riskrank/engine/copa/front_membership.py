"""Tests of Pareto-front membership and of dominance between models (method §7).

"j dominates i" is tested by an intersection–union test: j must be significantly non-inferior on every
objective. Its p-value is the largest over the objectives, adjusted by Holm over all ordered pairs. If margins
or equal prices leave undecided whether j is better on any objective, superiority on one is required as well.

A model is off the front if another model significantly dominates it. It is on the front if, for every other
model, it is significantly better on some objective. The p-value against one rival is the smallest p-value
times the number of objectives (Bonferroni). The largest over the rivals is adjusted by Holm over the models.
Otherwise its membership is open (undecided).

Means are compared by the bootstrap-t of :mod:`riskrank.engine.evidence.mean_differences`. Tail means are
compared by the proportion of resamples with the worst-case sample that `gate` adds against the claim. Costs
per success are compared by a t-test of their logarithms (method §18).

References
----------
R. L. Berger (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4), 295-300.
doi:10.1080/00401706.1982.10487790
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.replicates import ObjectiveScores
from riskrank.engine.evidence.cost_per_success import p_value_cheaper
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.family import Answer, Family
from riskrank.engine.sampling.degrees_of_freedom import expanded_p_value
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class ObjectiveEvidence:
    """P-values of all ordered pairs of N models on one objective.

    Attributes
    ----------
    noninferior : ndarray, shape (N, N)
        One-sided p-values for the claim "the row's model is as good as the column's, up to the margin".
    better : ndarray, shape (N, N)
        One-sided p-values for the claim "the row's model is better than the column's by more than the
        margin".
    tested : ndarray of bool, shape (N, N)
        True for pairs that were tested. Other pairs consist of fixed values, with p-values of 0 or 1.
    margin : float
        Margin of non-inferiority.
    """

    noninferior: Floats
    better: Floats
    tested: Booleans
    margin: float


def objective_evidence(
    objective: ObjectiveScores, low: Floats | None = None, high: Floats | None = None, *, seed: int = 0
) -> ObjectiveEvidence:
    """Test all ordered pairs of models on one objective.

    Parameters
    ----------
    objective : ObjectiveScores
    low, high : ndarray, shape (B, N), optional
        Replicates of a tail mean with one added unit, as bad or as good as possible (`ObjectiveReplicates`).
        Required only for tail means.
    seed : int
        Seed of the resamples of means.

    Returns
    -------
    ObjectiveEvidence
    """
    margin, values = objective.margin, objective.values
    # Two models without a value count as equal.
    with np.errstate(invalid="ignore"):
        difference = values[:, None] - values
    difference = np.where(values[:, None] == values, 0.0, difference)
    tested = np.logical_and.outer(objective.is_sampled, objective.is_sampled)
    as_good = np.where(difference >= -margin, 0.0, 1.0)
    better = np.where(difference > margin, 0.0, 1.0)
    as_good[tested] = better[tested] = 1.0
    np.fill_diagonal(tested, val=False)
    for first, second, p_noninferior, p_better in _pair_p_values(objective, difference, low, high, seed):
        as_good[first, second], better[first, second] = p_noninferior, p_better
    return ObjectiveEvidence(as_good, better, tested, margin)


def _pair_p_values(
    objective: ObjectiveScores, difference: Floats, low: Floats | None, high: Floats | None, seed: int
) -> Iterator[tuple[int, int, float, float]]:
    """Yield (first, second, non-inferiority p-value, superiority p-value) for pairs that need a test.

    Pairs whose estimates contradict non-inferiority are skipped; their p-values stay 1.
    """
    if objective.scores is None:
        return
    margin, models = objective.margin, objective.models.tolist()
    if objective.is_mean:
        yield from _mean_p_values(objective, seed)
        return
    sample_sizes = objective.effective_sizes()
    for i, first in enumerate(models):
        for j, second in enumerate(models):
            if i == j or difference[first, second] <= -margin:
                continue
            if objective.costs:
                pair_costs, paired = (objective.costs[i], objective.costs[j]), objective.scores.paired
                p_values = [p_value_cheaper(*pair_costs, bound, paired=paired) for bound in (margin, -margin)]
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


def _mean_p_values(objective: ObjectiveScores, seed: int) -> Iterator[tuple[int, int, float, float]]:
    """Yield the p-values of all ordered pairs for an objective that is a mean."""
    assert objective.scores is not None
    margin, models = objective.margin, objective.models.tolist()
    pairs = [(i, j) for i in range(len(models)) for j in range(i)]
    both = [MeanContrast.from_scores(objective.scores, *pair) for pair in pairs]
    evidence = [mean_evidence(both, bound, seed=seed) for bound in {-margin: 0, margin: 0}]
    for at, (i, j) in enumerate(pairs):
        yield models[i], models[j], evidence[0].p_above[at], evidence[-1].p_above[at]
        yield models[j], models[i], evidence[-1].p_below[at], evidence[0].p_below[at]


STATE_WORDS = {Answer.SIGNIFICANT: "on", Answer.CONTRADICTED: "off", Answer.UNDECIDED: "undecided"}
"""What documents say of a model and the front."""


@dataclass(frozen=True, eq=False)
class FrontMembership:
    """Test results on membership of the Pareto front.

    Attributes
    ----------
    state : tuple of N Answer
        Answer to "the model is on the front", for each model.
    p_dominates : ndarray, shape (N, N)
        Adjusted p-values for the claim "the row's model dominates the column's"; 1 on the diagonal.
    significantly_dominates : ndarray of bool, shape (N, N)
        True where that dominance is significant.
    dominator : ndarray of int, shape (N,)
        Feasible model that dominates each model with the smallest p-value; −1 if none is significant.
    p_nondominated : ndarray, shape (N,)
        Adjusted p-values for the claim "no other model dominates the model".
    nondominated : ndarray of bool, shape (N,)
        True where that claim is significant.
    rival : ndarray of int, shape (N,)
        Feasible model against which the evidence of superiority on some objective is weakest; −1 if there is
        no other feasible model.
    best_on : ndarray of int, shape (N, N)
        Objective with the strongest evidence that the row's model is better; −1 if there is none.
    """

    state: tuple[Answer, ...]
    p_dominates: Floats
    significantly_dominates: Booleans
    dominator: Integers
    p_nondominated: Floats
    nondominated: Booleans
    rival: Integers
    best_on: Integers

    @property
    def state_words(self) -> tuple[str, ...]:
        """The states as written in output documents: ``on``, ``off``, ``open``."""
        return tuple(STATE_WORDS[side] for side in self.state)


def front_membership(
    evidence: Sequence[ObjectiveEvidence],
    family: Family = Family(),
    *,
    feasible: Booleans | None = None,
    constraint_answers: Sequence[Answer] | None = None,
) -> FrontMembership:
    """Test membership of the Pareto front, and dominance between models.

    Parameters
    ----------
    evidence : sequence of K ObjectiveEvidence
        P-values of all ordered pairs, one element per objective.
    family : Family
        Level and correction, used for the family of all ordered pairs and for the family of all models.
    feasible : ndarray of bool, shape (N,), optional
        True for models whose measured values meet the constraints; only these can dominate other models.
    constraint_answers : sequence of N Answer, optional
        Answer to "the model meets the constraints", for each model.

    Returns
    -------
    FrontMembership
    """
    N = len(evidence[0].noninferior)
    feasible = np.ones(N, dtype=bool) if feasible is None else feasible
    meet_sides = [Answer.SIGNIFICANT] * N if constraint_answers is None else list(constraint_answers)
    p_dominates = family.adjust_pairs(_dominance_p_values(evidence))
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
    p_nondominated = family.adjust_p_values(np.maximum(p_better_than_feasible.max(axis=1), 0.0))
    nondominated = family.significant(p_nondominated)
    meets_constraints = np.array(meet_sides)
    on, off = (
        nondominated & (meets_constraints == Answer.SIGNIFICANT),
        (dominator >= 0) | (meets_constraints == Answer.CONTRADICTED),
    )
    state = tuple(
        map(
            Answer,
            np.where(off, Answer.CONTRADICTED, np.where(on, Answer.SIGNIFICANT, Answer.UNDECIDED)).tolist(),
        )
    )
    return FrontMembership(
        state, p_dominates, significantly_dominates, dominator, p_nondominated, nondominated, rival, best_on
    )


def _dominance_p_values(evidence: Sequence[ObjectiveEvidence]) -> Floats:
    """Return unadjusted p-values for "the row's model dominates the column's", shape (N, N)."""
    p_noninferior = np.max([objective.noninferior for objective in evidence], axis=0)
    # Without a margin, rejection implies superiority. Among fixed values, the better one is superior.
    strict = np.zeros(p_noninferior.shape, dtype=bool)
    for objective in evidence:
        strict |= np.where(objective.tested, objective.margin == 0, objective.better == 0)
    p_better, _ = _superiority_p_values(evidence)
    return np.where(strict, p_noninferior, np.maximum(p_noninferior, p_better))


def _superiority_p_values(evidence: Sequence[ObjectiveEvidence]) -> tuple[Floats, Integers]:
    """Return p-values for "the row's model is better on some objective", and the objectives.

    Both arrays have shape (N, N). The objective is that with the smallest p-value, or −1 if no p-value is
    below 1.
    """
    p = np.stack([objective.better for objective in evidence])
    n_tested = np.sum([objective.tested for objective in evidence], axis=0)
    # Fixed values need no correction for the number of tests.
    p = np.where(p == 0, 0.0, np.minimum(p * np.maximum(n_tested, 1), 1.0))
    smallest = p.min(axis=0)
    return smallest, np.where(smallest < 1, p.argmin(axis=0), -1)
