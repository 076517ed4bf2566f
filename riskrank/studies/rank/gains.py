"""What the first of a ranking gains over the next and gives up, in the units of the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from riskrank.studies.metric_means import MetricMeans, best_of
from riskrank.studies.rank.case import Case
from riskrank.studies.rank.leading import Leading
from riskrank.studies.units import units_of
from riskrank.studies.wording import names


def means_differ(one: Leading, case: Case) -> bool:
    """Whether the interval told of the only metric's means leaves out 0."""
    if len(case.means) > 1:
        return False
    difference, following = one.found.effects[one.method].mean_difference, one.others[0]
    if difference.low is None or difference.high is None:
        return False
    return bool(difference.low[following] > 0 or difference.high[following] < 0)


def gain(one: Leading, case: Case) -> Iterator[str]:
    """What the first gains over the next and gives up, in the units of the metrics."""
    found = one.recommendation
    if found is None or not found.holds or not one.others:
        return
    following, held = one.others[0], found.leader.contrasts
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.nan_to_num(np.abs(held.difference[following] / held.error[following]), posinf=1e300)
    better = [m for m in strongest(strength, len(case.means)) if held.worse[following, m]]
    worse = [m for m in strongest(strength, len(case.means)) if held.better[following, m]]
    side: Callable[[int], str] = lambda m: against_of(case.means[m], one.first, following)  # noqa: E731
    first, next_one = case.models[one.first], case.models[following]
    if len(case.means) == 1:
        mean, span = case.means[0], differing(span_of(one, one.pair, case))
        yield f"{first}'s mean {mean.name} is {mean.against(one.first, following)} of {next_one}{span}."
        return
    gains = f"better on {_listed([side(m) for m in better], len(case.means))}" if better else ""
    losses = f"worse on {_listed([side(m) for m in worse], len(case.means))}" if worse else ""
    told = " but ".join(filter(None, (gains, losses)))
    against = f"{first} is {told}" if told else "no metric's mean differs significantly"
    yield f"Against {next_one}, {against}{_given_up(one, case)}."


def _given_up(one: Leading, case: Case) -> str:
    """Metrics on which another than the next has the best mean, significantly better than the first's."""
    found = one.recommendation
    assert found is not None
    held = found.leader.contrasts
    better = held.better
    best = {m: best_of(mean) for m, mean in enumerate(case.means)}
    lost = [m for m, i in best.items() if better[i, m] and i != one.others[0]]
    if not lost:
        return ""
    most = max(lost, key=lambda m: held.difference[best[m], m] / max(held.error[best[m], m], 1e-300))
    who, mean = case.models[best[most]], case.means[most]
    if len(lost) == 1:
        return f"; {who} is better on {mean.name}, {mean.against(best[most], one.first)}"
    where = names([case.means[m].name for m in lost])
    return f"; others are better on {where}, such as {who} ({against_of(mean, best[most], one.first)})"


def span_of(one: Leading, pair: tuple[int, int], case: Case) -> str:
    """The interval of a difference of means as the file has them, of two models of which one is the first."""
    difference, mean = one.found.effects[one.method].mean_difference, case.means[0]
    units = units_of(one.column, case.table.metrics)
    if difference.low is None or difference.high is None or units.label != mean.name:
        return ""
    # Differences of every model to the first, turned where the first stands first.
    model, turned = (pair[1], True) if pair[0] == one.first else (pair[0], False)
    ends = (-difference.high, -difference.low) if turned else (difference.low, difference.high)
    low, high = units.interval(*ends)
    assert low is not None
    assert high is not None
    return mean.span(float(low[model]), float(high[model]))


def differing(span: str) -> str:
    """The interval of a difference, where there is one, in brackets."""
    return f" (difference {span})" if span else ""


def _listed(parts: Sequence[str], of: int) -> str:
    """Two metrics with their means; more are counted."""
    if len(parts) <= 2:
        return " and ".join(parts)
    many = f"all {of}" if len(parts) == of else f"{len(parts)} of {of}"
    return f"{many} metrics, such as {parts[0]}"


def against_of(mean: MetricMeans, one: int, other: int) -> str:
    """One metric's means of two models: ``correct 97.5 % against 82.3 %``."""
    return f"{mean.name} {mean.against(one, other)}"


def strongest(strength: np.ndarray, count: int) -> list[int]:
    """Numbers of the strongest, the strongest first."""
    return np.argsort(-np.abs(strength), kind="stable")[:count].tolist()
