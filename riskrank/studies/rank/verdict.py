"""What a ranking means for a decision: which model, what it gains and gives up, how sure, what the catch is.

Every sentence follows from a test that was made, or says that none was (method §4, "What a verdict may say").
At most three of them and seventy words are the verdict; what else is worth a sentence is for who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.recommendation import Recommendation
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.catches import catches
from riskrank.studies.rank.leading import Leading
from riskrank.studies.said import Said, assuming, fitting
from riskrank.studies.suites import SuiteChapter
from riskrank.studies.suites.words import by_mean, by_task, other_scope
from riskrank.studies.units import units_of
from riskrank.studies.wording import names


@dataclass(frozen=True)
class Case:
    """What sentences are made from.

    Attributes
    ----------
    table : ScoreTable
    means : tuple of MetricMeans
    leading : dict of str to Leading
    inference : Inference
    suite : SuiteChapter or None
    """

    table: ScoreTable
    means: Sequence[MetricMeans]
    leading: Mapping[str, Leading]
    inference: Inference
    suite: SuiteChapter | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return self.table.models

    def score(self, column: str) -> str:
        """What a column of scores is called in a sentence."""
        name = column if any(one.name == column for one in self.means) else "the combined score"
        return name if self.suite is None or len(self.leading) > 1 else f"{name} {self.suite.on}"


def rank_verdict(study: MethodStudy, case: Case) -> Said:
    """Say who comes first, what it gains over the next, and the catch.

    Parameters
    ----------
    study : MethodStudy
    case : Case

    Returns
    -------
    Said
    """
    if not case.leading:
        name, first = next(iter(study.aggregations.items()))
        return Said(aggregated_verdict(name, first, case.models), ())
    assumed = assuming(case.means)
    if len(case.leading) > 1:
        head, *rest = _together(case)
        return fitting([assumed + head, *rest])
    one = next(iter(case.leading.values()))
    head = f"{assumed}{_who(one, case, ship=not assumed)}"
    found = catches(one, case.table, case.means)
    if case.suite is not None:
        return fitting([head, *_tasks(one, case, case.suite), *found])
    return fitting([head, *_gain(one, case), *found])


def _tasks(one: Leading, case: Case, suite: SuiteChapter) -> Iterator[str]:
    """What the tasks say of the first against the next, and the answer to the question not asked."""
    column, held = suite.columns[one.column], one.recommendation is None or one.recommendation.holds
    if not one.others:
        return
    following = one.others[0]
    told = by_task(suite, column, one.first, following)
    mean = next((mean for mean in case.means if mean.name == one.column), None)
    if held and mean is not None:
        means = f"macro mean {_bare(mean, one.first, following)}{_span(one, following, case)}"
        yield f"Against {case.models[following]}: {'; '.join(filter(None, (means, told)))}."
    elif held and told:
        yield f"Against {case.models[following]}: {told}."
    yield from other_scope(suite, column, one.first, following)
    if held and mean is None:
        yield from _gain(one, case)
    yield from by_mean(suite, column, one.first)


def _together(case: Case) -> Iterator[str]:
    """Of several columns: who leads where, and where that is sure."""
    models = case.models
    firsts: dict[int, list[str]] = {}
    for column, one in case.leading.items():
        firsts.setdefault(one.first, []).append(case.score(column))
    if len(firsts) == 1:
        yield f"{models[next(iter(firsts))]} comes first on each of {names(next(iter(firsts.values())), 6)}."
    else:
        parts = [f"{models[i]} on {names(columns)}" for i, columns in firsts.items()]
        yield f"No model comes first everywhere: {names(parts, 6)}."
    if not case.inference.test:
        yield "Nothing was tested, so nothing says how sure that is."
        return
    sure = [case.score(column) for column, one in case.leading.items() if one.others and not _open(one)]
    refuted = [
        case.score(column)
        for column, one in case.leading.items()
        if one.recommendation is not None and not one.recommendation.holds
    ]
    if refuted:
        yield f"On {names(refuted)} another model is ahead of the first head to head."
    yield (
        f"Significantly ahead of all others: on {names(sure, 6)}; elsewhere no test separates the first."
        if 0 < len(sure) < len(case.leading)
        else "The first is significantly ahead of all others on each."
        if sure
        else "On none of them is the first significantly ahead of all others."
    )


def _open(one: Leading) -> bool:
    return bool(one.level or one.undecided)


def _who(one: Leading, case: Case, *, ship: bool) -> str:
    """Who is first, and against whom that is shown; or that the evidence is against the first."""
    models, k = case.models, len(case.models)
    on = case.score(one.column)
    same = [models[i] for i in [one.first, *one.identical]]
    if len(same) == k:
        every = f"All {k} models" if k > 2 else names(same)
        return f"{every} have identical scores on {on}: nothing tells them apart."
    who = models[one.first] if len(same) == 1 else f"{names(same)} (identical scores)"
    if one.found.tests_of(one.method) is None or not case.inference.test:
        first = f"{who} comes first on {on} by {one.method}"
        return f"{first}; nothing was tested, so nothing says how sure that is."
    if one.recommendation is not None and not one.recommendation.holds:
        return _disagreement(one, one.recommendation, case)
    beaten, others = len(one.beaten), len(one.others)
    if beaten == others:
        whom = models[one.others[0]] if others == 1 else f"all {others} others"
        which = who if len(same) == 1 else f"{' or '.join(same[:3])} (identical scores)"
        better = f"significantly better than {whom} on {on}"
        return f"Ship {which}: {better}." if ship else f"{which} is {better}."
    where = f" {case.suite.on}" if case.suite is not None and len(case.leading) == 1 else ""
    return f"{_level(one, who, models)}{_undecided(one, models)}{where}."


def _level(one: Leading, who: str, models: Sequence[str]) -> str:
    """The first and those that no test puts behind it, with what it does beat."""
    beaten, others = len(one.beaten), len(one.others)
    beats = f"; {who} beats {beaten} of {others} others" if beaten else ""
    level = [models[i] for i in one.level]
    if not level:
        return f"{who} comes first{beats.replace(f'; {who}', ' and')}" if beats else f"{who} comes first"
    if not beaten and len(level) > 1:
        return f"No test tells {who}, first in these samples, from {_any(level, others)}"
    if len(level) <= 2:
        return f"{names([who, *level]).replace(' and ', ' or ')}: no test separates them{beats}"
    return f"{who} or one of {len(level)} others ({names(level)}): no test separates them{beats}"


def _any(level: Sequence[str], others: int) -> str:
    return f"any of the {others} others" if len(level) == others else names(level)


def _undecided(one: Leading, models: Sequence[str]) -> str:
    if not one.undecided:
        return ""
    whom = names([models[i] for i in one.undecided])
    return f"; against {whom} the resamples are too few to tell"


def _disagreement(one: Leading, found: Recommendation, case: Case) -> str:
    """The first is not to be shipped: who speaks against it, and who stands instead."""
    models = case.models
    leader = models[one.first]
    first = f"{leader} comes first on {case.score(one.column)} by {one.method}"
    rival = _rival(found)
    against = models[rival]
    if rival in found.leader.better:
        every = f"all {len(case.means)} metrics" if len(case.means) > 1 else "average"
        shown = _most(found.leader.contrasts.difference[rival] / found.leader.contrasts.error[rival], 2)
        parts = [_against(case.means[m], rival, one.first) for m in shown]
        why = f"but {against} is better on {every} ({', '.join(parts)})"
    else:
        parts = [_against(mean, rival, one.first) for mean in case.means[:2]]
        why = f"but {against} is significantly ahead of it head to head ({', '.join(parts)})"
    return f"No model to ship on this evidence: {first}, {why}. {_instead(found, case)}"


def _rival(found: Recommendation) -> int:
    """Who speaks against the leader: the model to look at instead if it does, else one better throughout."""
    against = found.leader.beaten_by
    if found.choice is not None and found.choice in against:
        return found.choice
    return next(iter(found.leader.better), against[0])


def _instead(found: Recommendation, case: Case) -> str:
    """The first by the metrics' own rankings among the models nobody beats, and which metric decides."""
    if found.choice is None:
        return "Every other model is beaten throughout by some other."
    chosen = case.models[found.choice]
    if len(found.unbeaten) == 1:
        return f"Look at {chosen} instead: no other model beats it throughout."
    rest = names([case.models[i] for i in found.unbeaten[1:]], 3)
    decides = names([case.means[m].name for m in found.deciding])
    taste = f"; {decides} decides" if len(found.deciding) == 1 else f"; {decides} decide" if decides else ""
    by = "by the metrics' own rankings" if len(case.means) > 1 else "in the ranking"
    return (
        f"Look at {chosen} instead: of the models nobody beats throughout it comes first {by}, before "
        f"{rest}{taste}."
    )


