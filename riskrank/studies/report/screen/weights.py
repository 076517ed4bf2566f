"""Sensitivity of the ranking to the weights of the metrics."""

from collections.abc import Iterator

from riskrank.render.view import Line, Section, Table, column_heads
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import names


def weights_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return the weights, and changes of weights that make another model first on the combined score."""
    models, weights = ranking.provenance.models, _metric_weights(ranking)
    weight_texts = [f"{mean.name} {weight:g}" for mean, weight in zip(ranking.means, weights, strict=True)]
    weighing = "equal" if len({*weights}) == 1 else names(weight_texts, len(weight_texts))
    changes = [
        f"without {ranking.means[m].name} {models[i]}" for m, i in _first_without_metric(ranking).items()
    ]
    changes += [
        _threshold_text(ranking, m, i)
        for m, multiples in ranking.lead.first_with_more.items()
        for i in [*multiples][:1]
    ]
    changes_text = f"; with others first: {', '.join(changes)}" if changes else " and with others tried"
    return f"{weighing}: {models[ranking.lead.first]} first on the combined score{changes_text} (not tested)"


def weight_threshold_lines(ranking: RankDocument, _: ReportDocument) -> Iterator[Line]:
    """Yield a line on the weights that would make another model first, if weights decide a trade-off."""
    leader, models = ranking.lead, ranking.provenance.models
    if not leader.trade or leader.weighed or leader.ranked is None:
        return
    heavier = leader.first_with_more
    thresholds = [
        _threshold_text(ranking, m, i)
        for m, multiples in heavier.items()
        for i in multiples
        if i == leader.other
    ]
    thresholds = thresholds or [
        f"no single weight tried, up to 64 times the others, puts {models[leader.other]} first"
    ]
    thresholds += [
        _threshold_text(ranking, m, i)
        for m, multiples in heavier.items()
        for i in [*multiples][:1]
        if i != leader.other
    ]
    yield Line(f"alike {models[leader.first]} is first; {', '.join(thresholds)} (not tested).", "Weights:")


def details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Yield a table of weights, leaders without each metric, and weights from which another model leads."""
    models, without, heavier = (
        ranking.provenance.models,
        _first_without_metric(ranking),
        ranking.lead.first_with_more,
    )
    rows = []
    for m, (mean, weight) in enumerate(zip(ranking.means, _metric_weights(ranking), strict=True)):
        threshold, other = next(
            ((f"{n * weight:g}", models[i]) for i, n in heavier.get(m, {}).items()), ("–", "–")
        )
        rows.append((mean.name, f"{weight:g}", models[without.get(m, ranking.lead.first)], threshold, other))
    heads = column_heads("metric", right=("weight",)) + column_heads(
        "first without it", right=("another first from",)
    )
    yield Table("First on the combined score", (*heads, *column_heads("that is")), tuple(rows))
    text = "one weight changes a row, up to 64 times, and the others stay; by the same method, not tested."
    yield Line(text, "Weights:")


def _threshold_text(ranking: RankDocument, metric: int, model: int) -> str:
    """Return the weight of a metric from which a model comes first."""
    weight = ranking.lead.first_with_more[metric][model] * _metric_weights(ranking)[metric]
    return f"from {weight:g} on {ranking.means[metric].name} {ranking.provenance.models[model]}"


def _metric_weights(ranking: RankDocument) -> list[float]:
    """Return the weights of the metrics; 1 by default."""
    metrics = [metric for metric in ranking.provenance.metrics if not isinstance(metric, str)]
    return [1.0 if metric.get("weight") is None else float(metric["weight"]) for metric in metrics]


def _first_without_metric(ranking: RankDocument) -> dict[int, int]:
    recommendation = ranking.lead.recommendation
    return (recommendation and recommendation.first_without_metric) or {}
