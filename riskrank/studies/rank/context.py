"""Results behind the findings of a ranking: tails, hidden risks, and intervals of differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.dominance.tail_contrasts import TailContrasts
from riskrank.engine.evidence.mean_differences import is_binary
from riskrank.engine.family import Answer
from riskrank.engine.types import Booleans
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.findings import Case
from riskrank.studies.metric_means import (
    MetricMeans,
    TailMeans,
    is_bad_case_level,
    robust_standard_error,
    worst_everywhere,
    worst_share,
)
from riskrank.studies.rank.leader import Leader
from riskrank.studies.targets import column_units
from riskrank.studies.wording import join_names, metrics_phrase, ordinal


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
    tail: TailMeans
    sizes: str = ""

    def describe(self, models: Sequence[str]) -> str:
        """Return the warning as text: ``worst 5 % on p average −41.2 against −3.9 for safe``."""
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


def tail_warning(leader: Leader, metrics: Sequence[MetricSpec]) -> TailWarning | None:
    """Return the warning about the leader's tail on a metric, or None.

    A warning is needed if the tail contradicts the leader, or if neither the combined score nor the metric's
    mean reveals it.
    """
    recommendation, tails = leader.recommendation, leader.metric_tails
    if recommendation is None or tails is None or recommendation.hidden_tails is None:
        return None
    if recommendation.confirmed:
        return _most_significant(leader, tails, leader.rivals, recommendation.hidden_tails, metrics)
    means = {*recommendation.leader.better, *recommendation.leader.ahead}
    rivals = [] if recommendation.rival in means else [recommendation.rival]
    return _most_significant(leader, tails, rivals, tails.milder, metrics)


def _most_significant(
    leader: Leader,
    tails: TailContrasts,
    rivals: Sequence[int],
    milder: Booleans,
    metrics: Sequence[MetricSpec],
) -> TailWarning | None:
    """Return the warning with the smallest p-value among k models and m metrics.

    The result is None if no rival's tail is significantly milder.

    Parameters
    ----------
    leader : Leader
    tails : TailContrasts
    rivals : sequence of int
    milder : ndarray of bool, shape (k, m)
        True if a model's tail on a metric is significantly milder than the leader's.
    metrics : sequence of MetricSpec
    """
    pairs = [(i, m) for i in rivals for m in np.flatnonzero(milder[i]).tolist()]
    if not pairs:
        return None
    i, m = min(pairs, key=lambda pair: tails.p_milder[pair])
    labels = [column_units(spec.name, metrics).label for spec in metrics]
    more_metrics = tuple(labels[at] for at in np.flatnonzero(milder[i]).tolist() if at != m)
    worst = tails.level, tails.tails[:, m], robust_standard_error(tails.replicates[:, :, m])
    tail = TailMeans(metrics[m].name, worst, metrics)
    sizes = leader.format_sizes(tails.reference, i)
    return TailWarning(tails.reference, i, labels[m], more_metrics, tail, sizes)


class ColumnTails(TailMeans):
    """Tail means of one score column, with its leader and hidden risks.

    Parameters
    ----------
    leader : Leader
    table : ScoreTable
    """

    def __init__(self, leader: Leader, table: ScoreTable) -> None:
        super().__init__(leader.column, worst_share(leader.study.dominance), table.metrics)
        self._study, self._models, self._sizes = leader.study, table.models, leader.format_sizes
        self._binary = is_binary(leader.scores.values)

    @property
    def is_informative(self) -> bool:
        """True if the tail means differ, describe bad cases, and add information to the means."""
        return super().is_informative and not self._binary

    @property
    def hidden_risks(self) -> list[int]:
        """Models whose mean hides a worse tail, the largest mean first."""
        risks = self._study.hidden_risks
        if risks is None or not is_bad_case_level(self.level):
            return []
        order = np.argsort(-risks.mean, kind="stable").tolist()
        return [i for i in order if risks.status[i] == RISK]

    def rank_by_mean(self, model: int) -> int:
        """Return a model's rank by its mean, or 0 if hidden risks were not analysed."""
        risks = self._study.hidden_risks
        return 0 if risks is None else int(risks.rank_by_mean[model])

    def tail_answer(self, leader: Leader, rival: int | None = None) -> Answer:
        """Return the answer of the test that the rival's tail is worse than the leader's.

        The default rival is the runner-up.
        """
        if not leader.rivals or not self.is_informative:
            return Answer.UNDECIDED
        return leader.study.compare_tail(leader.method, leader.rivals[0] if rival is None else rival)[0]

    def describe_risk(self, model: int) -> str:
        """Describe a model's hidden risk."""
        return self.describe(model, self.milder_rival(model))

    def describe(self, model: int, rival: int) -> str:
        """Describe the tail means of two models: ``the worst 5 % average −4.7 against −1.0 for b``."""
        figures, sizes = self.format_comparison(model, rival), self._sizes(model, rival)
        return f"the worst {self.tail_label} average {figures} for {self._models[rival]}{sizes}"

    def milder_rival(self, model: int) -> int:
        """Return the model with a milder tail with which a hidden risk is compared."""
        risks = self._study.hidden_risks
        assert risks is not None
        return int(risks.against[model])


