"""Contents of a report: the sections of the commands' own screens, with their pictures, part by part."""

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any

from riskrank.engine.family import Answer
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS, binary_metric_lines, single_binary_metric
from riskrank.render.screens import (
    AUDIT,
    UNDERSTAND,
    Entry,
    build_parts,
    detection_limit_lines,
    further_sentence_lines,
    verdict_summary,
)
from riskrank.render.view import Line, Section, Table, column_heads
from riskrank.studies.copa import screen as copa
from riskrank.studies.dominance import screen as dominance
from riskrank.studies.groups.screen import group_sections
from riskrank.studies.gsd import screen as gsd
from riskrank.studies.judge import screen as judged
from riskrank.studies.mrm import screen as mean_risk
from riskrank.studies.rank.document import RankDocument, trade_off
from riskrank.studies.rank.screen import detail, mean_sections, other_metric_table
from riskrank.studies.report.study import CHAPTERS, ReportDocument
from riskrank.studies.suites.screen import details as task_details
from riskrank.studies.wording import format_fixed, format_percent

_SIDES = {Answer.SIGNIFICANT: "better", Answer.CONTRADICTED: "worse", Answer.UNDECIDED: "undecided"}


def build_sections(document: ReportDocument) -> list[Section]:
    """Return the sections of all parts of a report for the terminal, without pictures.

    A part starts with a line with its main finding, unless the verdict contains it.
    """
    result: list[Section] = []
    for part in build_parts(document, REPORT):
        heading = [] if part.finding in document.verdict else [Line(f"{part.finding}.", f"{part.title}:")]
        result += [*heading, *part.words] if part.words else []
    return result


def _sentence_on(*kinds: str) -> Callable[[RankDocument, ReportDocument], str]:
    """Return a function that finds the ranking's first sentence about one of the given kinds of findings.

    The function takes a ranking and a report. It returns an empty string if there is no such sentence.
    """

    def finding(ranking: RankDocument, _: ReportDocument) -> str:
        """Return the first such sentence without its full stop, or an empty string."""
        sentences = (entry.sentence.rstrip(".") for entry in ranking.findings if entry.kind in kinds)
        return next(sentences, "")

    return finding


def _ranking_sections(document: RankDocument, _: ReportDocument) -> list[Section]:
    """Return all tables of the ranking, and the sentences that do not fit into the verdict."""
    return [*other_metric_table(document), *further_sentence_lines(document.more), *detail.details(document)]


def difference_sections(ranking: RankDocument, _: ReportDocument) -> list[Section]:
    """Return a table of each metric's mean differences from the leader, and a line about the tests."""
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
    heads = *column_heads("on", "model", right=("difference", "interval", "p")), *column_heads("result")
    table = Table(f"Means: difference from {models[leader.first]}", heads, tuple(rows), stub=2)
    return [table, Line(text, "Tests:")]


def _difference_cells(ranking: RankDocument, model: int, metric: int) -> tuple[str, ...]:
    """Return the texts of four cells: difference from the leader, interval, p-value and result.

    `model` and `metric` are indices.
    """
    mean, contrasts, index = ranking.means[metric], ranking.leader.contrasts, (model, metric)
    units, answers = ranking.units[mean.name], contrasts.answers
    estimate = float(units.to_file_units(contrasts.difference)[index])
    low, high = (float(end[index]) for end in units.interval_to_file_units(answers.low, answers.high))
    cells = mean.format_gap(estimate), mean.format_interval(low, high)
    if units.label != mean.name:
        decimals = numbers.interval_decimals([low], [high])
        interval = numbers.format_difference_interval(low, high, decimals)
        cells = format_fixed(estimate, decimals), interval
    p = float(min(answers.p_adjusted[index], answers.p_against[index]))
    return *cells, numbers.format_p_value(p), _SIDES[Answer(int(answers.side[index]))]


def _limit_lines(ranking: RankDocument, _: ReportDocument) -> list[Line]:
    """Return lines about events that are too rare to detect, and about the scope of the tests."""
    text = (
        "Tests and intervals generalise to samples like these. They say nothing about other tasks, other "
        "users, or a metric that measures the wrong thing."
    )
    return [*detection_limit_lines(ranking), Line(text)]


def _agreement_entry(name: str, varied: str, basis: str, study: Callable[[ReportDocument], Any]) -> Entry:
    """Create the part of a report about the agreement of the ranking with other methods or metrics.

    Parameters
    ----------
    name : str
        Key of :data:`CHAPTERS`, which is also the anchor.
    varied : {"method", "metric"}
        Property in which the compared rankings differ.
    basis : str
        Phrase for the rankings in the text.
    study : callable
        Function of the report that returns the document with the rankings.
    """
    text = (
        f"Dependence of the ranking on the {varied}: ranks by {basis}, from the same samples, without tests. "
        "τ is 1 for the same order and −1 for the reverse order."
    )
    single_metric = (
        "there is only one, so no method combines metrics. The part Mean and risk compares risk measures."
    )

    def words(rankings: RankDocument, document: ReportDocument) -> list[Section]:
        """Return a table of the agreement between the rankings, and an explanation."""
        leader = document.ranking.leader
        name = f"{leader.method}@{leader.column}"
        table = detail.ranking_agreement_table(name, document.ranking, rankings, varied)
        return [table, Line(text), *[Line(single_metric, "Metrics:")] * (document.metrics is None)]

    def finding(rankings: RankDocument, document: ReportDocument) -> str:
        """Return the verdict on the compared rankings, or an empty string for the report's own ranking."""
        return "" if rankings is document.ranking else verdict_summary(rankings, document)

    return Entry(AUDIT, name, CHAPTERS[name], study, ("bump",), words=words, finding=finding)


