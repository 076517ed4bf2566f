"""The document of ``rank``: one row per method and model, with the results of tests and resampling."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import kendall_tau
from riskrank.engine.dominance.contrasts import TailContrasts
from riskrank.engine.dominance.hidden_risk import NONE
from riskrank.engine.dominance.method_rankings import MethodStudy, Stability
from riskrank.engine.dominance.ranking import Ranking
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.judges import judged_tail_means
from riskrank.engine.portfolio.summary import Summary, summarise_curves
from riskrank.engine.sampling.design import FEW_SAMPLES
from riskrank.engine.types import Floats, Integers
from riskrank.studies.groups.study import Standing
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.leader import Leader
from riskrank.studies.settings import describe_aggregation
from riskrank.studies.targets import Units
from riskrank.studies.tested_document import TestedDocument

CLEAR, TIED, DISAGREEMENT, FEW, TRADE = "clear", "tied", "disagreement", "too few samples", "trade"
NOT_DECIDED, NOT_TESTED, DOUBTFUL = "not decided", "not tested", "doubtful labels"

# Explanation of each certainty.
MEANING = {
    CLEAR: "the first model is significantly better than every other model",
    TIED: "no model is significantly better than all others: collect more samples before shipping one",
    DISAGREEMENT: "the tests disagree on the best model",
    TRADE: "there are significant differences, but the best model depends on your priorities",
    FEW: f"fewer than {FEW_SAMPLES} samples cannot show which model is best: collect more",
    NOT_DECIDED: "more resamples are needed to decide whether the first model is ahead",
    NOT_TESTED: "the order describes these samples only; nothing was tested",
    DOUBTFUL: "the first model is ahead if the labels are a random sample, but they do not look random",
}


def certainty(leaders: Collection[Leader]) -> str:
    """Return a label for how certain the best model is, such as "clear" or "tied"; see ``MEANING``.

    Parameters
    ----------
    leaders : collection of Leader
        One leader per score column, or empty if only aggregated ranks are reported, which are not tested.

    Returns
    -------
    str
    """
    if not leaders or not all(leader.tested for leader in leaders):
        return NOT_TESTED
    contradicted = any(leader.objection for leader in leaders)
    # Candidates for the best model by each column. Without a common candidate, the columns disagree.
    candidates = [{leader.first, *leader.identical, *leader.tied, *leader.undecided} for leader in leaders]
    if contradicted or not set.intersection(*candidates):
        return DISAGREEMENT
    if any((leader.tied and not leader.trade_offs) or not leader.rivals for leader in leaders):
        few = min(leader.scores.min_effective_size for leader in leaders) < FEW_SAMPLES
        return FEW if few else TIED
    if any(leader.undecided or leader.undecided_tails for leader in leaders):
        return NOT_DECIDED
    if any(leader.trade_offs for leader in leaders):
        return TRADE
    return CLEAR if all(leader.random_labels for leader in leaders) else DOUBTFUL


@dataclass(frozen=True, slots=True)
class RankRow:
    """Rank, mean and tail mean of one model, as ranked by one method.

    ``rank_low`` and ``rank_high`` are the limits of its simultaneous rank set. ``mean``, ``tvar`` (the tail
    mean) and the difference from the method's first model are in the units of the file. For a combined score,
    they are in its own units. ``group`` is None for all samples together.
    """

    method: str
    model: str
    rank: int
    rank_low: int | None
    rank_high: int | None
    wins: int | None
    losses: int | None
    tier: int | None
    score: float
    mean: float | None
    tvar: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    decided: bool | None
    group: str | None = None


# Row fields copied from the arrays of a ranking with the same names.
PLACES = ("rank", "rank_low", "rank_high", "wins", "losses", "tier", "score")


@dataclass(frozen=True, kw_only=True)
class RankDocument(TestedDocument[RankRow], schema="rank"):
    """Rankings by one or more methods.

    Attributes
    ----------
    study : MethodStudy
    stability : Stability or None
    units : dict of str to Units
        Units of the ranked score columns and of every metric.
    leaders : dict of str to Leader
        Leaders by score column.
    methods_chosen : bool
        True if the user selected methods, which are then shown side by side.
    top : int or None
        Number of models to show per method, or None for the default.
    """

    study: MethodStudy
    stability: Stability | None
    units: Mapping[str, Units]
    leaders: Mapping[str, Leader]
    methods_chosen: bool
    top: int | None

    @property
    def question(self) -> str:
        """Question that the document answers."""
        return f"Which of {len(self.model_names)} models is best?"

    @property
    def certainty(self) -> str:
        """Label for how certain the best model is, as a key of ``MEANING``."""
        return certainty(self.leaders.values())

    @property
    def meaning(self) -> str:
        """Explanation of the label in `certainty`."""
        return MEANING[self.certainty]

    @property
    def leader(self) -> Leader:
        """Top model and its evidence on the first ranked score, which is usually the only one."""
        return next(iter(self.leaders.values()))

    def meta(self) -> Mapping[str, Any]:
        """Return entries for the JSON object ``meta``, such as certainty, hidden risks and stability."""
        models = self.provenance.models
        return {
            "certainty": self.certainty,
            "recommendations": [*recommendation_entries(self.leaders, models, self.units, self.means)],
            "separation": [*separation_entries(self.study)],
            "hidden_risks": [*hidden_risk_entries(self.study, models, self.units)],
            "aggregations": [
                describe_aggregation(name, order, models) for name, order in self.study.aggregations.items()
            ],
            "agreement": {"methods": list(self.study.rankings), "kendall_tau": self.study.agreement.tolist()},
            "stability": None if self.stability is None else [*stability_entries(self.stability)],
            **super().meta(),
        }

    def agreement_with(self, reference: Ranking) -> Iterator[float]:
        """Yield Kendall's tau between each method's ranking and a reference ranking."""
        for other in self.study.rankings.values():
            yield float(kendall_tau(np.array([other.positions, reference.positions]))[0, 1])

    def pair_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a dictionary of test results for each method and ordered pair of models.

        Second-order dominance comes first. Methods without tests are skipped.
        """
        models = self.provenance.models
        for method, tests in tests_by_method(self).items():
            if tests is None or tests.p_value is None or tests.p_adjusted is None:
                continue
            for i, j in permutations(range(len(models)), 2):
                yield {
                    "method": method,
                    "better": models[i],
                    "worse": models[j],
                    "p_value": float(tests.p_value[i, j]),
                    "p_adjusted": float(tests.p_adjusted[i, j]),
                    "significant": bool(tests.dominates[i, j]),
                }

    def curves(self, column: str) -> Summary:
        """Return the quantile functions and tail means of all models on one ranked score.

        `column` is the name of a metric or a combined score. For calibrated judge scores, the tail means are
        the estimates that the tests use.
        """
        scores = self.study.columns[column]
        summary = summarise_curves(scores.values, scores.weights)
        if not scores.judged:
            return summary
        return replace(summary, tail_values=judged_tail_means(scores, np.array(summary.levels)))


