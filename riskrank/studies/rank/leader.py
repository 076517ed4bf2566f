"""Leader of every score column, with the evidence for and against it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riskrank.engine.dominance.column_ranking import RankStudy, preferred_method
from riskrank.engine.dominance.column_tests import TopModel
from riskrank.engine.dominance.contrasts import Contrasts
from riskrank.engine.dominance.hidden_risk import WorseTail, find_worse_tails
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.leader_comparison import RankedColumn
from riskrank.engine.dominance.leader_sensitivity import leader_changing_factors
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.metric_tails import MetricTails
from riskrank.engine.dominance.pair_samples import pair_samples
from riskrank.engine.dominance.permuted_tails import correct_bias
from riskrank.engine.dominance.ranking import Ranking
from riskrank.engine.dominance.recommendation import Recommendation, recommend
from riskrank.engine.dominance.tail_contrasts import TailContrasts
from riskrank.engine.dominance.tests import DominanceTests, significant_wins
from riskrank.engine.evidence.mean_differences import is_binary
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.metric_means import is_bad_case_level
from riskrank.studies.targets import has_weights


@dataclass(frozen=True)
class Leader:
    """Top model of a score column by the most conservative method, with the evidence about it.

    Attributes
    ----------
    column : str
        A metric, ``P(IC)`` or ``P(EC)``.
    method : str
        Method name without the column, such as ``R-SSD``.
    study : RankStudy
    scores : ClusteredScores
    recommendation : Recommendation or None
        None if nothing was tested, or if the option ``paper_exact`` is set.
    tested : bool
        True if the ranking is based on tests.
    random_labels : bool
        True unless a test contradicts that the labels for the judge are a random sample.
    worse_tails : tuple of WorseTail
        Significantly worse tails of the leader or of a tied model, regardless of the means.
    weighted : bool
        True if the user gave metric weights, or if a single metric is ranked.
    ranked : Ranked or None
        Data from which the recommendation was derived, or None without a recommendation.
    task_dependent : tuple of int
        Models that rank behind the leader only because of the default task weights.
    """

    column: str
    method: str
    study: RankStudy
    scores: ClusteredScores
    recommendation: Recommendation | None
    tested: bool
    random_labels: bool = True
    worse_tails: tuple[WorseTail, ...] = ()
    weighted: bool = False
    ranked: RankedColumn | None = None
    task_dependent: tuple[int, ...] = ()

    @property
    def ranking(self) -> Ranking:
        """Ranking by the leader's method."""
        return self.study.rankings[self.method]

    @property
    def tests(self) -> DominanceTests | None:
        """Tests on which the ranking is based, or None for a ranking by win rates."""
        return self.study.tests_for(self.method)

    @property
    def first(self) -> int:
        """Index of the leader."""
        return int(self.ranking.order[0])

    @cached_property
    def identical(self) -> list[int]:
        """Other models with scores identical to the leader's, in rank order."""
        first, same = self.first, self.study.dominance.estimates.identical[self.first]
        return [i for i in self.ranking.order.tolist() if i != first and same[i]]

    @cached_property
    def rivals(self) -> list[int]:
        """Models whose scores differ from the leader's, in rank order."""
        same = {self.first, *self.identical}
        return [i for i in self.ranking.order.tolist() if i not in same]

    @cached_property
    def beaten(self) -> list[int]:
        """Rivals that are significantly behind the leader by the method's tests, for any task weights."""
        rivals = (i for i in self.rivals if i not in self.task_dependent)
        return [] if self.tests is None else [i for i in rivals if self.tests.dominates[self.first, i]]

    @cached_property
    def undecided(self) -> list[int]:
        """Rivals whose test against the leader needs more resamples."""
        return [] if self.tests is None else [i for i in self.rivals if not self.tests.decided[self.first, i]]

    @cached_property
    def undecided_tails(self) -> list[int]:
        """Rivals whose tail test against the leader needs more resamples."""
        return [] if self.metric_tails is None else self.metric_tails.undecided_models.tolist()

    @cached_property
    def worse_on_all(self) -> list[int]:
        """Rivals significantly worse on the mean of every metric, but not separated by another test."""
        recommendation, separated = self.recommendation, {*self.beaten, *self.undecided, *self.task_dependent}
        if recommendation is None or not recommendation.confirmed:
            return []
        return [i for i in self.rivals if i in recommendation.leader.worse and i not in separated]

    @cached_property
    def tied(self) -> list[int]:
        """Rivals that do not differ significantly from the leader in any test."""
        separated = {*self.beaten, *self.undecided, *self.worse_on_all}
        return [i for i in self.rivals if i not in separated]

    @cached_property
    def leaders_by_weight(self) -> dict[int, dict[int, float]]:
        """For each metric, the models that would lead, and the factor of its weight from which they do."""
        return {} if self.ranked is None else leader_changing_factors(self.ranked, self.first) or {}

    @property
    def metric_tails(self) -> TailContrasts | None:
        """Tests of all models' tails on single metrics against the leader's, or None if not tested."""
        return None if self.recommendation is None else self.recommendation.leader.tails

    @property
    def contrasts(self) -> Contrasts:
        """Tests of all models' means on single metrics against the leader's."""
        assert self.recommendation is not None
        return self.recommendation.leader.contrasts

    @property
    def objection(self) -> Recommendation | None:
        """Recommendation that contradicts the leader, or None if nothing does."""
        recommendation = self.recommendation
        return None if recommendation is None or recommendation.confirmed else recommendation

    @property
    def is_clear(self) -> bool:
        """True if every rival is significantly behind the leader and nothing contradicts it."""
        behind = len(self.beaten) + len(self.worse_on_all)
        return self.tested and self.objection is None and 0 < len(self.rivals) == behind

    @property
    def trade_offs(self) -> tuple[int, ...]:
        """Models with a higher mean than the leader.

        The tuple is empty unless the leader is clear, or is tied only because no weights were given.
        """
        advice, valid = self.recommendation, self.is_clear or self._tied_by_weights
        return advice.trade_offs if advice is not None and valid else ()

    @cached_property
    def _tied_by_weights(self) -> bool:
        """True if no weights were given and every tied model wins on one metric and loses on another."""
        advice, tied = self.recommendation, self.tied
        if advice is None or not advice.confirmed or self.weighted or self.undecided or not tied:
            return False
        contrasts = self.contrasts
        return bool((contrasts.better[tied].any(axis=1) & contrasts.worse[tied].any(axis=1)).all())

    @property
    def recommended_leader(self) -> tuple[int, ...]:
        """The leader and models with identical scores, if they are recommended.

        The tuple is empty otherwise.
        """
        ships = self.is_clear and self.random_labels and not self.trade_offs
        return (self.first, *self.identical) if ships else ()

    @property
    def recommended(self) -> tuple[int, ...]:
        """Models that the verdict recommends: the leader, or the alternative to it."""
        if self.objection is not None:
            return () if self.objection.alternative is None else (self.objection.alternative,)
        return self.recommended_leader

    @cached_property
    def pair(self) -> tuple[int, int]:
        """The model that text and figures describe, and the model with which it is compared."""
        if self.objection is None:
            return self.first, (self.trade_offs or self.rivals or self.identical)[0]
        if self.recommended:
            return self.recommended[0], self.first
        return self.first, self.objection.rival

    @property
    def rival(self) -> int:
        """The model of ``pair`` that is not the leader."""
        return next(model for model in self.pair if model != self.first)

    def format_sizes(self, model: int, rival: int) -> str:
        """Format the sample counts of two unpaired models, or return an empty string if equal."""
        counts = self.scores.cluster_counts
        if self.scores.joint_resamples or counts[model] == counts[rival]:
            return ""
        return f" ({counts[model]:,} against {counts[rival]:,} samples)"

    @cached_property
    def rivals_tied(self) -> bool:
        """True if no test separates any two of the tied rivals."""
        return self.tests is None or not self.tests.dominates[np.ix_(self.tied, self.tied)].any()


