"""What a verdict is about: the leading method on every column of scores, and what the evidence says of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riskrank.engine.dominance.column_ranking import RankStudy, leading_method
from riskrank.engine.dominance.column_tests import First
from riskrank.engine.dominance.contrasts import Contrasts
from riskrank.engine.dominance.hidden_risk import WorseTail, worse_tails
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.leader_comparison import Ranked
from riskrank.engine.dominance.leader_sensitivity import leaders_with_more
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.metric_tails import MetricTails
from riskrank.engine.dominance.rank_guard import behind_pairs
from riskrank.engine.dominance.ranking import Ranking
from riskrank.engine.dominance.recommendation import Recommendation, recommend
from riskrank.engine.dominance.sign_tests import sign_tests, two_valued
from riskrank.engine.dominance.tail_contrasts import TailContrasts
from riskrank.engine.dominance.tests import DominanceTests, better_by
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.metric_means import bad_cases
from riskrank.studies.targets import weighed


@dataclass(frozen=True)
class Leading:
    """A column of scores by its most careful method.

    Attributes
    ----------
    column : str
        A metric, ``P(IC)`` or ``P(EC)``.
    method : str
        Without the column: ``R-SSD``.
    found : RankStudy
    scores : ClusteredScores
    recommendation : Recommendation or None
        None where nothing was tested, or as the paper prints it.
    tested : bool
        Whether tests stand behind the ranking.
    by_chance : bool
        Whether labels that correct a judge may have been chosen by chance.
    worse_tails : tuple of WorseTail
        Significantly worse cases of the first, or of a model no test puts behind it, whatever the means.
    weighed : bool
        Whether somebody said how much each metric counts, or one metric alone is ranked.
    ranked : Ranked or None
        What the recommendation is about, where there is one.
    turned : tuple of int
        Others that the weights of tasks put behind the first, though nobody chose them.
    """

    column: str
    method: str
    found: RankStudy
    scores: ClusteredScores
    recommendation: Recommendation | None
    tested: bool
    by_chance: bool = True
    worse_tails: tuple[WorseTail, ...] = ()
    weighed: bool = False
    ranked: Ranked | None = None
    turned: tuple[int, ...] = ()

    @property
    def ranking(self) -> Ranking:
        """The method's ranking."""
        return self.found.rankings[self.method]

    @property
    def tests(self) -> DominanceTests | None:
        """The tests behind it; None for win rates."""
        return self.found.tests_of(self.method)

    @property
    def first(self) -> int:
        """The model that comes first."""
        return int(self.ranking.order[0])

    @cached_property
    def identical(self) -> list[int]:
        """Others whose scores are those of the first, in the order of the ranking."""
        first, same = self.first, self.found.dominance.estimates.identical[self.first]
        return [i for i in self.ranking.order.tolist() if i != first and same[i]]

    @cached_property
    def others(self) -> list[int]:
        """Models with other scores than the first, in the order of the ranking."""
        same = {self.first, *self.identical}
        return [i for i in self.ranking.order.tolist() if i not in same]

    @cached_property
    def beaten(self) -> list[int]:
        """Others that the tests of the method put behind the first, whatever tasks weigh."""
        left = (i for i in self.others if i not in self.turned)
        return [] if self.tests is None else [i for i in left if self.tests.dominates[self.first, i]]

    @cached_property
    def undecided(self) -> list[int]:
        """Others of which more resamples would tell."""
        return [] if self.tests is None else [i for i in self.others if not self.tests.decided[self.first, i]]

    @cached_property
    def undecided_tails(self) -> list[int]:
        """Others of which more resamples would tell whether their bad cases speak against the first."""
        return [] if self.metric_tails is None else self.metric_tails.open.tolist()

    @cached_property
    def worse_throughout(self) -> list[int]:
        """Others that only their means put behind the first, on every metric."""
        found, told = self.recommendation, {*self.beaten, *self.undecided, *self.turned}
        if found is None or not found.holds:
            return []
        return [i for i in self.others if i in found.leader.worse and i not in told]

    @cached_property
    def level(self) -> list[int]:
        """Others that no test puts behind the first."""
        told = {*self.beaten, *self.undecided, *self.worse_throughout}
        return [i for i in self.others if i not in told]

    @cached_property
    def first_with_more(self) -> dict[int, dict[int, float]]:
        """By metric who else comes first, and from which multiple of its weight on; or nothing."""
        return {} if self.ranked is None else leaders_with_more(self.ranked, self.first) or {}

    @property
    def metric_tails(self) -> TailContrasts | None:
        """The models' bad cases on single metrics against the first's, where they were tested."""
        return None if self.recommendation is None else self.recommendation.leader.tails

    @property
    def contrasts(self) -> Contrasts:
        """How the models' means on single metrics compare with the first's, where anything was tested."""
        assert self.recommendation is not None
        return self.recommendation.leader.contrasts

    @property
    def refuted(self) -> Recommendation | None:
        """What the evidence says against the first, where it is not to be shipped."""
        found = self.recommendation
        return None if found is None or found.holds else found

    @property
    def ahead(self) -> bool:
        """Whether tests put all others behind the first, and nobody speaks against it."""
        behind = len(self.beaten) + len(self.worse_throughout)
        return self.tested and self.refuted is None and 0 < len(self.others) == behind

    @property
    def trade(self) -> tuple[int, ...]:
        """Models of a higher mean than that of the first, which is ahead of them or level by mere weights."""
        found = self.recommendation
        return found.trade if found is not None and (self.ahead or self._level_by_weights) else ()

    @cached_property
    def _level_by_weights(self) -> bool:
        """Whether metrics that nobody weighed make the first level with others: each is better on some."""
        found, level = self.recommendation, self.level
        if found is None or not found.holds or self.weighed or self.undecided or not level:
            return False
        held = self.contrasts
        return bool((held.better[level].any(axis=1) & held.worse[level].any(axis=1)).all())

    @property
    def shipped(self) -> tuple[int, ...]:
        """The first, where it is to be shipped, with those whose scores are the same."""
        return (self.first, *self.identical) if self.ahead and self.by_chance and not self.trade else ()

    @property
    def named(self) -> tuple[int, ...]:
        """Models a verdict names to ship or look at: several only where nothing tells their scores apart."""
        if self.refuted is not None:
            return () if self.refuted.alternative is None else (self.refuted.alternative,)
        return self.shipped

    @cached_property
    def pair(self) -> tuple[int, int]:
        """The model that words and pictures speak of, and the one they hold it against."""
        if self.refuted is None:
            return self.first, (self.trade or self.others or self.identical)[0]
        if self.named:
            return self.named[0], self.first
        return self.first, self.refuted.rival

    @property
    def other(self) -> int:
        """That one of the two which is not the first."""
        return next(model for model in self.pair if model != self.first)

    def sizes(self, model: int, other: int) -> str:
        """How many samples two models have that were drawn apart, where that differs."""
        each = self.scores.cluster_counts
        if self.scores.drawn_together or each[model] == each[other]:
            return ""
        return f" ({each[model]:,} against {each[other]:,} samples)"

    @cached_property
    def level_among_themselves(self) -> bool:
        """Whether no test puts one of these others ahead of another either."""
        return self.tests is None or not self.tests.dominates[np.ix_(self.level, self.level)].any()


