"""One column of scores ranked by every claim and by mean win rates, with what tells how sure and how large.

Source: [RAB] section 5 (the methods of its Table 2); method §4 ("From verdicts to a ranking") and §5.

Mean win rates, the baseline of leaderboards.

Source: [RAB] remark 1, eq. 22 and 23; method §5.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.effect_sizes import EffectSizes, effect_sizes
from riskrank.engine.dominance.hidden_risk import HiddenRisks, hidden_risk
from riskrank.engine.dominance.inference import RELATIVE, Inference
from riskrank.engine.dominance.permuted_tails import Relabelled
from riskrank.engine.dominance.rank_guard import behind_pairs
from riskrank.engine.dominance.ranking import Ranking, rank_by_ratio, rank_by_score, rank_by_wins
from riskrank.engine.dominance.sign_tests import sign_tests
from riskrank.engine.dominance.simultaneous import Separation, Spread, separation, spread_of_differences
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.family import Side
from riskrank.engine.sampling.degrees_of_freedom import Freedom
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.ties import competition_ranks
from riskrank.engine.types import Booleans, Floats

MODEL_WIN_RATE = "MWR"
SAMPLE_WIN_RATE = "MWR(sample)"
PAIRWISE_WIN_RATE = "MWR(pairwise)"

# Methods a decision should look at, the most careful first.
_LEADING = ("R-SSD", "R-FSD")


@dataclass(frozen=True)
class RankStudy:
    """Rankings of one column of scores by several methods.

    Attributes
    ----------
    dominance : DominanceStudy
    rankings : dict of str to Ranking
        By method name without its ``@`` part, e.g. ``R-SSD``, ``FSD(0.25)``, ``MWR``.
    effects : dict of str to EffectSizes
        By the same names: means, tail means and differences to the method's first model.
    separations : dict of str to Separation
        Pairs that the tests of a method tell apart; only of methods that test pairs.
    hidden_risks : HiddenRisks or None
        Of those who sort by the mean rather than by the leading method; None where nothing was resampled.
    relabelled : Relabelled or None
        A second opinion on tails of models that were drawn apart.
    """

    dominance: DominanceStudy
    rankings: Mapping[str, Ranking]
    effects: Mapping[str, EffectSizes]
    separations: Mapping[str, Separation]
    hidden_risks: HiddenRisks | None
    relabelled: Relabelled | None = None

    def tests_of(self, method: str) -> DominanceTests | None:
        """Tests behind a method; None for win rates."""
        return next((found for found in self.dominance.tests if found.claim.method == method), None)

    def tail_answer(self, method: str, model: int) -> tuple[Side, float]:
        """Whether a model's tail is worse than that of a method's first, and the p-value of no difference.

        Refuted where it is better. Of models that were drawn apart relabelling has to agree.
        """
        found, second = self.effects[method], self.relabelled
        p_values = found.tail_difference.p_value
        if second is None or p_values is None:
            return Side.OPEN, 1.0
        p, side = float(p_values[model]), Side(int(np.sign(-found.tail_difference.estimate[model])))
        if second.family.significant(p):
            pair = (model, found.leader) if side > 0 else (found.leader, model)
            p = max(p, second.p_adjusted(*pair))
        return side if second.family.significant(p) else Side.OPEN, p


def leading_method(rankings: Mapping[str, Ranking]) -> str:
    """Of several methods the one a decision looks at: R-SSD, else R-FSD, else the first."""
    return next((name for name in _LEADING if name in rankings), next(iter(rankings)))


def rank_column(
    scores: ClusteredScores, dominance: DominanceStudy, inference: Inference, *, by_wins: bool = False
) -> RankStudy:
    """Rank the models of a column whose claims are tested already.

    Parameters
    ----------
    scores : ClusteredScores
    dominance : DominanceStudy
    inference : Inference
    by_wins : bool
        Whether relative claims rank by number of significant wins, as [RAB] does, instead of by ratio.

    Returns
    -------
    RankStudy
    """
    replicates, estimates = dominance.replicates, dominance.estimates
    behind = behind_pairs(scores)
    rankings = {tests.claim.method: _ranking(tests, by_wins=by_wins) for tests in dominance.tests}
    rankings |= _win_rates(scores, dominance)
    risks, relabelled = None, None
    if replicates is not None:
        claims = scores.models * (scores.models - 1)
        relabelled = Relabelled(scores, estimates.tail_level, claims, inference.family, inference.seed)
        risks = hidden_risk(
            estimates.means,
            estimates.tails,
            relabelled.less_bias(estimates.tails, replicates.tails),
            rank=rankings[leading_method(rankings)].rank,
            samples=behind,
            family=inference.family,
            relabelled=relabelled,
        )
    leaders = {int(ranking.order[0]) for ranking in rankings.values()}
    effects = dict(zip(leaders, _effects(scores, behind, dominance, leaders, inference), strict=True))
    return RankStudy(
        dominance,
        rankings,
        {name: effects[int(ranking.order[0])] for name, ranking in rankings.items()},
        {
            tests.claim.method: separation(tests.dominates, rankings[tests.claim.method].order)
            for tests in dominance.tests
        },
        risks,
        relabelled,
    )


def _effects(
    scores: ClusteredScores,
    behind: Floats | Freedom,
    dominance: DominanceStudy,
    leaders: Iterable[int],
    inference: Inference,
) -> list[EffectSizes]:
    """Effect sizes to each of several leaders; what holds all differences at once is found once."""
    estimates, replicates = dominance.estimates, dominance.replicates
    spreads: list[Spread | None] = [None, None]
    if replicates is not None:
        both = (estimates.means, replicates.means), (estimates.tails, replicates.tails)
        spreads = [spread_of_differences(*one, confidence=inference.family.confidence) for one in both]
    exact = sign_tests(scores)
    return [
        effect_sizes(
            estimates.means,
            estimates.tails,
            leader=leader,
            level=estimates.tail_level,
            samples=behind[leader],
            mean_spread=spreads[0],
            tail_spread=spreads[1],
        ).beside(exact[leader], inference.family.confidence)
        for leader in leaders
    ]


def _ranking(tests: DominanceTests, *, by_wins: bool) -> Ranking:
    claim, tested = tests.claim, tests.p_value is not None
    ratio = one_versus_all(tests.ratios)
    if claim.kind == RELATIVE and not by_wins:
        return rank_by_ratio(tests.dominates, ratio, tested=tested)
    return rank_by_wins(
        tests.dominates,
        ratio,
        tested=tested,
        relative=claim.kind == RELATIVE,
        exclusive=claim.boundary <= 0.5,
    )


def _win_rates(scores: ClusteredScores, dominance: DominanceStudy) -> dict[str, Ranking]:
    rankings = {MODEL_WIN_RATE: rank_by_score(model_win_rate(dominance.estimates.means))}
    if scores.paired and not scores.judged:
        means, weights = np.stack(scores.sample_means()), sample_weights(scores)
        rankings[SAMPLE_WIN_RATE] = rank_by_score(mean_over(best_on_sample(means), weights))
        rankings[PAIRWISE_WIN_RATE] = rank_by_score(mean_over(beaten_on_sample(means), weights))
    return rankings


def model_win_rate(means: ArrayLike) -> Floats:
    """Share of the other models whose mean is at most the model's own ([RAB] eq. 22).

    Parameters
    ----------
    means : array_like, shape (k,)
        Mean score of each model.

    Returns
    -------
    ndarray, shape (k,)
        Win rates in [0, 1]; models with equal means both win.
    """
    values = np.asarray(means, dtype=np.float64)
    ranks = competition_ranks(values, size=float(np.abs(values).max()))
    wins = (ranks[None, :] <= ranks[:, None]).sum(axis=1) - 1
    return wins / (len(values) - 1)


def best_on_sample(scores: ArrayLike) -> Booleans:
    """Whether a model is at least as good as the best of the others, per sample ([RAB] eq. 23).

    Parameters
    ----------
    scores : array_like, shape (k, n)
        Score of each model on each sample, the same samples for all.

    Returns
    -------
    ndarray of bool, shape (k, n)
        Its mean over the samples is the sample-level mean win rate.
    """
    values = np.asarray(scores, dtype=np.float64)
    return values == values.max(axis=0)


def beaten_on_sample(scores: ArrayLike) -> Floats:
    """Share of the other models a model beats on each sample, ties counted half (method §5).

    Parameters
    ----------
    scores : array_like, shape (k, n)
        Score of each model on each sample, the same samples for all.

    Returns
    -------
    ndarray, shape (k, n)
        Shares in [0, 1]; the mean over the samples is the pairwise per-sample win rate.
    """
    values = np.asarray(scores, dtype=np.float64)
    k = len(values)
    beaten = np.empty(values.shape)
    for i in range(k):
        beaten[i] = (values < values[i]).sum(axis=0) + 0.5 * ((values == values[i]).sum(axis=0) - 1)
    return beaten / (k - 1)


def share_better(scores: ClusteredScores, one: int, other: int) -> float | None:
    """Share of the samples on which one model is better than another, ties counted half.

    Parameters
    ----------
    scores : ClusteredScores
    one, other : int

    Returns
    -------
    float or None
        None of an unpaired design, and where a judge's scores are corrected by a few of people's.
    """
    if not scores.paired or scores.judged:
        return None
    means = scores.sample_means()
    better = np.sign(means[one] - means[other])
    return float((mean_over(better, sample_weights(scores)) + 1) / 2)


def mean_over(shares: NDArray, weights: Floats) -> Floats:
    """Mean over samples, the last axis; of a suite each sample weighs as its task says (method §8)."""
    return np.asarray(np.einsum("...s,s->...", shares.astype(np.float64), weights) / weights.sum())


def sample_weights(scores: ClusteredScores) -> Floats:
    """How much each sample of a paired design weighs: all 1 where they weigh the same."""
    task = scores.strata.of_cluster[0][scores.sample_clusters()[0]]
    return np.ones(task.size) if scores.plain else scores.strata.weights[task] / np.bincount(task)[task]
