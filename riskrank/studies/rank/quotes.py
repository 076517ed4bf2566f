"""Figures that somebody who was asked quotes: on the model of the verdict, or on what it leaves open."""

from collections.abc import Iterator

import numpy as np

from riskrank.engine.dominance.challenge import Challenge
from riskrank.engine.dominance.column_ranking import mean_over, sample_weights
from riskrank.studies.document import Quote
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.findings import RankCase, differing, span_of, strongest
from riskrank.studies.rank.leading import Leading
from riskrank.studies.rank.marks import Tail, worse_cases
from riskrank.studies.rank.sentences import test_of
from riskrank.studies.wording import counted


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
    if len(case.leading) != 1:
        return ()
    one = case.lead
    if not one.others:
        return ()
    figures = [*(_mean(one, case.means[m], case) for m in _clearest(one, case)), *_bad_cases(one, case)]
    if one.refuted is not None and worse_cases(one, case.table.metrics) is not None:
        figures.reverse()  # bad cases decide, and means may differ by noise alone
    return (*figures, *_sure(one, case))


def _mean(one: Leading, mean: MetricMeans, case: RankCase) -> Quote:
    """What both reach on a metric."""
    model, other = one.pair
    span = span_of(one, one.pair, case) if len(case.means) == 1 else ""
    what = f"{mean.name}{' (lower is better)' if mean.lower else ''}, mean"
    if one.named or not span:
        return _of_two(one.pair, mean.both(model, other), what, one, case, differing(span))
    gap, better = float(mean.mean[model] - mean.mean[other]), "lower" if mean.lower else "higher"
    words = f"{'lower' if gap < 0 else 'higher'} mean {mean.name} of {case.models[model]} than of "
    figures = " and ".join(mean.both(model, other))
    words += f"{case.models[other]} ({better} is better): {figures}, difference {span}"
    return Quote(mean.gap(abs(gap)), words)


def _of_two(
    pair: tuple[int, int], figures: tuple[str, str], what: str, one: Leading, case: RankCase, more: str = ""
) -> Quote:
    """What both reach; no figure stands alone as though its model were recommended."""
    model, other = (case.models[i] for i in pair)
    if one.named:
        return Quote(figures[0], f"{what} of {model}; {figures[1]} of {other}{more}")
    return Quote(" against ".join(figures), f"{what} of {model} and of {other}{more}")


def _against(one: Leading, tail: Tail, case: RankCase) -> str:
    """That a worst share speaks for the other model, and in which direction."""
    model, other = one.pair
    lower = any(mean.lower for mean in case.means if mean.name == one.column)
    lost = tail.values[other] - tail.values[model]
    if (-lost if lower else lost) <= 0:
        return ""
    return f" ({'lower' if lower else 'higher'} is better: {case.models[other]}'s)"


def _clearest(one: Leading, case: RankCase) -> list[int]:
    """The metric on which the two differ most surely; of several, each only where a test shows that they do.

    Of a trade that on which each is shown to be better.
    """
    if one.recommendation is None:
        return [0]
    held, at = one.contrasts, one.other  # everybody is held against the first, which is one of the two
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.nan_to_num(np.abs(held.difference[at] / held.error[at]), posinf=1e300)
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
        yield _of_two(pair, on_metric.tail.both(*pair), on_metric.share, one, case)
        return
    if len(case.means) > 1:
        return  # a tail of the combined score is in no unit that a figure could be quoted in
    tail, (model, other) = Tail(one, case.table), one.pair
    shares = next((mean for mean in case.means if mean.share and mean.name == one.column), None)
    if shares is None:
        if tail.side(one, next(i for i in one.pair if i != one.first)):
            what, more = f"mean of the worst {tail.words}", _against(one, tail, case)
            yield _of_two(one.pair, tail.both(model, other), what, one, case, more)
        return
    if one.scores.paired:
        means, weights = one.scores.sample_means(), sample_weights(one.scores)
        mine, its = means[model], means[other]
        apart = (float(mean_over(where, weights)) for where in (mine > its, mine < its))
        wins, losses = shares.shares(*apart)
        what = f"of the samples {case.models[model]} is better on than {case.models[other]}"
        yield Quote(wins, f"{what}, and worse on {losses}")


def _sure(one: Leading, case: RankCase) -> Iterator[Quote]:
    """How many models the tests put behind the first, how many they do not, or who speaks against it."""
    first, found, of = case.models[one.first], one.refuted, len(one.others)
    if not one.tested or _of_metrics(one, case):  # how many are behind hangs on how much a metric counts
        return
    if found is not None:
        against = f"others speak against {first}: significantly {_ways(found.leader, case)}"
        yield Quote(f"{len(found.leader.beaten_by)} of {of}", against)
        return
    if one.named or one.trade or not one.by_chance:
        doubt = "" if one.by_chance else ", were the labels chosen by chance"
        if one.trade:
            doubt += f", and {counted(len(one.trade), 'model')} of a better mean"
        yield Quote(f"{len(one.beaten)} of {of}", f"others significantly behind {first}{doubt}")
    else:
        yield Quote(
            f"{of - len(one.beaten)} of {of}", f"others not shown to be behind {first} by {test_of(one)}"
        )


def _ways(leader: Challenge, case: RankCase) -> str:
    """In which ways others are ahead of the first: those that somebody is."""
    ways = {
        "ahead head to head": leader.ahead,
        "better on every metric" if len(case.means) > 1 else "better on average": leader.better,
        "milder in the bad cases of a metric": leader.milder,
    }
    return ", or ".join(way for way, ahead in ways.items() if ahead)
