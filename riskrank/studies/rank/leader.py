"""Leader of every score column, with the evidence for and against it: tests, tails and hidden risks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from riskrank.engine.dominance.column_ranking import RankStudy, preferred_method
from riskrank.engine.dominance.column_tests import TopModel
from riskrank.engine.dominance.contrasts import Contrasts, MetricTails, TailContrasts
from riskrank.engine.dominance.hidden_risk import RISK, WorseTail, find_worse_tails
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.pair_samples import pair_samples
from riskrank.engine.dominance.ranking import Ranking
from riskrank.engine.dominance.recommendation import (
    RankedColumn,
    Recommendation,
    leader_changing_factors,
    recommend,
)
from riskrank.engine.dominance.sign_flips import correct_bias
from riskrank.engine.dominance.tests import REPLACED, DominanceTests, significant_wins
from riskrank.engine.evidence.mean_differences import is_binary
from riskrank.engine.family import Answer
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies import metric_means
from riskrank.studies.findings import Case
from riskrank.studies.targets import Units, column_units, has_weights
from riskrank.studies.wording import join_names, method_words, metrics_phrase, ordinal


@dataclass(frozen=True)
class LeaderEvidence:
    """Ranking by one score and the most conservative method, with the evidence about its top model.

    Attributes
    ----------
    column : str
        Name of the ranked score: a metric, or a combined score, ``P(IC)`` or ``P(EC)``.
    method : str
        Method name without the score, such as ``R-SSD``.
    study : RankStudy
    scores : ClusteredScores
    recommendation : Recommendation or None
        None if nothing was tested, or if the option ``paper_exact`` is set.
    tested : bool
        True if the ranking is based on tests.
    ranked : Ranked or None
        Data from which the recommendation was derived, or None without a recommendation.
    table : ScoreTable
    task_dependent : tuple of int
        Models that rank behind the leader only because of the default task weights.
    """

    column: str
    method: str
    study: RankStudy
    scores: ClusteredScores
    recommendation: Recommendation | None
    tested: bool
    ranked: RankedColumn | None
    table: ScoreTable
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
    def test_name(self) -> str:
        """Name of what was tested: usually dominance, or the macro mean if there are few random tasks."""
        if self.tests is not None and self.tests.mean_test == REPLACED:
            return "the macro mean"
        method = method_words(self.method)
        return "dominance" if method == self.method else method

    @property
    def random_labels(self) -> bool:
        """False if a test shows that the human labels are not a random sample, otherwise True."""
        return self.table.judged is None or not self.table.judged.shift.models

    @property
    def weighted(self) -> bool:
        """True if the user gave metric weights, or if a single metric is ranked."""
        return has_weights(self.table) or any(spec.name == self.column for spec in self.table.metrics)

    @property
    def metric_tails(self) -> TailContrasts | None:
        """Tests of all models' tails on single metrics against the leader's, or None if not tested."""
        return None if self.recommendation is None else self.recommendation.leader.tails

    @property
    def contrasts(self) -> Contrasts:
        """Tests of all models' means on single metrics against the leader's."""
        assert self.recommendation is not None
        return self.recommendation.leader.contrasts


@dataclass(frozen=True, kw_only=True)
class Leader(LeaderEvidence):
    """Top model by one score, and the test results for it and all other models.

    Lists of models are in rank order. Models are indices.

    Attributes
    ----------
    first : int
        The leader.
    identical : list of int
        Other models with the leader's distribution of scores that are ahead of the same rivals.
    rivals : list of int
        Models whose scores differ from the leader's.
    beaten : list of int
        Rivals that are significantly behind the leader by the method's tests, for any task weights.
    undecided : list of int
        Rivals whose test against the leader needs more resamples.
    worse_on_all : list of int
        Rivals significantly worse on the mean of every metric, but not separated by another test.
    tied : list of int
        Rivals that do not differ significantly from the leader in any test.
    objection : Recommendation or None
        Recommendation that contradicts the leader, or None if nothing does.
    is_clear : bool
        True if every rival is significantly behind the leader and nothing contradicts it.
    trade_offs : tuple of int
        Models with a higher mean than the leader. Empty unless the leader is clear, or is tied only because
        no weights were given.
    recommended_leader : tuple of int
        The leader and models with identical scores if they are recommended, or else empty.
    recommended : tuple of int
        Models that the verdict recommends: the leader, or the alternative to it.
    pair : (int, int)
        The model that text and figures describe, and the model with which it is compared.
    worse_tails : tuple of WorseTail
        Significantly worse tails of the leader or of a tied model, regardless of the means.
    """

    first: int
    identical: list[int]
    rivals: list[int]
    beaten: list[int]
    undecided: list[int]
    worse_on_all: list[int]
    tied: list[int]
    objection: Recommendation | None
    is_clear: bool
    trade_offs: tuple[int, ...]
    recommended_leader: tuple[int, ...]
    recommended: tuple[int, ...]
    pair: tuple[int, int]
    worse_tails: tuple[WorseTail, ...] = ()

    @cached_property
    def undecided_tails(self) -> list[int]:
        """Rivals whose tail test against the leader needs more resamples."""
        return [] if self.metric_tails is None else self.metric_tails.undecided_models.tolist()

    @cached_property
    def leaders_by_weight(self) -> dict[int, dict[int, float]]:
        """Factor on a metric's weight from which another model would lead, by metric and model."""
        return {} if self.ranked is None else leader_changing_factors(self.ranked, self.first) or {}

    @property
    def less_certain(self) -> list[int]:
        """Models with the leader's distribution of scores that are ahead of fewer rivals."""
        same = np.flatnonzero(self.study.dominance.estimates.identical[self.first]).tolist()
        return [i for i in same if i not in (self.first, *self.identical)]

    @property
    def rival(self) -> int:
        """The model in ``pair`` that is not the leader."""
        return next(model for model in self.pair if model != self.first)

    @cached_property
    def units(self) -> Units:
        """Units of the ranked score."""
        return column_units(self.column, self.table.metrics)

    @cached_property
    def tail(self) -> ColumnTails:
        """Tail means of all models on the ranked score."""
        return ColumnTails(self)

    @cached_property
    def tail_warning(self) -> TailWarning | None:
        """Warning about the leader's tail on a metric, or None.

        A warning is needed if the tail contradicts the leader. It is also needed if neither the combined
        score nor the metric's mean reveals it.
        """
        recommendation, tails = self.recommendation, self.metric_tails
        if recommendation is None or tails is None or recommendation.hidden_tails is None:
            return None
        if recommendation.confirmed:
            return _most_significant_warning(self, tails, self.rivals, recommendation.hidden_tails)
        means = {*recommendation.leader.better, *recommendation.leader.ahead}
        rivals = [] if recommendation.rival in means else [recommendation.rival]
        return _most_significant_warning(self, tails, rivals, tails.milder)

    def mean_difference(self, model: int, rival: int) -> dict[str, float]:
        """Return the difference `model` − `rival` of two means and its interval limits, by name.

        One of the models must be the leader, or have the same scores as the leader.
        """
        # The stored differences are model minus leader; negate them for a pair with the leader first.
        if model in self.study.compared:
            return self.units.figures(self.study.compared[model].mean_difference.negated(), rival)
        return self.units.figures(self.study.compared[rival].mean_difference, model)

    def mean_interval(self, model: int, rival: int) -> dict[str, float]:
        """Return the interval limits of the mean difference `model` − `rival` by name.

        The dictionary is empty unless the ranked score is the first metric.
        """
        if self.units.label != self.table.metrics[0].name:
            return {}
        figures = self.mean_difference(model, rival)
        return {name: value for name, value in figures.items() if name != "difference"}

    def means_differ(self, model: int, rival: int) -> bool:
        """Return True if the interval of the mean difference `model` − `rival` excludes 0.

        It is False if several metrics are ranked.
        """
        figures = self.mean_difference(model, rival)
        single = len(self.table.metrics) == 1 and "low" in figures
        return single and (figures["low"] > 0 or figures["high"] < 0)

    def has_uncertain_mean(self, rival: int) -> bool:
        """Return True if the interval of a rival's difference from the leader contains 0."""
        return bool(self.mean_interval(self.first, rival)) and not self.means_differ(self.first, rival)

    @property
    def separated_by_mean(self) -> tuple[int, ...]:
        """Model with the best mean, followed by the tied models with significantly worse means.

        The tuple is empty if no tied model's mean differs significantly from the leader's, or if the tests
        already include the means.
        """
        if self.tests is None or self.tests.mean_test or self.task_dependent:
            return ()
        tied = [i for i in self.tied if self.means_differ(self.first, i)]
        mean = self.study.effects[self.method].mean
        best = max(tied, key=lambda i: float(mean[i]), default=self.first)
        if mean[best] > mean[self.first]:
            return best, self.first
        return (self.first, *tied) if tied else ()

    def format_sizes(self, model: int, rival: int) -> str:
        """Format the sample counts of two unpaired models; empty if they are equal.

        Example: `` (200 against 180 samples)``.
        """
        counts = self.scores.cluster_counts
        if self.scores.joint_resamples or counts[model] == counts[rival]:
            return ""
        return f" ({counts[model]:,} against {counts[rival]:,} samples)"