def leading_methods(study: MethodStudy) -> Iterator[tuple[str, str]]:
    """Yield each ranked score column with its most conservative requested method."""
    for name, column in study.studies.items():
        requested = {
            statistic: ranking
            for statistic, ranking in column.rankings.items()
            if f"{statistic}@{name}" in study.rankings
        }
        if requested:
            yield name, preferred_method(requested)


def column_leaders(
    study: MethodStudy, tables: ScoreTables, inference: Inference, table: ScoreTable
) -> Mapping[str, Leader]:
    """Return the leader of every score column, with the evidence for and against it.

    Parameters
    ----------
    study : MethodStudy
    tables : ScoreTables
    inference : Inference
    table : ScoreTable
        Table with the metric weights and the labels for the judge.

    Returns
    -------
    dict of str to Leader
        Leaders by score column.
    """
    leaders, tails = {}, _metric_tails(study, tables, inference)
    by_chance = table.judged is None or not table.judged.shift.models
    for name, method in leading_methods(study):
        column = study.studies[name]
        tests = column.tests_for(method)
        tested, recommendation, ranked = tests is not None and inference.test, None, None
        if tests is not None and tested and not inference.paper_exact:
            data = study.columns[name], column.dominance, tests.claim.order
            metric_tails = None if name in tables.metrics else tails
            ranked = RankedColumn(tables, name, *data, metric_tails, has_weights(table))
            recommendation = recommend(ranked, column.rankings[method].order.tolist(), inference)
        leader = Leader(name, method, column, study.columns[name], recommendation, tested, by_chance)
        weighted = has_weights(table) or name in tables.metrics
        worse_tails = _significant_tails(leader, inference)
        leaders[name] = replace(leader, worse_tails=worse_tails, weighted=weighted, ranked=ranked)
    return leaders