def _gain(one: Leading, case: Case) -> Iterator[str]:
    """What the first gains over the next and gives up, in the units of the metrics."""
    found = one.recommendation
    if found is None or not found.holds or not one.others:
        return
    following, held = one.others[0], found.leader.contrasts
    alpha = case.inference.alpha
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.nan_to_num(np.abs(held.difference[following] / held.error[following]), posinf=1e300)
    better = [m for m in _most(strength, len(case.means)) if held.worse(alpha)[following, m]]
    worse = [m for m in _most(strength, len(case.means)) if held.better(alpha)[following, m]]
    side: Callable[[int], str] = lambda m: _against(case.means[m], one.first, following)  # noqa: E731
    over = f"Against {case.models[following]}"
    if len(case.means) == 1:
        mean, span = case.means[0], _span(one, following, case)
        yield f"{over} its mean {mean.name} is {_bare(mean, one.first, following)}{span}."
        return
    gains = f"better on {_listed([side(m) for m in better], len(case.means))}" if better else ""
    losses = f"worse on {_listed([side(m) for m in worse], len(case.means))}" if worse else ""
    if not better and not worse:
        yield f"{over} no metric's mean differs significantly."
    else:
        yield f"{over} it is {' but '.join(filter(None, (gains, losses)))}."


def _span(one: Leading, following: int, case: Case) -> str:
    """The interval of a difference of means, the first minus the other, as the file has them."""
    difference, mean = one.found.effects[one.method].mean_difference, case.means[0]
    units = units_of(one.column, case.table.metrics)
    if difference.low is None or difference.high is None or units.label != mean.name:
        return ""
    low, high = units.interval(-difference.high, -difference.low)
    assert low is not None
    assert high is not None
    return f" (difference {mean.said(float(low[following]))} to {mean.said(float(high[following]))})"


def _listed(parts: Sequence[str], of: int) -> str:
    """Two metrics with their means; more are counted."""
    if len(parts) <= 2:
        return " and ".join(parts)
    many = f"all {of}" if len(parts) == of else f"{len(parts)} of {of}"
    return f"{many} metrics, such as {parts[0]}"


def _against(mean: MetricMeans, one: int, other: int) -> str:
    """One metric's means of two models: ``correct 97.5 % against 82.3 %``."""
    return f"{mean.name} {_bare(mean, one, other)}"


def _bare(mean: MetricMeans, one: int, other: int) -> str:
    return f"{mean.of(one)} against {mean.of(other)}"


def _most(strength: np.ndarray, count: int) -> list[int]:
    """Numbers of the strongest, the strongest first."""
    return np.argsort(-np.abs(strength), kind="stable")[:count].tolist()


def aggregated_verdict(name: str, found: Aggregation, models: Sequence[str]) -> str:
    """Who comes first in an aggregated order."""
    order = [models[i] for i in found.order]
    doubt = "" if found.unique else ", though another order fits as well"
    return f"{order[0]} comes first by {name}, before {names(order[1:])}{doubt}; no test says how sure."