def decide(evidence: LeaderEvidence) -> Leader:
    """Derive the verdict from the evidence: the models that the leader beats, and the models to recommend."""
    tests, advice = evidence.tests, evidence.recommendation
    first, *others = evidence.ranking.order.tolist()
    same = evidence.study.dominance.estimates.identical[first]
    identical, rivals = [i for i in others if same[i]], [i for i in others if not same[i]]
    beaten, undecided, worse_on_all = list[int](), list[int](), list[int]()
    if tests is not None:
        undecided = [i for i in rivals if not tests.decided[first, i]]
        beaten = [i for i in rivals if tests.dominates[first, i] and i not in evidence.task_dependent]
        identical = [i for i in identical if tests.dominates[i, beaten].all()]
    if confirmed := advice is not None and advice.confirmed:
        separated = {*beaten, *undecided, *evidence.task_dependent}
        worse_on_all = [i for i in rivals if i in advice.leader.worse and i not in separated]
    tied = [i for i in rivals if i not in {*beaten, *undecided, *worse_on_all}]
    objection = None if confirmed else advice
    is_clear = evidence.tested and objection is None and 0 < len(rivals) == len(beaten) + len(worse_on_all)
    tied_by_weights = False
    if confirmed and tied and not (evidence.weighted or undecided):
        better, worse = evidence.contrasts.better[tied], evidence.contrasts.worse[tied]
        tied_by_weights = bool((better.any(axis=1) & worse.any(axis=1)).all())
    trade_offs = advice.trade_offs if advice is not None and (is_clear or tied_by_weights) else ()
    is_recommended = is_clear and evidence.random_labels and not trade_offs
    recommended_leader = recommended = (first, *identical) if is_recommended else ()
    pair = first, (trade_offs or rivals or identical)[0]
    if objection is not None:
        recommended, pair = (), (first, objection.rival)
        if objection.alternative is not None:
            recommended, pair = (objection.alternative,), (objection.alternative, first)
    return Leader(
        **{field.name: getattr(evidence, field.name) for field in fields(LeaderEvidence)},
        first=first,
        identical=identical,
        rivals=rivals,
        beaten=beaten,
        undecided=undecided,
        worse_on_all=worse_on_all,
        tied=tied,
        objection=objection,
        is_clear=is_clear,
        trade_offs=trade_offs,
        recommended_leader=recommended_leader,
        recommended=recommended,
        pair=pair,
    )


