"""Rankings of one column of scores by dominance claims and by mean win rates, with effect sizes.

Source: [RAB] section 5 (the methods of its Table 2); method §4 ("From verdicts to a ranking") and §5.

Mean win rates, the usual leaderboard baseline, follow [RAB] remark 1, eq. 22 and 23; method §5.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.effect_sizes import EffectSizes, effect_sizes, mean_differences
from riskrank.engine.dominance.hidden_risk import HiddenRisks, find_hidden_risks
from riskrank.engine.dominance.inference import RELATIVE, Inference
from riskrank.engine.dominance.pair_samples import pair_samples
from riskrank.engine.dominance.ranking import (
    Ranking,
    Separation,
    count_separated_pairs,
    difference_spread,
    rank_by_ratio,
    rank_by_score,
    rank_by_wins,
)
from riskrank.engine.dominance.sign_flips import binary_p_values, correct_bias, flipped_tail_p_values
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.family import Answer, Family
from riskrank.engine.numeric import competition_ranks
from riskrank.engine.sampling.degrees_of_freedom import Dof
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats

MODEL_WIN_RATE = "MWR"
SAMPLE_WIN_RATE = "MWR(sample)"
PAIRWISE_WIN_RATE = "MWR(pairwise)"

# Methods recommended for decisions, in order of preference.
_PREFERRED = ("R-SSD", "R-FSD")


@dataclass(frozen=True)
class RankStudy:
    """Rankings of one column of scores by several methods.

    Attributes
    ----------
    dominance : DominanceStudy
        Dominance tests on which some of the methods are based.
    rankings : dict of str to Ranking
        Rankings by method name. The names have no scope (the part after ``@``), e.g. ``R-SSD`` or ``MWR``.
    effects : dict of str to EffectSizes
        Means, tail means and differences from the leader of each method, by method name.
    separations : dict of str to Separation
        Counts of significantly different pairs, by method name. Only methods that test pairs are included.
    hidden_risks : HiddenRisks or None
        Risks that are hidden in a ranking by the mean but revealed by the preferred method; None without
        resampling.
    flipped_tails : ndarray, shape (k, k), or None
        Sign-flip p-values for "the tail of i is not worse than that of j"; None without resampling.
    family : Family
        Level and correction for multiple testing.
    compared : dict of int to EffectSizes
        Differences from every leader, and from every model with the same distribution as a leader, by index
        of that model.
    """

    dominance: DominanceStudy
    rankings: Mapping[str, Ranking]
    effects: Mapping[str, EffectSizes]
    separations: Mapping[str, Separation]
    hidden_risks: HiddenRisks | None
    flipped_tails: Floats | None = None
    family: Family = Family()
    compared: Mapping[int, EffectSizes] = field(default_factory=dict)

    def tests_for(self, method: str) -> DominanceTests | None:
        """Return the dominance tests on which a ranking method is based; None for win rates.

        `method` is a key of `rankings`.
        """
        return next((tests for tests in self.dominance.tests if tests.claim.method == method), None)

    def compare_tail(self, method: str, model: int) -> tuple[Answer, float]:
        """Test whether the tail mean of a model is worse than that of the leader of a method.

        Parameters
        ----------
        method : str
            Key of `rankings`.
        model : int
            Index of the model that is compared with the leader.

        Returns
        -------
        Answer
            Whether "the model's tail is worse" is significant, contradicted or undecided.
        float
            P-value for the null hypothesis of equal tail means. Sign flips must confirm the difference.
        """
        effect, p_values = self.effects[method], self.effects[method].tail_difference.p_value
        if self.flipped_tails is None or p_values is None:
            return Answer.UNDECIDED, 1.0
        side = Answer(int(np.sign(-effect.tail_difference.estimate[model])))
        pair, k = (model, effect.leader), len(self.flipped_tails)
        flipped = self.flipped_tails[pair if side > 0 else pair[::-1]]
        strictest = self.family.interval_level(k * (k - 1))
        p = max(float(p_values[model]), self.family.rescale_p_value(strictest, float(flipped)))
        return side if self.family.significant(p) else Answer.UNDECIDED, p


def preferred_method(rankings: Mapping[str, Ranking]) -> str:
    """Return the preferred method among the keys of `rankings`.

    It is R-SSD (relative second-order dominance), else R-FSD (first order), else the first key.
    """
    return next((name for name in _PREFERRED if name in rankings), next(iter(rankings)))


def rank_column(
    scores: ClusteredScores, dominance: DominanceStudy, inference: Inference, *, by_wins: bool = False
) -> RankStudy:
    """Rank the models on one column of scores, given the results of its dominance tests.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    dominance : DominanceStudy
        Dominance tests on the same column.
    inference : Inference
        Test settings: level, correction, resamples and seed.
    by_wins : bool
        Rank the models by their number of significant relative wins, as [RAB] does, instead of by their
        ratios.

    Returns
    -------
    RankStudy
    """
    replicates, estimates = dominance.replicates, dominance.estimates
    samples = pair_samples(scores)
    rankings = {tests.claim.method: _rank_by_tests(tests, by_wins=by_wins) for tests in dominance.tests}
    rankings |= _rank_by_win_rates(scores, dominance)
    risks, flipped = None, None
    if replicates is not None:
        pairs, level = [*combinations(range(scores.models), 2)], estimates.tail_level
        strictest = inference.family.interval_level(2 * len(pairs))
        flipped = flipped_tail_p_values(scores, pairs, level, level=strictest, seed=inference.seed)
        risks = find_hidden_risks(
            estimates.means,
            estimates.tails,
            correct_bias(scores, estimates.tails, replicates.tails),
            rank=rankings[preferred_method(rankings)].rank,
            samples=samples,
            family=inference.family,
            flipped=flipped,
        )
    # The means of a leader's equals are compared with those of its rivals, too.
    first = [int(ranking.order[0]) for ranking in rankings.values()]
    leaders = {*first, *np.flatnonzero(estimates.identical[first].any(axis=0)).tolist()}
    effects = dict(zip(leaders, _effect_sizes(scores, samples, dominance, leaders, inference), strict=True))
    return RankStudy(
        dominance,
        rankings,
        {name: effects[int(ranking.order[0])] for name, ranking in rankings.items()},
        {
            tests.claim.method: count_separated_pairs(tests.dominates, rankings[tests.claim.method].order)
            for tests in dominance.tests
        },
        risks,
        flipped,
        inference.family,
        effects,
    )


def _effect_sizes(
    scores: ClusteredScores,
    samples: Floats | Dof,
    dominance: DominanceStudy,
    leaders: Collection[int],
    inference: Inference,
) -> list[EffectSizes]:
    """Return the effect sizes relative to each of several leaders, in their order.

    `samples` holds the number of independent samples of each pair, shape (k, k), or degrees of freedom.
    `dominance` provides the estimates and their replicates. All intervals are simultaneous for all pairs of
    models.
    """
    estimates, replicates = dominance.estimates, dominance.replicates
    differences, tail_spread, confidence = None, None, inference.family.confidence
    if replicates is not None:
        differences = mean_differences(scores, inference, leaders)
        tail_spread = difference_spread(estimates.tails, replicates.tails, confidence=confidence)
    smallest = binary_p_values(scores, inference.family, inference.seed)
    return [
        effect_sizes(
            estimates.means,
            estimates.tails,
            leader=leader,
            tail_fraction=estimates.tail_level,
            samples=samples[leader],
            mean_difference=differences,
            tail_spread=tail_spread,
            smallest=smallest[leader],
            confidence=confidence,
        )
        for leader in leaders
    ]


def _rank_by_tests(tests: DominanceTests, *, by_wins: bool) -> Ranking:
    """Rank the models according to the tests of one claim, by violation ratio or by number of wins.

    Wins are used for direct and absolute claims, and for all claims if `by_wins`.
    """
    ratio, tested, relative = tests.one_versus_all, tests.p_value is not None, tests.claim.kind == RELATIVE
    if relative and not by_wins:
        return rank_by_ratio(tests.dominates, ratio, tested=tested)
    exclusive = tests.claim.boundary <= 0.5
    return rank_by_wins(tests.dominates, ratio, tested=tested, relative=relative, exclusive=exclusive)


def _rank_by_win_rates(scores: ClusteredScores, dominance: DominanceStudy) -> dict[str, Ranking]:
    """Rank the models by their mean win rates; return the rankings by name of the win rate.

    A paired design also has win rates per sample and per pair of models. `dominance` provides the means of
    the models.
    """
    rankings = {MODEL_WIN_RATE: rank_by_score(model_win_rate(dominance.estimates.means))}
    if scores.paired and not scores.judged:
        means, weights = np.stack(scores.sample_means()), sample_weights(scores)
        rankings[SAMPLE_WIN_RATE] = rank_by_score(mean_over_samples(is_best_on_sample(means), weights))
        rankings[PAIRWISE_WIN_RATE] = rank_by_score(mean_over_samples(per_sample_win_rate(means), weights))
    return rankings


def model_win_rate(means: ArrayLike) -> Floats:
    """Return, for each model, the proportion of other models without a larger mean ([RAB] eq. 22).

    Parameters
    ----------
    means : array_like, shape (k,)
        Mean score of each model.

    Returns
    -------
    ndarray, shape (k,)
        Win rates in [0, 1]. Two models with equal means both count as winners.
    """
    values = np.asarray(means, dtype=np.float64)
    ranks = competition_ranks(values, scale=float(np.abs(values).max()))
    wins = (ranks[None, :] <= ranks[:, None]).sum(axis=1) - 1
    return wins / (len(values) - 1)


def is_best_on_sample(scores: ArrayLike) -> Booleans:
    """Return a mask of the models with the highest score on each sample, ties included ([RAB] eq. 23).

    Parameters
    ----------
    scores : array_like, shape (k, n)
        Score of each model on each of n shared samples.

    Returns
    -------
    ndarray of bool, shape (k, n)
        True if no other model scores higher. The mean over samples is the sample-level mean win rate.
    """
    values = np.asarray(scores, dtype=np.float64)
    return values == values.max(axis=0)


def per_sample_win_rate(scores: ArrayLike) -> Floats:
    """Return, for each sample, the proportion of other models that each model beats; ties count half.

    The mean over samples is the pairwise win rate (method §5).

    Parameters
    ----------
    scores : array_like, shape (k, n)
        Score of each model on each of n shared samples.

    Returns
    -------
    ndarray, shape (k, n)
        Proportions in [0, 1].
    """
    values = np.asarray(scores, dtype=np.float64)
    k, beaten = len(values), np.empty(values.shape)
    for i in range(k):
        beaten[i] = (values < values[i]).sum(axis=0) + 0.5 * ((values == values[i]).sum(axis=0) - 1)
    return beaten / (k - 1)


def proportion_better(scores: ClusteredScores, first: int, second: int) -> float | None:
    """Return the proportion of samples on which the first model beats the second; ties count half.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    first, second : int
        Model indices.

    Returns
    -------
    float or None
        None if the design is unpaired, or if judge scores are calibrated on human labels.
    """
    if not scores.paired or scores.judged:
        return None
    means = scores.sample_means()
    better = np.sign(means[first] - means[second])
    return float((mean_over_samples(better, sample_weights(scores)) + 1) / 2)


def mean_over_samples(shares: NDArray, weights: Floats) -> Floats:
    """Return the weighted mean of `shares` over the last axis, which holds the samples.

    `weights` come from `sample_weights`.
    """
    return np.asarray(np.einsum("...s,s->...", shares.astype(np.float64), weights) / weights.sum())


def sample_weights(scores: ClusteredScores) -> Floats:
    """Return the weight of each sample in a paired design, shape (n,); all are 1 if they are equal."""
    task = scores.strata.cluster_tasks[0][scores.sample_clusters()[0]]
    return np.ones(task.size) if scores.unweighted else scores.strata.weights[task] / np.bincount(task)[task]
