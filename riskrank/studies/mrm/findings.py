"""What mean-risk models find, the gravest first, and how each kind of finding is said."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.portfolio.mean_risk_intervals import MeanRiskStudy
from riskrank.studies.findings import Case, Finding, Sentences, better_means
from riskrank.studies.metric_means import worst_everywhere
from riskrank.studies.wording import all_metrics, interval, names, number, percent


@dataclass(frozen=True, kw_only=True)
class MeanRiskCase(Case):
    """What sentences are made from.

    Attributes
    ----------
    studies : dict of str to MeanRiskStudy
        By column of scores.
    aggregations : dict of str to Aggregation
    """

    studies: Mapping[str, MeanRiskStudy]
    aggregations: Mapping[str, Aggregation]


def mrm_findings(case: MeanRiskCase) -> list[Finding]:
    """Who comes first by the consistent risks together, and whether single risks and raw means agree.

    Parameters
    ----------
    case : MeanRiskCase

    Returns
    -------
    list of Finding
        At least one.
    """
    first, *others = case.columns
    answer = case.same or (_together(case) if others else _first(case, first))
    level = {"confidence": case.family.confidence}
    gains = [
        Finding("gain", tuple(order_of(study)[:2]), on=name, figures=_lead(study) | level)
        for name, study in case.studies.items()
    ]
    return [*answer, *case.beside, *gains]


def order_of(study: MeanRiskStudy) -> list[int]:
    """Models from first to last by the consistent risks together, or by the only ones there are."""
    if study.aggregation is None:
        return study.models.order(0).tolist()
    return study.aggregation.order.tolist()


def _together(case: MeanRiskCase) -> Iterator[Finding]:
    """Of several columns: who comes first where, and over all metrics."""
    firsts = tuple(dict.fromkeys(order_of(study)[0] for study in case.studies.values()))
    yield Finding("first-on-each" if len(firsts) == 1 else "first-here-and-there", firsts)
    overall = case.aggregations.get("RA(MRM@M)")
    if overall is not None:
        yield Finding("over-all-metrics", (int(overall.order[0]),))


def _first(case: MeanRiskCase, column: str) -> Iterator[Finding]:
    """Who comes first, and what raw means say against it."""
    study = case.studies[column]
    first, rivals = order_of(study)[0], [i for i in _equal(study) if i != order_of(study)[0]]
    figures = {} if study.aggregation is None else {"measures": int(study.models.ssd_consistent.sum())}
    yield Finding("tie" if rivals else "first", (first, *rivals), on=column, figures=figures)
    if case.mean_of(column) is None and first in worst_everywhere(case.means) and len(case.means) > 1:
        yield Finding("worst-on-every-metric", (first,))
    yield from better_means(case, column, first)


def _equal(study: MeanRiskStudy) -> list[int]:
    """Models that come first in some order that fits the consistent risks best, as far as those are known."""
    rank = study.models.rank
    if study.aggregation is None:
        return [int(i) for i in np.flatnonzero(rank[:, 0] == 1)]
    leader, optima = int(study.aggregation.order[0]), study.aggregation.optima or ()
    same = {int(i) for i in np.flatnonzero((rank == rank[leader]).all(axis=1))}
    return [leader, *sorted({optimum[0] for optimum in optima} | same - {leader})]


def _consistent(study: MeanRiskStudy) -> int:
    """The first consistent risk, by number, or the first there is."""
    return int(np.argmax(study.models.ssd_consistent))


def _lead(study: MeanRiskStudy) -> dict[str, float]:
    """Mean minus the first consistent risk, of the leader, with its interval, and of the next."""
    at, (leader, following) = _consistent(study), order_of(study)[:2]
    value, against = study.models.value[[leader, following], at]
    found = {"value": value, "against": against, "difference": value - against}
    if study.value_low is not None and study.value_high is not None:
        ends = (study.value_low[leader, at], study.value_high[leader, at])
        found |= dict(zip(("value_low", "value_high"), ends, strict=True))
    return {name: float(value) for name, value in found.items()}


def _who(finding: Finding, case: MeanRiskCase) -> str:
    study, models = case.studies[finding.on], case.models
    rank, columns = study.models.rank, study.models.columns
    count, found = int(study.models.ssd_consistent.sum()), study.aggregation
    by = f"{count} measures of risk together" if count > 1 else columns[_consistent(study)].risk.name
    also = "" if found is None or found.unique else " (other orders fit them as well)"
    # Whom one of these shares a first place with does not come first in its stead.
    behind = (rank[[*finding.models]] > 1).all(axis=0)
    others = sorted(models[i] for i in np.flatnonzero((rank[:, behind] == 1).any(axis=1)).tolist())
    agree = f"; by single measures {names(others)} would come first" if others else ""
    if not agree and finding.kind == "first" and len(columns) > 1:
        agree = ", as by every single one"
    on = f"on {case.score(finding.on)} by mean minus risk"
    who = names([models[i] for i in finding.models])
    comes = "comes first" if finding.kind == "first" else "tie for the first place"
    return f"{who} {comes} {on}, by {by}{also}{agree}."


def _on_columns(finding: Finding, case: MeanRiskCase) -> str:
    where: dict[int, list[str]] = {}
    for name, study in case.studies.items():
        where.setdefault(order_of(study)[0], []).append(case.score(name))
    if finding.kind == "first-on-each":
        first = finding.models[0]
        return f"By mean minus risk {case.models[first]} comes first on each of {names(where[first], 6)}."
    parts = [f"{case.models[i]} on {names(on, 6)}" for i, on in where.items()]
    return f"By mean minus risk no model comes first everywhere: {names(parts, 6)}."


def _over_all(finding: Finding, case: MeanRiskCase) -> str:
    doubt = "" if case.aggregations["RA(MRM@M)"].unique else ", though other orders fit as well"
    return f"Over all metrics together {case.models[finding.models[0]]} comes first{doubt}."


def _gain(finding: Finding, case: MeanRiskCase) -> str:
    """Mean minus the first consistent risk, of the leader and of the next."""
    study, models = case.studies[finding.on], case.models
    (leader, following), at = finding.models, _consistent(study)
    own, lead = finding.figures["value"], finding.figures["value"] - finding.figures["against"]
    ends = ""
    if "value_low" in finding.figures:
        span = interval(finding.figures["value_low"], finding.figures["value_high"])
        ends = f" ({percent(case.family.confidence)} interval {span})"
    beside = f"{number(abs(lead))} {'more' if lead >= 0 else 'less'} than" if lead else "the same as that of"
    column = study.models.columns[at]
    risk = column.risk.name if column.level is None else f"{column.risk.name} at {column.level:g}"
    gain = f"{models[leader]}'s mean minus risk by {risk} is {number(own)}{ends}"
    return f"{gain}, {beside} {models[following]}, the next."


SENTENCES: Sentences[MeanRiskCase] = Sentences(
    {
        "first": _who,
        "tie": _who,
        "first-on-each": _on_columns,
        "first-here-and-there": _on_columns,
        "over-all-metrics": _over_all,
        "worst-on-every-metric": lambda finding, case: (
            f"But {case.models[finding.models[0]]}'s mean is the worst of all on "
            f"{all_metrics(len(case.means))}."
        ),
        "nothing-tested": lambda _, _case: "No difference was tested here; rank does that.",
        "gain": _gain,
    },
    # What a single measure of risk says takes its name to be understood.
    aside=("gain",),
)
"""How each kind of finding is said."""
