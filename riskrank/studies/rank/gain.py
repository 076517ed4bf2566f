"""What the first model of a ranking gains, and where it is weak, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.dominance.column_ranking import RankStudy
from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.dominance.inference import Inference
from riskrank.scores.metrics_file import MetricSpec
from riskrank.scores.table import ScoreTable
from riskrank.studies.units import Units, units_of
from riskrank.studies.wording import interval, names, number, percent


def gain(name: str, method: str, found: RankStudy, table: ScoreTable, inference: Inference) -> Iterator[str]:
    """What the first gains over the next whose scores differ, in the units of the scores.

    Parameters
    ----------
    name : str
        Column of scores.
    method : str
    found : RankStudy
    table : ScoreTable
    inference : Inference
    """
    order = found.rankings[method].order
    leader, same = int(order[0]), found.dominance.estimates.identical[order[0]]
    following = next((int(i) for i in order[1:] if not same[i]), None)
    if following is None:
        return
    units = units_of(name, table.metrics)
    difference = found.effects[method].mean_difference
    estimate = -float(difference.estimate[following])
    verb = "gains" if estimate >= 0 else "gives up"
    doubt = _doubt(method, found, leader, following, inference)
    place = "the next" if following == order[1] else "the next with other scores"
    yield (
        f"Over {table.models[following]}, {place}, it {verb} {number(abs(estimate))} in mean "
        f"{units.label}{doubt}."
    )
    yield from _tail(method, found, units, leader, following)


def _doubt(method: str, found: RankStudy, leader: int, following: int, inference: Inference) -> str:
    """The interval of the difference, and what it leaves open."""
    difference = found.effects[method].mean_difference
    if difference.low is None or difference.high is None:
        return " (no interval, as nothing was resampled)" if inference.test else ""
    low, high = -float(difference.high[following]), -float(difference.low[following])
    ends = interval(low, high) if difference.estimate[following] <= 0 else interval(-high, -low)
    text = f" ({percent(1 - inference.alpha)} interval {ends})"
    tests = found.tests_of(method)
    significant = tests is not None and tests.dominates[leader, following]
    if not low <= 0 <= high:
        return text if significant else f"{text[:-1]}, for this pair alone)"
    if significant:
        return f"{text}: the whole distribution is better, the mean alone may not differ"
    return f"{text}, which may be nothing"


def _tail(method: str, found: RankStudy, units: Units, leader: int, following: int) -> Iterator[str]:
    """A worse tail than the next one's, or a better one where the mean is worse."""
    effects = found.effects[method]
    own, theirs = effects.tail_mean[[leader, following]]
    worse = own < theirs
    proven = found.hidden_risks is not None and found.hidden_risks.status[leader] == RISK
    if own == theirs or (worse and proven) or (not worse and effects.mean[leader] >= effects.mean[following]):
        return
    low, high = effects.tail_difference.low, effects.tail_difference.high
    sure = low is not None and high is not None and not low[following] <= 0 <= high[following]
    start = "Its tail is" if sure else "In this sample its tail is"
    shown = units.of(effects.tail_mean)
    yield (
        f"{start} {'worse' if worse else 'better'}: the mean of its worst {percent(effects.level)} is "
        f"{number(shown[leader])}, against {number(shown[following])}."
    )


def weak_spots(
    name: str, method: str, found: RankStudy, table: ScoreTable, rivals: Sequence[int]
) -> Iterator[str]:
    """A proven bad tail of the first model or of those as good, and the metric the first is worst at.

    Parameters
    ----------
    name, method, found, table
        As in :func:`gain`.
    rivals : sequence of int
        Models that a reader may take instead of the first.
    """
    leader = int(found.rankings[method].order[0])
    risks = found.hidden_risks
    if risks is not None:
        proven = [i for i in rivals if risks.status[i] == RISK]
        units, worst = units_of(name, table.metrics), percent(found.dominance.estimates.tail_level)
        tails = units.of(risks.tail_mean)

        def numbers(i: int) -> str:
            other = int(risks.against[i])
            return f"{number(tails[i])}, against {number(tails[other])} of {table.models[other]}"

        if risks.status[leader] == RISK:
            yield f"Mind its tail: the mean of its worst {worst} is {numbers(leader)}."
        if len(proven) == 1:
            model = table.models[proven[0]]
            tail = f"the mean of its worst {worst} is {numbers(proven[0])}"
            yield f"Of the others, {model} is a hidden risk: {tail}."
        elif proven:
            listed = names([table.models[i] for i in proven], len(proven))
            tail = f"their worst {worst} are worse than their means let expect"
            yield f"Of the others, {listed} are hidden risks: {tail}."
    if len(table.metrics) > 1:
        yield from _weakest_metric(leader, table)


def _weakest_metric(leader: int, table: ScoreTable) -> Iterator[str]:
    means = np.array([values.mean(axis=0) for values in table.values])
    places = 1 + (means > means[leader]).sum(axis=0)
    worst_at = int(np.argmax(places))
    if places[worst_at] > 1:
        metric: MetricSpec = table.metrics[worst_at]
        yield (
            f"Its weakest metric is {metric.name}, where its mean ranks {places[worst_at]} of "
            f"{len(table.models)}."
        )
