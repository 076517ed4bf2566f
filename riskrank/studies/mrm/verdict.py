"""What mean-risk models mean for a decision, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.portfolio.mean_risk_intervals import MeanRiskStudy
from riskrank.engine.portfolio.risks import RiskColumn
from riskrank.studies.judged.chapter import JudgedChapter
from riskrank.studies.judged.chapter import sentences as judge_worth
from riskrank.studies.metric_means import MetricMeans, best_of, better_elsewhere, worst_everywhere
from riskrank.studies.said import Said, assuming, fitting
from riskrank.studies.wording import all_metrics, interval, names, number, percent


@dataclass(frozen=True)
class MeanRiskCase:
    """What sentences are made from.

    Attributes
    ----------
    by_column : sequence of (str, MeanRiskStudy)
    means : sequence of MetricMeans
    models : sequence of str
    aggregations : dict of str to Aggregation
    confidence : float
        Of the intervals.
    judged : JudgedChapter or None
    """

    by_column: Sequence[tuple[str, MeanRiskStudy]]
    means: Sequence[MetricMeans]
    models: Sequence[str]
    aggregations: Mapping[str, Aggregation]
    confidence: float
    judged: JudgedChapter | None = None

    def mean_of(self, name: str) -> MetricMeans | None:
        """Raw means of a column that is a metric."""
        return next((mean for mean in self.means if mean.name == name), None)

    def score(self, name: str) -> str:
        """What a column of scores is called in a sentence."""
        return "the combined score" if self.mean_of(name) is None else name


def mrm_verdict(case: MeanRiskCase) -> Said:
    """Who comes first by the consistent risks together, and whether single risks and raw means agree.

    Parameters
    ----------
    case : MeanRiskCase

    Returns
    -------
    Said
    """
    untested = "No difference was tested here; rank does that."
    gains = [sentence for _, study in case.by_column for sentence in _gain(study, case)]
    if len(case.by_column) > 1:
        head = [*_together(case)]
    else:
        name, study = case.by_column[0]
        head = [_first(name, study, case), *_doubts(name, study, case)]
    head[0] = assuming(case.means, case.judged) + head[0]
    found = fitting([head[0], *judge_worth(case.judged), *head[1:], untested])
    # What a single measure of risk says takes its name to be understood, so that it is for who asks.
    return Said(found.verdict, (*found.more, *gains))


def order_of(study: MeanRiskStudy) -> list[int]:
    """Models from first to last by the consistent risks together, or by the only ones there are."""
    if study.aggregation is None:
        return study.models.order(0).tolist()
    return study.aggregation.order.tolist()


def _first(name: str, study: MeanRiskStudy, case: MeanRiskCase) -> str:
    rank, columns, models = study.models.rank, study.models.columns, case.models
    leader = order_of(study)[0]
    if study.aggregation is None:
        by, equal = f"by {columns[0].risk.name}", [int(i) for i in np.flatnonzero(rank[:, 0] == 1)]
    else:
        by, equal = f"by {_measures(study)}", _tied(study)
    rivals = [i for i in equal if i != leader]
    # Whom one of these shares a first place with does not come first in its stead.
    behind = (rank[[leader, *rivals]] > 1).all(axis=0)
    others = sorted(models[i] for i in np.flatnonzero((rank[:, behind] == 1).any(axis=1)).tolist())
    agree = f"; by single measures {names(others)} would come first" if others else ""
    if not agree and not rivals and len(columns) > 1:
        agree = ", as by every single one"
    on = f"on {case.score(name)} by mean minus risk"
    if not rivals:
        return f"{models[leader]} comes first {on}, {by}{_orders(study)}{agree}."
    tied = names([models[i] for i in [leader, *rivals]])
    return f"{tied} tie for the first place {on}, {by}{_split(study, equal)}{agree}."


def _measures(study: MeanRiskStudy) -> str:
    count = int(study.models.ssd_consistent.sum())
    return "one measure of risk" if count == 1 else f"{count} measures of risk together"


def _doubts(name: str, study: MeanRiskStudy, case: MeanRiskCase) -> Iterator[str]:
    """What raw means say against the first."""
    first, mean = order_of(study)[0], case.mean_of(name)
    if mean is None:
        if first in worst_everywhere(case.means) and len(case.means) > 1:
            yield f"But {case.models[first]}'s mean is the worst of all on {all_metrics(len(case.means))}."
        yield from better_elsewhere(case.means, first, case.models)
        return
    best = best_of(mean)
    if mean.of(best) != mean.of(first):
        yield f"{case.models[best]} has the best mean, {mean.against(best, first)}."


def _together(case: MeanRiskCase) -> Iterator[str]:
    """Of several columns: who comes first where, and over all metrics."""
    where: dict[int, list[str]] = {}
    for name, study in case.by_column:
        where.setdefault(order_of(study)[0], []).append(case.score(name))
    parts = [f"{case.models[i]} on {names(on, 6)}" for i, on in where.items()]
    if len(parts) == 1:
        on = names(next(iter(where.values())), 6)
        yield f"By mean minus risk {case.models[next(iter(where))]} comes first on each of {on}."
    else:
        yield f"By mean minus risk no model comes first everywhere: {names(parts, 6)}."
    overall = case.aggregations.get("RA(MRM@M)")
    if overall is not None:
        doubt = "" if overall.unique else ", though other orders fit as well"
        yield f"Over all metrics together {case.models[overall.order[0]]} comes first{doubt}."


def _tied(study: MeanRiskStudy) -> list[int]:
    """Models that come first in some order that fits the consistent risks best, as far as those are known."""
    assert study.aggregation is not None
    leader, optima = int(study.aggregation.order[0]), study.aggregation.optima or ()
    rank = study.models.rank
    same = {int(i) for i in np.flatnonzero((rank == rank[leader]).all(axis=1))}
    return [leader, *sorted({optimum[0] for optimum in optima} | same - {leader})]


def _split(study: MeanRiskStudy, equal: Sequence[int]) -> str:
    """Under how many consistent risks each of those that tie comes first."""
    if study.aggregation is None:
        return ""
    consistent = study.models.rank[:, study.models.ssd_consistent]
    counts = [int((consistent[i] == 1).sum()) for i in dict.fromkeys(equal)]
    of = consistent.shape[1]
    if len(set(counts)) == 1:
        return f" (each is first under {counts[0]} of {of})"
    return f" (first under {names([str(count) for count in counts])} of {of})"


def _orders(study: MeanRiskStudy) -> str:
    """Whether other orders of the rest fit the consistent risks as well."""
    if study.aggregation is None or study.aggregation.unique:
        return ""
    count = study.aggregation.optima_count
    return (
        " (other orders fit them as well)" if count is None else f" ({count:,} orders fit them equally well)"
    )


def _gain(study: MeanRiskStudy, case: MeanRiskCase) -> Iterator[str]:
    """Mean minus the first consistent risk: of the leader, of the next, and whose intervals overlap."""
    consistent = np.flatnonzero(study.models.ssd_consistent)
    at = int(consistent[0]) if len(consistent) else 0
    models, order, value = case.models, order_of(study), study.models.value[:, at]
    leader, following = order[0], order[1]
    lead = float(value[leader] - value[following])
    ends = overlap = ""
    if study.value_low is not None and study.value_high is not None:
        low, high = study.value_low[:, at], study.value_high[:, at]
        ends = f" ({percent(case.confidence)} interval {interval(float(low[leader]), float(high[leader]))})"
        near = [models[i] for i in order[1:] if low[i] <= high[leader] and high[i] >= low[leader]]
        which = "that" if len(near) == 1 else "those"
        overlap = (
            f"; its interval overlaps with {which} of {names(near)}, which does not tell them apart (rank "
            "tests the differences)"
            if near
            else "; no other interval overlaps with its own"
        )
    beside = f"{number(abs(lead))} {'more' if lead >= 0 else 'less'} than {models[following]}, the next"
    if lead == 0:
        beside = f"the same as that of {models[following]}, the next"
    risk = _words(study.models.columns[at])
    own = number(float(value[leader]))
    yield f"{models[leader]}'s mean minus risk by {risk} is {own}{ends}, {beside}{overlap}."


def _words(column: RiskColumn) -> str:
    return column.risk.name if column.level is None else f"{column.risk.name} at {column.level:g}"
