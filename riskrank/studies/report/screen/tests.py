"""Sections of a report on its tests: means, tails and hidden risks, corrections, and detection limits."""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.family import Answer
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS, inference_line, score_title
from riskrank.render.view import Line, Section, Table, column_heads
from riskrank.studies.dominance.screen import WHY_COUNTS_DIFFER
from riskrank.studies.metric_means import detectable_by_metric, is_bad_case_level
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.screen.detail import risk_lines
from riskrank.studies.report.study import ReportDocument
from riskrank.studies.wording import (
    counted,
    detection_limit_sentence,
    format_fixed,
    format_percent,
    join_names,
    p_value_phrase,
)

_SIDES = {Answer.SIGNIFICANT: "better", Answer.CONTRADICTED: "worse", Answer.UNDECIDED: "undecided"}


def differences_table(
    quantity: str, answer_head: str, rows: Iterable[tuple[str, ...]], ranking: RankDocument
) -> Table:
    """Return a table of differences from the leader, with intervals, p-values and answers.

    Parameters
    ----------
    quantity : str
        Name of the quantity, such as "Means".
    answer_head : str
        Heading of the column of answers.
    rows : iterable of tuple of str
    ranking : RankDocument
    """
    heads = *column_heads("on", "model", right=("difference", "interval", "p")), *column_heads(answer_head)
    first = ranking.provenance.models[ranking.leader.first]
    return Table(f"{quantity}: difference from {first}", heads, tuple(rows), stub=2)


def has_metric_tests(ranking: RankDocument) -> bool:
    """Return True if the means of several metrics were tested."""
    return len(ranking.means) > 1 and ranking.leader.recommendation is not None


def rival_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Summarize on how many metrics the leader is better or worse than its rival."""
    leader, models = ranking.leader, ranking.provenance.models
    sides = (-leader.contrasts.answers.side[leader.rival]).tolist()
    counts_by_side = [f"{word} on {sides.count(side)}" for side, word in _SIDES.items() if side in sides]
    counts_text = f"{', '.join(counts_by_side)} of {len(sides)} metrics"
    text = f"{models[leader.first]} against {models[leader.rival]}: {counts_text}"
    counts = leader.contrasts.worse.sum(axis=0).tolist() if {*sides} == {Answer.UNDECIDED} else ()
    wins = [f"{counted(n, 'other')} on {ranking.means[m].name}" for m, n in enumerate(counts) if n]
    return f"{text}; better than {join_names(wins, len(wins))}" if wins else text


def difference_sections(ranking: RankDocument, _: ReportDocument) -> list[Section]:
    """Return a table of each metric's mean differences from the leader, and a line on the tests."""
    leader, models, family = ranking.leader, ranking.provenance.models, ranking.inference.family
    rows = [
        (mean.name, models[i], *_difference_cells(ranking, i, m))
        for m, mean in enumerate(ranking.means)
        for i in leader.rivals
    ]
    level = format_percent(family.confidence)
    coverage = f"are simultaneous ({level})" if family.simultaneous else "are pointwise"
    text = (
        f"{models[leader.first]} is first in the ranking. p: bootstrap-t test of the difference; "
        f"{CORRECTIONS[family.correction]} over the {len(rows)} tests, level {family.alpha:g}. Intervals "
        f"{coverage}; if a test is significant, they are clipped at 0."
    )
    return [differences_table("Means", "result", rows, ranking), Line(text, "Tests:")]


def _difference_cells(ranking: RankDocument, model: int, metric: int) -> tuple[str, ...]:
    """Return four cells of a row: difference, its interval, the p-value and the answer."""
    mean, contrasts, index = ranking.means[metric], ranking.leader.contrasts, (model, metric)
    units, answers = ranking.units[mean.name], contrasts.answers
    estimate = float(units.to_file_units(contrasts.difference)[index])
    low, high = (float(end[index]) for end in units.interval_to_file_units(answers.low, answers.high))
    if units.label == mean.name:
        cells = mean.format_gap(estimate), mean.format_interval(low, high)
    else:
        decimals = numbers.interval_decimals([low], [high])
        cells = (
            format_fixed(estimate, decimals),
            numbers.format_difference_interval(low, high, decimals),
        )
    p = float(min(answers.p_adjusted[index], answers.p_against[index]))
    return *cells, numbers.format_p_value(p), _SIDES[Answer(int(answers.side[index]))]


_TAIL_SIDES = {Answer.CONTRADICTED: "milder", Answer.SIGNIFICANT: "worse", Answer.UNDECIDED: "undecided"}
"""Tail of a model, compared with the leader's."""


def tail_comparison(ranking: RankDocument, _: ReportDocument) -> str:
    """Compare the tail means of the leader and its rival in words, or return "" if they were not tested."""
    leader, models, tail = ranking.leader, ranking.provenance.models, ranking.leader.tail
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
    """Name the models with hidden risks, and count the models with a milder tail than the leader."""
    leader, models = ranking.leader, ranking.provenance.models
    risks = leader.study.hidden_risks
    if risks is None or not is_bad_case_level(leader.tail.level):
        return "not tested"
    named = [models[i] for i in np.flatnonzero(risks.status == RISK).tolist()]
    summary = f"hidden risk: {join_names(named)}" if named else "no significant hidden risk"
    if leader.tested and leader.rivals:
        sides = Counter(leader.study.compare_tail(leader.method, rival)[0] for rival in leader.rivals)
        counts = ", ".join(f"{word} {sides[side]}" for side, word in _TAIL_SIDES.items() if sides[side])
        summary += (
            f"; worst {_tail_share(ranking)} of the others against that of {models[leader.first]}: {counts}"
        )
    return summary + (f"; milder {metrics}" if (metrics := _milder_by_metric(ranking)) else "")


