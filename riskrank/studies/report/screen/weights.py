"""Weights of a report: who would come first if one metric counted more, or not at all."""

from collections.abc import Iterator

from riskrank.render.view import Line, Section, Table, headed
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import names


def stays_first(ranking: RankDocument, _: ReportDocument) -> str:
    """The weights, and with which others another comes first on the combined score."""
    models, weights = ranking.provenance.models, _weights(ranking)
    told = [f"{mean.name} {weight:g}" for mean, weight in zip(ranking.means, weights, strict=True)]
    weighing = "equal" if len({*weights}) == 1 else names(told, len(told))
    found = [f"without {ranking.means[m].name} {models[i]}" for m, i in _without(ranking).items()]
    found += [
        _from(ranking, m, i) for m, others in ranking.lead.first_with_more.items() for i in [*others][:1]
    ]
    others = f"; with others first: {', '.join(found)}" if found else " and with others tried"
    return f"{weighing}: {models[ranking.lead.first]} first on the combined score{others} (not tested)"


def more(ranking: RankDocument, _: ReportDocument) -> Iterator[Line]:
    """Of a trade-off that weights decide: which weights put others first, the rival above all."""
    one, models = ranking.lead, ranking.provenance.models
    if not one.trade or one.weighed or one.ranked is None:
        return
    heavier = one.first_with_more
    told = [_from(ranking, m, i) for m, found in heavier.items() for i in found if i == one.other]
    told = told or [f"no single weight tried, up to 64 times the others, puts {models[one.other]} first"]
    told += [_from(ranking, m, i) for m, found in heavier.items() for i in [*found][:1] if i != one.other]
    yield Line(f"alike {models[one.first]} is first; {', '.join(told)} (not tested).", "Weights:")


def details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """A row a metric: its weight, who comes first without it, and from which weight another does."""
    models, without, heavier = ranking.provenance.models, _without(ranking), ranking.lead.first_with_more
    rows = []
    for m, (mean, weight) in enumerate(zip(ranking.means, _weights(ranking), strict=True)):
        times, other = next(
            ((f"{n * weight:g}", models[i]) for i, n in heavier.get(m, {}).items()), ("–", "–")
        )
        rows.append((mean.name, f"{weight:g}", models[without.get(m, ranking.lead.first)], times, other))
    heads = headed("metric", right=("weight",)) + headed("first without it", right=("another first from",))
    yield Table("First on the combined score", (*heads, *headed("that is")), tuple(rows))
    text = "one weight changes a row, up to 64 times, and the others stay; by the same method, not tested."
    yield Line(text, "Weights:")


def _from(ranking: RankDocument, metric: int, model: int) -> str:
    """From which weight on a model comes first."""
    weight = ranking.lead.first_with_more[metric][model] * _weights(ranking)[metric]
    return f"from {weight:g} on {ranking.means[metric].name} {ranking.provenance.models[model]}"


def _weights(ranking: RankDocument) -> list[float]:
    """As they were given; 1 each where none were."""
    given = [metric for metric in ranking.provenance.metrics if not isinstance(metric, str)]
    return [1.0 if metric.get("weight") is None else float(metric["weight"]) for metric in given]


def _without(ranking: RankDocument) -> dict[int, int]:
    found = ranking.lead.recommendation
    return (found and found.first_without_metric) or {}
