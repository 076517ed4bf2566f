"""Uncertainty of the Pareto front for objectives estimated from samples (method §7).

All objectives and models are resampled jointly. Each resampling unit gets an exponential weight (Rubin's
Bayesian bootstrap, as in `gate`). The weight of a unit is the same for all objectives, and for all models if
they share samples.

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

The shares (proportions) of resamples in which a model is on the front or chosen are not tests: two equal
models are each on the front in about half of the resamples.

References
----------
R. L. Berger (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4), 295-300.
doi:10.1080/00401706.1982.10487790
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.copa.population import Population, rank_denominator
from riskrank.engine.copa.ranking import CopaRanking, lexicographic_argmin, power_norm, tie_breaking_norms
from riskrank.engine.evidence.cost_per_success import Costs, p_value_cheaper
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.family import Answer, Family
from riskrank.engine.gates import Comparison, SideScores, resampled_statistics
from riskrank.engine.sampling.degrees_of_freedom import expanded_p_value, unexpanded_p_value
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.monte_carlo import p_value_interval
from riskrank.engine.sampling.processes import Jobs, run_tasks
from riskrank.engine.sampling.resamples import BLOCK, ResampleBlock, make_blocks
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class ObjectiveScores:
    """Values of N models on one objective, with the scores they are computed from (method §7).

    Attributes
    ----------
    values : ndarray, shape (N,)
        Value of each model, larger is better; minus infinity for a model without a value.
    scores : ClusteredScores or None
        Scores of at least two models; None if the values do not depend on samples, such as prices.
    models : ndarray of int
        Indices of the models in `scores`, among the N models.
    units : tuple of ndarray of int
        For each model in `scores`, the index of each resampling unit in the whole table.
    level : float or None
        Proportion of the worst scores that is averaged; None for the mean of all scores.
    limits : (float, float), or None
        The worst and the best possible score. None if unknown; then the extremes of the two compared models
        are used.
    margin : float
        Non-inferiority margin: largest deficit at which a model still counts as good as another.
    successes : ClusteredScores or None
        Successes, for a cost per success; `scores` are then the negated costs.
    """

    values: Floats
    scores: ClusteredScores | None = None
    models: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    units: tuple[Integers, ...] = ()
    level: float | None = None
    limits: tuple[float, float] | None = None
    margin: float = 0.0
    successes: ClusteredScores | None = None

    @cached_property
    def costs(self) -> tuple[Costs, ...]:
        """Costs and successes of each model in `scores`; empty unless the objective is a cost per success."""
        if self.scores is None or self.successes is None:
            return ()
        parts = zip(self.scores.values, self.successes.values, self.scores.clusters, strict=True)
        return tuple(Costs.from_rows(-cost, successes, units) for cost, successes, units in parts)

    @property
    def is_sampled(self) -> Booleans:
        """Mask of the models whose value depends on samples, shape (N,)."""
        mask = np.zeros(len(self.values), dtype=bool)
        mask[self.models] = True
        return mask

    @property
    def is_mean(self) -> bool:
        """True if the values are means of scores."""
        return self.scores is not None and self.level is None and self.successes is None

    def mean_evidence(self, boundary: float, resamples: int | str, seed: int) -> Evidence:
        """Return p-values and intervals for the claims that the means of the models are above a boundary.

        The models are those in `scores`. See :func:`mean_evidence` for `resamples` and `seed`.
        """
        assert self.scores is not None
        means = [MeanContrast.from_mean(self.scores, model) for model in range(len(self.models))]
        return mean_evidence(means, boundary, resamples=resamples, seed=seed)

    def score_variants(self, model: int) -> tuple[SideScores, ...]:
        """Return a model's scores as observed and, for a tail mean, with one extreme unit added.

        Resamples contain only observed scores. The variants therefore add the worst possible unit, and the
        best possible unit, which were not observed. Neither is added if whole tasks are resampled.

        Parameters
        ----------
        model : int
            Position of the model in `scores`.
        """
        if self.costs:
            costs = self.costs[model]
            return (_RatioScores(-costs.costs, costs.units, denominators=costs.successes),)
        assert self.scores is not None
        if self.level is None:
            return (SideScores.from_scores(self.scores, model),)
        lowest = self.limits[0] if self.limits else float(self.scores.values[model].min())
        comparison = Comparison.from_scores(self.scores, model, model, self.level, lowest)
        return comparison.new, comparison.with_adverse_sample().new, comparison.with_favourable_sample().new

    def effective_sizes(self) -> Floats:
        """Return the effective sample size of each model in `scores`; for tail means, that of the tail.

        It is at least 2.
        """
        assert self.scores is not None
        sizes = np.maximum(self.scores.effective_sizes, 2.0)
        return sizes if self.level is None else np.clip(np.rint(sizes * self.level), 2.0, sizes)


@dataclass(frozen=True, kw_only=True)
class _RatioScores(SideScores):
    """Costs and successes of one model, whose statistic is the sum of costs divided by that of successes.

    Attributes
    ----------
    denominators : ndarray, shape (n,)
        Successes of each row.
    """

    denominators: Floats

    @property
    def sizes(self) -> Floats:  # type: ignore[override]
        """Sum of successes in each cluster, which replaces the number of scores as the denominator."""
        return np.asarray(np.bincount(self.clusters, self.denominators), dtype=np.float64)


# Largest number of weights generated at once: 16 MB of doubles.
_WEIGHTS = 1 << 21
# With fewer batches, starting processes takes longer than the work.
_BATCHES_PER_PROCESS = 8


@dataclass(frozen=True, eq=False)
class ObjectiveReplicates:
    """Values of N models on K objectives in B resamples.

    Attributes
    ----------
    plain : ndarray, shape (B, N, K)
        Replicates, larger is better; constant for objectives that do not depend on samples.
    low, high : ndarray, shape (B, N, K)
        Replicates of tail means after adding one unit that is as bad (`low`) or as good (`high`) as possible;
        see `engine.gates`.
    of_means : int or "auto"
        Minimum number of resamples of means.
    seed : int
        Seed of the resamples of means.
    """

    plain: Floats
    low: Floats
    high: Floats
    of_means: int | str = "auto"
    seed: int = 0

    def interval(self, objective: ObjectiveScores, column: int, confidence: float) -> tuple[Floats, Floats]:
        """Return the lower and upper confidence limits of each model's value, shapes (N,).

        Intervals are pointwise, not simultaneous. Limits are NaN if there are too few replicates.

        Parameters
        ----------
        objective : ObjectiveScores
            Values of N models on the objective, with the scores they are computed from.
        column : int
            Column of the objective in the replicates.
        confidence : float
            Coverage of each interval.
        """
        low, high = objective.values.copy(), objective.values.copy()
        n_resamples = len(self.plain)
        for model, costs in zip(objective.models.tolist(), objective.costs, strict=bool(objective.costs)):
            high[model], low[model] = (-limit for limit in costs.interval(1 - confidence))
        if objective.is_mean:
            evidence = objective.mean_evidence(0.0, self.of_means, self.seed)
            low[objective.models], high[objective.models] = evidence.interval(1 - confidence)
        elif objective.scores is not None and not objective.costs:
            tail_shares = unexpanded_p_value((1 - confidence) / 2, objective.effective_sizes())
            for model, tail_share in zip(objective.models.tolist(), tail_shares.tolist(), strict=True):
                index = int(tail_share * (n_resamples + 1) + 1e-9) - 1
                low[model] = np.sort(self.low[:, model, column])[index] if index >= 0 else np.nan
                high[model] = np.sort(self.high[:, model, column])[-1 - index] if index >= 0 else np.nan
        return low, high


def resample_objectives(
    objectives: Sequence[ObjectiveScores],
    units: Sequence[int],
    *,
    shared_units: bool,
    resamples: int,
    seed: int,
    jobs: Jobs = 1,
) -> ObjectiveReplicates:
    """Compute the values of all models on all objectives in joint resamples.

    Parameters
    ----------
    objectives : sequence of K ObjectiveScores
        Values of N models on each objective, with the scores they are computed from.
    units : sequence of N int
        Number of resampling units of each model in the whole table.
    shared_units : bool
        Whether a unit index denotes the same unit for all models.
    resamples : int
        Number of resamples, B.
    seed : int
        Entropy of the random streams.
    jobs : int or Workers
        Number of processes, or existing workers. The result does not depend on it.

    Returns
    -------
    ObjectiveReplicates
    """
    shared = (objectives, units, shared_units)
    columns = max(units) + 1 if shared_units else sum(units) + len(units)
    blocks, step = make_blocks(resamples, seed), ceil(max(_WEIGHTS // columns, 1) / BLOCK)
    batches = [blocks[start : start + step] for start in range(0, len(blocks), step)]
    jobs = jobs if len(batches) > _BATCHES_PER_PROCESS else 1
    parts = [*run_tasks(_resample_batch, shared, batches, jobs=jobs)]
    plain, low, high = np.concatenate(parts, axis=1)
    return ObjectiveReplicates(plain, low, high, seed)


def _resample_batch(
    shared: tuple[Sequence[ObjectiveScores], Sequence[int], bool], batch: Sequence[ResampleBlock]
) -> Floats:
    """Compute the values of all models on all objectives in a batch of b resamples, shape (3, b, N, K).

    The first axis holds the plain values, those with the worst possible unit added, and those with the best
    one added. `shared` holds the arguments `objectives`, `units` and `shared_units` of `resample_objectives`.
    """
    objectives, units, shared_units = shared
    sizes = [max(units) + 1] if shared_units else [count + 1 for count in units]
    streams = [(block.generator(), block.count) for block in batch]
    draws = [[rng.standard_exponential((count, size)) for size in sizes] for rng, count in streams]
    weights = [np.concatenate(parts) for parts in zip(*draws, strict=True)]
    values = np.stack([objective.values for objective in objectives], axis=1)
    replicates = np.broadcast_to(values, (3, len(weights[0]), *values.shape)).copy()
    for k, objective in enumerate(objectives):
        for i, model in enumerate(objective.models.tolist()):
            # The weights of the model's units, then that of the added unit.
            unit_weights = weights[0 if shared_units else model][:, [*objective.units[i], -1]]
            for target, variant in zip(replicates, objective.score_variants(i), strict=False):
                variant_weights = unit_weights[:, : len(variant.sizes)]
                target[:, model, k] = resampled_statistics(variant, variant_weights, objective.level)
    return replicates


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
    limits : tuple of two ObjectiveEvidence
        Lower and upper Monte Carlo limits of the p-values; empty if nothing was resampled.
    """

    noninferior: Floats
    better: Floats
    tested: Booleans
    margin: float
    limits: "tuple[ObjectiveEvidence, ...]" = ()