def _metric_tails(study: MethodStudy, tables: ScoreTables, inference: Inference) -> MetricTails | None:
    """Return the tails on single metrics.

    The result is None unless a combined score is ranked.
    """
    if all(name in tables.metrics for name, _ in leading_methods(study)):
        return None
    tails = MetricTails.from_tables(tables, inference)
    return tails if tails is not None and is_bad_case_level(tails.level) else None


def recommended_models(leaders: Mapping[str, Leader]) -> tuple[int, ...]:
    """Return the models that the verdicts on all score columns recommend."""
    recommended = [models.recommended for models in leaders.values()]
    return (
        tuple(model for model in recommended[0] if all(model in models for models in recommended))
        if recommended
        else ()
    )


def first_models(leaders: Mapping[str, Leader], rank_by: str) -> dict[str, TopModel]:
    """Return, for each score column, the top model, the order that ranks it first, and the pair to describe.

    Parameters
    ----------
    leaders : dict of str to Leader
    rank_by : {"ratio", "wins"}
    """
    orders = {"R-SSD": 2, "R-FSD": 1} if rank_by == "ratio" else {}
    return {
        name: TopModel(leader.first, orders.get(leader.method), leader.pair, significant_wins([leader.tests]))
        for name, leader in leaders.items()
    }


def _significant_tails(leader: Leader, inference: Inference) -> tuple[WorseTail, ...]:
    """Return the significantly worse tails of the leader and its tied rivals.

    The result is empty for binary scores.
    """
    dominance = leader.study.dominance
    if dominance.replicates is None or leader.recommendation is None or not leader.tied:
        return ()
    if not is_bad_case_level(dominance.estimates.tail_level) or is_binary(leader.scores.values):
        return ()
    tails, flipped = dominance.estimates.tails, leader.study.flipped_tails
    replicates = correct_bias(leader.scores, tails, dominance.replicates.tails)
    return tuple(
        find_worse_tails(
            tails,
            replicates,
            leader.first,
            leader.tied,
            samples=pair_samples(leader.scores),
            family=inference.family,
            flipped=0.0 if flipped is None else flipped,
        )
    )
