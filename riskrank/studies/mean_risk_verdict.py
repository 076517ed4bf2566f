"""What mean-risk models mean for a decision, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.portfolio.mean_risk_intervals import MeanRiskStudy
from riskrank.engine.portfolio.risks import RiskColumn
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.wording import interval, names, number, percent, unseen_in


def mrm_verdict(
    by_column: Sequence[tuple[str, MeanRiskStudy]],
    models: Sequence[str],
    scores: ClusteredScores,
    *,
    confidence: float,
) -> str:
    """Who comes first by the consistent risks together, whether single risks agree, and by how much.

    Parameters
    ----------
    by_column : sequence of (str, MeanRiskStudy)
    models : sequence of str
    scores : ClusteredScores
        Of one column: they all have the same samples.
    confidence : float
        Of the intervals.
    """
    sentences: list[str] = []
    for name, study in by_column:
        sentences.append(_first(name, study, models))
        sentences += _gain(study, models, confidence)
    return " ".join([*sentences, unseen_in(scores)])


def _order(study: MeanRiskStudy) -> list[int]:
    if study.aggregation is None:
        return study.models.order(0).tolist()
    return study.aggregation.order.tolist()


def _first(name: str, study: MeanRiskStudy, models: Sequence[str]) -> str:
    rank, columns = study.models.rank, study.models.columns
    leader = _order(study)[0]
    firsts = {int(i) for at in range(len(columns)) for i in np.flatnonzero(rank[:, at] == 1)}
    if study.aggregation is None:
        by, equal = columns[0].risk.name, [int(i) for i in np.flatnonzero(rank[:, 0] == 1)]
    else:
        by, equal = "by all consistent risks together", _tied(study)
    rivals = [i for i in equal if i != leader]
    others = sorted(models[i] for i in firsts - {leader, *rivals})
    if others:
        agree = f"; by single risks {names(others)} would"
    else:
        agree = ", as by every single risk" if not rivals else ""
    if not rivals:
        return f"On {name}, {models[leader]} comes first by mean minus risk, {by}{_orders(study)}{agree}."
    tied = names([models[i] for i in [leader, *rivals]])
    return f"On {name}, {tied} tie for the first place by mean minus risk, {by}{_split(study, equal)}{agree}."


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


def _gain(study: MeanRiskStudy, models: Sequence[str], confidence: float) -> Iterator[str]:
    """Mean minus the first consistent risk: of the leader, of the next, and whose intervals overlap."""
    consistent = np.flatnonzero(study.models.ssd_consistent)
    at = int(consistent[0]) if len(consistent) else 0
    order, value = _order(study), study.models.value[:, at]
    leader, following = order[0], order[1]
    lead = float(value[leader] - value[following])
    ends = overlap = ""
    if study.value_low is not None and study.value_high is not None:
        low, high = study.value_low[:, at], study.value_high[:, at]
        ends = f" ({percent(confidence)} interval {interval(float(low[leader]), float(high[leader]))})"
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