def leading_methods(study: MethodStudy) -> Iterator[tuple[str, str]]:
    """Yield the name of each ranked score with its most conservative requested method."""
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
) -> dict[str, Leader]:
    """Return the top model by each ranked score, with the evidence for and against it.

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
        Leaders by ranked score.
    """
    leaders, tails = dict[str, Leader](), None
    if any(name not in tables.metrics for name, _ in leading_methods(study)):
        tails = MetricTails.from_tables(tables, inference)
    if tails is not None and not metric_means.is_bad_case_level(tails.level):
        tails = None
    for name, method in leading_methods(study):
        column = study.studies[name]
        tests = column.tests_for(method)
        tested, recommendation, ranked = tests is not None and inference.test, None, None
        if tests is not None and tested and not inference.paper_exact:
            data = study.columns[name], column.dominance, tests.claim.order
            metric_tails = None if name in tables.metrics else tails
            ranked = RankedColumn(tables, name, *data, metric_tails, has_weights(table))
            recommendation = recommend(ranked, column.rankings[method].order.tolist(), inference)
        scores = study.columns[name]
        evidence = LeaderEvidence(name, method, column, scores, recommendation, tested, ranked, table)
        leader = decide(evidence)
        leaders[name] = replace(leader, worse_tails=_significant_tails(leader, inference))
    return leaders


def recommended_models(leaders: Mapping[str, Leader]) -> tuple[int, ...]:
    """Return the indices of the models that the verdicts on all ranked scores recommend.

    `leaders` has the top model by ranked score.
    """
    recommended = [leader.recommended for leader in leaders.values()] or [()]
    return tuple(i for i in recommended[0] if all(i in models for models in recommended))


def top_models(leaders: Mapping[str, Leader], rank_by: str) -> dict[str, TopModel]:
    """Return the top model by each ranked score, with its rival and the order of dominance.

    The order is None unless models are ranked by violation ratios: `rank_by` is then "ratio".
    """
    orders = {"R-SSD": 2, "R-FSD": 1} if rank_by == "ratio" else {}
    return {
        name: TopModel(leader.first, orders.get(leader.method), leader.pair, significant_wins([leader.tests]))
        for name, leader in leaders.items()
    }


