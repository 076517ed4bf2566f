"""Contents of a report: text, tables and pictures of every part."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any

from riskrank.render.mean_tables import binary_metric_lines, single_binary_metric
from riskrank.render.screens import (
    AUDIT,
    UNDERSTAND,
    ChapterPart,
    Entry,
    SectionBuilder,
    also_lines,
    build_parts,
)
from riskrank.render.view import Line, Section, Table
from riskrank.studies.copa import screen as copa
from riskrank.studies.document import Document
from riskrank.studies.dominance import screen as dominance
from riskrank.studies.dominance.study import DominanceDocument
from riskrank.studies.groups.screen import group_sections
from riskrank.studies.gsd import screen as gsd
from riskrank.studies.judge import screen as judged
from riskrank.studies.mrm import screen as mean_risk
from riskrank.studies.rank.document import RankDocument, trade_off
from riskrank.studies.rank.screen import other_metric_table
from riskrank.studies.rank.screen.detail import (
    detail_table,
    ranking_agreement_table,
    reading_guide,
    separated_pairs_line,
)
from riskrank.studies.report.screen import summaries, tests
from riskrank.studies.report.study import CHAPTERS, ReportDocument
from riskrank.studies.suites.screen import details as task_details


def build_sections(document: ReportDocument) -> list[Section]:
    """Return the sections of all parts for the terminal, without pictures."""
    return [section for part in report_parts(document) for section in (*part.lead, *part.words)]


def report_parts(document: ReportDocument) -> list[ChapterPart]:
    """Return the parts that a report contains."""
    return build_parts(document, REPORT)


def _finding_line(label: str, finding: Callable[[Any, Any], str], note: str = "") -> SectionBuilder:
    """Return a function that builds a labelled line from a summary, for output without headings."""
    return lambda study, document: (
        [Line(f"{text}. {note}".strip(), label)] if (text := finding(study, document)) else []
    )


def _ranking_sections(document: RankDocument, report: ReportDocument) -> Iterator[Section]:
    """Yield the tables and lines on the ranking."""
    leader = document.leader
    yield from other_metric_table(document)
    yield detail_table(document, leader)
    if leader.method in leader.study.separations and document.inference.test:
        yield separated_pairs_line(leader)
        yield from tests.count_difference_lines(report)
    yield from also_lines(document.more)
    yield reading_guide(document)


def _pair_lines(pairs: DominanceDocument, document: ReportDocument) -> Iterator[Line]:
    """Yield the verdict of the pairwise study, and how its intervals differ from those of the ranking."""
    yield from summaries.verdict_lines(pairs, document)
    if document.ranking.inference.test:
        text = (
            "each interval holds for one pair alone. It may exclude 0 although the corrected tests do not "
            "separate the two models. Intervals of the ranking are simultaneous for all models."
        )
        yield Line(text, "Intervals:")


def _task_sections(ranking: RankDocument, _: ReportDocument) -> list[Section]:
    """Return the tables on the suite, unfolded."""
    assert ranking.suite is not None
    return [replace(section, details=False) for section in task_details(ranking.suite, per_task=False)]


def _agreement_entry(name: str, varied: str, basis: str, study: Callable[[ReportDocument], Any]) -> Entry:
    """Return the entry on how well other methods or metrics agree with the ranking.

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
        "there is only one, so no method combines metrics; measures of risk are in part Mean and risk."
    )

    def lead(_: RankDocument, document: ReportDocument) -> list[Line]:
        return [Line(text), *[Line(single_metric, "Metrics:")] * (document.metrics is None)]

    def words(rankings: RankDocument, document: ReportDocument) -> list[Table]:
        leader = document.ranking.leader
        return [
            ranking_agreement_table(f"{leader.method}@{leader.column}", document.ranking, rankings, varied)
        ]

    title = CHAPTERS[name]
    return Entry(
        AUDIT, name, title, study, ("bump",), lead=lead, words=words, finding=summaries.first_place_summary
    )


def _ranking_if(condition: Callable[[RankDocument], Any]) -> Callable[[ReportDocument], Any]:
    """Return a function that returns the report's ranking if it meets a condition, or else None."""
    return lambda document: document.ranking if condition(document.ranking) else None


def _unless_binary(name: str) -> Callable[[ReportDocument], Any]:
    """Return a function that selects the part `name`, unless all scores are binary."""
    return lambda document: None if single_binary_metric(document.ranking) else getattr(document, name)


def _deciding_pairs(document: ReportDocument) -> Document | None:
    """Return the pairwise study if there is a single metric and no judge, or else None."""
    return None if trade_off(document.ranking) or document.ranking.judged else document.pairs


def _has_metric_omission(ranking: RankDocument) -> bool:
    """Return True if the ranking was recomputed without each metric in turn."""
    recommendation = ranking.leader.recommendation
    return recommendation is not None and recommendation.first_without_metric is not None


_JUDGED, _SUITE = _ranking_if(attrgetter("judged")), _ranking_if(attrgetter("suite"))
_TASKS = _ranking_if(lambda ranking: ranking.suite and not trade_off(ranking))
_SINGLE_RUN_NOTE = (
    "With one run per sample, the noise includes differences between repeated answers of a model, but not "
    "differences between training runs."
)

REPORT = (
    Entry(
        *(UNDERSTAND, "means", "Differences from the first", _ranking_if(single_binary_metric), ("forest",)),
        lead=binary_metric_lines,
    ),
    Entry(
        *(UNDERSTAND, "trade", "Wins by metric", _ranking_if(trade_off), ("trade",)),
        words=summaries.weight_threshold_lines,
        finding=tests.rival_summary,
    ),
    Entry(UNDERSTAND, "labels", "Effect of the labels", _JUDGED, ("judge",), finding=summaries.label_summary),
    Entry(
        *(UNDERSTAND, "curves", "Worst cases", _unless_binary("ranking"), ("tvar",)),
        lead=tests.tail_test_lines,
        finding=tests.tail_comparison,
    ),
    Entry(UNDERSTAND, "pair", "The deciding pair", _deciding_pairs, ("pair",)),
    Entry(UNDERSTAND, "unseen", "Detection limits", attrgetter("ranking"), words=tests.limit_lines),
    # With several metrics, tasks are compared on the combined score only.
    Entry(UNDERSTAND, "by-task", "Results by task", _TASKS, ("taskforest",), finding=summaries.task_summary),
    Entry(
        *(AUDIT, "ranking", CHAPTERS["ranking"], attrgetter("ranking")),
        words=_ranking_sections,
        finding=summaries.separation_summary,
    ),
    Entry(
        *(AUDIT, "differences", "Differences by metric", _ranking_if(tests.has_metric_tests)),
        words=tests.difference_sections,
        finding=tests.rival_summary,
    ),
    Entry(
        *(AUDIT, "weights", "Weights of the metrics", _ranking_if(_has_metric_omission)),
        lead=_finding_line("Weights:", summaries.weights_summary),
        words=summaries.weight_details,
        finding=summaries.weights_summary,
    ),
    Entry(
        *(AUDIT, "corrections", "Correction for multiple comparisons", attrgetter("ranking")),
        words=tests.correction_lines,
        finding=tests.correction_summary,
    ),
    Entry(
        *(AUDIT, "noise", "Sources of noise", attrgetter("ranking")),
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
        words=tests.tail_details,
        finding=tests.hidden_risk_summary,
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
        *(AUDIT, "tasks", "Tasks", _SUITE, ("taskforest", "profile")),
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
    _agreement_entry("metrics", "metric", "single metrics", attrgetter("metrics")),
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