def tail_details(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Yield a table of tail-mean differences and their tests, then the hidden risks and their definition."""
    leader = ranking.leader
    if not is_bad_case_level(leader.tail.level):
        yield Line("not tested, because a tail would contain more than half of the scores.", "Hidden risks:")
        return
    if rows := [*_tail_rows(ranking)]:
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


def _tail_rows(ranking: RankDocument) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table of tails: tests on the ranked score, then on every single metric."""
    leader, models, units = ranking.leader, ranking.provenance.models, ranking.units[ranking.leader.column]
    difference = leader.study.effects[leader.method].tail_difference
    estimates, low, high = units.estimates(difference)
    for i in leader.rivals:
        if low is None or high is None:
            break
        decimals = numbers.interval_decimals(low[leader.rivals], high[leader.rivals])
        gap = format_fixed(float(estimates[i]), decimals)
        interval = numbers.format_difference_interval(low[i], high[i], decimals)
        side, p = leader.study.compare_tail(leader.method, i)
        yield units.label, models[i], gap, interval, numbers.format_p_value(p), _TAIL_SIDES[side]
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
    """Describe the confidence level, which is simultaneous for all pairs of models."""
    k, confidence = (
        len(ranking.provenance.models),
        format_percent(ranking.inference.family.confidence),
    )
    simultaneous = f"simultaneous for all {k * (k - 1) // 2} pairs of models ({confidence})"
    return simultaneous if k > 2 else f"confidence {confidence}"


def _tail_share(ranking: RankDocument) -> str:
    """Format the tail level in percent."""
    return format_percent(ranking.leader.study.dominance.estimates.tail_level)


# Meaning of the smallest detectable difference (method §15).
_POWER = "with power 80 %, tests of as many samples detect"


def limit_lines(ranking: RankDocument, _: ReportDocument) -> Iterator[Line]:
    """Yield lines on effects that are too small or too rare to detect, and on the limits of all tests."""
    leader, models = ranking.leader, ranking.provenance.models
    scores, study = leader.scores, leader.study.dominance.estimates
    tail = counted(max(round(study.tail_level * study.samples), 1), "sample")
    if leader.recommendation is not None:
        detectable = leader.contrasts.detectable_differences(ranking.inference.family)[leader.rival].tolist()
        by_metric = dict(zip((mean.name for mean in ranking.means), detectable, strict=True))
        if differences := detectable_by_metric(ranking.means, by_metric):
            yield Line(differences, f"For {models[leader.first]} and {models[leader.rival]}, {_POWER}")
    rare = detection_limit_sentence(scores.min_effective_size, scores.unit_name)
    yield Line(
        f"{rare} An event that did not occur in n independent samples has a probability of at most about "
        "3/n, with 95 % confidence."
    )
    yield Line(
        f"The mean of the worst {format_percent(study.tail_level)} averages about {tail} per model. It "
        "cannot describe rarer events."
    )
    yield Line(
        "Tests and intervals generalise to samples like these. They say nothing about other tasks, other "
        "users, or a metric that measures the wrong thing."
    )


_FAMILIES = (
    "each family covers all pairs of models for one question: one order of dominance, relative to the field "
    "or direct; means of single metrics, better or worse; bad cases on single metrics; hidden risks; all "
    "single tasks; macro means, on these tasks, on tasks like these, and without each task."
)


def correction_summary(ranking: RankDocument, _: ReportDocument) -> str:
    """Describe the correction for multiple comparisons and the significance level."""
    inference = ranking.inference
    if not inference.test:
        return "no tests"
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    return f"{rule}, level {inference.family.interval_level(1):g} within each family of claims, none across"


def correction_lines(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    """Yield lines on the families of tests, the test of the labels, and the tests of the ranking."""
    if ranking.inference.test:
        yield Line(_FAMILIES, "Families:")
    if ranking.judged:
        text = "a separate test checks whether they were randomly chosen, and may lead to a warning."
        yield Line(text, "Labels:")
    study, models = ranking.leader.study.dominance, ranking.provenance.models
    yield inference_line(study, ranking.inference, models, ranking.leader.scores)


def pair_count_lines(document: ReportDocument) -> Iterator[Line]:
    """Yield a line that explains why relative and direct tests separate different numbers of pairs."""
    leader = document.ranking.leader
    ranked = leader.study.separations.get(leader.method)
    direct = document.pairs.by_column[0].study.tests[-1]
    order = "first" if direct.claim.order == 1 else "second"
    separated = int(np.triu(direct.dominates | direct.dominates.T, 1).sum())
    if ranked and document.ranking.inference.test and ranked.separated != separated:
        yield Line(
            f"the ranking separates {ranked.separated} of {ranked.pairs} pairs by comparing each model "
            f"with the field (relative claims). Part Pairs separates {separated} by {order}-order dominance "
            f"between two models alone (direct claims). {WHY_COUNTS_DIFFER}",
            "Two tests:",
        )