def marked_models(leader: Leader, table: ScoreTable, means: Sequence[MetricMeans]) -> Mapping[int, str]:
    """Return the models that need attention and the reasons, in rank order."""
    tail, reasons = ColumnTails(leader, table), dict[int, str]()
    is_metric = leader.column in {mean.name for mean in means}
    worse = {comparison.worse: table.models[comparison.better] for comparison in reversed(leader.worse_tails)}
    places = leader.ranking.rank
    worst = worst_everywhere(means) if len(means) > 1 else []
    on_metric = tail_warning(leader, table.metrics)
    for i in leader.ranking.order.tolist():
        if i in worst and places[i] < len(table.models):
            on = f"by {leader.column}" if is_metric else "in the ranking"
            reasons[i] = f"worst on {metrics_phrase(len(means))}, yet {ordinal(int(places[i]))} {on}"
        elif i in tail.hidden_risks:
            mean, rival = "mean" if is_metric else "mean combined score", table.models[tail.milder_rival(i)]
            reasons[i] = f"hidden risk: {rival} ranks higher, has no better {mean}, and has milder bad cases"
        elif on_metric is not None and i == leader.first:
            reasons[i] = f"worse bad cases on {on_metric.metric_names} than {table.models[on_metric.rival]}"
        elif i in worse:
            reasons[i] = f"worse bad cases than {worse[i]}"
    return reasons


def list_marks(marks: Mapping[int, str], models: Sequence[str], limit: int) -> list[str]:
    """Return one line for each of the first `limit` marks, and one line for all remaining models."""
    lines = [f"{models[i]}: {reason}" for i, reason in [*marks.items()][:limit]]
    remaining = [models[i] for i in [*marks][limit:]]
    return [*lines, f"also marked: {join_names(remaining, len(remaining))}"] if remaining else lines


AGAINST = "another model beats the first head to head, on every metric, or in bad cases on a metric"
TRADED = "the first model is ahead, but another model has the better mean"
AHEAD = "the first model is significantly ahead of all others"
NOT_SHOWN = "the first model is not significantly ahead of all others"


@dataclass(frozen=True, kw_only=True)
class RankCase(Case):
    """Results from which the findings and sentences of a ranking are derived.

    Attributes
    ----------
    leaders : dict of str to Leader
    unique : bool
        True if the optimal aggregate order is unique.
    """

    leaders: Mapping[str, Leader]
    unique: bool = True

    @property
    def leader(self) -> Leader:
        """Leader of the first score column, usually the only one."""
        return next(iter(self.leaders.values()))

    @property
    def columns_by_state(self) -> Mapping[str, list[str]]:
        """Score columns grouped by the evidence about their leader, most severe first."""
        groups: dict[str, list[str]] = {AGAINST: [], TRADED: [], AHEAD: [], NOT_SHOWN: []}
        for name, leader in self.leaders.items():
            ahead = TRADED if leader.trade_offs else AHEAD
            state = AGAINST if leader.objection else ahead if leader.is_clear else NOT_SHOWN
            groups[state].append(self.column_label(name))
        return {state: columns for state, columns in groups.items() if columns}


def mean_difference(leader: Leader, pair: tuple[int, int], case: RankCase) -> dict[str, float]:
    """Return the difference between the means of two models, one of them the leader, with its interval."""
    to_first = leader.study.effects[leader.method].mean_difference
    units = column_units(leader.column, case.table.metrics)
    # The stored differences are model minus leader; negate them for a pair with the leader first.
    if pair[0] == leader.first:
        return units.figures(to_first.negated(), pair[1])
    return units.figures(to_first, pair[0])


def means_differ(leader: Leader, pair: tuple[int, int], case: RankCase) -> bool:
    """Return True if a single metric is ranked and the interval of the difference excludes 0."""
    figures = mean_difference(leader, pair, case)
    return len(case.means) == 1 and "low" in figures and (figures["low"] > 0 or figures["high"] < 0)


def separated_by_mean(leader: Leader, case: RankCase) -> tuple[int, ...]:
    """Return the model with the best mean and the tied models that have significantly worse means.

    Empty if the interval of no tied model's difference from the leader excludes 0, or if tests of the means
    are part of the claims.
    """
    if leader.tests is None or leader.tests.mean_test or leader.task_dependent:
        return ()
    tied = [i for i in leader.tied if means_differ(leader, (leader.first, i), case)]
    mean = leader.study.effects[leader.method].mean
    best = max(tied, key=lambda i: float(mean[i]), default=leader.first)
    if mean[best] > mean[leader.first]:
        return best, leader.first
    return (leader.first, *tied) if tied else ()


def has_uncertain_mean(leader: Leader, rival: int, case: RankCase) -> bool:
    """Return True if the interval of a rival's difference from the leader contains 0."""
    pair = leader.first, rival
    return bool(difference_interval(leader, pair, case)) and not means_differ(leader, pair, case)


def difference_interval(leader: Leader, pair: tuple[int, int], case: RankCase) -> dict[str, float]:
    """Return the interval of the difference in the metric's units, or an empty dict for a combined score."""
    if column_units(leader.column, case.table.metrics).label != case.means[0].name:
        return {}
    figures = mean_difference(leader, pair, case)
    return {name: value for name, value in figures.items() if name != "difference"}


def describe_interval(
    leader: Leader, pair: tuple[int, int], case: RankCase, template: str = " (difference {})"
) -> str:
    """Format the interval of the difference, or return an empty string if there is none."""
    interval = difference_interval(leader, pair, case)
    return template.format(case.means[0].format_interval(**interval)) if interval else ""


def strongest_metrics(strength: np.ndarray, count: int) -> list[int]:
    """Return the indices of the `count` largest absolute values, in descending order."""
    return np.argsort(-np.abs(strength), kind="stable")[:count].tolist()