def _ranking_if(condition: Callable[[RankDocument], Any]) -> Callable[[ReportDocument], Any]:
    """Return a function of a report that returns its ranking if `condition` is true for it, or else None."""
    return lambda document: document.ranking if condition(document.ranking) else None


def _unless_binary(name: str) -> Callable[[ReportDocument], Any]:
    """Return a function of a report that returns its attribute `name`, or None if all scores are binary."""
    return lambda document: None if single_binary_metric(document.ranking) else getattr(document, name)


_RANKING, _JUDGED = attrgetter("ranking"), _ranking_if(attrgetter("judged"))
_SUITE = _ranking_if(attrgetter("suite"))
_TASKS = _ranking_if(lambda ranking: ranking.suite and not trade_off(ranking))
_SMOOTH = _unless_binary("ranking")
_TAILS = _sentence_on("worse-tail-on-a-metric", "best-mean-hides-risk", "worse-tail", "tail-of-the-first")
_BY_TASK, _JUDGE_ALONE = _sentence_on("by-task"), _sentence_on("judge-alone")

# Parts of a report, one row per part.
REPORT = (
    Entry(
        *(UNDERSTAND, "means", "Differences from the first", _ranking_if(single_binary_metric), ("forest",)),
        words=binary_metric_lines,
        finding=_sentence_on(),
    ),
    Entry(UNDERSTAND, "trade", "Wins by metric", _ranking_if(trade_off), ("trade",), finding=_sentence_on()),
    Entry(
        UNDERSTAND, "labels", "Effect of the labels", _JUDGED, ("judge",), finding=_sentence_on("judge-alone")
    ),
    Entry(UNDERSTAND, "curves", "Worst cases", _SMOOTH, ("tvar",), finding=_TAILS),
    # With several metrics or a judge, the pair is compared above.
    Entry(
        *(UNDERSTAND, "pair", "The deciding pair"),
        study=lambda report: None if trade_off(report.ranking) or report.ranking.judged else report.pairs,
        pictures=("pair",),
    ),
    Entry(UNDERSTAND, "unseen", "Detection limits", _RANKING, words=_limit_lines, finding=_sentence_on()),
    # With several metrics, tasks are compared on the combined score only.
    Entry(UNDERSTAND, "by-task", "Results by task", _TASKS, ("taskforest",), finding=_BY_TASK),
    Entry(
        *(AUDIT, "ranking", CHAPTERS["ranking"], _RANKING),
        words=_ranking_sections,
        finding=lambda ranking, _: detail.describe_separated_pairs(ranking, ranking.leader),
    ),
    Entry(
        *(AUDIT, "differences", "Differences by metric"),
        study=_ranking_if(lambda ranking: len(ranking.means) > 1 and ranking.leader.recommendation),
        words=difference_sections,
        finding=_sentence_on("gain"),
    ),
    Entry(
        *(AUDIT, "judge", "The judge and the labels", _JUDGED),
        words=lambda ranking, _: [*judged.label_lines(ranking.judged), *judged.mean_sections(ranking.judged)],
        finding=_sentence_on("judge-gain"),
    ),
    Entry(AUDIT, "distributions", "Distributions", _SMOOTH, ("quantiles",), finding=_sentence_on()),
    Entry(
        *(AUDIT, "mean-risk", CHAPTERS["risks"], _unless_binary("risks"), ("scatter", "risks")),
        # The picture of all risks replaces the tables.
        words=lambda study, _: [section for section in mean_risk.details(study) if isinstance(section, Line)],
    ),
    Entry(
        *(AUDIT, "pairs", CHAPTERS["pairs"], attrgetter("pairs"), ("heatmap", "pair")),
        words=lambda study, _: dominance.details(study),
    ),
    Entry(
        *(AUDIT, "tasks", "Tasks", _SUITE, ("taskforest", "profile")),
        words=lambda ranking, _: [
            Line(f"{ranking.suite.summary}; models are ranked {ranking.suite.scope_text}.", "Suite:"),
            *(replace(section, details=False) for section in task_details(ranking.suite, per_task=False)),
        ],
        finding=_BY_TASK,
    ),
    Entry(
        *(AUDIT, "groups", lambda study: f"{CHAPTERS['by_group']} by {study.groups.column}"),
        study=attrgetter("by_group"),
        words=lambda study, _: group_sections(study.groups),
    ),
    # A single metric needs no combination, so the methods are those of the ranking.
    _agreement_entry("methods", "method", "methods", lambda document: document.methods or document.ranking),
    _agreement_entry("metrics", "metric", "single metrics", attrgetter("metrics")),
    Entry(
        *(AUDIT, "statistics", CHAPTERS["statistics"], attrgetter("statistics")),
        words=lambda study, _: mean_sections(study),
    ),
    Entry(
        *(AUDIT, "gsd", CHAPTERS["relation"], attrgetter("relation"), ("hasse",)),
        words=lambda study, _: gsd.details(study),
    ),
    Entry(
        *(AUDIT, "copa", CHAPTERS["choice"], attrgetter("choice"), ("doubt", "parallel", "boxes")),
        words=lambda study, _: copa.details(study),
    ),
)
