"""Bad cases of a report: whose worst samples tests show to be milder, and hidden risks, with these tests."""

from collections.abc import Iterator
from operator import itemgetter

import numpy as np

from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.shown import numbers
from riskrank.shown.means import CORRECTIONS
from riskrank.shown.view import Column, Line, OfRow, Section, by_row
from riskrank.studies.metric_means import bad_cases
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.leading import Leading
from riskrank.studies.rank.marks import milder
from riskrank.studies.rank.screen.detail import risk_lines
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import names, percent, rounded

_SIDES = {1: "worse", -1: "milder", 0: "open"}
"""What the others' bad cases are, by what :func:`milder` says of the first."""


def tails_apart(ranking: RankDocument, _: ReportDocument) -> str:
    """Whose worst samples a test shows to be milder, of the two models of the verdict."""
    one, models = _one(ranking), ranking.provenance.models
    if not (one.others and one.tested and ranking.tails[one.column].says_something):
        return ""
    pair = [one.first, next(model for model in one.pair if model != one.first)]
    side, tail = milder(one, pair[1]), ranking.tails[one.column]
    pair = pair[:: side or 1]
    first, other = (models[model] for model in pair)
    worst, figures = f"worst {tail.words}", " against ".join(tail.both(*pair))
    if side == 0:
        return f"{worst} of {first} and of {other} not shown to differ ({figures})"
    return f"{worst} of {first} shown to be milder than of {other} ({figures})"


def tested(ranking: RankDocument, whole: ReportDocument) -> Iterator[Line]:
    """The same with its test."""
    said, one = tails_apart(ranking, whole), _one(ranking)
    if not said:
        return
    found = _of_the_score(ranking, next(model for model in one.pair if model != one.first))
    if found is not None:
        apart, span, p, _ = found
        p = p.replace("<", "< ") if p.startswith("<") else f"= {p}"
        said += f". Difference {apart} ({span}), p {p}, {_together(ranking)}"
    yield Line(f"{said}.", "Bad cases:")


def hidden(ranking: RankDocument, whole: ReportDocument) -> str:
    """Models whose tail is worse than their mean suggests, and how many tails are milder than the first's."""
    one, models = _one(ranking), ranking.provenance.models
    risks = one.found.hidden_risks
    if risks is None or not bad_cases(ranking.tails[one.column].level):
        return "not looked for"
    named = [models[i] for i in np.flatnonzero(risks.status == RISK).tolist()]
    said = f"hidden risk: {names(named)}" if named else "no hidden risk shown"
    sides = [milder(one, other) for other in one.others]
    told = [f"{_SIDES[side]} {sides.count(side)}" for side in (-1, 1, 0) if side in sides]
    if not (told and one.tested):
        return said
    level = percent(one.found.dominance.estimates.tail_level)
    said += f"; worst {level} of the others against that of {models[one.first]}: {', '.join(told)}"
    tails = one.recommendation and one.recommendation.leader.tails
    counts = tails.milder.sum(axis=0).tolist() if tails else []
    on = [f"on {mean.name} {n}" for mean, n in zip(ranking.means, counts, strict=False) if n]
    return f"{said}; milder {names(on, len(on))}" if on else said


def details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Differences of tail means with their tests; then hidden risks and their rule."""
    one = _one(ranking)
    if not bad_cases(ranking.tails[one.column].level):
        yield Line("not looked for: a tail would hold more than half of the scores.", "Hidden risks:")
        return
    rows = [*_rows(ranking)]
    if rows:
        columns: list[OfRow] = [
            (Column(head, "right" if at in (2, 3, 4) else "left"), itemgetter(at))
            for at, head in enumerate(("on", "model", "difference", "interval", "p", "bad cases"))
        ]
        level = percent(one.found.dominance.estimates.tail_level)
        yield by_row(f"Worst {level} of the others less that of {_first(ranking)}", columns, rows, stub=2)
        yield Line(_tests(ranking), "Tests:")
    yield from risk_lines(ranking, one.column)
    if one.found.hidden_risks is not None:
        rule = CORRECTIONS[ranking.inference.family.correction]
        text = (
            "a hidden risk is a model that the ranking puts behind another of no larger mean whose bad cases "
            f"a test shows to be milder ({rule} over all pairs of a mean as large). The first is "
            "behind nobody: of its bad cases the table tells."
        )
        yield Line(text, "Rule:")


def _of_the_score(ranking: RankDocument, other: int) -> tuple[str, str, str, str] | None:
    """What is ranked: difference, interval, p-value and answer; None where nothing was resampled."""
    one, units = _one(ranking), ranking.units[_one(ranking).column]
    difference, second = one.found.effects[one.method].tail_difference, one.found.relabelled
    low, high = units.interval(difference.low, difference.high)
    if low is None or high is None or difference.p_value is None:
        return None
    decimals, p = (
        numbers.decimals_of_ends(low[one.others], high[one.others]),
        float(difference.p_value[other]),
    )
    if second is not None and second.family.significant(p):
        # Of models drawn apart relabelling has to agree.
        pair = (other, one.first) if difference.estimate[other] < 0 else (one.first, other)
        p = max(p, second.p_adjusted(*pair))
    apart = rounded(float(units.of(difference.estimate)[other]), decimals)
    span = numbers.ends(low[other], high[other], decimals)
    return apart, span, numbers.p_value(p), _SIDES[milder(one, other)]


def _rows(ranking: RankDocument) -> Iterator[tuple[str, ...]]:
    """Of the score that is ranked both directions, of single metrics whether others' bad cases are milder."""
    one, models = _one(ranking), ranking.provenance.models
    for other in one.others:
        if found := _of_the_score(ranking, other):
            yield ranking.units[one.column].label, models[other], *found
    tails = one.recommendation and one.recommendation.leader.tails
    for at, mean in enumerate(ranking.means if tails else ()):
        assert tails
        apart = ranking.units[mean.name].of(tails.tails[:, at] - tails.tails[one.first, at])
        for other in one.others:
            shown, undecided = tails.milder[other, at], tails.undecided[other, at]
            answer = "milder" if shown else "too few resamples" if undecided else "not shown milder"
            p = numbers.p_value(float(tails.p_milder[other, at]))
            yield mean.name, models[other], mean.gap(float(apart[other])), "–", p, answer


def _tests(ranking: RankDocument) -> str:
    one, found = _one(ranking), _one(ranking).recommendation
    score = "the score" if one.column in ranking.provenance.metric_names else "the combined score"
    text = f"of {score} intervals and p from bootstrap resamples, {_together(ranking)}."
    if found is not None and found.leader.tails is not None:
        family = ranking.inference.family
        claims = len(one.others) * len(ranking.means)
        text += (
            f" Of single metrics: p of “no milder”, one-sided; {CORRECTIONS[family.correction]} over these "
            f"{claims}, level {family.alpha:g}."
        )
    return text


def _together(ranking: RankDocument) -> str:
    k = len(ranking.provenance.models)
    confidence = percent(ranking.inference.family.confidence)
    return f"for all {k * (k - 1) // 2} pairs of models together ({confidence})"


def _first(ranking: RankDocument) -> str:
    return ranking.provenance.models[_one(ranking).first]


def _one(ranking: RankDocument) -> Leading:
    return next(iter(ranking.leading.values()))
