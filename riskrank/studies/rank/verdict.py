"""What a ranking means for a decision: which model to ship, what it gains, how sure we are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from riskrank.engine.dominance.column_ranking import RankStudy
from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.scores.table import ScoreTable
from riskrank.studies.units import units_of
from riskrank.studies.verdicts import aggregated_verdict
from riskrank.studies.wording import interval, names, number, percent, unseen

# Methods whose ranking a decision should look at, the most careful first.
_LEADING = ("R-SSD", "R-FSD")


def rank_verdict(study: MethodStudy, table: ScoreTable, inference: Inference) -> str:
    """Say who comes first, what it gains over the next, who cannot be told apart from it, and its weak spots.

    Parameters
    ----------
    study : MethodStudy
    table : ScoreTable
    inference : Inference
    """
    columns = {
        name: shown
        for name, found in study.studies.items()
        if (shown := [method for method in found.rankings if f"{method}@{name}" in study.rankings])
    }
    if not columns:
        name, first = next(iter(study.aggregations.items()))
        return aggregated_verdict(name, first, table.models)
    sentences: list[str] = []
    for name, shown in columns.items():
        found = study.studies[name]
        method = next((method for method in _LEADING if method in shown), shown[0])
        teller = _whole_story if len(columns) == 1 else _short_story
        sentences += teller(name, method, found, table, inference)
    samples = min(study.studies[name].dominance.estimates.samples for name in columns)
    return " ".join([*sentences, unseen(samples)])


def _whole_story(
    name: str, method: str, found: RankStudy, table: ScoreTable, inference: Inference
) -> Iterator[str]:
    yield _place(name, method, found, table, inference)
    yield from _gain(name, method, found, table, inference)
    yield from _weak_spots(name, method, found, table)
    yield from _open_claims(method, found)


def _short_story(
    name: str, method: str, found: RankStudy, table: ScoreTable, inference: Inference
) -> Iterator[str]:
    yield _place(name, method, found, table, inference)


def _place(name: str, method: str, found: RankStudy, table: ScoreTable, inference: Inference) -> str:
    """Who is first, and against whom that is significant."""
    ranking = found.rankings[method]
    leader = int(ranking.order[0])
    model = table.models[leader]
    tests = found.tests_of(method)
    if tests is None or not inference.test:
        tied = [table.models[i] for i in ranking.order if ranking.rank[i] == 1 and i != leader]
        beside = f", level with {names(tied)}" if tied else ""
        return f"{model} ranks first by {method}@{name}{beside}; no test says how sure that is."
    beaten = tests.dominates[leader]
    rivals = [table.models[i] for i in ranking.order if i != leader and not beaten[i]]
    count = len(table.models) - 1
    if not rivals:
        others = "the other" if count == 1 else f"all {count} others"
        return f"Ship {model}: by {method}@{name} it is significantly better than {others}."
    if not beaten.any():
        return (
            f"{model} ranks first by {method}@{name}, but is significantly better than none: "
            f"it cannot be told apart from {names(rivals)}."
        )
    return (
        f"Ship {model} if it has to be one: it ranks first by {method}@{name} and is significantly better "
        f"than {int(beaten.sum())} of {count} others, but cannot be told apart from {names(rivals)}."
    )


def _gain(name: str, method: str, found: RankStudy, table: ScoreTable, inference: Inference) -> Iterator[str]:
    """What the first gains over the next, in the units of the scores."""
    order = found.rankings[method].order
    leader, following = int(order[0]), int(order[1])
    effects, units = found.effects[method], units_of(name, table.metrics)
    difference = effects.mean_difference
    gain, next_one = -float(difference.estimate[following]), table.models[following]
    doubt = ""
    if difference.low is not None and difference.high is not None:
        low, high = -float(difference.high[following]), -float(difference.low[following])
        ends = interval(low, high) if gain >= 0 else interval(-high, -low)
        doubt = f" ({percent(1 - inference.alpha)} interval {ends})"
        doubt += ", which may be nothing" if low <= 0 <= high else ""
    verb = "gains" if gain >= 0 else "gives up"
    yield f"Over {next_one}, the next, it {verb} {number(abs(gain))} in mean {units.label}{doubt}."
    if gain < 0 and effects.tail_mean[leader] > effects.tail_mean[following]:
        own, theirs = units.of(effects.tail_mean)[[leader, following]]
        worst = f"the mean of its worst {percent(effects.level)}"
        yield f"Its tail is better: {worst} is {number(own)}, against {number(theirs)}."


def _weak_spots(name: str, method: str, found: RankStudy, table: ScoreTable) -> Iterator[str]:
    """The tail of the first model, and the metric it is worst at."""
    leader = int(found.rankings[method].order[0])
    risks = found.hidden_risks
    if risks is not None and risks.status[leader] == RISK:
        units, other = units_of(name, table.metrics), int(risks.against[leader])
        own, theirs = units.of(risks.tail_mean)[[leader, other]]
        worst = f"the mean of its worst {percent(found.dominance.estimates.tail_level)}"
        yield f"Mind its tail: {worst} is {number(own)}, against {number(theirs)} of {table.models[other]}."
    if len(table.metrics) > 1:
        means = np.array([values.mean(axis=0) for values in table.values])
        places = 1 + (means > means[leader]).sum(axis=0)
        worst_at = int(np.argmax(places))
        if places[worst_at] > 1:
            yield (
                f"Its weakest metric is {table.metrics[worst_at].name}, where its mean ranks "
                f"{places[worst_at]} of {len(table.models)}."
            )


def _open_claims(method: str, found: RankStudy) -> Iterator[str]:
    tests = found.tests_of(method)
    undecided = 0 if tests is None else int((~tests.decided).sum())
    if undecided:
        verb = "claim is" if undecided == 1 else "claims are"
        yield f"{undecided} {verb} not decided at {found.dominance.resamples:,} resamples."
