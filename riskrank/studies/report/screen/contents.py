"""Table of contents of a report: text, tables and pictures of every part."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any

from riskrank.render.agreement import ranking_agreement_table
from riskrank.render.mean_tables import binary_metric_lines, single_binary_metric
from riskrank.render.screens import also_lines
from riskrank.render.table_of_contents import (
    AUDIT,
    UNDERSTAND,
    ChapterPart,
    Entry,
    SectionBuilder,
    build_parts,
)
from riskrank.render.view import Line, Section, Table
from riskrank.studies.copa.screen import detail as copa
from riskrank.studies.document import Document
from riskrank.studies.dominance.screen import detail as dominance
from riskrank.studies.dominance.study import DominanceDocument
from riskrank.studies.groups.screen import group_sections
from riskrank.studies.gsd.screen import first as gsd
from riskrank.studies.judge import screen as judged
from riskrank.studies.mrm.screen import first as mean_risk
from riskrank.studies.rank.document import RankDocument, trade
from riskrank.studies.rank.screen.detail import detail_table, reading, separation_line
from riskrank.studies.rank.screen.first import other_metrics
from riskrank.studies.report.screen import bad_cases, by_metric, summaries, tests, weights
from riskrank.studies.report.study import CHAPTERS, ReportDocument
from riskrank.studies.suites.screen import details as task_details


def view(document: ReportDocument) -> list[Section]:
    """Return the sections of all parts in order, without pictures."""
    return [section for part in report_parts(document) for section in (*part.lead, *part.words)]


def report_parts(document: ReportDocument) -> list[ChapterPart]:
    """Return the parts of a report that apply to it."""
    return build_parts(document, REPORT)


def _finding_line(label: str, finding: Callable[[Any, Any], str], note: str = "") -> SectionBuilder:
    """Return a function that builds a labelled line from a finding, for media without headings."""
    return lambda study, document: (
        [Line(f"{text}. {note}".strip(), label)] if (text := finding(study, document)) else []
    )


def _ranking_sections(document: RankDocument, report: ReportDocument) -> Iterator[Section]:
    leader = document.lead
    yield from other_metrics(document)
    yield detail_table(document, leader)
    if leader.method in leader.found.separations and document.inference.test:
        yield separation_line(leader)
        yield from tests.count_difference_lines(report)
    yield from also_lines(document.more)
    yield reading(document)


def _pair_lines(pairs: DominanceDocument, document: ReportDocument) -> Iterator[Line]:
    """Yield the verdict on pairs, and a line on how its intervals differ from those of the ranking."""
    yield from summaries.verdict_lines(pairs, document)
    if document.ranking.inference.test:
        text = (
            "each is of one pair alone here: it may leave out 0 where the tests, corrected for all pairs, do "
            "not separate the two. Those of the ranking hold for all models together."
        )
        yield Line(text, "Intervals:")


def _task_sections(ranking: RankDocument, _: ReportDocument) -> list[Section]:
    assert ranking.suite is not None
    return [replace(section, details=False) for section in task_details(ranking.suite, per_task=False)]


def _agreement_entry(name: str, varied: str, basis: str, study: Callable[[ReportDocument], Any]) -> Entry:
    """Return the row on how well other methods or metrics agree with the ranking.

    Parameters
    ----------
    name : str
        Key of :data:`CHAPTERS`, which is the anchor as well.
    varied : {"method", "metric"}
        Property by which the rankings differ.
    basis : str
        Phrase for the rankings in the text.
    study : callable
        Gets the report and returns the document with the rankings.
    """
    text = (
        f"How far the ranking depends on the {varied}: ranks by {basis}, from the same samples, without "
        "tests. τ is 1 for the same order and −1 for the opposite one."
    )
    single_metric = (
        "there is one, so that no method combines several; measures of risk are in part Mean and risk."
    )

    def lead(_: RankDocument, document: ReportDocument) -> list[Line]:
        return [Line(text), *[Line(single_metric, "Metrics:")] * (document.metrics is None)]

    def words(rankings: RankDocument, document: ReportDocument) -> list[Table]:
        leader = document.ranking.lead
        return [
            ranking_agreement_table(f"{leader.method}@{leader.column}", document.ranking, rankings, varied)
        ]

    title = CHAPTERS[name]
    return Entry(
        AUDIT, name, title, study, ("bump",), lead=lead, words=words, finding=summaries.first_place_summary
    )


def _ranking_if(condition: Callable[[RankDocument], Any]) -> Callable[[ReportDocument], Any]:
    """Return a function that selects the ranking of a report if a condition on it holds."""
    return lambda document: document.ranking if condition(document.ranking) else None


def _unless_binary(name: str) -> Callable[[ReportDocument], Any]:
    """Return a function that selects a study on score distributions, unless the scores are binary."""
    return lambda document: None if single_binary_metric(document.ranking) else getattr(document, name)


def _deciding_pairs(document: ReportDocument) -> Document | None:
    """Return the pairwise study if it decides: with a single metric and without a judge."""
    return None if trade(document.ranking) or document.ranking.judged else document.pairs


def _has_metric_omission(ranking: RankDocument) -> bool:
    """Return True if the ranking was repeated without each metric."""
    recommendation = ranking.lead.recommendation
    return recommendation is not None and recommendation.first_without_metric is not None


_JUDGED, _SUITE = _ranking_if(attrgetter("judged")), _ranking_if(attrgetter("suite"))
_TASKS = _ranking_if(lambda ranking: ranking.suite and not trade(ranking))
_SINGLE_RUN_NOTE = (
    "Of samples run once, what another answer of the same model would change is part of it, what training "
    "again would change is not."
)

REPORT = (
    Entry(
        *(UNDERSTAND, "means", "Differences to the first", _ranking_if(single_binary_metric), ("forest",)),
        lead=binary_metric_lines,
    ),
    Entry(
        *(UNDERSTAND, "trade", "Who wins what", _ranking_if(trade), ("trade",)),
        words=weights.weight_threshold_lines,
        finding=by_metric.rival_summary,
    ),
    Entry(
        UNDERSTAND, "labels", "What the labels moved", _JUDGED, ("judge",), finding=summaries.label_summary
    ),
    Entry(
        *(UNDERSTAND, "curves", "The tail that matters", _unless_binary("ranking"), ("tvar",)),
        lead=bad_cases.tail_test_lines,
        finding=bad_cases.tail_comparison,
    ),
    Entry(UNDERSTAND, "pair", "The pair that decides", _deciding_pairs, ("pair",)),
    Entry(
        UNDERSTAND,
        "unseen",
        "What these samples could have shown",
        attrgetter("ranking"),
        words=tests.limit_lines,
    ),
    # With several metrics, tasks are compared on the combined score only.
    Entry(UNDERSTAND, "by-task", "Task by task", _TASKS, ("taskforest",), finding=summaries.task_summary),
    Entry(
        *(AUDIT, "ranking", CHAPTERS["ranking"], attrgetter("ranking")),
        words=_ranking_sections,
        finding=summaries.separation_summary,
    ),
    Entry(
        *(AUDIT, "differences", "Differences by metric", _ranking_if(by_metric.has_metric_tests)),
        words=by_metric.difference_sections,
        finding=by_metric.rival_summary,
    ),
    Entry(
        *(AUDIT, "weights", "Weights of the metrics", _ranking_if(_has_metric_omission)),
        lead=_finding_line("Weights:", weights.weights_summary),
        words=weights.details,
        finding=weights.weights_summary,
    ),
    Entry(
        *(AUDIT, "corrections", "Correction for many comparisons", attrgetter("ranking")),
        words=tests.correction_lines,
        finding=tests.correction_summary,
    ),
    Entry(
        *(AUDIT, "noise", "Where the noise comes from", attrgetter("ranking")),
        lead=_finding_line("Noise:", summaries.noise_summary, _SINGLE_RUN_NOTE),
        finding=summaries.noise_summary,
    ),
    Entry(
        *(AUDIT, "judge", "The judge and the labels", _JUDGED),
        lead=lambda ranking, _: judged.lead_lines(ranking.judged),
        words=lambda ranking, _: judged.mean_sections(ranking.judged),
        finding=lambda ranking, _: ranking.judged.gain_sentence.rstrip("."),
    ),
    Entry(
        *(AUDIT, "distributions", "Distributions", _unless_binary("ranking"), ("quantiles",)),
        finding=summaries.median_summary,
    ),
    Entry(
        *(AUDIT, "risks", "Bad cases and hidden risks", _unless_binary("ranking")),
        words=bad_cases.details,
        finding=bad_cases.hidden_risk_summary,
    ),
    Entry(
        *(AUDIT, "mean-risk", CHAPTERS["risks"], _unless_binary("risks"), ("scatter", "risks")),
        lead=summaries.verdict_lines,
        # The picture of all risks replaces the tables.
        words=lambda study, _: [section for section in mean_risk.details(study) if isinstance(section, Line)],
    ),
    Entry(
        *(AUDIT, "pairs", CHAPTERS["pairs"], attrgetter("pairs"), ("heatmap", "pair")),
        lead=_pair_lines,
        words=lambda study, _: dominance.details(study),
    ),
    Entry(
        *(AUDIT, "tasks", "Tasks", _SUITE, ("taskforest", "taskmap", "profile")),
        lead=_finding_line(
            "Suite:", lambda study, _: f"{study.suite.summary}; models are ranked {study.suite.scope_text}"
        ),
        words=_task_sections,
        finding=summaries.task_summary,
    ),
    Entry(
        *(AUDIT, "groups", lambda study: f"{CHAPTERS['by_group']} by {study.groups.column}"),
        study=attrgetter("by_group"),
        words=lambda study, _: group_sections(study.groups),
    ),
    # A single metric needs no combination, so the methods are those of the ranking.
    _agreement_entry("methods", "method", "methods", lambda document: document.methods or document.ranking),
    _agreement_entry("metrics", "metric", "each metric on its own", attrgetter("metrics")),
    Entry(
        *(AUDIT, "gsd", CHAPTERS["relation"], attrgetter("relation"), ("hasse",)),
        lead=summaries.verdict_lines,
        words=lambda study, _: gsd.details(study),
    ),
    Entry(
        *(AUDIT, "copa", CHAPTERS["choice"], attrgetter("choice"), ("doubt", "parallel", "boxes")),
        lead=summaries.verdict_lines,
        words=lambda study, _: copa.details(study),
    ),
)
"""Parts of a report, one row per part."""
