"""Sections of a report on tail means and hidden risks, with their tests."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.family import Answer
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS, score_title
from riskrank.render.view import Line, Section
from riskrank.studies.metric_means import is_bad_case_level
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.screen.detail import risk_lines
from riskrank.studies.report.screen.by_metric import differences_table
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import format_fixed, format_percent, join_names, p_value_phrase

_SIDES = {Answer.CONTRADICTED: "milder", Answer.SIGNIFICANT: "worse", Answer.UNDECIDED: "undecided"}
"""Tail of a model, compared with the leader's."""


def tail_comparison(ranking: RankDocument, _: ReportDocument) -> str:
    """Return text that describes how the tail means of the leader and its rival differ.

    The text is empty if the difference was not tested.
    """
    leader, models, tail = ranking.leader, ranking.provenance.models, ranking.tails[ranking.leader.column]
    if not (leader.rivals and leader.tested and tail.is_informative):
        return ""
    side = leader.study.compare_tail(leader.method, leader.rival)[0]
    pair = (leader.first, leader.rival)[:: side or 1]
    template = "{} significantly milder than of {}" if side else "{} and of {} not significantly different"
    comparison = template.format(*(models[i] for i in pair))
    return f"worst {tail.tail_label} of {comparison} ({tail.format_comparison(*pair)})"


def tail_test_lines(ranking: RankDocument, document: ReportDocument) -> Iterator[Line]:
    """Yield lines on the tail comparison, and on metrics on which other models have milder tails."""
    leader, comparison = ranking.leader, tail_comparison(ranking, document)
    if comparison:
        p = leader.study.compare_tail(leader.method, leader.rival)[1]
        yield Line(f"{comparison}. Two-sided {p_value_phrase(p)}, {_pair_confidence(ranking)}.", "Bad cases:")
    if metrics := _milder_by_metric(ranking):
        first = ranking.provenance.models[leader.first]
        yield Line(f"On single metrics, others have significantly milder bad cases than {first}: {metrics}.")


def hidden_risk_summary(ranking: RankDocument, document: ReportDocument) -> str:
    """Return text on the models with hidden risks, and on the number with a milder tail than the leader."""
    leader, models = ranking.leader, ranking.provenance.models
    risks = leader.study.hidden_risks
    if risks is None or not is_bad_case_level(ranking.tails[leader.column].level):
        return "not tested"
    named = [models[i] for i in np.flatnonzero(risks.status == RISK).tolist()]
    summary = f"hidden risk: {join_names(named)}" if named else "no significant hidden risk"
    if leader.tested and leader.rivals:
        sides = Counter(leader.study.compare_tail(leader.method, rival)[0] for rival in leader.rivals)
        counts = ", ".join(f"{word} {sides[side]}" for side, word in _SIDES.items() if sides[side])
        summary += (
            f"; worst {_tail_share(ranking)} of the others against that of {models[leader.first]}: {counts}"
        )
    return summary + (f"; milder {metrics}" if (metrics := _milder_by_metric(ranking)) else "")


def details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Yield a table of tail-mean differences and their tests, then the hidden risks and their definition."""
    leader = ranking.leader
    if not is_bad_case_level(ranking.tails[leader.column].level):
        yield Line("not tested, because a tail would contain more than half of the scores.", "Hidden risks:")
        return
    if rows := [*_rows(ranking)]:
        yield differences_table(f"Worst {_tail_share(ranking)}", "bad cases", rows, ranking)
        yield Line(_describe_tests(ranking), "Tests:")
    yield from risk_lines(ranking, leader)
    if leader.study.hidden_risks is not None:
        rule = CORRECTIONS[ranking.inference.family.correction]
        text = (
            "a hidden risk is a model whose mean is at least as good as that of a model ranked before it, "
            f"but whose bad cases are significantly worse ({rule} over all such pairs). The first model "
            "cannot be a hidden risk; the table compares its bad cases."
        )
        yield Line(text, "Rule:")


def _milder_by_metric(ranking: RankDocument) -> str:
    """Describe, for each metric, how many models have a significantly milder tail than the leader."""
    tails, rivals = ranking.leader.metric_tails, len(ranking.leader.rivals)
    counts = tails.milder.sum(axis=0).tolist() if tails else []
    metrics = [f"{n} of {rivals} on {mean.name}" for mean, n in zip(ranking.means, counts, strict=False) if n]
    return join_names(metrics, len(metrics))


def _score_differences(ranking: RankDocument) -> Iterator[tuple[str, str]]:
    """Yield each model's tail-mean difference from the leader and its interval, on the ranked score."""
    leader, units = ranking.leader, ranking.units[ranking.leader.column]
    difference = leader.study.effects[leader.method].tail_difference
    low, high = units.interval(difference.low, difference.high)
    if low is None or high is None:
        return
    decimals = numbers.interval_decimals(low[leader.rivals], high[leader.rivals])
    estimates = units.to_file_units(difference.estimate)
    for i in leader.rivals:
        yield (
            format_fixed(float(estimates[i]), decimals),
            numbers.format_difference_interval(low[i], high[i], decimals),
        )


def _rows(ranking: RankDocument) -> Iterator[tuple[str, ...]]:
    """Yield the table rows: two-sided tests on the ranked score, one-sided tests on single metrics."""
    leader, models = ranking.leader, ranking.provenance.models
    for i, cells in zip(leader.rivals, _score_differences(ranking), strict=False):
        side, p = leader.study.compare_tail(leader.method, i)
        yield ranking.units[leader.column].label, models[i], *cells, numbers.format_p_value(p), _SIDES[side]
    if (tails := leader.metric_tails) is None:
        return
    for m, mean in enumerate(ranking.means):
        gaps = ranking.units[mean.name].to_file_units(tails.tails[:, m] - tails.tails[leader.first, m])
        for i in leader.rivals:
            undecided = "too few resamples" if tails.undecided[i, m] else "not significant"
            answer = "milder" if tails.milder[i, m] else undecided
            p_value = numbers.format_p_value(float(tails.p_milder[i, m]))
            yield mean.name, models[i], mean.format_gap(float(gaps[i])), "–", p_value, answer


def _describe_tests(ranking: RankDocument) -> str:
    """Explain the intervals and p-values of the tail comparisons."""
    leader, family = ranking.leader, ranking.inference.family
    score = "the score" if leader.column in ranking.provenance.metric_names else score_title(leader.column)
    text = f"intervals and p of {score} come from bootstrap resamples, {_pair_confidence(ranking)}."
    if leader.metric_tails is None:
        return text
    claims = len(leader.rivals) * len(ranking.means)
    rule = f"{CORRECTIONS[family.correction]} over these {claims} claims, level {family.alpha:g}"
    return f"{text} Single metrics: one-sided p for “not milder”; {rule}."


def _pair_confidence(ranking: RankDocument) -> str:
    """Return the confidence level as text, with a note that it is simultaneous over all pairs."""
    k, confidence = len(ranking.provenance.models), format_percent(ranking.inference.family.confidence)
    simultaneous = f"simultaneous for all {k * (k - 1) // 2} pairs of models ({confidence})"
    return simultaneous if k > 2 else f"confidence {confidence}"


def _tail_share(ranking: RankDocument) -> str:
    """Format the tail level in percent."""
    return format_percent(ranking.leader.study.dominance.estimates.tail_level)