def _significant_tails(leader: Leader, inference: Inference) -> tuple[WorseTail, ...]:
    """Return the significantly worse tails among the leader and its tied rivals; none for binary scores."""
    dominance = leader.study.dominance
    if dominance.replicates is None or leader.recommendation is None or not leader.tied:
        return ()
    if not metric_means.is_bad_case_level(dominance.estimates.tail_level) or is_binary(leader.scores.values):
        return ()
    tails, flipped = dominance.estimates.tails, leader.study.flipped_tails
    replicates = correct_bias(leader.scores, tails, dominance.replicates.tails)
    samples, flips = pair_samples(leader.scores), 0.0 if flipped is None else flipped
    models, family = (leader.first, leader.tied), inference.family
    return tuple(find_worse_tails(tails, replicates, *models, samples=samples, family=family, flipped=flips))


@dataclass(frozen=True)
class TailWarning:
    """Warning that another model's tail on a metric is significantly milder than the leader's.

    Attributes
    ----------
    first, rival : int
        The leader, and the model with the milder tail.
    metric : str
    more_metrics : tuple of str
        Further metrics on which the rival's tail is milder.
    tail : TailMeans
    sizes : str
        Sample counts of both models if they differ, else an empty string.
    """

    first: int
    rival: int
    metric: str
    more_metrics: tuple[str, ...]
    tail: metric_means.TailMeans
    sizes: str = ""

    def describe(self, models: Sequence[str]) -> str:
        """Return the warning as text: ``worst 5 % on p average −41.2 against −3.9 for safe``.

        `models` has the names of all models.
        """
        average = f"average {self.tail.format_comparison(self.first, self.rival)}"
        also = f", and are worse on {join_names(self.more_metrics, 3)}, too" if self.more_metrics else ""
        text = f"worst {self.tail.tail_label} on {self.metric} {average}"
        return f"{text} for {models[self.rival]}{self.sizes}{also}"

    @property
    def metric_names(self) -> str:
        """Names of all metrics on which the rival's tail is milder."""
        return join_names((self.metric, *self.more_metrics), 4)

    @property
    def label(self) -> str:
        """Label of the tail mean, such as ``mean of the worst 5 % on p``."""
        return f"mean of the worst {self.tail.tail_label} on {self.metric}"


def _most_significant_warning(
    leader: Leader, tails: TailContrasts, rivals: Sequence[int], milder: Booleans
) -> TailWarning | None:
    """Return the warning about the rival and metric with the smallest p-value, or None if no tail is milder.

    Parameters
    ----------
    leader : Leader
    tails : TailContrasts
        Tail tests of k models on m metrics against the leader.
    rivals : sequence of int
        Models to consider.
    milder : ndarray of bool, shape (k, m)
        True if a model's tail on a metric is significantly milder than the leader's.
    """
    pairs = [(i, m) for i in rivals for m in np.flatnonzero(milder[i]).tolist()]
    if not pairs:
        return None
    i, m = min(pairs, key=lambda pair: tails.p_milder[pair])
    metrics = leader.table.metrics
    labels = [column_units(spec.name, metrics).label for spec in metrics]
    more_metrics = tuple(labels[at] for at in np.flatnonzero(milder[i]).tolist() if at != m)
    worst = tails.level, tails.tails[:, m], metric_means.robust_standard_error(tails.replicates[:, :, m])
    tail = metric_means.TailMeans(metrics[m].name, worst, metrics)
    sizes = leader.format_sizes(tails.reference, i)
    return TailWarning(tails.reference, i, labels[m], more_metrics, tail, sizes)


class ColumnTails(metric_means.TailMeans):
    """Tail means of all models on a ranked score, and the models whose mean hides a tail risk."""

    def __init__(self, leader: Leader) -> None:
        """Read the tail means and hidden risks from the evidence of a leader."""
        worst = metric_means.worst_share(leader.study.dominance)
        super().__init__(leader.column, worst, leader.table.metrics)
        self._leader, self._risks = leader, leader.study.hidden_risks

    @cached_property
    def is_informative(self) -> bool:
        """True if the tail means differ, describe bad cases, and add information to the means."""
        return super().is_informative and not is_binary(self._leader.scores.values)

    @property
    def hidden_risks(self) -> list[int]:
        """Models whose mean hides a worse tail, the largest mean first."""
        if self._risks is None or not metric_means.is_bad_case_level(self.level):
            return []
        order = np.argsort(-self._risks.mean, kind="stable").tolist()
        return [i for i in order if self._risks.status[i] == RISK]

    def answer(self, rival: int) -> Answer:
        """Return the result of the test whether the rival's tail is worse than the leader's."""
        if not self._leader.rivals or not self.is_informative:
            return Answer.UNDECIDED
        return self._leader.study.compare_tail(self._leader.method, rival)[0]

    def describe(self, model: int, rival: int) -> str:
        """Describe two models' tail means: ``the worst 5 % average −4.7 against −1.0 for b``.

        `model` and `rival` are indices.
        """
        figures, sizes = self.format_comparison(model, rival), self._leader.format_sizes(model, rival)
        return f"the worst {self.tail_label} average {figures} for {self._leader.table.models[rival]}{sizes}"

    def milder_rival(self, model: int) -> int:
        """Return the index of the model whose milder tail makes `model` a hidden risk."""
        assert self._risks is not None
        return int(self._risks.against[model])


