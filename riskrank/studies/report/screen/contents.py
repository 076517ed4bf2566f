"""A report in words and tables, chapter by chapter, and the pictures that belong to each."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any

from riskrank.render.agreement import agreement_with
from riskrank.render.mean_tables import means_say_it, only_share
from riskrank.render.screens import also
from riskrank.render.table_of_contents import AUDIT, WHY, ChapterPart, Entry, Words, parts_of
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
    """All parts one below the other, without pictures."""
    return [section for part in parts(document) for section in (*part.lead, *part.words)]


def parts(document: ReportDocument) -> list[ChapterPart]:
    """Parts of a report, those that there is something to say in."""
    return parts_of(document, REPORT)


def _told(label: str, finding: Callable[[Any, Any], str], more: str = "") -> Words:
    """A finding where there is no heading to say it."""
    return lambda study, whole: (
        [Line(f"{said}. {more}".strip(), label)] if (said := finding(study, whole)) else []
    )


def _ranking(document: RankDocument, whole: ReportDocument) -> Iterator[Section]:
    one = document.lead
    yield from other_metrics(document)
    yield detail_table(document, one)
    if one.method in one.found.separations and document.inference.test:
        yield separation_line(one)
        yield from tests.two_counts(whole)
    yield from also(document.more)
    yield reading(document)


def _two_tests(pairs: DominanceDocument, document: ReportDocument) -> Iterator[Line]:
    """The verdict on pairs, with a word on why it counts otherwise than the ranking does."""
    yield from summaries.in_short(pairs, document)
    if document.ranking.inference.test:
        text = (
            "each is of one pair alone here: it may leave out 0 where the tests, corrected for all pairs, do "
            "not separate the two. Those of the ranking hold for all models together."
        )
        yield Line(text, "Intervals:")


def _tasks(ranking: RankDocument, _: ReportDocument) -> list[Section]:
    assert ranking.suite is not None
    return [replace(section, more=False) for section in task_details(ranking.suite, per_task=False)]


def _agreement(name: str, what: str, about: str, study: Callable[[ReportDocument], Any]) -> Entry:
    """How far other methods or metrics agree with the ranking, and a word on what the table of it is."""
    text = (
        f"How far the ranking depends on the {what}: ranks by {about}, from the same samples, without tests. "
        "τ is 1 for the same order and −1 for the opposite one."
    )
    alone = "there is one, so that no method combines several; measures of risk are in part Mean and risk."

    def lead(_: RankDocument, document: ReportDocument) -> list[Line]:
        return [Line(text), *[Line(alone, "Metrics:")] * (document.metrics is None)]

    def words(others: RankDocument, document: ReportDocument) -> list[Table]:
        one = document.ranking.lead
        return [agreement_with(f"{one.method}@{one.column}", document.ranking, others, what)]

    title = CHAPTERS[name]
    return Entry(AUDIT, name, title, study, ("bump",), lead=lead, words=words, finding=summaries.firsts)


def _ranking_where(held: Callable[[RankDocument], Any]) -> Callable[[ReportDocument], Any]:
    """The ranking, where something holds of it."""
    return lambda document: document.ranking if held(document.ranking) else None


def _of_scores(name: str) -> Callable[[ReportDocument], Any]:
    """A study of how scores are distributed, where their mean does not say it all."""
    return lambda document: None if only_share(document.ranking) else getattr(document, name)


def _of_pair(document: ReportDocument) -> Document | None:
    """The pairs, where there is one metric, and no judge whose labels decide."""
    return None if trade(document.ranking) or document.ranking.judged else document.pairs


def _reweighed(ranking: RankDocument) -> bool:
    """Whether it was made without each metric, too."""
    found = ranking.lead.recommendation
    return found is not None and found.first_without_metric is not None


_JUDGED, _SUITE = _ranking_where(attrgetter("judged")), _ranking_where(attrgetter("suite"))
_OF_TASKS = _ranking_where(lambda ranking: ranking.suite and not trade(ranking))
_ONCE = (
    "Of samples run once, what another answer of the same model would change is part of it, what training "
    "again would change is not."
)

REPORT = (
    Entry(
        *(WHY, "means", "Differences to the first", _ranking_where(only_share), ("forest",)),
        lead=means_say_it,
    ),
    Entry(
        *(WHY, "trade", "Who wins what", _ranking_where(trade), ("trade",)),
        words=weights.more,
        finding=by_metric.against_the_next,
    ),
    Entry(WHY, "labels", "What the labels moved", _JUDGED, ("judge",), finding=summaries.labels_moved),
    Entry(
        *(WHY, "curves", "The tail that matters", _of_scores("ranking"), ("tvar",)),
        lead=bad_cases.tested,
        finding=bad_cases.tails_apart,
    ),
    Entry(WHY, "pair", "The pair that decides", _of_pair, ("pair",)),
    Entry(WHY, "unseen", "What these samples could have shown", attrgetter("ranking"), words=tests.not_shown),
    # Of several metrics tasks are compared on the combined score alone.
    Entry(WHY, "by-task", "Task by task", _OF_TASKS, ("taskforest",), finding=summaries.by_task),
    Entry(
        *(AUDIT, "ranking", CHAPTERS["ranking"], attrgetter("ranking")),
        words=_ranking,
        finding=summaries.told_apart,
    ),
    Entry(
        *(AUDIT, "differences", "Differences by metric", _ranking_where(by_metric.tested)),
        words=by_metric.differences,
        finding=by_metric.against_the_next,
    ),
    Entry(
        *(AUDIT, "weights", "Weights of the metrics", _ranking_where(_reweighed)),
        lead=_told("Weights:", weights.stays_first),
        words=weights.details,
        finding=weights.stays_first,
    ),
    Entry(
        *(AUDIT, "corrections", "Correction for many comparisons", attrgetter("ranking")),
        words=tests.corrections,
        finding=tests.corrected,
    ),
    Entry(
        *(AUDIT, "noise", "Where the noise comes from", attrgetter("ranking")),
        lead=_told("Noise:", summaries.sources_of_noise, _ONCE),
        finding=summaries.sources_of_noise,
    ),
    Entry(
        *(AUDIT, "judge", "The judge and the labels", _JUDGED),
        lead=lambda ranking, _: judged.lead(ranking.judged),
        words=lambda ranking, _: judged.means(ranking.judged),
        finding=lambda ranking, _: ranking.judged.worth.rstrip("."),
    ),
    Entry(
        *(AUDIT, "distributions", "Distributions", _of_scores("ranking"), ("quantiles",)),
        finding=summaries.medians,
    ),
    Entry(
        *(AUDIT, "risks", "Bad cases and hidden risks", _of_scores("ranking")),
        words=bad_cases.details,
        finding=bad_cases.hidden,
    ),
    Entry(
        *(AUDIT, "mean-risk", CHAPTERS["risks"], _of_scores("risks"), ("scatter", "risks")),
        lead=summaries.in_short,
        # What stands beside the picture of all risks, instead of its numbers in columns.
        words=lambda study, _: [one for one in mean_risk.details(study) if isinstance(one, Line)],
    ),
    Entry(
        *(AUDIT, "pairs", CHAPTERS["pairs"], attrgetter("pairs"), ("heatmap", "pair")),
        lead=_two_tests,
        words=lambda study, _: dominance.details(study),
    ),
    Entry(
        *(AUDIT, "tasks", "Tasks", _SUITE, ("taskforest", "taskmap", "profile")),
        lead=_told("Suite:", lambda one, _: f"{one.suite.words}; models are ranked {one.suite.on}"),
        words=_tasks,
        finding=summaries.by_task,
    ),
    Entry(
        *(AUDIT, "groups", lambda study: f"{CHAPTERS['by_group']} by {study.groups.column}"),
        study=attrgetter("by_group"),
        words=lambda study, _: group_sections(study.groups),
    ),
    # Of one metric, which nothing combines, the methods of the ranking.
    _agreement("methods", "method", "methods", lambda document: document.methods or document.ranking),
    _agreement("metrics", "metric", "each metric on its own", attrgetter("metrics")),
    Entry(
        *(AUDIT, "gsd", CHAPTERS["relation"], attrgetter("relation"), ("hasse",)),
        lead=summaries.in_short,
        words=lambda study, _: gsd.details(study),
    ),
    Entry(
        *(AUDIT, "copa", CHAPTERS["choice"], attrgetter("choice"), ("doubt", "parallel", "boxes")),
        lead=summaries.in_short,
        words=lambda study, _: copa.details(study),
    ),
)
"""What a report holds, a row a part: chapter, place, title, study, kinds of pictures, words around them."""
