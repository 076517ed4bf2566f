"""One column of scores ranked by every claim and by mean win rates, with what tells how sure and how large.

Source: [RAB] section 5 (the methods of its Table 2); method §4 ("From verdicts to a ranking") and §5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.claims import RELATIVE
from riskrank.engine.dominance.column import (
    DominanceStudy,
)
from riskrank.engine.dominance.effect_sizes import EffectSizes, effect_sizes
from riskrank.engine.dominance.hidden_risk import HiddenRisks, hidden_risk
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.pair_freedom import behind_pairs
from riskrank.engine.dominance.permuted_tails import Relabelled
from riskrank.engine.dominance.rank_sets import Separation, separation
from riskrank.engine.dominance.ranking import Ranking, rank_by_ratio, rank_by_score, rank_by_wins
from riskrank.engine.dominance.simultaneous import Spread, spread_of_differences
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.dominance.win_rate import (
    beaten_on_sample,
    best_on_sample,
    mean_over,
    model_win_rate,
    sample_weights,
)
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.freedom import Freedom
from riskrank.engine.types import Floats

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

    @property
    def leading_method(self) -> str:
        """The method a decision looks at: the most careful one there is."""
        return leading_method(self.rankings)

    def tests_of(self, method: str) -> DominanceTests | None:
        """Tests behind a method; None for win rates."""
        return next((found for found in self.dominance.tests if found.claim.method == method), None)


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
    effects = dict(zip(leaders, _effects(behind, dominance, leaders, inference), strict=True))
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
    behind: Floats | Freedom, dominance: DominanceStudy, leaders: Iterable[int], inference: Inference
) -> list[EffectSizes]:
    """Effect sizes to each of several leaders; what holds all differences at once is found once."""
    estimates, replicates = dominance.estimates, dominance.replicates
    spreads: list[Spread | None] = [None, None]
    if replicates is not None:
        spreads = [
            spread_of_differences(estimate, drawn, confidence=inference.family.confidence)
            for estimate, drawn in (
                (estimates.means, replicates.means),
                (estimates.tails, replicates.tails),
            )
        ]
    return [
        effect_sizes(
            estimates.means,
            estimates.tails,
            leader=leader,
            level=estimates.tail_level,
            samples=behind[leader],
            mean_spread=spreads[0],
            tail_spread=spreads[1],
        )
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
