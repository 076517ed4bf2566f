"""A report in words and tables, chapter by chapter, and the pictures that belong to each."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any

from riskrank.shown.agreement import agreement_with
from riskrank.shown.contents import AUDIT, WHY, ChapterPart, Entry, Words, parts_of
from riskrank.shown.means import also, means_say_it, only_share
from riskrank.shown.view import Line, Section, Table
from riskrank.studies.copa.screen import detail as copa
from riskrank.studies.document import Document
from riskrank.studies.dominance.screen import detail as dominance
from riskrank.studies.dominance.study import DominanceDocument
from riskrank.studies.groups.screen import group_sections
from riskrank.studies.gsd.screen import first as gsd
from riskrank.studies.judged import screen as judged
from riskrank.studies.mrm.screen import first as mean_risk
from riskrank.studies.mrm.study import MeanRiskDocument
from riskrank.studies.rank.document import RankDocument, trade
from riskrank.studies.rank.screen.detail import (
    detail_table,
    reading,
    separation_line,
)
from riskrank.studies.rank.screen.first import other_metrics
from riskrank.studies.report.screen import bad_cases, weights
from riskrank.studies.report.screen.by_metric import against_the_next, differences, tested
from riskrank.studies.report.screen.corrections import (
    BAD_CASES,
    DIFFERENCES,
    corrected,
    corrections,
    two_counts,
)
from riskrank.studies.report.screen.limits import unseen
from riskrank.studies.report.screen.summaries import (
    by_task,
    firsts,
    in_short,
    labels_moved,
    leading,
    medians,
    sources_of_noise,
    told_apart,
)
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

    def words(study: Any, whole: Any) -> list[Line]:
        said = finding(study, whole)
        return [Line(f"{said}. {more}".strip(), label)] if said else []

    return words


def _suite_line(ranking: RankDocument, _: ReportDocument) -> Iterator[Line]:
    if ranking.suite is not None:
        yield Line(f"{ranking.suite.words}; models are ranked {ranking.suite.on}.", "Suite:")


def _tasks(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    if ranking.suite is not None:
        for section in task_details(ranking.suite, per_task=False):
            yield replace(section, more=False)


def _of_scores(name: str) -> Callable[[ReportDocument], Any]:
    """A study of how scores are distributed, where their mean does not say it all."""
    return lambda document: None if only_share(document.ranking) else getattr(document, name)


def _groups_title(study: RankDocument) -> str:
    return CHAPTERS["by_group"] + ("" if study.groups is None else f" by {study.groups.column}")


def _methods(document: ReportDocument) -> RankDocument:
    """Every method on every portfolio; of one metric, which nothing combines, those of the ranking."""
    return document.methods or document.ranking


def _other_methods(others: RankDocument, document: ReportDocument) -> Iterator[Section]:
    yield from _depends("method", "methods")(others, document)
    if document.methods is None:
        text = "there is one, so that no method combines several; measures of risk are in part Mean and risk."
        yield Line(text, "Metrics:")


def _groups(study: RankDocument, _: ReportDocument) -> list[Section]:
    return [] if study.groups is None else group_sections(study.groups)


def _two_tests(pairs: DominanceDocument, document: ReportDocument) -> Iterator[Line]:
    """The verdict on pairs, with a word on why it counts otherwise than the ranking does."""
    yield from in_short(pairs, document)
    if document.ranking.inference.test:
        text = (
            "each is of one pair alone here: it may leave out 0 where the tests, corrected for all pairs, do "
            "not separate the two. Those of the ranking hold for all models together."
        )
        yield Line(text, "Intervals:")


def _ranking(document: RankDocument, whole: ReportDocument) -> list[Section]:
    metric, method = leading(document)
    study = document.study.studies[metric]
    found: list[Section] = [*other_metrics(document), detail_table(document, metric, method)]
    if method in study.separations and document.inference.test:
        found.append(separation_line(study, method))
        found += two_counts(whole)
    found += also(document.more)
    return [*found, reading(document, [method])]


def _on_risks(study: MeanRiskDocument, _: ReportDocument) -> list[Line]:
    """What stands beside the picture of all risks, instead of its numbers in columns."""
    return [one for one in mean_risk.details(study) if isinstance(one, Line)]


def _depends(what: str, about: str) -> Words:
    """A word on what a table of agreement is."""
    line = Line(
        f"How far the ranking depends on the {what}: ranks by {about}, from the same samples, without tests. "
        "τ is 1 for the same order and −1 for the opposite one."
    )
    return lambda _study, _document: [line]


def _agreement(what: str) -> Words:
    """How far other methods or metrics agree with the ranking."""

    def words(others: RankDocument, document: ReportDocument) -> list[Table]:
        column, method = leading(document.ranking)
        return [agreement_with(f"{method}@{column}", document.ranking, others, what)]

    return words


def _of_judge(document: ReportDocument) -> Document | None:
    return None if document.ranking.judged is None else document.ranking


def _judge(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    if ranking.judged is not None:
        yield from judged.lead(ranking.judged)


def _judged_means(ranking: RankDocument, _: ReportDocument) -> Iterator[Section]:
    if ranking.judged is not None:
        yield judged.table(ranking.judged)
        yield judged.READING
        yield judged.by_pair(ranking.judged)


def _of_suite(document: ReportDocument) -> Document | None:
    return None if document.ranking.suite is None else document.ranking


def _of_tasks(document: ReportDocument) -> Document | None:
    """The same where one metric is ranked: of several, tasks are compared on the combined score alone."""
    return None if _of_trade(document) else _of_suite(document)


def _of_trade(document: ReportDocument) -> RankDocument | None:
    """The ranking, where two models can be compared metric by metric."""
    return None if trade(document.ranking) is None else document.ranking


def _of_pair(document: ReportDocument) -> Document | None:
    """The pairs, where there is one metric, and no judge whose labels decide."""
    return None if _of_trade(document) or _of_judge(document) else document.pairs


def _without_metrics(document: ReportDocument) -> RankDocument | None:
    """The ranking, where it was made without each metric, too."""
    found = next(iter(document.ranking.leading.values())).recommendation
    return None if found is None or found.first_without_metric is None else document.ranking


def _shares(document: ReportDocument) -> RankDocument | None:
    """The ranking, where means say it all."""
    return document.ranking if only_share(document.ranking) else None


REPORT = (
    Entry(WHY, "means", "Differences to the first", _shares, ("forest",), lead=means_say_it),
    Entry(
        *(WHY, "trade", "Who wins what", _of_trade, ("trade",)),
        words=weights.more,
        finding=against_the_next,
    ),
    Entry(WHY, "labels", "What the labels moved", _of_judge, ("judge",), finding=labels_moved),
    Entry(
        *(WHY, "curves", "The tail that matters", _of_scores("ranking"), ("tvar",)),
        lead=bad_cases.tested,
        finding=bad_cases.tails_apart,
    ),
    Entry(WHY, "pair", "The pair that decides", _of_pair, ("pair",)),
    Entry(WHY, "unseen", "What these samples could have shown", attrgetter("ranking"), words=unseen),
    Entry(WHY, "by-task", "Task by task", _of_tasks, ("taskforest",), finding=by_task),
    Entry(AUDIT, "ranking", CHAPTERS["ranking"], attrgetter("ranking"), words=_ranking, finding=told_apart),
    Entry(
        *(AUDIT, "differences", DIFFERENCES, tested),
        words=differences,
        finding=against_the_next,
    ),
    Entry(
        *(AUDIT, "weights", "Weights of the metrics", _without_metrics),
        lead=_told("Weights:", weights.stays_first),
        words=weights.details,
        finding=weights.stays_first,
    ),
    Entry(
        *(AUDIT, "corrections", "Correction for many comparisons", attrgetter("ranking")),
        words=corrections,
        finding=corrected,
    ),
    Entry(
        *(AUDIT, "noise", "Where the noise comes from", attrgetter("ranking")),
        lead=_told(
            "Noise:",
            sources_of_noise,
            "Of samples run once, what another run would change is part of it.",
        ),
        finding=sources_of_noise,
    ),
    Entry(
        *(AUDIT, "judge", "The judge and the labels", _of_judge),
        lead=_judge,
        words=_judged_means,
        finding=lambda study, _: study.judged.worth.rstrip("."),
    ),
    Entry(
        *(AUDIT, "distributions", "Distributions", _of_scores("ranking"), ("quantiles",)),
        finding=medians,
    ),
    Entry(
        *(AUDIT, "risks", BAD_CASES, _of_scores("ranking")),
        words=bad_cases.details,
        finding=bad_cases.hidden,
    ),
    Entry(
        *(AUDIT, "mean-risk", CHAPTERS["risks"], _of_scores("risks"), ("scatter", "risks")),
        lead=in_short,
        words=_on_risks,
    ),
    Entry(
        *(AUDIT, "pairs", CHAPTERS["pairs"], attrgetter("pairs"), ("heatmap", "pair")),
        lead=_two_tests,
        words=lambda study, _: dominance.details(study),
    ),
    Entry(
        *(AUDIT, "tasks", "Tasks", _of_suite, ("taskforest", "taskmap", "profile")),
        lead=_suite_line,
        words=_tasks,
        finding=by_task,
    ),
    Entry(AUDIT, "groups", _groups_title, attrgetter("by_group"), words=_groups),
    Entry(
        *(AUDIT, "methods", CHAPTERS["methods"], _methods, ("bump",)),
        lead=_other_methods,
        words=_agreement("method"),
        finding=firsts,
    ),
    Entry(
        *(AUDIT, "metrics", CHAPTERS["metrics"], attrgetter("metrics"), ("bump",)),
        lead=_depends("metric", "each metric on its own"),
        words=_agreement("metric"),
        finding=firsts,
    ),
    Entry(
        *(AUDIT, "gsd", CHAPTERS["relation"], attrgetter("relation"), ("hasse",)),
        lead=in_short,
        words=lambda study, _: gsd.details(study),
    ),
    Entry(
        *(AUDIT, "copa", CHAPTERS["choice"], attrgetter("choice"), ("doubt", "parallel", "boxes")),
        lead=in_short,
        words=lambda study, _: copa.details(study),
    ),
)
"""What a report holds, a row a part: chapter, place, title, study, kinds of pictures, words around them."""
