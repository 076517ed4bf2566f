"""Mean-risk models: places over all risks together, raw means and worst cases first; then every risk."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from riskrank.engine.portfolio.mean_risk_intervals import MeanRiskStudy
from riskrank.engine.portfolio.risks import RISKS
from riskrank.engine.types import Floats
from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.agreement import aggregation_lines
from riskrank.render.mean_tables import combined, head, in_words, seen, side_by_side, with_bars, worst
from riskrank.render.screens import MOST_METRICS, MOST_ROWS, also, more_metrics, offered, unshown
from riskrank.render.view import Cell, Column, Line, OfModel, Section, Table, by_row, each
from riskrank.studies.mrm.findings import order_of
from riskrank.studies.mrm.study import MeanRiskDocument
from riskrank.studies.wording import counted, decimals_apart, rounded

_MOST_PAIRS = 5


def details(document: MeanRiskDocument) -> Iterator[Section]:
    """Ranks under every risk, values under every risk, and what the rankings agree on."""
    models, aggregations = document.provenance.models, document.aggregations
    for metric, study in document.studies.items():
        yield _rank_table(metric, study, models)
        yield _value_table(metric, study, models)
        yield from _contradiction_line(study, models)
    yield from aggregation_lines(aggregations)
    if (overall := aggregations.get("RA(MRM@M)")) is not None:
        order_over_all = " > ".join(models[i] for i in overall.order)
        yield Line(f"{order_over_all}.", "Over all metrics:")
    yield _reading(next(iter(document.studies.values())))


def _heads(study: MeanRiskStudy) -> Iterator[str]:
    for column in study.models.columns:
        mark = "" if column.risk.ssd_consistent else "*"
        level = "" if column.level is None else f"\n{column.level:g}"
        yield f"μ−{column.risk.symbol}{mark}".replace("−-", "+") + level


def _rank_table(metric: str, study: MeanRiskStudy, models: Sequence[str]) -> Table:
    columns: list[OfModel | None] = [
        (Column("model", "left"), lambda i: models[i]),
        (Column("RA"), lambda i: Cell(str(found.ranks[i]), "bold")) if (found := study.aggregation) else None,
    ]
    columns += map(each, _heads(study), study.models.rank.T)
    return by_row(f"Ranks by mean minus risk on {in_words(metric)}", columns, order_of(study))


def _value_table(metric: str, study: MeanRiskStudy, models: Sequence[str]) -> Table:
    values = np.column_stack([study.models.mean, study.models.value])
    columns: list[OfModel | None] = [(Column("model", "left"), lambda i: models[i])]
    for title, of, digits in zip(["mean", *_heads(study)], values.T, _decimals(study, values), strict=True):
        columns.append(each(title, of, partial(rounded, decimals=digits)))
    return by_row(f"Mean minus risk on {in_words(metric)}", columns, order_of(study))


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


def _reading(study: MeanRiskStudy) -> Line:
    symbols = ", ".join(f"{risk.symbol.removeprefix('-')} {risk.meaning}" for risk in RISKS.values())
    parts = [f"{symbols}; larger is better everywhere."]
    if not study.models.ssd_consistent.all():
        parts.append("* (in a picture: italic) marks risks that may contradict second-order dominance.")
    if study.aggregation is not None:
        parts.append("RA aggregates the ranks under the consistent ones.")
    return Line(" ".join(parts), "Reading:")


def view(document: MeanRiskDocument) -> list[Section]:
    """One table, a line on the samples, and what to ask next; then everything for who asks."""
    several = len(document.studies) > 1
    asked = [option("per_metric", True)] if not several and len(document.means) > 1 else []
    name, first = next(iter(document.studies.items()))
    study = first.models
    count, placing = len(study.columns), int(study.ssd_consistent.sum())
    which = f"places by {placing} of " * (0 < placing < count) + counted(count, "measure")
    resampled = any(study.value_low is not None for study in document.studies.values())
    intervals = [Line("Bootstrap intervals are in the JSON and CSV.")] * resampled
    tests = f"{seen(document.scores)}; {which} of risk, differences not tested."
    return [
        *(_side_by_side(document) if several else _alone(document, name, first)),
        *unshown(len(document.provenance.models) - MOST_ROWS, "model"),
        *([] if several else combined(name, document)),
        Line(tests),
        *offered([*also(document.more), *details(document), *intervals], *asked),
    ]


def _places(study: MeanRiskStudy) -> dict[int, str]:
    """Place over all consistent risks together, ties the best of theirs."""
    if study.aggregation is None:
        return {i: str(rank) for i, rank in enumerate(study.models.rank[:, 0].tolist())}
    return {i: str(rank) for i, rank in enumerate(study.aggregation.ranks)}


def _alone(document: MeanRiskDocument, name: str, study: MeanRiskStudy) -> list[Section]:
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
    return [by_row("", columns, shown, stub=2), *more_metrics(means)]


def _side_by_side(document: MeanRiskDocument) -> list[Section]:
    """Several columns: every model's mean on each with its place."""
    models, columns = document.provenance.models, document.studies
    places = [_places(study) for study in columns.values()]
    order = sorted(range(len(models)), key=lambda i: sum(int(place[i]) for place in places))[:MOST_ROWS]
    return side_by_side(models, document.means, [*columns], order, lambda at, i: places[at][i], "place")
