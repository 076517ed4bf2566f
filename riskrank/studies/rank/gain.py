"""What the first model of a ranking gains, and where it is weak, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from riskrank.engine.dominance.column_ranking import RankStudy
from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.types import Floats
from riskrank.scores.table.score_table import ScoreTable
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
    difference = found.effects[method].mean_difference
    place = "the next" if following == order[1] else "the next with other scores"
    over = f"Over {table.models[following]}, {place}, it"
    if not any(metric.name == name for metric in table.metrics):
        parts = [*_of_metrics(leader, following, table)]
        if parts:
            yield f"{over} {' and '.join(parts)}."
            over = "It"
    gained = _gained(-float(difference.estimate[following]))
    doubt = _doubt(method, found, leader, following, inference)
    yield f"{over} {gained} in mean {_unit(name, table)}{doubt}."
    yield from _tail(method, found, units_of(name, table.metrics), leader, following)


def _gained(difference: float) -> str:
    return f"{'gains' if difference >= 0 else 'gives up'} {number(abs(difference))}"


def _unit(name: str, table: ScoreTable) -> str:
    """What a mean of a column is in: a metric's own unit, or a portfolio's, explained."""
    for metric in table.metrics:
        if metric.name == name:
            return f"−log '{name}'" if metric.transform == "neg_log" else f"'{name}'"
    made = {
        "P(IC)": ", the product of a sample's ranks by every metric",
        "P(EC)": ", the share of scores that are worse by every metric",
    }
    return f"portfolio score{made.get(name, '')}"


def _of_metrics(leader: int, following: int, table: ScoreTable) -> Iterator[str]:
    """The metric the first gains most in, measured by its spread, and the one it gives up most in."""
    own, theirs = table.values[leader], table.values[following]
    counted = np.array([metric.weight != 0 for metric in table.metrics])
    with np.errstate(all="ignore"):  # a metric may be constant, or as large as floating point goes
        difference = _means(own) - _means(theirs)
        spread = np.sqrt(own.var(axis=0) / 2 + theirs.var(axis=0) / 2)
        effect = np.where(counted & (spread > 0) & np.isfinite(spread), difference / spread, 0.0)
    for at in dict.fromkeys((int(np.argmax(effect)), int(np.argmin(effect)))):
        if effect[at] and (effect[at] > 0) == (at == np.argmax(effect)):
            yield f"{_gained(float(difference[at]))} in mean {_unit(table.metrics[at].name, table)}"


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


def weak_spots(name: str, method: str, found: RankStudy, table: ScoreTable) -> Iterator[str]:
    """The metric the first model is worst at, its own bad tail where that is proven, and the hidden risks.

    Parameters
    ----------
    name, method, found, table
        As in :func:`gain`.
    """
    leader, models = int(found.rankings[method].order[0]), table.models
    if len(table.metrics) > 1:
        yield from _weakest_metric(leader, table)
    risks = found.hidden_risks
    if risks is None:
        return
    units, worst = units_of(name, table.metrics), percent(found.dominance.estimates.tail_level)
    tails = units.of(risks.tail_mean)

    def tail(i: int) -> str:
        other = int(risks.against[i])
        theirs = f"{number(tails[other])} of {models[other]}"
        return f"the mean of its worst {worst} is {number(tails[i])}, against {theirs}"

    if risks.status[leader] == RISK:
        yield f"Mind its tail: {tail(leader)}."
    proven = [i for i in np.argsort(-risks.mean, kind="stable").tolist() if risks.status[i] == RISK]
    proven = [i for i in proven if i != leader]
    if not proven:
        return
    best = " with the best mean of all" if risks.place[proven[0]] == 1 else ""
    yield f"{models[proven[0]]} is a hidden risk{best}: {tail(proven[0])}."
    rest = [models[i] for i in proven[1:]]
    if rest:
        yield f"So {'is' if len(rest) == 1 else 'are'} {names(rest, 3)}."


def _means(values: Floats) -> Floats:
    """Means of the columns, also where their sums are beyond any number."""
    with np.errstate(over="ignore", invalid="ignore"):
        means = values.mean(axis=0)
    return np.where(np.isfinite(means), means, (values / len(values)).sum(axis=0))


def _weakest_metric(leader: int, table: ScoreTable) -> Iterator[str]:
    means = np.array([_means(values) for values in table.values])
    places = 1 + (means > means[leader]).sum(axis=0)
    worst_at = int(np.argmax(places))
    if places[worst_at] > 1:
        yield (
            f"Its weakest metric is '{table.metrics[worst_at].name}', where its mean ranks "
            f"{places[worst_at]} of {len(table.models)}."
        )
