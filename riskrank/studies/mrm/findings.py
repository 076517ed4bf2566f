"""Findings of ``mrm`` and their sentences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.portfolio.mean_risk_intervals import MeanRiskStudy
from riskrank.studies.findings import Case, Finding, Sentences, better_mean_findings
from riskrank.studies.metric_means import worst_everywhere
from riskrank.studies.wording import format_number, format_percent, format_range, join_names, metrics_phrase


@dataclass(frozen=True, kw_only=True)
class MeanRiskCase(Case):
    """Results from which the findings and sentences are derived.

    Attributes
    ----------
    studies : dict of str to MeanRiskStudy
        Results by score column.
    aggregations : dict of str to Aggregation
    """

    studies: Mapping[str, MeanRiskStudy]
    aggregations: Mapping[str, Aggregation]


def mrm_findings(case: MeanRiskCase) -> list[Finding]:
    """Return the findings, the most severe first: leaders, and single risks or raw means that disagree.

    Parameters
    ----------
    case : MeanRiskCase

    Returns
    -------
    list of Finding
        At least one finding.
    """
    first, *other_columns = case.columns
    answer = case.identical_distributions or (
        _findings_across_columns(case) if other_columns else _first_findings(case, first)
    )
    level = {"confidence": case.family.confidence}
    gains = [
        Finding("gain", tuple(model_order(study)[:2]), on=name, figures=_lead_figures(study) | level)
        for name, study in case.studies.items()
    ]
    return [*answer, *case.side_findings, *gains]


def model_order(study: MeanRiskStudy) -> list[int]:
    """Return the models in the aggregate order of the consistent risks, or in the order of the only risk."""
    if study.aggregation is None:
        return study.models.order(0).tolist()
    return study.aggregation.order.tolist()


def _findings_across_columns(case: MeanRiskCase) -> Iterator[Finding]:
    """Yield the findings for several score columns: the leader on each column, and over all metrics."""
    firsts = tuple(dict.fromkeys(model_order(study)[0] for study in case.studies.values()))
    yield Finding("first-on-each" if len(firsts) == 1 else "first-here-and-there", firsts)
    overall = case.aggregations.get("RA(MRM@M)")
    if overall is not None:
        yield Finding("over-all-metrics", (int(overall.order[0]),))


def _first_findings(case: MeanRiskCase, column: str) -> Iterator[Finding]:
    """Yield the finding about the leader on one score column, and raw means that contradict it."""
    study = case.studies[column]
    first, rivals = model_order(study)[0], [i for i in _tied_first(study) if i != model_order(study)[0]]
    figures = {} if study.aggregation is None else {"measures": int(study.models.ssd_consistent.sum())}
    yield Finding("tie" if rivals else "first", (first, *rivals), on=column, figures=figures)
    if case.mean_of(column) is None and first in worst_everywhere(case.means) and len(case.means) > 1:
        yield Finding("worst-on-every-metric", (first,))
    yield from better_mean_findings(case, column, first)


def _tied_first(study: MeanRiskStudy) -> list[int]:
    """Return the models that come first in at least one known optimal aggregate order."""
    rank = study.models.rank
    if study.aggregation is None:
        return [int(i) for i in np.flatnonzero(rank[:, 0] == 1)]
    leader, optima = int(study.aggregation.order[0]), study.aggregation.optima or ()
    same = {int(i) for i in np.flatnonzero((rank == rank[leader]).all(axis=1))}
    return [leader, *sorted({optimum[0] for optimum in optima} | same - {leader})]


def _first_consistent(study: MeanRiskStudy) -> int:
    """Return the index of the first risk that is consistent with second-order dominance.

    The default is 0 if there is none.
    """
    return int(np.argmax(study.models.ssd_consistent))


def _lead_figures(study: MeanRiskStudy) -> dict[str, float]:
    """Return mean minus the first consistent risk, for the leader (with interval) and the runner-up."""
    measure, (leader, following) = _first_consistent(study), model_order(study)[:2]
    value, against = study.models.value[[leader, following], measure]
    figures = {"value": value, "against": against, "difference": value - against}
    if study.value_low is not None and study.value_high is not None:
        bounds = (study.value_low[leader, measure], study.value_high[leader, measure])
        figures |= dict(zip(("value_low", "value_high"), bounds, strict=True))
    return {name: float(value) for name, value in figures.items()}


def _first_sentence(finding: Finding, case: MeanRiskCase) -> str:
    """Return a sentence that names the leaders on one score column, and single risks that disagree."""
    study, models = case.studies[finding.on], case.models
    rank, columns = study.models.rank, study.models.columns
    count, aggregation = int(study.models.ssd_consistent.sum()), study.aggregation
    by = f"{count} risk measures combined" if count > 1 else columns[_first_consistent(study)].risk.name
    also = "" if aggregation is None or aggregation.unique else " (other orders fit equally well)"
    # A model that only ties with one of these does not contradict it.
    not_first = (rank[[*finding.models]] > 1).all(axis=0)
    disagreeing = sorted(models[i] for i in np.flatnonzero((rank[:, not_first] == 1).any(axis=1)).tolist())
    agree = f"; single measures put {join_names(disagreeing)} first" if disagreeing else ""
    if not agree and finding.kind == "first" and len(columns) > 1:
        agree = ", and by every single measure"
    on = f"on {case.column_label(finding.on)} by mean minus risk"
    subject = join_names([models[i] for i in finding.models])
    comes = "comes first" if finding.kind == "first" else "tie for first place"
    return f"{subject} {comes} {on}, using {by}{also}{agree}."


def _columns_sentence(finding: Finding, case: MeanRiskCase) -> str:
    """Return a sentence that names the leader on each of several score columns."""
    columns_of: dict[int, list[str]] = {}
    for name, study in case.studies.items():
        columns_of.setdefault(model_order(study)[0], []).append(case.column_label(name))
    if finding.kind == "first-on-each":
        names = join_names(columns_of[finding.models[0]], 6)
        return f"By mean minus risk, {case.models[finding.models[0]]} comes first on each of {names}."
    parts = [f"{case.models[i]} on {join_names(on, 6)}" for i, on in columns_of.items()]
    return f"By mean minus risk, no model comes first everywhere: {join_names(parts, 6)}."


def _overall_sentence(finding: Finding, case: MeanRiskCase) -> str:
    """Return a sentence that names the leader of the rankings aggregated over all metrics."""
    caveat = "" if case.aggregations["RA(MRM@M)"].unique else " (other orders fit equally well)"
    return f"Over all metrics, {case.models[finding.models[0]]} comes first{caveat}."


def _gain_sentence(finding: Finding, case: MeanRiskCase) -> str:
    """Return the sentence that compares leader and runner-up by mean minus the first consistent risk."""
    study, models = case.studies[finding.on], case.models
    (leader, following), at = finding.models, _first_consistent(study)
    value, lead = finding.figures["value"], finding.figures["value"] - finding.figures["against"]
    interval_text = ""
    if "value_low" in finding.figures:
        span = format_range(finding.figures["value_low"], finding.figures["value_high"])
        interval_text = f" ({format_percent(case.family.confidence)} interval {span})"
    comparison = (
        f"{format_number(abs(lead))} {'more' if lead >= 0 else 'less'} than" if lead else "the same as"
    )
    column = study.models.columns[at]
    risk = column.risk.name if column.level is None else f"{column.risk.name} at {column.level:g}"
    gain = f"{models[leader]}'s mean minus risk by {risk} is {format_number(value)}{interval_text}"
    return f"{gain}, {comparison} {models[following]}, the next model."


SENTENCES: Sentences[MeanRiskCase] = Sentences(
    {
        "first": _first_sentence,
        "tie": _first_sentence,
        "first-on-each": _columns_sentence,
        "first-here-and-there": _columns_sentence,
        "over-all-metrics": _overall_sentence,
        "worst-on-every-metric": lambda finding, case: (
            f"But {case.models[finding.models[0]]} has the worst mean on {metrics_phrase(len(case.means))}."
        ),
        "nothing-tested": lambda _, _case: "mrm does not test differences; use rank.",
        "gain": _gain_sentence,
    },
    # Statements on a single risk need its name.
    aside=("gain",),
)
"""Sentence of each kind of finding."""