def tests_by_method(document: RankDocument) -> dict[str, DominanceTests | None]:
    """Return the tests behind each ranking by method name, second-order dominance first.

    The tests are None for untested methods.
    """
    tests: dict[str, DominanceTests | None] = {}
    for method in sorted(document.study.rankings, key=lambda name: not name.startswith("R-SSD")):
        statistic, _, scope = method.partition("@")
        study = document.study.studies.get(scope) if document.inference.test else None
        tests[method] = None if study is None else study.tests_for(statistic)
    return tests


def standings(document: RankDocument) -> dict[str, Standing]:
    """Return each method's scores, significant wins and p-values, by method name.

    Wins and p-values are None for untested methods.
    """
    rankings = {}
    for method, tests in tests_by_method(document).items():
        scores = -document.study.rankings[method].rank
        beats, p = (None, None) if tests is None else (tests.dominates, tests.p_value)
        rankings[method] = Standing(scores, beats, p, document.inference.family)
    return rankings


@dataclass(frozen=True)
class TradeOff:
    """Differences between two models on m metrics, for plotting.

    Attributes
    ----------
    pair : (int, int)
    difference, error : ndarray, shape (m,)
        Mean of the first model minus mean of the second, larger is better, and its standard error.
    side : ndarray of int, shape (m,)
        1 if the first model is significantly better, −1 if the second is, 0 if undecided.
    """

    pair: tuple[int, int]
    difference: Floats
    error: Floats
    side: Integers


def trade_off(document: RankDocument) -> TradeOff | None:
    """Return the differences on all metrics between the two models that the verdict compares.

    Returns
    -------
    TradeOff or None
        None for a single metric, several ranked scores, or an untested ranking.
    """
    if len(document.means) < 2 or len(document.leaders) != 1:
        return None
    leader = document.leader
    if leader.recommendation is None or not leader.rivals:
        return None
    contrasts, (first, second) = leader.contrasts, leader.pair
    # The reference of the contrasts is the leader, which may be the second of the pair.
    at, sign = (second, -1) if contrasts.reference == first else (first, 1)
    difference, side = sign * contrasts.difference[at], sign * contrasts.answers.side[at]
    return TradeOff((first, second), difference, contrasts.error[at], side)


