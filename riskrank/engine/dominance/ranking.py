"""What the table says before any test, and with the verdicts on pairs the ranking that it makes.

Source: method §4, "From verdicts to a ranking" (order by the estimate, doubt by the tests); [RAB] section 3
(Borda aggregation of pairwise tests).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.simultaneous import RankSets, rank_sets, rank_sets_of_wins, tiers
from riskrank.engine.dominance.violation import ORDERS, ViolationKernel, violation_matrices
from riskrank.engine.judges.tails import for_tail
from riskrank.engine.portfolio.quantiles import tail_value_of_sorted
from riskrank.engine.sampling.design import FEWEST_LABELS, ClusteredScores
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.ties import competition_ranks
from riskrank.engine.types import Booleans, Floats, Integers

TAIL_LEVEL = 0.05


def tail_level(scores: ClusteredScores) -> float:
    """Level of the worst share of the scores: 5 %, or five samples where they are more (method §4).

    With a judge, 20 of those that people scored (method §12).
    """
    if scores.judged:
        return min(max(TAIL_LEVEL, FEWEST_LABELS / scores.labelled), 1.0)
    samples: float = min(scores.cluster_counts)
    if not scores.plain:
        # Also where whole tasks are drawn, a tail is one of samples.
        sums = [np.bincount(*both) for both in zip(scores.samples, scores.weights, strict=True)]
        samples = min(float(1 / (own**2).sum()) for own in sums)
    return min(max(TAIL_LEVEL, 5 / samples), 1.0)


def matrices_of(scores: ClusteredScores, *, orders: Sequence[int] = ORDERS) -> Floats:
    """Violation ratios of all ordered pairs of any design, shape (orders, k, k)."""
    if scores.plain:
        return violation_matrices([np.sort(value) for value in scores.values], orders=orders)
    return weighted_matrices(scores, orders=orders)


def weighted_matrices(scores: ClusteredScores, *, orders: Sequence[int] = ORDERS) -> Floats:
    """The same by merging steps, whatever the weights."""
    design = WeightedDesign(replace(scores, values=CommonScale.of(scores.values).of_all(scores.values)))
    kernel = ViolationKernel.of(scores.models, orders=orders)
    return kernel.ratios_of_steps(design.values, design.of_sample(), max(scores.sizes))[..., 0]


@dataclass(frozen=True)
class ViolationEstimates:
    """Violation ratios of the table at hand.

    Attributes
    ----------
    ratios : ndarray, shape (2, k, k)
        Orders 1 and 2.
    means : ndarray, shape (k,)
        Mean score of each model.
    identical : ndarray of bool, shape (k, k)
        Pairs whose empirical distributions are equal.
    samples : float
        Independent samples behind the least-sampled model; of unequal clusters Kish's number.
    tails : ndarray, shape (k,)
        Mean of the worst share `tail_level` of each model's scores.
    tail_level : float
        max(0.05, 5/n).
    """

    ratios: Floats
    means: Floats
    identical: Booleans
    samples: float
    tails: Floats
    tail_level: float


def estimate(scores: ClusteredScores) -> ViolationEstimates:
    """Violation ratios of both orders ([RAB] section 2).

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.

    Returns
    -------
    ViolationEstimates
    """
    # On a common scale sums of scores near the largest double stay finite.
    scale, level, k = CommonScale.of(scores.values), tail_level(scores), scores.models
    scaled = replace(scores, values=scale.of_all(scores.values))
    ratios, means, tails = (_plain if scores.plain else _weighted)(scaled, level)
    identical = np.zeros((k, k), dtype=bool)
    for i, j in zip(*np.nonzero(np.triu(ratios[0] == 0.5, 1)), strict=True):
        identical[i, j] = identical[j, i] = alike(scaled.of_models([i, j]))
    independent = float(scores.independent.min())
    return ViolationEstimates(ratios, scale.undo(means), identical, independent, scale.undo(tails), level)


Estimated = tuple[Floats, Floats, Floats]
"""Ratios, means and tail means."""


def _plain(scores: ClusteredScores, level: float) -> Estimated:
    ordered = [np.sort(value) for value in scores.values]
    means = np.array([value.mean() for value in ordered])
    tails = np.array([tail_value_of_sorted(value, level) for value in ordered])
    return violation_matrices(ordered), means, tails


def _weighted(scores: ClusteredScores, level: float) -> Estimated:
    """The same of scores that weigh differently (method §8)."""
    design, worst = WeightedDesign(scores), WeightedDesign(for_tail(scores, level))
    cumulated = design.of_sample()
    steps, ends = (
        [Steps(*one) for one in zip(own.values, (rows[0] for rows in of), strict=True)]
        for own, of in ((design, cumulated), (worst, worst.of_sample()))
    )
    kernel, most = ViolationKernel.of(len(steps)), max(scores.sizes)
    ratios = kernel.ratios_of_steps(design.values, cumulated, most)[..., 0]
    means, tails = np.array([one.means for one in steps]), np.array([one.tail_means(level) for one in ends])
    return ratios, means, tails


def alike(scores: ClusteredScores) -> bool:
    """Whether all models have one distribution of scores; sums of their weights are rounded."""
    if scores.plain and len({(own.min(), own.max()) for own in scores.values}) > 1:
        return False
    values, of_score = np.unique(np.concatenate(scores.values), return_inverse=True)
    places = of_score + np.repeat(np.arange(scores.models), scores.sizes) * values.size
    masses = np.bincount(places, np.concatenate(scores.weights), scores.models * values.size)
    return bool(np.ptp(masses.reshape(scores.models, -1), axis=0).max() < 1e-12)


@dataclass(frozen=True)
class Ranking:
    """One method's ranking of k models.

    Attributes
    ----------
    rank : ndarray of int, shape (k,)
        1 is best; ties share the smaller rank (1, 2, 2, 4).
    wins : ndarray of int, shape (k,), or None
        Models beaten, where the method compares pairs.
    score : ndarray, shape (k,)
        One-versus-all violation ratio (small is good) or win rate (large is good).
    rank_low, rank_high : ndarray of int, shape (k,), or None
        Rank set: all models' true places lie in theirs together with probability 1 − α. None without tests
        of pairs; win rates have none, since a percentile interval of a rank misses the truth far too often.
    tier : ndarray of int, shape (k,), or None
        Models of one tier are not separated by any test.
    order : ndarray of int, shape (k,)
        Model numbers from first to last, ties in rank settled by the score.
    losses : ndarray of int, shape (k,), or None
        Models it is beaten by, where the method compares pairs.
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
    def places(self) -> Integers:
        """Place of every model in the order, 1 for the first, shape (k,); no two share one."""
        return np.argsort(self.order) + 1


