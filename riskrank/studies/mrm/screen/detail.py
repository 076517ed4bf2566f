"""Mean-risk models in detail: ranks and values under every risk, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.portfolio.mean_risk_intervals import MeanRiskStudy
from riskrank.engine.portfolio.risks import RISKS
from riskrank.engine.types import Floats, Integers
from riskrank.shown import numbers
from riskrank.shown.agreement import Aggregations, aggregation_lines
from riskrank.shown.means import in_words
from riskrank.shown.view import Cell, Column, Line, OfModel, Section, Table, by_row
from riskrank.studies.mrm.study import MeanRiskDocument
from riskrank.studies.rounding import decimals_apart, rounded

_MOST_PAIRS = 5


def details(document: MeanRiskDocument) -> list[Section]:
    """Ranks under every risk, values under every risk, and what the rankings agree on."""
    models, aggregations = document.provenance.models, document.aggregations
    by_name = dict(aggregations)
    sections: list[Section] = []
    for metric, study in document.by_column:
        aggregation = by_name.get(f"RA(MRM@{metric})")
        order = study.models.mean_rank_order if aggregation is None else aggregation.order
        sections.append(_rank_table(metric, study, aggregation, order, models))
        sections.append(_value_table(metric, study, order, models))
        sections += _contradiction_line(study, models)
    sections += aggregation_lines(aggregations, models, orders=False)
    sections += _orders_over_metrics(aggregations, models)
    sections.append(_reading(document.by_column[0][1]))
    return sections


def _heads(study: MeanRiskStudy) -> list[Column]:
    heads = []
    for column in study.models.columns:
        mark = "" if column.risk.ssd_consistent else "*"
        level = "" if column.level is None else f"\n{column.level:g}"
        heads.append(Column(f"μ−{column.risk.symbol}{mark}".replace("−-", "+") + level))
    return heads


def _rank_table(
    metric: str,
    study: MeanRiskStudy,
    aggregation: Aggregation | None,
    order: Integers,
    models: Sequence[str],
) -> Table:
    columns: list[OfModel | None] = [
        (Column("model", "left"), lambda i: models[i]),
        (Column("RA"), lambda i: Cell(str(aggregation.ranks[i]), "bold")) if aggregation else None,
    ]
    columns += [
        (head, partial(lambda of, i: str(of[i]), ranks))
        for head, ranks in zip(_heads(study), study.models.rank.T, strict=True)
    ]
    return by_row(f"Ranks by mean minus risk on {in_words(metric)}", columns, order, stub=1)


def _value_table(metric: str, study: MeanRiskStudy, order: Integers, models: Sequence[str]) -> Table:
    values = np.column_stack([study.models.mean, study.models.value])
    told = zip([Column("mean"), *_heads(study)], values.T, _decimals(study, values), strict=True)
    columns: list[OfModel] = [(Column("model", "left"), lambda i: models[i])]
    for head, of, digits in told:
        columns.append((head, partial(lambda of, digits, i: rounded(float(of[i]), digits), of, digits)))
    return by_row(f"Mean minus risk on {in_words(metric)}", columns, order, stub=1)


def _decimals(study: MeanRiskStudy, values: Floats) -> list[int]:
    """Decimals of every column: as many as its intervals support, or tell its values apart."""
    low, high = study.value_low, study.value_high
    if low is None or high is None:
        return [decimals_apart(column) for column in values.T.tolist()]
    found = [numbers.decimals_of_ends(low[:, at], high[:, at]) for at in range(low.shape[1])]
    return [min(found), *found]


def _contradiction_line(study: MeanRiskStudy, models: Sequence[str]) -> list[Line]:
    pairs = [f"{models[i]} above {models[j]}" for i, j in study.contradicted]
    if not pairs:
        return []
    more = f" and {len(pairs) - _MOST_PAIRS} more" if len(pairs) > _MOST_PAIRS else ""
    text = (
        f"mean minus standard deviation places {', '.join(pairs[:_MOST_PAIRS])}{more}; "
        "every consistent risk says the opposite."
    )
    return [Line(text, "Note:", "yellow")]


def _orders_over_metrics(aggregations: Aggregations, models: Sequence[str]) -> list[Line]:
    return [
        Line(" > ".join(models[i] for i in found.order) + ".", "Over all metrics:")
        for name, found in aggregations
        if name == "RA(MRM@M)"
    ]


def _reading(study: MeanRiskStudy) -> Line:
    symbols = ", ".join(risk.meaning for risk in RISKS.values())
    parts = [f"{symbols}; larger is better everywhere."]
    if not study.models.ssd_consistent.all():
        parts.append("* (in a picture: italic) marks risks that may contradict second-order dominance.")
    if study.aggregation is not None:
        parts.append("RA aggregates the ranks under the consistent ones.")
    if study.value_low is not None:
        parts.append("Bootstrap intervals are in the JSON and CSV.")
    return Line(" ".join(parts), "Reading:")
