"""Estimates of violation ratios, and rankings based on pairwise verdicts.

Models are ordered by the estimates, and the tests provide the uncertainty (method §4,
"From verdicts to a ranking"). Borda aggregation of pairwise tests follows [RAB] section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.simultaneous import RankSets, rank_sets, rank_sets_by_wins, split_into_tiers
from riskrank.engine.dominance.violation import ORDERS, ViolationKernel, violation_matrices
from riskrank.engine.judges.tails import tune_for_tail
from riskrank.engine.portfolio.quantiles import sorted_tail_value_at_risk
from riskrank.engine.sampling.design import MIN_LABELS, ClusteredScores
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.ties import competition_ranks
from riskrank.engine.types import Booleans, Floats, Integers

TAIL_LEVEL = 0.05


def tail_level(scores: ClusteredScores) -> float:
    """Return the proportion of worst scores that form a tail (method §4).

    It is 5 %, or more if needed for a tail of five samples. With a judge, the tail contains at least 20
    samples with human labels (method §12).
    """
    if scores.judged:
        return min(max(TAIL_LEVEL, MIN_LABELS / scores.n_labelled), 1.0)
    samples: float = min(scores.cluster_counts)
    if not scores.unweighted:
        # Tails consist of samples, even if whole tasks are sampled.
        sums = [np.bincount(*both) for both in zip(scores.samples, scores.weights, strict=True)]
        samples = min(float(1 / (shares**2).sum()) for shares in sums)
    return min(max(TAIL_LEVEL, 5 / samples), 1.0)


def violation_ratios(scores: ClusteredScores, *, orders: Sequence[int] = ORDERS) -> Floats:
    """Return the violation ratios of all ordered pairs, for any sampling design, shape (orders, k, k)."""
    if scores.unweighted:
        return violation_matrices([np.sort(value) for value in scores.values], orders=orders)
    return weighted_violation_ratios(scores, orders=orders)


def weighted_violation_ratios(scores: ClusteredScores, *, orders: Sequence[int] = ORDERS) -> Floats:
    """Return the violation ratios of all ordered pairs for weighted scores, shape (orders, k, k).

    They are computed by merging step functions.
    """
    design = WeightedDesign(replace(scores, values=CommonScale.fit(scores.values).apply_all(scores.values)))
    kernel = ViolationKernel.for_models(scores.models, orders=orders)
    return kernel.ratios_of_steps(design.values, design.sample_weights(), max(scores.sizes))[..., 0]


@dataclass(frozen=True)
class ViolationEstimates:
    """Violation ratios, means and tail means estimated from the sample.

    Attributes
    ----------
    ratios : ndarray, shape (2, k, k)
        Violation ratios of all ordered pairs, for orders 1 and 2.
    means : ndarray, shape (k,)
        Mean score of each model.
    identical : ndarray of bool, shape (k, k)
        True for pairs with equal empirical distributions.
    samples : float
        Number of independent samples of the model with the fewest; Kish's effective number for unequal
        clusters.
    tails : ndarray, shape (k,)
        Tail mean of each model: the mean of the worst proportion `tail_level` of its scores.
    tail_level : float
        See :func:`tail_level`; without a judge, max(0.05, 5/n).
    """

    ratios: Floats
    means: Floats
    identical: Booleans
    samples: float
    tails: Floats
    tail_level: float


def estimate_violation(scores: ClusteredScores) -> ViolationEstimates:
    """Compute violation ratios of both orders ([RAB] section 2), means and tail means.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.

    Returns
    -------
    ViolationEstimates
    """
    # On a common scale, sums of scores near the largest double stay finite.
    scale, level, k = CommonScale.fit(scores.values), tail_level(scores), scores.models
    scaled = replace(scores, values=scale.apply_all(scores.values))
    if scores.unweighted:
        ordered = [np.sort(value) for value in scaled.values]
        ratios, means = violation_matrices(ordered), np.array([value.mean() for value in ordered])
        tails = np.array([sorted_tail_value_at_risk(value, level) for value in ordered])
    else:
        design, worst = WeightedDesign(scaled), WeightedDesign(tune_for_tail(scaled, level))
        cumulated = design.sample_weights()
        kernel = ViolationKernel.for_models(k)
        ratios = kernel.ratios_of_steps(design.values, cumulated, max(scores.sizes))[..., 0]
        steps, tail_steps = (
            [Steps(*step) for step in zip(d.values, (rows[0] for rows in weights), strict=True)]
            for d, weights in ((design, cumulated), (worst, worst.sample_weights()))
        )
        means = np.array([step.means for step in steps])
        tails = np.array([step.tail_means(level) for step in tail_steps])
    identical = np.zeros((k, k), dtype=bool)
    for i, j in zip(*np.nonzero(np.triu(ratios[0] == 0.5, 1)), strict=True):
        identical[i, j] = identical[j, i] = identically_distributed(scaled.select_models([i, j]))
    independent = float(scores.effective_sizes.min())
    return ViolationEstimates(ratios, scale.undo(means), identical, independent, scale.undo(tails), level)


def identically_distributed(scores: ClusteredScores) -> bool:
    """Return True if all models have equal score distributions, up to rounding of the weights."""
    if scores.unweighted and len({(sample.min(), sample.max()) for sample in scores.values}) > 1:
        return False
    values, indices = np.unique(np.concatenate(scores.values), return_inverse=True)
    cells = indices + np.repeat(np.arange(scores.models), scores.sizes) * values.size
    masses = np.bincount(cells, np.concatenate(scores.weights), scores.models * values.size)
    return bool(np.ptp(masses.reshape(scores.models, -1), axis=0).max() < 1e-12)


@dataclass(frozen=True)
class Ranking:
    """Ranking of k models by a single method.

    Attributes
    ----------
    rank : ndarray of int, shape (k,)
        Rank of each model; 1 is best, and ties share the smallest rank (1, 2, 2, 4).
    wins : ndarray of int, shape (k,), or None
        Number of models that each model beats; None if the method does not compare pairs.
    score : ndarray, shape (k,)
        One-versus-all violation ratio (smaller is better) or win rate (larger is better).
    rank_low, rank_high : ndarray of int, shape (k,), or None
        Limits of the rank sets, which have simultaneous coverage of at least 1 − α; None without pairwise
        tests. Rankings by win rate have no rank sets, because the coverage of percentile intervals for ranks
        is far too low.
    tier : ndarray of int, shape (k,), or None
        Tier of each model; no two models in the same tier are significantly different.
    order : ndarray of int, shape (k,)
        Model indices from first to last; scores break ties in rank.
    losses : ndarray of int, shape (k,), or None
        Number of models that beat each model; None if the method does not compare pairs.
    """

    rank: Integers
    score: Floats
    order: Integers
    wins: Integers | None = None
    losses: Integers | None = None
    rank_low: Integers | None = None
    rank_high: Integers | None = None
    tier: Integers | None = None

    @property
    def positions(self) -> Integers:
        """Position of each model in the order, shape (k,); 1 is first, and positions are distinct."""
        return np.argsort(self.order) + 1


def rank_by_ratio(dominates: Booleans, ratio: Floats, *, tested: bool) -> Ranking:
    """Rank models by their one-versus-all violation ratios ε_i, with rank sets from the tests (method §4).

    Models with equal ratios are ordered by their number of wins.

    Parameters
    ----------
    dominates : ndarray of bool, shape (k, k)
        True where i beats j in relative dominance.
    ratio : ndarray, shape (k,)
        One-versus-all violation ratios; smaller is better. Ratios that are equal up to rounding share a rank.
    tested : bool
        True if the wins are test results; without tests there are no rank sets or tiers.

    Returns
    -------
    Ranking
    """
    rank = competition_ranks(ratio)
    order = np.lexsort((-dominates.sum(axis=1), rank))
    return _build_ranking(rank, order, ratio, rank_sets(dominates), dominates if tested else None)


def rank_by_wins(
    dominates: Booleans, ratio: Floats, *, tested: bool, relative: bool = False, exclusive: bool = True
) -> Ranking:
    """Rank models by their number of wins (Borda), and tied models by violation ratio ([RAB] section 3).

    Parameters
    ----------
    dominates : ndarray of bool, shape (k, k)
        True where i beats j.
    ratio : ndarray, shape (k,)
        One-versus-all violation ratios; smaller is better.
    tested : bool
        True if the wins are test results; without tests there are no rank sets or tiers.
    relative : bool
        True for wins in relative dominance, which are statements about the order of ε_i.
    exclusive : bool
        True if at most one of two models can beat the other; False for thresholds above ½.

    Returns
    -------
    Ranking
    """
    sets = rank_sets(dominates) if relative else rank_sets_by_wins(dominates, exclusive=exclusive)
    rank = competition_ranks(-sets.wins)
    order = np.lexsort((competition_ranks(ratio), rank))
    return _build_ranking(rank, order, ratio, sets, dominates if tested else None)


def _build_ranking(
    rank: Integers, order: Integers, ratio: Floats, sets: RankSets, tested: Booleans | None
) -> Ranking:
    """Build a ranking from ranks, ratios and rank sets; significant wins add rank limits and tiers.

    Parameters
    ----------
    rank, order : ndarray of int, shape (k,)
        Rank of each model, and indices of the models from first to last.
    ratio : ndarray, shape (k,)
        One-versus-all violation ratios.
    sets : RankSets
        Plausible ranks, wins and losses of each model.
    tested : ndarray of bool, shape (k, k), or None
        Significant wins; None if the wins are not test results.
    """
    ranking = Ranking(rank, ratio, order, sets.wins, sets.losses)
    if tested is None:
        return ranking
    return replace(ranking, rank_low=sets.low, rank_high=sets.high, tier=split_into_tiers(tested, order))


def rank_by_score(score: Floats) -> Ranking:
    """Rank models by a score where larger is better, such as a win rate.

    Parameters
    ----------
    score : ndarray, shape (k,)
        Score of each model; larger is better.

    Returns
    -------
    Ranking
        A ranking without wins, rank sets and tiers.
    """
    rank = competition_ranks(-score)
    return Ranking(rank=rank, score=score, order=np.argsort(rank, kind="stable"))
