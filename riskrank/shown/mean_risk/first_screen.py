"""The first screen of mean-risk models: places over all risks together, raw means, and the worst cases."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from riskrank.engine.portfolio.mean_risk_intervals import MeanRiskStudy
from riskrank.errors import option
from riskrank.shown import numbers
from riskrank.shown.mean_risk.detail import details
from riskrank.shown.means import also, head, seen, worst
from riskrank.shown.view import MOST_METRICS, MOST_ROWS, Cell, Column, Line, Section, Table, asked_for
from riskrank.studies.mean_risk import MeanRiskDocument
from riskrank.studies.mean_risk_verdict import order_of
from riskrank.studies.wording import counted


def view(document: MeanRiskDocument) -> list[Section]:
    """One table, a line on the samples, and what to ask next; then everything for who asks."""
    several = len(document.by_column) > 1
    asked = [option("explain", True)]
    if not several and len(document.means) > 1:
        asked.insert(0, option("per_metric", True))
    left = len(document.provenance.models) - MOST_ROWS
    more = [f"… {counted(left, 'model')} more: {option('explain', True)}"] if left > 0 else []
    risks = document.by_column[0][1].models.columns
    tests = f"{seen(document.scores)}; {counted(len(risks), 'measure')} of risk, differences not tested."
    return [
        _side_by_side(document) if several else _alone(document, *document.by_column[0]),
        *map(Line, [*more, tests]),
        Line(", ".join(asked), "Also:"),
        *asked_for([*also(document.more), *details(document)]),
    ]


def _places(study: MeanRiskStudy) -> dict[int, str]:
    """Place over all consistent risks together, ties the best of theirs."""
    if study.aggregation is None:
        return {i: str(rank) for i, rank in enumerate(study.models.rank[:, 0].tolist())}
    return {i: str(rank) for i, rank in enumerate(study.aggregation.ranks)}


def _alone(document: MeanRiskDocument, name: str, study: MeanRiskStudy) -> Table:
    """One column: place, places under single risks, means of all metrics, worst cases."""
    models, means, tail = document.provenance.models, document.means, document.tails.get(name)
    order, places, rank = order_of(study), _places(study), study.models.rank
    columns: list[tuple[Column, Callable[[int], Cell | str]]] = [
        (Column("place"), lambda i: places[i]),
        (Column("model", "left"), lambda i: Cell(models[i], "bold" if i == order[0] else "")),
        *((Column(head(mean)), mean.of) for mean in means[:MOST_METRICS]),
        *([] if tail is None else worst(name, means, tail)),
    ]
    if rank.shape[1] > 1:
        single = Column("place by\none measure")
        columns.append((single, lambda i: numbers.rank_interval(int(rank[i].min()), int(rank[i].max()))))
    rows = tuple(tuple(cell(i) for _, cell in columns) for i in order[:MOST_ROWS])
    return Table("", tuple(column for column, _ in columns), rows, stub=2)


def _side_by_side(document: MeanRiskDocument) -> Table:
    """Several columns: every model's mean on each with its place."""
    models, columns = document.provenance.models, document.by_column[:MOST_METRICS]
    by_name = {mean.name: mean for mean in document.means}
    places = {name: _places(study) for name, study in columns}
    together = np.array([[int(places[name][i]) for name, _ in columns] for i in range(len(models))]).sum(
        axis=1
    )
    order = np.argsort(together, kind="stable").tolist()

    def cell(name: str, i: int) -> str:
        return f"{by_name[name].of(i)} ({places[name][i]})" if name in by_name else places[name][i]

    heads = [f"{head(by_name[name])}\n(place)" if name in by_name else name for name, _ in columns]
    rows = tuple((models[i], *(cell(name, i) for name, _ in columns)) for i in order[:MOST_ROWS])
    return Table("", (Column("model", "left"), *map(Column, heads)), rows)