def rank_by_ratio(dominates: Booleans, ratio: Floats, *, tested: bool) -> Ranking:
    """Ranking by the one-versus-all ratio ε_i, with the places the tests leave (method §4).

    Parameters
    ----------
    dominates : ndarray of bool, shape (k, k)
        Whether i beats j in relative dominance.
    ratio : ndarray, shape (k,)
        One-versus-all violation ratios, small is good; models equal up to rounding share a rank.
    tested : bool
        Whether the wins are significant ones; only then are there rank sets and tiers.

    Returns
    -------
    Ranking
    """
    rank = competition_ranks(ratio)
    order = np.argsort(rank, kind="stable")
    return _with_places(rank, order, ratio, rank_sets(dominates), dominates if tested else None)


def rank_by_wins(
    dominates: Booleans,
    ratio: Floats,
    *,
    tested: bool,
    relative: bool = False,
    exclusive: bool = True,
) -> Ranking:
    """Borda ranking on wins, ordered by the one-versus-all ratio within ties ([RAB] section 3).

    Parameters
    ----------
    dominates : ndarray of bool, shape (k, k)
        Whether i beats j.
    ratio : ndarray, shape (k,)
        One-versus-all violation ratios, small is good.
    tested : bool
        Whether the wins are significant ones; only then are there rank sets and tiers.
    relative : bool
        Whether the wins are those of relative dominance, which order ε_i.
    exclusive : bool
        Whether two models cannot both beat each other: false for thresholds above ½.

    Returns
    -------
    Ranking
    """
    sets = rank_sets(dominates) if relative else rank_sets_of_wins(dominates, exclusive=exclusive)
    rank = competition_ranks(-sets.wins)
    order = np.lexsort((competition_ranks(ratio), rank))
    return _with_places(rank, order, ratio, sets, dominates if tested else None)


def _with_places(
    rank: Integers, order: Integers, ratio: Floats, sets: RankSets, tested: Booleans | None
) -> Ranking:
    """A ranking with its wins, and where they are significant with the places they leave."""
    found = Ranking(rank, ratio, order, sets.wins, sets.losses)
    if tested is None:
        return found
    return replace(found, rank_low=sets.low, rank_high=sets.high, tier=tiers(tested, order))


def rank_by_score(score: Floats) -> Ranking:
    """Ranking by a score of which more is better, such as a win rate.

    Parameters
    ----------
    score : ndarray, shape (k,)

    Returns
    -------
    Ranking
        Without wins, rank sets and tiers.
    """
    rank = competition_ranks(-score)
    return Ranking(rank=rank, score=score, order=np.argsort(rank, kind="stable"))
