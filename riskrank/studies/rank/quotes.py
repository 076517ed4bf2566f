"""Key figures of a ranking, shown with its verdict."""

from collections.abc import Iterator

from riskrank.engine.dominance.column_ranking import mean_over_samples, sample_weights
from riskrank.studies.document import Quote
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.context import (
    ColumnTails,
    RankCase,
    describe_interval,
    strongest_metrics,
    tail_warning,
)
from riskrank.studies.rank.leader import Leader
from riskrank.studies.rank.sentences import test_name
from riskrank.studies.wording import format_fixed


def rank_quotes(case: RankCase) -> tuple[Quote, ...]:
    """Return at most three key figures of a ranking.

    Parameters
    ----------
    case : RankCase

    Returns
    -------
    tuple of Quote
        Figures of the recommended model and the model with which it is compared. Without a recommendation,
        figures on their difference. Empty if several score columns are ranked.
    """
    if len(case.leaders) != 1 or not case.leader.rivals:
        return ()
    leader = case.leader
    figures = [_mean_quote(leader, case.means[m], case) for m in _clearest_metrics(leader, case)]
    figures += _tail_quotes(leader, case)
    if leader.objection is not None and tail_warning(leader, case.table.metrics) is not None:
        figures.reverse()  # the tails decide, so they come first
    return (*figures, *_count_quotes(leader, case))


def _mean_quote(leader: Leader, mean: MetricMeans, case: RankCase) -> Quote:
    """Return a key figure with two models' means and, for a single metric, the interval of the difference."""
    label = f"{mean.name}{' (lower is better)' if mean.lower_is_better else ''}, mean"
    span = describe_interval(leader, leader.pair, case) if len(case.means) == 1 else ""
    return _pair_quote(leader.pair, mean.format_comparison(*leader.pair), label, case, span)


def _pair_quote(pair: tuple[int, int], figures: str, label: str, case: RankCase, suffix: str = "") -> Quote:
    """Return a key figure that names both models, so that it does not read like a recommendation."""
    model, rival = (case.models[i] for i in pair)
    return Quote(figures, f"{label} of {model} and {rival}{suffix}")


def _clearest_metrics(leader: Leader, case: RankCase) -> list[int]:
    """Return the metric with the most significant difference between the two models.

    With several metrics, only significant differences count. For a trade-off between metrics, return one
    metric per direction.
    """
    if leader.recommendation is None:
        return [0]
    contrasts, rival = leader.contrasts, leader.rival  # contrasts with the leader
    strength = contrasts.absolute_t[rival]
    if _is_metric_trade_off(leader, case):
        sides = contrasts.worse[rival], contrasts.better[rival]
        return [strongest_metrics(strength * side, 1)[0] for side in sides if side.any()]
    significant = contrasts.worse[rival] | contrasts.better[rival]
    return [m for m in strongest_metrics(strength, 1) if len(case.means) == 1 or significant[m]]


def _is_metric_trade_off(leader: Leader, case: RankCase) -> bool:
    """Return True if the leader comes first only because metrics are weighted equally."""
    return bool(leader.trade_offs) and len(case.means) > 1 and not leader.weighted


def _tail_quotes(leader: Leader, case: RankCase) -> Iterator[Quote]:
    """Yield the tail means of both models if they differ significantly.

    For binary scores, yield the win rate instead.
    """
    on_metric = tail_warning(leader, case.table.metrics)
    if on_metric is not None:
        pair = leader.pair if leader.objection else (on_metric.first, on_metric.rival)
        yield _pair_quote(pair, on_metric.tail.format_comparison(*pair), on_metric.label, case)
        return
    if len(case.means) > 1:
        return  # combined scores have no unit to quote
    tail, (model, rival), mean = ColumnTails(leader, case.table), leader.pair, case.means[0]
    if not mean.is_proportion and tail.tail_answer(leader, leader.rival):
        better = f" ({'lower' if mean.lower_is_better else 'higher'} is better)"
        label = f"mean of the worst {tail.tail_label}"
        yield _pair_quote(leader.pair, tail.format_comparison(*leader.pair), label, case, better)
    elif mean.is_proportion and leader.scores.paired:
        means, weights = leader.scores.sample_means(), sample_weights(leader.scores)
        scores, rival_scores = means[model], means[rival]
        sides = scores > rival_scores, scores < rival_scores
        shares = (float(mean_over_samples(better, weights)) for better in sides)
        wins, losses = (f"{format_fixed(100 * share, 1)} %" for share in shares)
        label = f"of the samples favour {case.models[model]} over {case.models[rival]}"
        yield Quote(wins, f"{label}; {losses} favour {case.models[rival]}")


def _count_quotes(leader: Leader, case: RankCase) -> Iterator[Quote]:
    """Yield the numbers of models that are significantly behind the leader, tied, or contradict it."""
    first, total, beaten = case.models[leader.first], len(leader.rivals), len(leader.beaten)
    if not leader.tested or _is_metric_trade_off(leader, case):  # the count depends on the weights
        return
    if leader.objection is not None:
        text = f"other models contradict the first place of {first}"
        yield Quote(f"{len(leader.objection.leader.beaten_by)} of {total}", text)
    elif leader.recommended or leader.trade_offs or not leader.random_labels:
        condition = "" if leader.random_labels else ", if the labels are a random sample"
        yield Quote(f"{beaten} of {total}", f"other models significantly behind {first}{condition}")
    else:
        text = f"other models not significantly behind {first} by {test_name(leader)}"
        yield Quote(f"{total - beaten} of {total}", text)
