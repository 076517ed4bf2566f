"""Bad cases of a report: whose worst samples tests show to be milder, and hidden risks, with these tests."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.family import Side
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS, score_of
from riskrank.render.view import Line, Section
from riskrank.studies.metric_means import bad_cases
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.screen.detail import risk_lines
from riskrank.studies.report.screen.by_metric import to_the_first
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import names, p_words, percent, rounded

_SIDES = {Side.REFUTED: "milder", Side.SHOWN: "worse", Side.OPEN: "open"}
"""What another's bad cases are, beside the first's."""


def tails_apart(ranking: RankDocument, _: ReportDocument) -> str:
    """Whose worst samples a test shows to be milder, of the two models of the verdict."""
    one, models, tail = ranking.lead, ranking.provenance.models, ranking.tails[ranking.lead.column]
    if not (one.others and one.tested and tail.says_something):
        return ""
    side = one.found.tail_answer(one.method, one.other)[0]
    pair = (one.first, one.other)[:: side or 1]
    how = "{} shown to be milder than of {}" if side else "{} and of {} not shown to differ (two-sided)"
    return f"worst {tail.words} of {how.format(*(models[i] for i in pair))} ({tail.against(*pair)})"


def tested(ranking: RankDocument, whole: ReportDocument) -> Iterator[Line]:
    """The same with its test; then whose worst samples on single metrics speak against the first."""
    one, said = ranking.lead, tails_apart(ranking, whole)
    if said:
        p = one.found.tail_answer(one.method, one.other)[1]
        yield Line(f"{said}. The test has {p_words(p)}, {_together(ranking)}.", "Bad cases:")
    if on := _milder(ranking):
        first = ranking.provenance.models[one.first]
        yield Line(f"On single metrics others are shown to have milder bad cases than {first}: {on}.")


def hidden(ranking: RankDocument, whole: ReportDocument) -> str:
    """Models whose tail is worse than their mean suggests, and how many tails are milder than the first's."""
    one, models = ranking.lead, ranking.provenance.models
    risks = one.found.hidden_risks
    if risks is None or not bad_cases(ranking.tails[one.column].level):
        return "not looked for"
    named = [models[i] for i in np.flatnonzero(risks.status == RISK).tolist()]
    said = f"hidden risk: {names(named)}" if named else "no hidden risk shown"
    if one.tested and one.others:
        sides = Counter(one.found.tail_answer(one.method, other)[0] for other in one.others)
        told = ", ".join(f"{word} {sides[side]}" for side, word in _SIDES.items() if sides[side])
        said += f"; worst {_level(ranking)} of the others against that of {models[one.first]}: {told}"
    return said + (f"; milder {on}" if (on := _milder(ranking)) else "")


def details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Differences of tail means with their tests; then hidden risks and their rule."""
    one = ranking.lead
    if not bad_cases(ranking.tails[one.column].level):
        yield Line("not looked for: a tail would hold more than half of the scores.", "Hidden risks:")
        return
    if rows := [*_rows(ranking)]:
        yield to_the_first(f"Worst {_level(ranking)}", "bad cases", rows, ranking)
        yield Line(_tests(ranking), "Tests:")
    yield from risk_lines(ranking, one)
    if one.found.hidden_risks is not None:
        rule = CORRECTIONS[ranking.inference.family.correction]
        text = (
            "a hidden risk is a model that the ranking puts behind another of no larger mean whose bad cases "
            f"a test shows to be milder ({rule} over all pairs of a mean as large). The first is "
            "behind nobody: of its bad cases the table tells."
        )
        yield Line(text, "Rule:")


def _milder(ranking: RankDocument) -> str:
    """On which metrics how many others' bad cases are milder than the first's."""
    tails, of = ranking.lead.metric_tails, len(ranking.lead.others)
    counts = tails.milder.sum(axis=0).tolist() if tails else []
    on = [f"{n} of {of} on {mean.name}" for mean, n in zip(ranking.means, counts, strict=False) if n]
    return names(on, len(on))


def _of_the_score(ranking: RankDocument) -> Iterator[tuple[str, str]]:
    """Of what is ranked, the others' differences to the first with their intervals, where there are any."""
    one, units = ranking.lead, ranking.units[ranking.lead.column]
    difference = one.found.effects[one.method].tail_difference
    low, high = units.interval(difference.low, difference.high)
    if low is None or high is None:
        return
    decimals = numbers.decimals_of_ends(low[one.others], high[one.others])
    apart = units.of(difference.estimate)
    for i in one.others:
        yield rounded(float(apart[i]), decimals), numbers.ends(low[i], high[i], decimals)


def _rows(ranking: RankDocument) -> Iterator[tuple[str, ...]]:
    """Of the score that is ranked both directions, of single metrics whether others' bad cases are milder."""
    one, models = ranking.lead, ranking.provenance.models
    for i, apart in zip(one.others, _of_the_score(ranking), strict=False):
        side, p = one.found.tail_answer(one.method, i)
        yield ranking.units[one.column].label, models[i], *apart, numbers.p_value(p), _SIDES[side]
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
    return f"for all {k * (k - 1) // 2} pairs of models together ({confidence})" if k > 2 else confidence


def _level(ranking: RankDocument) -> str:
    return percent(ranking.lead.found.dominance.estimates.tail_level)