def separation_entries(study: MethodStudy) -> Iterator[dict[str, Any]]:
    """Yield a dictionary for each method with its number of significantly different pairs of models."""
    for metric, column in study.studies.items():
        for name, separation in column.separations.items():
            if f"{name}@{metric}" in study.rankings:
                yield {"method": f"{name}@{metric}"} | vars(separation)


def recommendation_entries(
    leaders: Mapping[str, Leader],
    models: Sequence[str],
    units: Mapping[str, Units],
    means: Sequence[MetricMeans],
) -> Iterator[dict[str, Any]]:
    """Yield a JSON object on the top model by each ranked score, with the evidence for and against it.

    Parameters
    ----------
    leaders : mapping of str to Leader
        Leaders by ranked score.
    models : sequence of str
    units : mapping of str to Units
        Units by metric.
    means : sequence of MetricMeans
        Means of all models on every metric.
    """

    def worse_tails(tails: TailContrasts) -> Iterator[dict[str, Any]]:
        """Yield a JSON object for each metric and model with a significantly milder tail."""
        for i, m in np.argwhere(tails.milder).tolist():
            values = units[means[m].name].to_file_units(tails.tails[:, m])
            yield {
                "metric": means[m].name,
                "against": models[i],
                "level": tails.level,
                "tvar": values[tails.reference].item(),
                "against_tvar": values[i].item(),
                "p_adjusted": tails.p_milder[i, m].item(),
            }

    for name, leader in leaders.items():
        recommendation = leader.recommendation
        if recommendation is None:
            continue
        yield {
            "method": f"{leader.method}@{name}",
            "leader": models[leader.first],
            "holds": recommendation.confirmed,
            "ahead_head_to_head": [models[i] for i in recommendation.leader.ahead],
            "not_decided_head_to_head": [models[i] for i in recommendation.leader.undecided],
            "better_on_every_metric": [models[i] for i in recommendation.leader.better],
            "worse_on_every_metric": [models[i] for i in recommendation.leader.worse],
            "milder_on_a_metric": [models[i] for i in recommendation.leader.milder],
            "not_decided_on_a_metric": [models[i] for i in leader.undecided_tails],
            "worse_tails": [*worse_tails(tails)] if (tails := recommendation.leader.tails) else [],
            "recommendation": models[leader.recommended_leader[0]] if leader.recommended_leader else None,
            "trade": [models[i] for i in leader.trade_offs],
            "choice": None if recommendation.alternative is None else models[recommendation.alternative],
            "unbeaten": [models[i] for i in recommendation.unbeaten],
            "deciding_metrics": [means[m].name for m in recommendation.deciding],
            "first_by_metrics": None
            if recommendation.first_by_metrics is None
            else models[recommendation.first_by_metrics],
            "first_without": recommendation.first_without
            and {models[excluded]: models[first] for excluded, first in recommendation.first_without.items()},
        }


def hidden_risk_entries(
    study: MethodStudy, models: Sequence[str], units: Mapping[str, Units]
) -> Iterator[dict[str, Any]]:
    """Yield a JSON object with the test result for each model whose tail is worse than its mean suggests.

    `units` has the units by ranked score.
    """
    for metric, column in study.studies.items():
        risks = column.hidden_risks
        if risks is None:
            continue
        mean, tail = units[metric].to_file_units(risks.mean), units[metric].to_file_units(risks.tail_mean)
        for i in np.flatnonzero(risks.status != NONE).tolist():
            rival = int(risks.against[i])
            yield {
                "metric": metric,
                "model": models[i],
                "status": str(risks.status[i]),
                "mean": mean[i].item(),
                "tvar": tail[i].item(),
                "level": column.dominance.estimates.tail_level,
                "against": models[rival],
                "against_mean": mean[rival].item(),
                "against_tvar": tail[rival].item(),
                "p_adjusted": risks.p_adjusted[i].item(),
                "decided": bool(risks.decided[i]),
            }


def stability_entries(stability: Stability) -> Iterator[dict[str, Any]]:
    """Yield a JSON object for each method and subsample size: Kendall's tau with the full-sample ranking."""
    mean, sd = stability.mean, stability.sd
    for m, method in enumerate(stability.methods):
        for s, size in enumerate(stability.sizes):
            yield {
                "method": method,
                "size": size,
                "kendall_tau_mean": float(mean[m, s]),
                "kendall_tau_sd": float(sd[m, s]),
                "repeats": stability.repeats,
            }
