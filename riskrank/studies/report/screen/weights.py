"""Section of a report on the sensitivity of the ranking to metric weights."""

from collections.abc import Iterator

from riskrank.render.view import Line, Section, Table, column_heads
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import join_names


def weights_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Return a description of the weights, and the weight changes that would make another model first."""
    models, weights = ranking.provenance.models, _metric_weights(ranking)
    weight_texts = [f"{mean.name} {weight:g}" for mean, weight in zip(ranking.means, weights, strict=True)]
    weighing = "equal" if len({*weights}) == 1 else join_names(weight_texts, len(weight_texts))
    changes = [
        f"{models[i]} first without {ranking.means[m].name}"
        for m, i in _first_without_metric(ranking).items()
    ]
    changes += [
        _threshold_text(ranking, m, i)
        for m, multiples in ranking.leader.leaders_by_weight.items()
        for i in [*multiples][:1]
    ]
    changes_text = f"; {', '.join(changes)}" if changes else ", also with all other weights tried"
    return (
        f"{weighing}: {models[ranking.leader.first]} first on the combined score{changes_text} (not tested)"
    )


def weight_threshold_lines(ranking: RankDocument, _: ReportDocument) -> Iterator[Line]:
    """Yield a line on the weights that would make another model first, if the weights decide a trade-off."""
    leader, models = ranking.leader, ranking.provenance.models
    if not leader.trade_offs or leader.weighted or leader.ranked is None:
        return
    heavier = leader.leaders_by_weight
    thresholds = [
        _threshold_text(ranking, m, i)
        for m, multiples in heavier.items()
        for i in multiples
        if i == leader.rival
    ]
    thresholds = thresholds or [
        f"no single weight up to 64 times the others puts {models[leader.rival]} first"
    ]
    thresholds += [
        _threshold_text(ranking, m, i)
        for m, multiples in heavier.items()
        for i in [*multiples][:1]
        if i != leader.rival
    ]
    text = f"with equal weights, {models[leader.first]} is first; {', '.join(thresholds)} (not tested)."
    yield Line(text, "Weights:")


def details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Yield a table of weights, leaders without each metric, and weights at which the leader changes."""
    models, without, heavier = (
        ranking.provenance.models,
        _first_without_metric(ranking),
        ranking.leader.leaders_by_weight,
    )
    rows = []
    for m, (mean, weight) in enumerate(zip(ranking.means, _metric_weights(ranking), strict=True)):
        threshold, other = next(
            ((f"{n * weight:g}", models[i]) for i, n in heavier.get(m, {}).items()), ("–", "–")
        )
        rows.append(
            (mean.name, f"{weight:g}", models[without.get(m, ranking.leader.first)], threshold, other)
        )
    heads = column_heads("metric", right=("weight",)) + column_heads(
        "first without the metric", right=("first changes at weight",)
    )
    yield Table("First model on the combined score", (*heads, *column_heads("new first")), tuple(rows))
    text = "each row changes one weight, up to 64 times, and keeps the others; same method, not tested."
    yield Line(text, "Weights:")


def _threshold_text(ranking: RankDocument, metric: int, model: int) -> str:
    """Format the weight of a metric from which a model comes first."""
    weight = ranking.leader.leaders_by_weight[metric][model] * _metric_weights(ranking)[metric]
    name = ranking.means[metric].name
    return f"{ranking.provenance.models[model]} first if {name} has weight {weight:g} or more"


def _metric_weights(ranking: RankDocument) -> list[float]:
    """Return the weight of each metric, 1 by default."""
    metrics = [metric for metric in ranking.provenance.metrics if not isinstance(metric, str)]
    return [1.0 if metric.get("weight") is None else float(metric["weight"]) for metric in metrics]


def _first_without_metric(ranking: RankDocument) -> dict[int, int]:
    """Return the model that comes first without each metric, or an empty dict if not computed."""
    recommendation = ranking.leader.recommendation
    return (recommendation and recommendation.first_without_metric) or {}
