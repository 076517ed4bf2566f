"""Bad cases of a report: whose worst samples tests show to be milder, and hidden risks, with these tests."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.shown import numbers
from riskrank.shown.means import CORRECTIONS, score_of
from riskrank.shown.view import Line, Section
from riskrank.studies.metric_means import bad_cases
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.marks import milder
from riskrank.studies.rank.screen.detail import risk_lines
from riskrank.studies.report.screen.by_metric import to_the_first
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import names, p_words, percent, rounded

_SIDES = {-1: "milder", 1: "worse", 0: "open"}
"""What the others' bad cases are, by what :func:`milder` says of the first."""


def tails_apart(ranking: RankDocument, _: ReportDocument) -> str:
    """Whose worst samples a test shows to be milder, of the two models of the verdict."""
    one, models, tail = ranking.lead, ranking.provenance.models, ranking.tails[ranking.lead.column]
    if not (one.others and one.tested and tail.says_something):
        return ""
    side = milder(one, one.other)
    pair = (one.first, one.other)[:: side or 1]
    how = "{} shown to be milder than of {}" if side else "{} and of {} not shown to differ"
    figures = " against ".join(tail.both(*pair))
    return f"worst {tail.words} of {how.format(*(models[i] for i in pair))} ({figures})"


def tested(ranking: RankDocument, whole: ReportDocument) -> Iterator[Line]:
    """The same with its test."""
    said = tails_apart(ranking, whole)
    if said and (of_score := _of_the_score(ranking, -(milder(ranking.lead, ranking.lead.other) or 1))):
        apart, span, p, _ = of_score[ranking.lead.other]
        said += f". Difference {apart} ({span}), {p_words(p)}, {_together(ranking)}"
    if said:
        yield Line(f"{said}.", "Bad cases:")


def hidden(ranking: RankDocument, whole: ReportDocument) -> str:
    """Models whose tail is worse than their mean suggests, and how many tails are milder than the first's."""
    one, models = ranking.lead, ranking.provenance.models
    risks, tails = one.found.hidden_risks, one.metric_tails
    if risks is None or not bad_cases(ranking.tails[one.column].level):
        return "not looked for"
    named = [models[i] for i in np.flatnonzero(risks.status == RISK).tolist()]
    said = f"hidden risk: {names(named)}" if named else "no hidden risk shown"
    if one.tested and one.others:
        sides = Counter(milder(one, other) for other in one.others)
        told = ", ".join(f"{word} {sides[side]}" for side, word in _SIDES.items() if sides[side])
        said += f"; worst {_level(ranking)} of the others against that of {models[one.first]}: {told}"
    counts = tails.milder.sum(axis=0).tolist() if tails else []
    on = [f"on {mean.name} {n}" for mean, n in zip(ranking.means, counts, strict=False) if n]
    return f"{said}; milder {names(on, len(on))}" if on else said


def details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Differences of tail means with their tests; then hidden risks and their rule."""
    one = ranking.lead
    if not bad_cases(ranking.tails[one.column].level):
        yield Line("not looked for: a tail would hold more than half of the scores.", "Hidden risks:")
        return
    if rows := [*_rows(ranking)]:
        yield to_the_first(f"Worst {_level(ranking)}", "bad cases", rows, ranking)
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


def _of_the_score(ranking: RankDocument, sign: int = 1) -> dict[int, tuple[str, str, float, str]]:
    """By model what is ranked: difference, interval, p-value, answer; empty where nothing was resampled.

    Differences are less the first, with a sign of −1 of the first less the others.
    """
    one, units = ranking.lead, ranking.units[ranking.lead.column]
    difference, second = one.found.effects[one.method].tail_difference, one.found.relabelled
    low, high = units.interval(difference.low, difference.high)
    if low is None or high is None or difference.p_value is None:
        return {}
    decimals = numbers.decimals_of_ends(low[one.others], high[one.others])
    low, high = (low, high) if sign > 0 else (-high, -low)
    apart, found = sign * units.of(difference.estimate), {}
    for i in one.others:
        p = float(difference.p_value[i])
        if second is not None and second.family.significant(p):
            # Of models drawn apart relabelling has to agree.
            p = max(p, second.p_adjusted(*((i, one.first) if difference.estimate[i] < 0 else (one.first, i))))
        span = numbers.ends(low[i], high[i], decimals)
        found[i] = rounded(float(apart[i]), decimals), span, p, _SIDES[milder(one, i)]
    return found


def _rows(ranking: RankDocument) -> Iterator[tuple[str, ...]]:
    """Of the score that is ranked both directions, of single metrics whether others' bad cases are milder."""
    one, models = ranking.lead, ranking.provenance.models
    for i, (apart, span, p, answer) in _of_the_score(ranking).items():
        yield ranking.units[one.column].label, models[i], apart, span, numbers.p_value(p), answer
    if (tails := one.metric_tails) is None:
        return
    for m, mean in enumerate(ranking.means):
        gaps = ranking.units[mean.name].of(tails.tails[:, m] - tails.tails[one.first, m])
        for i in one.others:
            undecided = "too few resamples" if tails.undecided[i, m] else "not shown milder"
            answer = "milder" if tails.milder[i, m] else undecided
            p_value = numbers.p_value(float(tails.p_milder[i, m]))
            yield mean.name, models[i], mean.gap(float(gaps[i])), "–", p_value, answer


def _tests(ranking: RankDocument) -> str:
    one, family = ranking.lead, ranking.inference.family
    score = "the score" if one.column in ranking.provenance.metric_names else score_of(one.column)
    text = f"of {score} intervals and p from bootstrap resamples, {_together(ranking)}."
    if one.metric_tails is None:
        return text
    claims = len(one.others) * len(ranking.means)
    rule = f"{CORRECTIONS[family.correction]} over these {claims}, level {family.alpha:g}"
    return f"{text} Of single metrics: p of “no milder”, one-sided; {rule}."


def _together(ranking: RankDocument) -> str:
    k, confidence = len(ranking.provenance.models), percent(ranking.inference.family.confidence)
    return f"for all {k * (k - 1) // 2} pairs of models together ({confidence})"


def _level(ranking: RankDocument) -> str:
    return percent(ranking.lead.found.dominance.estimates.tail_level)