def objective_evidence(
    objective: ObjectiveScores,
    low: Floats | None = None,
    high: Floats | None = None,
    *,
    resamples: int | str = "auto",
    seed: int = 0,
) -> ObjectiveEvidence:
    """Test all ordered pairs of models on one objective.

    Parameters
    ----------
    objective : ObjectiveScores
        Values of N models on the objective, with the scores they are computed from.
    low, high : ndarray, shape (B, N), optional
        Replicates of a tail mean with one added unit, as bad or as good as possible (`ObjectiveReplicates`).
        Required only for tail means.
    resamples : int or "auto"
        Minimum number of resamples of means.
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
    # Each p-value is followed by its Monte Carlo limits.
    as_good = np.where(difference >= -margin, 0.0, 1.0)[..., None].repeat(3, axis=-1)
    better = np.where(difference > margin, 0.0, 1.0)[..., None].repeat(3, axis=-1)
    as_good[tested] = better[tested] = 1.0
    np.fill_diagonal(tested, val=False)
    for i, j, p_noninferior, p_better in _pair_p_values(objective, difference, low, high, resamples, seed):
        as_good[i, j], better[i, j] = p_noninferior, p_better
    result, *limits = (
        ObjectiveEvidence(as_good[..., at], better[..., at], tested, margin) for at in range(3)
    )
    return replace(result, limits=tuple(limits))


def _pair_p_values(
    objective: ObjectiveScores,
    difference: Floats,
    low: Floats | None,
    high: Floats | None,
    resamples: int | str,
    seed: int,
) -> Iterator[tuple[int, int, ArrayLike, ArrayLike]]:
    """Yield the p-values of each ordered pair of models that needs a test.

    An element is (first, second, non-inferiority p-value, superiority p-value). Resampled p-values are
    arrays with their Monte Carlo limits, shape (3,). Pairs whose estimates contradict non-inferiority are
    skipped, so their p-values stay 1.

    Parameters
    ----------
    objective, low, high, resamples, seed
        See :func:`objective_evidence`.
    difference : ndarray, shape (N, N)
        Differences in values, row minus column.
    """
    if objective.scores is None:
        return
    margin, models = objective.margin, objective.models.tolist()
    if objective.is_mean:
        pairs = [(i, j) for i in range(len(models)) for j in range(i)]
        contrasts = [MeanContrast.from_scores(objective.scores, *pair) for pair in pairs]
        options: dict[str, Any] = {"resamples": resamples, "seed": seed}
        evidence = [mean_evidence(contrasts, bound, **options) for bound in {-margin: 0, margin: 0}]
        above = [np.c_[part.p_above, part.p_bounds[:, 0]] for part in evidence]
        below = [np.c_[part.p_below, part.p_bounds[:, 1]] for part in evidence]
        for pair, (i, j) in enumerate(pairs):
            yield models[i], models[j], above[0][pair], above[-1][pair]
            yield models[j], models[i], below[-1][pair], below[0][pair]
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
                least = low[:, first] - high[:, second]
                counts = [np.count_nonzero(least <= bound) for bound in (-margin, margin)]
                size = min(sample_sizes[i], sample_sizes[j])
                p_values = [*expanded_p_value(p_value_interval(counts, len(least)), size).T]
            yield first, second, *p_values


# Words for the answer to "the model is on the front" in output documents.
STATE_WORDS = {Answer.SIGNIFICANT: "on", Answer.CONTRADICTED: "off", Answer.UNDECIDED: "undecided"}


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
    seed_dependent : bool
        True if a state differs at the Monte Carlo limits of the p-values.
    """

    state: tuple[Answer, ...]
    p_dominates: Floats
    significantly_dominates: Booleans
    dominator: Integers
    p_nondominated: Floats
    nondominated: Booleans
    rival: Integers
    best_on: Integers
    seed_dependent: bool = False

    @property
    def state_words(self) -> tuple[str, ...]:
        """State of each model as written in output documents: ``on``, ``off`` or ``undecided``."""
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
    better = np.stack([objective.better for objective in evidence])
    n_tested = np.sum([objective.tested for objective in evidence], axis=0)
    # Fixed values need no correction for the number of tests.
    better = np.where(better == 0, 0.0, np.minimum(better * np.maximum(n_tested, 1), 1.0))
    p_better = better.min(axis=0)
    best_on = np.where(p_better < 1, better.argmin(axis=0), -1)
    p_noninferior = np.max([objective.noninferior for objective in evidence], axis=0)
    # Without a margin, rejection implies superiority. Among fixed values, the better one is superior.
    is_strict = np.zeros(p_noninferior.shape, dtype=bool)
    for objective in evidence:
        is_strict |= np.where(objective.tested, objective.margin == 0, objective.better == 0)
    p_dominates = np.where(is_strict, p_noninferior, np.maximum(p_noninferior, p_better))
    p_dominates = family.adjust_pairs(p_dominates)
    significantly_dominates = family.significant(p_dominates)
    p_feasible_dominates = np.where(feasible[:, None], p_dominates, np.inf)
    np.fill_diagonal(p_feasible_dominates, np.inf)
    smallest = p_feasible_dominates.min(axis=0)
    dominator = np.where(family.significant(smallest), p_feasible_dominates.argmin(axis=0), -1)
    p_better_than_feasible = np.where(feasible, p_better, -1.0)
    np.fill_diagonal(p_better_than_feasible, -1.0)
    rival = np.where(p_better_than_feasible.max(axis=1) >= 0, p_better_than_feasible.argmax(axis=1), -1)
    p_nondominated = family.adjust_p_values(np.maximum(p_better_than_feasible.max(axis=1), 0.0))
    nondominated = family.significant(p_nondominated)
    meets_constraints = np.array(meet_sides)
    on = nondominated & (meets_constraints == Answer.SIGNIFICANT)
    off = (dominator >= 0) | (meets_constraints == Answer.CONTRADICTED)
    sides = np.select([off, on], [Answer.CONTRADICTED, Answer.SIGNIFICANT], Answer.UNDECIDED)
    state = tuple(map(Answer, sides.tolist()))
    settings: dict[str, Any] = {"feasible": feasible, "constraint_answers": constraint_answers}
    limits = zip(*(objective.limits for objective in evidence), strict=False)
    close = any(front_membership(limit, family, **settings).state != state for limit in limits)
    return FrontMembership(
        *(state, p_dominates, significantly_dominates, dominator, p_nondominated, nondominated),
        *(rival, best_on, close),
    )


