"""Rankings by violation ratios, with simultaneous intervals, rank sets and tiers (method §4).

Models are ordered by the estimates, and the tests provide the uncertainty (method §4,
"From verdicts to a ranking"). Borda aggregation of pairwise tests follows [RAB] section 3.

The leader is selected with the same samples, so the coverage of individual intervals is too low. For eight
equal models, the joint coverage of the individual intervals for differences from the leader is only one half.
The simultaneous intervals use the largest |Δ* − Δ|/se* over *all* pairs, whichever model leads. For small
samples, its quantile is widened in the same way as p-values are: normal quantiles are replaced by those of
Student's t.

Simulations used normal and 0/1 scores of 8, 12 and 20 models, with 400 to 2,000 tables per case. For equal
models the joint coverage is .93 to .96 with 30 and 200 samples, and higher if one model leads. With 15
samples it is .92 to .94, and .88 for twenty models with 0/1 scores. The reason is that n samples span at most
n − 1 dimensions. Independent models then appear correlated, and the largest of their differences is
underestimated.

A ranking orders models by an estimate; the evidence about the true order consists of the significant wins.
With family-wise error control, all of them are correct with probability at least 1 − α. A model's true rank
is then below all models that beat it, and above all models that it beats.

References
----------
M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm (2024). Inference for ranks with applications to mobility
across neighbourhoods and academic achievement across countries. Review of Economic Studies 91(1), 476-518.
doi:10.1093/restud/rdad006
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.violation import ORDERS, ViolationKernel, violation_matrices
from riskrank.engine.judges import tune_for_tail
from riskrank.engine.numeric import CommonScale, competition_ranks
from riskrank.engine.portfolio.quantiles import sorted_tail_value_at_risk
from riskrank.engine.sampling.degrees_of_freedom import Expansion, SampleSize
from riskrank.engine.sampling.design import MIN_LABELS, ClusteredScores
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.special import ndtr, ndtri, stdtr, stdtrit
from riskrank.engine.types import Booleans, Floats, Integers

# A standard deviation below this share of the numbers is rounding error.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Spread:
    """Bootstrap spread of the pairwise differences of k models' statistics.

    Attributes
    ----------
    errors : ndarray, shape (k, k)
        Bootstrap standard errors of the differences; 0 if a difference is constant over the resamples.
    multiplier : float
        Half-width of an interval in standard errors.
    variances : ndarray, shape (k,)
        Variances of the statistics, relative to the square of the largest absolute value.
    maxima : ndarray, shape (B,)
        Largest absolute deviation over all differences in each resample, in standard errors, sorted.
    """

    errors: Floats
    multiplier: float
    variances: Floats
    maxima: Floats

    def half_widths(self, leader: int, samples: SampleSize) -> Floats:
        """Return the half-widths of the intervals for each model's difference from a leader, shape (k,).

        Parameters
        ----------
        leader : int
            Index of the model to compare with.
        samples : float, ndarray of shape (k,), or Dof
            Number of independent samples behind each difference, at least 2, or degrees of freedom.
        """
        widening = Expansion.from_size(samples)
        with np.errstate(over="ignore", invalid="ignore"):
            widths = widening.widen * -stdtrit(widening.df, ndtr(-self.multiplier)) * self.errors[leader]
        return np.where(self.errors[leader] > 0, widths, 0.0)

    def p_values(self, difference: Floats, leader: int, samples: SampleSize) -> Floats:
        """Return p-values for the null hypothesis of no difference from the leader, shape (k,).

        They are adjusted for all pairs of models. A p-value is at most α if and only if the simultaneous (1 −
        α) interval excludes 0.

        Parameters
        ----------
        difference : ndarray, shape (k,)
            Differences of the models from the leader.
        leader, samples
            See :meth:`half_widths`.
        """
        widening = Expansion.from_size(samples)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = np.where(difference == 0, 0.0, np.abs(difference) / self.errors[leader])
        z, shares = (-ndtri(stdtr(widening.df, -t / widening.widen)), np.linspace(0, 1, len(self.maxima)))
        return np.maximum(1 - np.interp(z, self.maxima, shares), 1 / (len(self.maxima) + 1))


def difference_spread(estimate: ArrayLike, replicates: Floats, *, confidence: float = 0.95) -> Spread:
    """Compute bootstrap standard errors of all pairwise differences, and the multiplier for intervals.

    Parameters
    ----------
    estimate : array_like, shape (k,)
        Statistics estimated from the sample.
    replicates : ndarray, shape (B, k)
        Statistics in each resample; shared resamples preserve the pairing of models.
    confidence : float
        Simultaneous coverage of the intervals.

    Returns
    -------
    Spread
    """
    expected = np.asarray(estimate, dtype=np.float64)
    # Divide by the largest number, whose square can overflow.
    largest = max(float(np.abs(replicates).max()), float(np.abs(expected).max())) or 1.0
    scaled, expected = np.ascontiguousarray((replicates / largest).T), expected / largest
    k, count = scaled.shape
    errors, maxima = np.zeros((k, k)), np.zeros(count)
    for i in range(k if count > 1 else 0):
        for j in range(i):
            deviations = scaled[i] - scaled[j]
            error = float(deviations.std(ddof=1))
            if error <= _ROUNDING:
                continue
            errors[i, j] = errors[j, i] = error
            deviations -= expected[i] - expected[j]
            np.maximum(maxima, np.abs(deviations) / error, out=maxima)
    multiplier = float(np.quantile(maxima, confidence))
    return Spread(errors * largest, multiplier, scaled.var(axis=1), np.sort(maxima))


@dataclass(frozen=True)
class RankSets:
    """Sets of plausible ranks for k models.

    Attributes
    ----------
    low, high : ndarray of int, shape (k,)
        Best and worst plausible rank; 1 is best.
    wins, losses : ndarray of int, shape (k,)
        Number of models that each model significantly beats, and that significantly beat it.
    """

    low: Integers
    high: Integers
    wins: Integers
    losses: Integers


@dataclass(frozen=True)
class Separation:
    """Number of pairs of models that are significantly different.

    Attributes
    ----------
    pairs, separated : int
        Total number of pairs, and number of pairs in which one model significantly beats the other.
    neighbours, separated_neighbours : int
        The same counts for pairs of models that are adjacent in the ranking.
    """

    pairs: int
    separated: int
    neighbours: int
    separated_neighbours: int

    @property
    def proportion(self) -> float:
        """Proportion of all pairs that are separated, in [0, 1]."""
        return self.separated / self.pairs


def rank_sets(beats: ArrayLike) -> RankSets:
    """Compute rank sets from significant pairwise wins: i beats j if ε_i is significantly below ε_j.

    Parameters
    ----------
    beats : array_like of bool, shape (k, k)
        True where i significantly beats j, in a family of tests with family-wise error control.

    Returns
    -------
    RankSets
        Their simultaneous coverage is at least the probability that no win is false. The set of a model that
        is truly tied contains every rank that it can have.
    """
    verdicts = _clear_diagonal(beats)
    wins, losses = verdicts.sum(axis=1), verdicts.sum(axis=0)
    return RankSets(1 + losses, len(verdicts) - wins, wins, losses)


def rank_sets_by_wins(beats: ArrayLike, *, exclusive: bool = True) -> RankSets:
    """Compute rank sets for the ranking by number of wins, for absolute claims.

    A model's true number of wins is at least the number of significant ones. If two models cannot beat each
    other, it is at most the number of models that do not significantly beat it. A model ranks behind another
    if its largest possible number of wins is below the other's smallest.

    Parameters
    ----------
    beats : array_like of bool, shape (k, k)
        See `rank_sets`.
    exclusive : bool
        True if "i beats j" and "j beats i" are mutually exclusive, as they are for thresholds of at most ½.

    Returns
    -------
    RankSets
    """
    verdicts = _clear_diagonal(beats)
    k = len(verdicts)
    wins, losses = verdicts.sum(axis=1), verdicts.sum(axis=0)
    most = k - 1 - losses if exclusive else np.full(k, k - 1)
    ahead = (wins[None, :] > most[:, None]).sum(axis=1)
    behind = (most[None, :] < wins[:, None]).sum(axis=1)
    return RankSets(1 + ahead, k - behind, wins, losses)


def split_into_tiers(beats: ArrayLike, order: ArrayLike) -> Integers:
    """Split an order of models into tiers within which no two models are significantly different.

    Each model joins the current tier unless it is significantly different from a member of that tier; then it
    starts the next tier. Models in different tiers are not necessarily separated; the rank sets show which
    ones are.

    Parameters
    ----------
    beats : array_like of bool, shape (k, k)
        True where i significantly beats j.
    order : array_like of int, shape (k,)
        Model indices from first to last, by ε.

    Returns
    -------
    ndarray of int, shape (k,)
        Tier of each model; 1 is the first.
    """
    verdicts = _clear_diagonal(beats)
    separated, tier = verdicts | verdicts.T, np.empty(len(verdicts), dtype=np.int64)
    members: list[int] = []
    current = 1
    for model in np.asarray(order).tolist():
        if separated[model, members].any():
            current += 1
            members = []
        members.append(model)
        tier[model] = current
    return tier


def count_separated_pairs(beats: ArrayLike, order: ArrayLike) -> Separation:
    """Count the separated pairs among all pairs, and among pairs that are adjacent in the order.

    Parameters
    ----------
    beats : array_like of bool, shape (k, k)
        True where i significantly beats j.
    order : array_like of int, shape (k,)
        Model indices from first to last.

    Returns
    -------
    Separation
    """
    verdicts = _clear_diagonal(beats)
    separated = verdicts | verdicts.T
    k, places = len(verdicts), np.asarray(order)
    return Separation(
        pairs=k * (k - 1) // 2,
        separated=int(np.triu(separated, 1).sum()),
        neighbours=k - 1,
        separated_neighbours=int(separated[places[:-1], places[1:]].sum()),
    )


def _clear_diagonal(beats: ArrayLike) -> Booleans:
    """Return the matrix `beats` as booleans with False on the diagonal, shape (k, k)."""
    verdicts = np.array(beats, dtype=bool)
    np.fill_diagonal(verdicts, False)
    return verdicts


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
        pairs = zip(design.values, cumulated, strict=True)
        means = np.array([Steps(values, weights[0]).means for values, weights in pairs])
        tail_pairs = zip(worst.values, worst.sample_weights(), strict=True)
        tails = np.array([Steps(values, weights[0]).tail_means(level) for values, weights in tail_pairs])
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
