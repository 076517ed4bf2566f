"""Findings of mean-risk models, and the sentence of each kind of finding."""

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
    """Data for findings and their sentences.

    Attributes
    ----------
    studies : dict of str to MeanRiskStudy
        Studies by column of scores.
    aggregations : dict of str to Aggregation
    """

    studies: Mapping[str, MeanRiskStudy]
    aggregations: Mapping[str, Aggregation]


def mrm_findings(case: MeanRiskCase) -> list[Finding]:
    """Return the findings, the most important first: leaders, and disagreement of single risks or raw means.

    Parameters
    ----------
    case : MeanRiskCase

    Returns
    -------
    list of Finding
        At least one finding.
    """
    first, *other_columns = case.columns
    answer = case.same or (_findings_across_columns(case) if other_columns else _first_findings(case, first))
    level = {"confidence": case.family.confidence}
    gains = [
        Finding("gain", tuple(model_order(study)[:2]), on=name, figures=_lead_figures(study) | level)
        for name, study in case.studies.items()
    ]
    return [*answer, *case.beside, *gains]


def model_order(study: MeanRiskStudy) -> list[int]:
    """Return the models from first to last by the aggregated consistent risks, or by the only risk."""
    if study.aggregation is None:
        return study.models.order(0).tolist()
    return study.aggregation.order.tolist()


def _findings_across_columns(case: MeanRiskCase) -> Iterator[Finding]:
    """Yield the findings for several columns: the leader of each column, and over all metrics."""
    firsts = tuple(dict.fromkeys(model_order(study)[0] for study in case.studies.values()))
    yield Finding("first-on-each" if len(firsts) == 1 else "first-here-and-there", firsts)
    overall = case.aggregations.get("RA(MRM@M)")
    if overall is not None:
        yield Finding("over-all-metrics", (int(overall.order[0]),))


def _first_findings(case: MeanRiskCase, column: str) -> Iterator[Finding]:
    """Yield the leader on one column, and raw means that contradict it."""
    study = case.studies[column]
    first, rivals = model_order(study)[0], [i for i in _tied_first(study) if i != model_order(study)[0]]
    figures = {} if study.aggregation is None else {"measures": int(study.models.ssd_consistent.sum())}
    yield Finding("tie" if rivals else "first", (first, *rivals), on=column, figures=figures)
    if case.mean_of(column) is None and first in worst_everywhere(case.means) and len(case.means) > 1:
        yield Finding("worst-on-every-metric", (first,))
    yield from better_means(case, column, first)


def _tied_first(study: MeanRiskStudy) -> list[int]:
    """Return the models that are first in some optimal aggregate order, among the known ones."""
    rank = study.models.rank
    if study.aggregation is None:
        return [int(i) for i in np.flatnonzero(rank[:, 0] == 1)]
    leader, optima = int(study.aggregation.order[0]), study.aggregation.optima or ()
    same = {int(i) for i in np.flatnonzero((rank == rank[leader]).all(axis=1))}
    return [leader, *sorted({optimum[0] for optimum in optima} | same - {leader})]


def _first_consistent(study: MeanRiskStudy) -> int:
    """Return the number of the first consistent risk, or 0 if there is none."""
    return int(np.argmax(study.models.ssd_consistent))


def _lead_figures(study: MeanRiskStudy) -> dict[str, float]:
    """Return the mean minus the first consistent risk of the leader (with interval) and the runner-up."""
    measure, (leader, following) = _first_consistent(study), model_order(study)[:2]
    value, against = study.models.value[[leader, following], measure]
    figures = {"value": value, "against": against, "difference": value - against}
    if study.value_low is not None and study.value_high is not None:
        bounds = (study.value_low[leader, measure], study.value_high[leader, measure])
        figures |= dict(zip(("value_low", "value_high"), bounds, strict=True))
    return {name: float(value) for name, value in figures.items()}


def _first_sentence(finding: Finding, case: MeanRiskCase) -> str:
    study, models = case.studies[finding.on], case.models
    rank, columns = study.models.rank, study.models.columns
    count, aggregation = int(study.models.ssd_consistent.sum()), study.aggregation
    by = f"{count} measures of risk together" if count > 1 else columns[_first_consistent(study)].risk.name
    also = "" if aggregation is None or aggregation.unique else " (other orders fit them as well)"
    # A model that only ties with one of these does not contradict it.
    not_first = (rank[[*finding.models]] > 1).all(axis=0)
    disagreeing = sorted(models[i] for i in np.flatnonzero((rank[:, not_first] == 1).any(axis=1)).tolist())
    agree = f"; by single measures {names(disagreeing)} would come first" if disagreeing else ""
    if not agree and finding.kind == "first" and len(columns) > 1:
        agree = ", as by every single one"
    on = f"on {case.score(finding.on)} by mean minus risk"
    subject = names([models[i] for i in finding.models])
    comes = "comes first" if finding.kind == "first" else "tie for the first place"
    return f"{subject} {comes} {on}, by {by}{also}{agree}."


def _columns_sentence(finding: Finding, case: MeanRiskCase) -> str:
    columns_of: dict[int, list[str]] = {}
    for name, study in case.studies.items():
        columns_of.setdefault(model_order(study)[0], []).append(case.score(name))
    if finding.kind == "first-on-each":
        first = finding.models[0]
        return (
            f"By mean minus risk {case.models[first]} comes first on each of {names(columns_of[first], 6)}."
        )
    parts = [f"{case.models[i]} on {names(on, 6)}" for i, on in columns_of.items()]
    return f"By mean minus risk no model comes first everywhere: {names(parts, 6)}."


def _overall_sentence(finding: Finding, case: MeanRiskCase) -> str:
    caveat = "" if case.aggregations["RA(MRM@M)"].unique else ", though other orders fit as well"
    return f"Over all metrics together {case.models[finding.models[0]]} comes first{caveat}."


def _gain_sentence(finding: Finding, case: MeanRiskCase) -> str:
    """Return a sentence on the mean minus the first consistent risk of the leader and the runner-up."""
    study, models = case.studies[finding.on], case.models
    (leader, following), at = finding.models, _first_consistent(study)
    value, lead = finding.figures["value"], finding.figures["value"] - finding.figures["against"]
    interval_text = ""
    if "value_low" in finding.figures:
        span = interval(finding.figures["value_low"], finding.figures["value_high"])
        interval_text = f" ({percent(case.family.confidence)} interval {span})"
    comparison = (
        f"{number(abs(lead))} {'more' if lead >= 0 else 'less'} than" if lead else "the same as that of"
    )
    column = study.models.columns[at]
    risk = column.risk.name if column.level is None else f"{column.risk.name} at {column.level:g}"
    gain = f"{models[leader]}'s mean minus risk by {risk} is {number(value)}{interval_text}"
    return f"{gain}, {comparison} {models[following]}, the next."


SENTENCES: Sentences[MeanRiskCase] = Sentences(
    {
        "first": _first_sentence,
        "tie": _first_sentence,
        "first-on-each": _columns_sentence,
        "first-here-and-there": _columns_sentence,
        "over-all-metrics": _overall_sentence,
        "worst-on-every-metric": lambda finding, case: (
            f"But {case.models[finding.models[0]]}'s mean is the worst of all on "
            f"{all_metrics(len(case.means))}."
        ),
        "nothing-tested": lambda _, _case: "No difference was tested here; rank does that.",
        "gain": _gain_sentence,
    },
    # Statements on a single risk need its name.
    aside=("gain",),
)
"""Sentence of each kind of finding."""