# Largest number of pairs of models compared at once.
_PAIRS = 1 << 22


@dataclass(frozen=True, eq=False)
class FrontShares:
    """Proportions of resamples in which models are on the Pareto front, or chosen by COPA.

    Attributes
    ----------
    front : ndarray, shape (N,)
        Proportion in which each model is feasible and no feasible model dominates it.
    chosen : ndarray, shape (N,)
        Proportion in which COPA chooses each model. They sum to less than 1 if a resample has no feasible
        model, or a tie that only names break.
    tied : float
        Proportion in which only the names break a tie for the choice.
    """

    front: Floats
    chosen: Floats
    tied: float


def front_shares(
    models: Population, ranking: CopaRanking, replicates: Floats, allowed: Booleans
) -> FrontShares:
    """Compute how often each model is on the Pareto front, and how often COPA chooses it, in resamples.

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
    ranking : CopaRanking
        Provides the norm and the weights of the choice.
    replicates : ndarray, shape (B, N, K)
        Objectives in B resamples; larger is better.
    allowed : ndarray of bool, shape (B, N)
        True for models that meet the constraints in each resample.

    Returns
    -------
    FrontShares
    """
    resamples, N, _ = replicates.shape
    front, chosen, tied = np.zeros(N), np.zeros(N), 0
    step = max(_PAIRS // (N * N), 1)
    for start in range(0, resamples, step):
        rows = slice(start, start + step)
        on_front, ranks = _resampled_fronts_and_ranks(models, replicates[rows], allowed[rows])
        terms = ranks * ranking.weights
        norm = np.where(allowed[rows], power_norm(terms, ranking.p), np.inf)
        front += on_front.sum(axis=0)
        choice, reverse_choice = (
            lexicographic_argmin(chain([norm, ~on_front], tie_breaking_norms(terms), [names]))
            for names in (models.name_order, N - 1 - models.name_order)
        )
        any_allowed, unambiguous = allowed[rows].any(axis=1), choice == reverse_choice
        chosen += np.bincount(choice[any_allowed & unambiguous], minlength=N)
        tied += int(np.count_nonzero(any_allowed & ~unambiguous))
    return FrontShares(front / resamples, chosen / resamples, tied / resamples)


def _resampled_fronts_and_ranks(
    models: Population, replicates: Floats, allowed: Booleans
) -> tuple[Booleans, Floats]:
    """Compute the Pareto front and the relative ranks in each of B resamples.

    `replicates` has shape (B, N, K), and `allowed` shape (B, N), as in `front_shares`. The result is a mask
    of the models on the front, shape (B, N), and their relative ranks, shape (B, N, K).
    """
    share, scale = models.tie_share, rank_denominator(replicates.shape[1], models.denominator)
    ranks = np.empty(replicates.shape)
    matches = np.ones((*replicates.shape[:2], replicates.shape[1]), dtype=bool)
    exceeds = np.zeros_like(matches)
    for k in range(replicates.shape[2]):
        value, rival_value = replicates[:, :, None, k], replicates[:, None, :, k]
        rival_exceeds, rival_matches = rival_value > value, rival_value >= value
        matches &= rival_matches
        exceeds |= rival_exceeds
        counts = (1 - share) * rival_exceeds.sum(axis=2) + share * (rival_matches.sum(axis=2) - 1)
        ranks[:, :, k] = np.where(models.missing[:, k], 1.0, counts / scale)
    dominated = (matches & exceeds & allowed[:, None, :]).any(axis=2)
    return allowed & ~dominated, ranks