def leading_methods(study: MethodStudy) -> Iterator[tuple[str, str]]:
    """The most careful method of every column that a reader asked for."""
    for name, found in study.studies.items():
        asked = {one: of for one, of in found.rankings.items() if f"{one}@{name}" in study.rankings}
        if asked:
            yield name, leading_method(asked)


def lead(
    study: MethodStudy, tables: ScoreTables, inference: Inference, table: ScoreTable
) -> Mapping[str, Leading]:
    """Every column's leading method with the evidence for and against its first model.

    Parameters
    ----------
    study : MethodStudy
    tables : ScoreTables
    inference : Inference
    table : ScoreTable
        Which knows its weights, and whether labels of a judge may have been chosen by chance.

    Returns
    -------
    dict of str to Leading
        By column.
    """
    leading, tails = {}, _tails_on_metrics(study, tables, inference)
    by_chance = table.judged is None or not table.judged.shift.models
    for name, method in leading_methods(study):
        found = study.studies[name]
        tests = found.tests_of(method)
        tested, recommendation, ranked = tests is not None and inference.test, None, None
        if tests is not None and tested and not inference.paper_exact:
            own = None if name in tables.metrics else tails
            order = tests.claim.order
            ranked = Ranked(tables, name, study.columns[name], found.dominance, order, own, weighed(table))
            recommendation = recommend(ranked, found.rankings[method].order.tolist(), inference)
        one = Leading(name, method, found, study.columns[name], recommendation, tested, by_chance)
        settled = weighed(table) or name in tables.metrics
        worse = _worse_tails(one, inference)
        leading[name] = replace(one, worse_tails=worse, weighed=settled, ranked=ranked)
    return leading


def _tails_on_metrics(study: MethodStudy, tables: ScoreTables, inference: Inference) -> MetricTails | None:
    """Bad cases on the metrics of a portfolio, where one is ranked."""
    if all(name in tables.metrics for name, _ in leading_methods(study)):
        return None
    found = MetricTails.of(tables, inference)
    return found if found is not None and bad_cases(found.level) else None


def named(leading: Mapping[str, Leading]) -> tuple[int, ...]:
    """Models that the verdict names as the ones to ship or to look at, on every column of scores."""
    found = [one.named for one in leading.values()]
    return tuple(model for model in found[0] if all(model in one for one in found)) if found else ()


def firsts(leading: Mapping[str, Leading], rank_by: str) -> dict[str, First]:
    """The first model of every column, the order of the ratio that says so, and of which two words speak."""
    orders = {"R-SSD": 2, "R-FSD": 1} if rank_by == "ratio" else {}
    return {
        name: First(one.first, orders.get(one.method), one.pair, better_by([one.tests]))
        for name, one in leading.items()
    }


def _worse_tails(one: Leading, inference: Inference) -> tuple[WorseTail, ...]:
    dominance = one.found.dominance
    if dominance.replicates is None or one.recommendation is None or not one.level:
        return ()
    if not bad_cases(dominance.estimates.tail_level) or two_valued(one.scores.values):
        return ()
    relabelled, replicates = one.found.relabelled, dominance.replicates.tails
    if relabelled is not None:
        replicates = relabelled.less_bias(dominance.estimates.tails, replicates)
    found = worse_tails(
        dominance.estimates.tails,
        replicates,
        one.first,
        one.level,
        samples=behind_pairs(one.scores),
        family=inference.family,
        relabelled=relabelled,
    )
    exact = sign_tests(one.scores)
    return tuple(tail for tail in found if inference.family.significant(exact[tail.worse, tail.better]))