def marked_models(leader: Leader, means: Sequence[metric_means.MetricMeans]) -> Mapping[int, str]:
    """Return a warning for each model that needs attention, such as a hidden risk.

    Keys are model indices in rank order.
    """
    tail, models, reasons = leader.tail, leader.table.models, dict[int, str]()
    is_metric = leader.column in {mean.name for mean in means}
    worse = {comparison.worse: models[comparison.better] for comparison in reversed(leader.worse_tails)}
    ranks = leader.ranking.rank
    worst = metric_means.worst_everywhere(means) if len(means) > 1 else []
    on_metric = leader.tail_warning
    for i in leader.ranking.order.tolist():
        if i in worst and ranks[i] < len(models):
            on = f"by {leader.column}" if is_metric else "in the ranking"
            reasons[i] = f"worst on {metrics_phrase(len(means))}, yet {ordinal(int(ranks[i]))} {on}"
        elif i in tail.hidden_risks:
            mean, rival = "mean" if is_metric else "mean combined score", models[tail.milder_rival(i)]
            reasons[i] = (
                f"hidden risk: {rival} ranks higher with milder bad cases, although its {mean} is no better"
            )
        elif on_metric is not None and i == leader.first:
            reasons[i] = f"worse bad cases on {on_metric.metric_names} than {models[on_metric.rival]}"
        elif i in worse:
            reasons[i] = f"worse bad cases than {worse[i]}"
    return reasons


def format_marks(marks: Mapping[int, str], models: Sequence[str], limit: int) -> list[str]:
    """Format the warnings about models, with one line for each of the first `limit` models.

    A last line names all further models. `marks` has the warnings by model index.
    """
    lines = [f"{models[i]}: {reason}" for i, reason in [*marks.items()][:limit]]
    remaining = [models[i] for i in [*marks][limit:]]
    return [*lines, f"also marked: {join_names(remaining, len(remaining))}"] if remaining else lines


AGAINST = "another model beats the first in a direct comparison, on every metric, or in bad cases on a metric"
TRADED = "the first model is ahead, but another model has the better mean"
AHEAD = "the first model is significantly ahead of all others"
NOT_SHOWN = "the first model is not significantly ahead of all others"


@dataclass(frozen=True, kw_only=True)
class RankCase(Case):
    """Results from which the findings and sentences of a ranking are derived.

    Attributes
    ----------
    leaders : dict of str to Leader
    """

    leaders: Mapping[str, Leader]

    @property
    def leader(self) -> Leader:
        """Top model and its evidence on the first ranked score, which is usually the only one."""
        return next(iter(self.leaders.values()))

    @property
    def columns_by_state(self) -> Mapping[str, list[str]]:
        """Labels of the ranked scores, grouped by the evidence about their leader, the most severe first."""
        groups: dict[str, list[str]] = {AGAINST: [], TRADED: [], AHEAD: [], NOT_SHOWN: []}
        for name, leader in self.leaders.items():
            ahead = TRADED if leader.trade_offs else AHEAD
            state = AGAINST if leader.objection else ahead if leader.is_clear else NOT_SHOWN
            groups[state].append(self.column_label(name))
        return {state: columns for state, columns in groups.items() if columns}


def describe_interval(
    leader: Leader, pair: tuple[int, int], case: RankCase, template: str = " (difference {})"
) -> str:
    """Insert the interval of two models' mean difference into `template`, or return "" without one."""
    interval = leader.mean_interval(*pair)
    return template.format(case.means[0].format_interval(**interval)) if interval else ""


def strongest_metrics(strength: np.ndarray, count: int) -> list[int]:
    """Return the indices of the `count` metrics with the largest absolute strength, in descending order."""
    return np.argsort(-np.abs(strength), kind="stable")[:count].tolist()
