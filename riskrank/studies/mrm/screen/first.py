"""The first screen of mean-risk models: places over all risks together, raw means, and the worst cases."""

from __future__ import annotations

from riskrank.engine.portfolio.mean_risk_intervals import MeanRiskStudy
from riskrank.errors import option
from riskrank.shown import numbers
from riskrank.shown.all_rows import unshown
from riskrank.shown.bars import with_bars
from riskrank.shown.means import also, combined, head, seen, side_by_side, worst
from riskrank.shown.view import (
    MOST_METRICS,
    MOST_ROWS,
    Cell,
    Column,
    Line,
    OfModel,
    Section,
    Table,
    asked_for,
    by_row,
)
from riskrank.studies.mrm.findings import order_of
from riskrank.studies.mrm.screen.detail import details
from riskrank.studies.mrm.study import MeanRiskDocument
from riskrank.studies.wording import counted


def view(document: MeanRiskDocument) -> list[Section]:
    """One table, a line on the samples, and what to ask next; then everything for who asks."""
    several = len(document.by_column) > 1
    asked = [option("explain", True)]
    if not several and len(document.means) > 1:
        asked.insert(0, option("per_metric", True))
    name, study = document.by_column[0][0], document.by_column[0][1].models
    count, placing = len(study.columns), int(study.ssd_consistent.sum())
    which = (
        f"places by {placing} of {counted(count, 'measure')}"
        if 0 < placing < count
        else counted(count, "measure")
    )
    tests = f"{seen(document.scores)}; {which} of risk, differences not tested."
    return [
        _side_by_side(document) if several else _alone(document, *document.by_column[0]),
        *unshown(len(document.provenance.models) - MOST_ROWS, "model"),
        *([] if several else combined(name, document.provenance, by_task=document.suite is not None)),
        Line(tests),
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
    shown = order[:MOST_ROWS]
    columns: list[OfModel] = [
        (Column("place"), lambda i: places[i]),
        (Column("model", "left"), lambda i: Cell(models[i], "bold" if i == order[0] else "")),
        *(with_bars((Column(head(mean)), mean.of), mean, shown) for mean in means[:MOST_METRICS]),
        *([] if tail is None else worst(name, means, tail)),
    ]
    if rank.shape[1] > 1:
        single = Column("place by\none measure", spare=True)
        columns.append((single, lambda i: numbers.rank_interval(int(rank[i].min()), int(rank[i].max()))))
    return by_row("", columns, shown)


def _side_by_side(document: MeanRiskDocument) -> Table:
    """Several columns: every model's mean on each with its place."""
    models, columns = document.provenance.models, document.by_column[:MOST_METRICS]
    places = [_places(study) for _, study in columns]
    order = sorted(range(len(models)), key=lambda i: sum(int(place[i]) for place in places))[:MOST_ROWS]
    names = [name for name, _ in columns]
    return side_by_side(models, document.means, names, order, lambda at, i: places[at][i], "place")
