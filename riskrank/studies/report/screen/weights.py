"""Weights of a report: who would come first if one metric counted more, or not at all."""

from collections.abc import Iterator

from riskrank.shown.view import Column, Line, OfRow, Section, by_row
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.leading import Leading
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import names


def stays_first(ranking: RankDocument, _: ReportDocument) -> str:
    """The weights, and with which others another comes first on the combined score."""
    one, models = _one(ranking), ranking.provenance.models
    weights, without = _weights(ranking), _without(one)
    told = [f"{mean.name} {weight:g}" for mean, weight in zip(ranking.means, weights, strict=True)]
    alike = len({*weights}) == 1
    found = [f"without {ranking.means[out].name} {models[other]}" for out, other in without.items()]
    found += _from(ranking)
    weighing = "equal" if alike else names(told, len(told))
    others = f"; with others first: {', '.join(found)}" if found else " and with others tried"
    return f"{weighing}: {models[one.first]} first on the combined score{others} (not tested)"


def more(ranking: RankDocument, _: ReportDocument) -> Iterator[Line]:
    """Of a trade-off that weights decide: which weight puts another first."""
    one = _one(ranking)
    if one.trade and not one.weighed and (found := _from(ranking)):
        first = ranking.provenance.models[one.first]
        text = f"alike {first} is first; {', '.join(found)} (not tested)."
        yield Line(text, "Weights:")


def details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """A row a metric: its weight, who comes first without it, and from which weight another does."""
    one, models, weights = _one(ranking), ranking.provenance.models, _weights(ranking)
    without, heavier = _without(one), one.first_with_more
    if heavier is None:
        return
    columns: list[OfRow] = [
        (Column("metric", "left"), lambda m: ranking.means[m].name),
        (Column("weight"), lambda m: f"{weights[m]:g}"),
        (Column("first without it", "left"), lambda m: models[without.get(m, one.first)]),
        (
            Column("another first from"),
            lambda m: f"{heavier[m][0] * weights[m]:.2g}" if m in heavier else "–",
        ),
        (Column("that is", "left"), lambda m: models[heavier[m][1]] if m in heavier else "–"),
    ]
    yield by_row("First on the combined score", columns, range(len(weights)), stub=1)
    text = "one weight changes a row, up to 64 times, and the others stay; by the same method, not tested."
    yield Line(text, "Weights:")


def _from(ranking: RankDocument) -> list[str]:
    """From which weights on another comes first."""
    weights, models = _weights(ranking), ranking.provenance.models
    return [
        f"from {times * weights[at]:.2g} on {ranking.means[at].name} {models[other]}"
        for at, (times, other) in (_one(ranking).first_with_more or {}).items()
    ]


def _weights(ranking: RankDocument) -> list[float]:
    """As they were given; 1 each where none were."""
    given = [metric for metric in ranking.provenance.metrics if not isinstance(metric, str)]
    return [1.0 if metric.get("weight") is None else float(metric["weight"]) for metric in given]


def _without(one: Leading) -> dict[int, int]:
    found = one.recommendation
    return {} if found is None else found.first_without_metric or {}


def _one(ranking: RankDocument) -> Leading:
    return next(iter(ranking.leading.values()))
