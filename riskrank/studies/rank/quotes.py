"""Figures that somebody who was asked quotes: on the model of the verdict, or on what it leaves open."""

from collections.abc import Iterator

from riskrank.engine.dominance.column_ranking import mean_over, sample_weights
from riskrank.studies.document import Quote
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.context import RankCase, Tail, differing, strongest, worse_cases
from riskrank.studies.rank.leader import Leading
from riskrank.studies.rank.sentences import test_of
from riskrank.studies.wording import rounded


def quoted(case: RankCase) -> tuple[Quote, ...]:
    """Three figures at most on a ranking; none where several columns have one each.

    Parameters
    ----------
    case : RankCase

    Returns
    -------
    tuple of Quote
        On the model that the verdict names, against the one it speaks of beside it; where it names none, on
        how far apart these two are.
    """
    if len(case.leading) != 1 or not case.lead.others:
        return ()
    one = case.lead
    figures = [*(_mean(one, case.means[m], case) for m in _clearest(one, case)), *_bad_cases(one, case)]
    if one.refuted is not None and worse_cases(one, case.table.metrics) is not None:
        figures.reverse()  # bad cases decide, and means may differ by noise alone
    return (*figures, *_behind(one, case))


def _mean(one: Leading, mean: MetricMeans, case: RankCase) -> Quote:
    """What both reach on a metric, and on a single one where the difference lies."""
    what = f"{mean.name}{' (lower is better)' if mean.lower else ''}, mean"
    span = differing(one, one.pair, case) if len(case.means) == 1 else ""
    return _of_two(one.pair, mean.against(*one.pair), what, case, span)


def _of_two(pair: tuple[int, int], figures: str, what: str, case: RankCase, more: str = "") -> Quote:
    """What both reach; no figure stands alone as though its model were recommended."""
    model, other = (case.models[i] for i in pair)
    return Quote(figures, f"{what} of {model} and of {other}{more}")


def _clearest(one: Leading, case: RankCase) -> list[int]:
    """The metric on which the two differ most surely; of several, each only where a test shows that they do.

    Of a trade that on which each is shown to be better.
    """
    if one.recommendation is None:
        return [0]
    held, at = one.contrasts, one.other  # everybody is held against the first, which is one of the two
    strength = held.strength[at]
    if _of_metrics(one, case):
        return [strongest(strength * side, 1)[0] for side in (held.worse[at], held.better[at]) if side.any()]
    shown = held.worse[at] | held.better[at]
    return [m for m in strongest(strength, 1) if len(case.means) == 1 or shown[m]]


def _of_metrics(one: Leading, case: RankCase) -> bool:
    """Whether the first comes first only if all metrics count alike."""
    return bool(one.trade) and len(case.means) > 1 and not one.weighed


def _bad_cases(one: Leading, case: RankCase) -> Iterator[Quote]:
    """The worst share of both, where a test tells them apart; of 0/1 scores how often one is better."""
    on_metric = worse_cases(one, case.table.metrics)
    if on_metric is not None:
        pair = one.pair if one.refuted else (on_metric.first, on_metric.rival)
        yield _of_two(pair, on_metric.tail.against(*pair), on_metric.share, case)
        return
    if len(case.means) > 1:
        return  # a tail of the combined score is in no unit that a figure could be quoted in
    tail, (model, other), mean = Tail(one, case.table), one.pair, case.means[0]
    if not mean.share and tail.side(one, one.other):
        better = f" ({'lower' if mean.lower else 'higher'} is better)"
        what = f"mean of the worst {tail.words}"
        yield _of_two(one.pair, tail.against(*one.pair), what, case, better)
    elif mean.share and one.scores.paired:
        means, weights = one.scores.sample_means(), sample_weights(one.scores)
        mine, its = means[model], means[other]
        apart = (float(mean_over(where, weights)) for where in (mine > its, mine < its))
        wins, losses = (f"{rounded(100 * share, 1)} %" for share in apart)
        what = f"of the samples {case.models[model]} is better on than {case.models[other]}"
        yield Quote(wins, f"{what}, and worse on {losses}")


def _behind(one: Leading, case: RankCase) -> Iterator[Quote]:
    """How many models the tests put behind the first, how many they do not, or who speaks against it."""
    first, of, beaten = case.models[one.first], len(one.others), len(one.beaten)
    if not one.tested or _of_metrics(one, case):  # how many are behind hangs on how much a metric counts
        return
    if one.refuted is not None:
        yield Quote(f"{len(one.refuted.leader.beaten_by)} of {of}", f"others speak against {first}")
    elif one.named or one.trade or not one.by_chance:
        doubt = "" if one.by_chance else ", were the labels chosen by chance"
        yield Quote(f"{beaten} of {of}", f"others significantly behind {first}{doubt}")
    else:
        text = f"others not shown to be behind {first} by {test_of(one)}"
        yield Quote(f"{of - beaten} of {of}", text)
