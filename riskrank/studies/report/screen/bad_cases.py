"""Tail means and hidden risks of a report, with their tests."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.family import Side
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS, score_title
from riskrank.render.view import Line, Section
from riskrank.studies.metric_means import bad_cases
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.screen.detail import risk_lines
from riskrank.studies.report.screen.by_metric import differences_table
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import names, p_words, percent, rounded

_SIDES = {Side.REFUTED: "milder", Side.SHOWN: "worse", Side.OPEN: "open"}
"""Tail of a model, compared with the leader's."""


def tail_comparison(ranking: RankDocument, _: ReportDocument) -> str:
    """Return the comparison of the tail means of the leader and its rival; empty if it was not tested."""
    leader, models, tail = ranking.lead, ranking.provenance.models, ranking.tails[ranking.lead.column]
    if not (leader.others and leader.tested and tail.says_something):
        return ""
    side = leader.found.tail_answer(leader.method, leader.other)[0]
    pair = (leader.first, leader.other)[:: side or 1]
    template = "{} shown to be milder than of {}" if side else "{} and of {} not shown to differ (two-sided)"
    return f"worst {tail.words} of {template.format(*(models[i] for i in pair))} ({tail.against(*pair)})"


def tail_test_lines(ranking: RankDocument, document: ReportDocument) -> Iterator[Line]:
    """Yield the tail comparison with its p-value, then metrics on which other models have milder tails."""
    leader, comparison = ranking.lead, tail_comparison(ranking, document)
    if comparison:
        p = leader.found.tail_answer(leader.method, leader.other)[1]
        yield Line(f"{comparison}. The test has {p_words(p)}, {_pair_confidence(ranking)}.", "Bad cases:")
    if metrics := _milder_by_metric(ranking):
        first = ranking.provenance.models[leader.first]
        yield Line(f"On single metrics others are shown to have milder bad cases than {first}: {metrics}.")


def hidden_risk_summary(ranking: RankDocument, document: ReportDocument) -> str:
    """Return the models with hidden risks, and the number of models with a milder tail than the leader."""
    leader, models = ranking.lead, ranking.provenance.models
    risks = leader.found.hidden_risks
    if risks is None or not bad_cases(ranking.tails[leader.column].level):
        return "not looked for"
    named = [models[i] for i in np.flatnonzero(risks.status == RISK).tolist()]
    summary = f"hidden risk: {names(named)}" if named else "no hidden risk shown"
    if leader.tested and leader.others:
        sides = Counter(leader.found.tail_answer(leader.method, rival)[0] for rival in leader.others)
        counts = ", ".join(f"{word} {sides[side]}" for side, word in _SIDES.items() if sides[side])
        summary += (
            f"; worst {_tail_share(ranking)} of the others against that of {models[leader.first]}: {counts}"
        )
    return summary + (f"; milder {metrics}" if (metrics := _milder_by_metric(ranking)) else "")


def details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Yield the differences of tail means with their tests, then hidden risks and their definition."""
    leader = ranking.lead
    if not bad_cases(ranking.tails[leader.column].level):
        yield Line("not looked for: a tail would hold more than half of the scores.", "Hidden risks:")
        return
    if rows := [*_rows(ranking)]:
        yield differences_table(f"Worst {_tail_share(ranking)}", "bad cases", rows, ranking)
        yield Line(_describe_tests(ranking), "Tests:")
    yield from risk_lines(ranking, leader)
    if leader.found.hidden_risks is not None:
        rule = CORRECTIONS[ranking.inference.family.correction]
        text = (
            "a hidden risk is a model that the ranking puts behind another of no larger mean whose bad cases "
            f"a test shows to be milder ({rule} over all pairs of a mean as large). The first is "
            "behind nobody: of its bad cases the table tells."
        )
        yield Line(text, "Rule:")


def _milder_by_metric(ranking: RankDocument) -> str:
    """Return, for each metric, how many models have a significantly milder tail than the leader."""
    tails, rivals = ranking.lead.metric_tails, len(ranking.lead.others)
    counts = tails.milder.sum(axis=0).tolist() if tails else []
    metrics = [f"{n} of {rivals} on {mean.name}" for mean, n in zip(ranking.means, counts, strict=False) if n]
    return names(metrics, len(metrics))


def _score_differences(ranking: RankDocument) -> Iterator[tuple[str, str]]:
    """Yield the difference of each tail mean to the leader's, and its interval, on the ranked score."""
    leader, units = ranking.lead, ranking.units[ranking.lead.column]
    difference = leader.found.effects[leader.method].tail_difference
    low, high = units.interval(difference.low, difference.high)
    if low is None or high is None:
        return
    decimals = numbers.interval_decimals(low[leader.others], high[leader.others])
    estimates = units.of(difference.estimate)
    for i in leader.others:
        yield (
            rounded(float(estimates[i]), decimals),
            numbers.format_difference_interval(low[i], high[i], decimals),
        )


def _rows(ranking: RankDocument) -> Iterator[tuple[str, ...]]:
    """Yield the table rows: two-sided tests on the ranked score, one-sided tests on single metrics."""
    leader, models = ranking.lead, ranking.provenance.models
    for i, cells in zip(leader.others, _score_differences(ranking), strict=False):
        side, p = leader.found.tail_answer(leader.method, i)
        yield ranking.units[leader.column].label, models[i], *cells, numbers.format_p_value(p), _SIDES[side]
    if (tails := leader.metric_tails) is None:
        return
    for m, mean in enumerate(ranking.means):
        gaps = ranking.units[mean.name].of(tails.tails[:, m] - tails.tails[leader.first, m])
        for i in leader.others:
            undecided = "too few resamples" if tails.undecided[i, m] else "not shown milder"
            answer = "milder" if tails.milder[i, m] else undecided
            p_value = numbers.format_p_value(float(tails.p_milder[i, m]))
            yield mean.name, models[i], mean.gap(float(gaps[i])), "–", p_value, answer


def _describe_tests(ranking: RankDocument) -> str:
    leader, family = ranking.lead, ranking.inference.family
    score = "the score" if leader.column in ranking.provenance.metric_names else score_title(leader.column)
    text = f"of {score} intervals and p from bootstrap resamples, {_pair_confidence(ranking)}."
    if leader.metric_tails is None:
        return text
    claims = len(leader.others) * len(ranking.means)
    rule = f"{CORRECTIONS[family.correction]} over these {claims}, level {family.alpha:g}"
    return f"{text} Of single metrics: p of “no milder”, one-sided; {rule}."


def _pair_confidence(ranking: RankDocument) -> str:
    k, confidence = len(ranking.provenance.models), percent(ranking.inference.family.confidence)
    return f"for all {k * (k - 1) // 2} pairs of models together ({confidence})" if k > 2 else confidence


def _tail_share(ranking: RankDocument) -> str:
    return percent(ranking.lead.found.dominance.estimates.tail_level)
