"""What is said of a ranking by means: its findings, and a sentence a kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riskrank.engine.evidence.shared import (
    FEWEST_SHARED,
)
from riskrank.engine.family import Family, Side
from riskrank.errors import listing
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.rank.mean_ranking import MeanRanking
from riskrank.studies.said import assuming
from riskrank.studies.visible import visible_sentence
from riskrank.studies.wording import all_others, names


@dataclass(frozen=True, eq=False)
class MeanCase:
    """What sentences on a ranking by means are made of."""

    models: Sequence[str]
    rankings: Sequence[MeanRanking]
    family: Family
    why: str

    def of(self, metric: str) -> MeanRanking:
        """The ranking by a metric."""
        return next(one for one in self.rankings if one.column.name == metric)


def mean_findings(case: MeanCase) -> list[Finding]:
    """The first on each metric, what it gains, what the rows count as, and what could have been seen."""
    found = []
    for one in case.rankings:
        beaten, order = one.beaten(case.family), one.ranking.order.tolist()
        kind, answer = "level", None if one.p_adjusted is None else Side.OPEN
        apart = one.not_compared
        compared = tuple(i for i in order if i not in apart)
        if len(beaten) == len(compared) - 1:
            kind, answer = "ahead-of-those-compared" if apart else "ahead", Side.SHOWN
        kind = kind if one.p_adjusted is not None else "not-tested"
        named = tuple(i for i in compared if i not in beaten) if kind == "level" else compared
        found.append(Finding(kind=kind, models=named, on=one.column.name, answer=answer))
        if len(case.rankings) == 1:
            found.append(Finding(kind="gain", models=compared[:2], on=one.column.name))
        if apart:
            found.append(Finding(kind="not-compared", models=(order[0], *apart), on=one.column.name))
    found.append(Finding(kind="counted-as", figures={"worth": case.rankings[0].column.worth}))
    if len(case.rankings) == 1 and case.rankings[0].visible is not None:
        found.append(Finding(kind="visible", figures={"difference": case.rankings[0].visible}))
    return found


def _ahead(finding: Finding, case: MeanCase) -> str:
    first, *others = (case.models[i] for i in finding.models)
    assumed = assuming([one.means for one in case.rankings])
    if assumed:
        return f"{first} has a significantly better {case.of(finding.on).what} than {all_others(others)}."
    what = case.of(finding.on).what
    return f"Ship {first}: its {what} is significantly better than that of {all_others(others)}."


def _ahead_of_some(finding: Finding, case: MeanCase) -> str:
    first, *others = (case.models[i] for i in finding.models)
    better = f"{first} has a significantly better {case.of(finding.on).what} than {names(others)}"
    return f"{better}, and was not compared with all others: nobody is to ship from this alone."


def _not_compared(finding: Finding, case: MeanCase) -> str:
    first, *others = (case.models[i] for i in finding.models)
    return (
        f"{first} is not compared with {listing(others, 4)}: they share fewer than {FEWEST_SHARED} samples."
    )


def _level(finding: Finding, case: MeanCase) -> str:
    level = [case.models[i] for i in finding.models]
    one, k = case.of(finding.on), len(finding.models) + len(case.of(finding.on).beaten(case.family))
    beats = len(one.beaten(case.family))
    beaten = f"; {level[0]}'s is shown to be better than {beats} of {k - 1} others'" if beats else ""
    if len(level) == k and k > 2:
        return (
            f"No test tells {level[0]}, first in these samples by its {one.what}, from any of the "
            f"{k - 1} others."
        )
    whom = names(level).replace(" and ", " or ")
    return f"{whom}: no test separates their {one.several}{beaten}."


def _not_tested(finding: Finding, case: MeanCase) -> str:
    return f"{case.models[finding.models[0]]} has the best {case.of(finding.on).what}; nothing was tested."


def _gain(finding: Finding, case: MeanCase) -> str:
    one, (first, following) = case.of(finding.on), finding.models
    span = ""
    if one.low is not None and one.high is not None:
        ends = (-one.high[following], -one.low[following])
        if one.column.statistic != "mean":
            other, more = case.models[following], one.means.span(float(ends[0]), float(ends[1]))
            span = f" ({other}'s is more by a share of {more})"
        else:
            ends = (-ends[1], -ends[0]) if one.means.lower else ends
            span = f" (difference {one.means.span(float(ends[0]), float(ends[1]))})"
    shared = one.samples
    if shared is not None and shared[first, following] < max(
        shared[first, first], shared[following, following]
    ):
        gap = float(one.column.differences.value[first, following])
        way, other = "better" if gap >= 0 else "worse", case.models[following]
        return (
            f"On the {shared[first, following]:,} samples both have, the mean {finding.on} of "
            f"{case.models[first]} is {one.means.gap(abs(gap))} {way} than that of {other}{span}."
        )
    against = one.means.against(first, following)
    return f"{case.models[first]}'s {one.what} is {against} of {case.models[following]}{span}."


SENTENCES: Sentences[MeanCase] = Sentences(
    {
        "ahead": _ahead,
        "ahead-of-those-compared": _ahead_of_some,
        "not-compared": _not_compared,
        "level": _level,
        "not-tested": _not_tested,
        "gain": _gain,
        "counted-as": lambda _, case: case.why,
        "visible": lambda finding, case: visible_sentence(
            finding.figures["difference"], case.rankings[0].means.share
        ),
    }
)
"""How each kind of finding on a ranking by means is said."""
