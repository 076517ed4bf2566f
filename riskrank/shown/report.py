"""A report in words and tables, chapter by chapter, and the pictures that belong to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.hidden_risk import NONE, RISK
from riskrank.shown import numbers
from riskrank.shown.copa import detail as copa
from riskrank.shown.dominance import detail as dominance
from riskrank.shown.dominance.detail import WHY_COUNTS_DIFFER, inference_line
from riskrank.shown.groups import group_sections
from riskrank.shown.gsd import detail as gsd
from riskrank.shown.mean_risk import detail as mean_risk
from riskrank.shown.rank.detail import (
    detail_table,
    leading_method,
    percent,
    reading,
    risk_line,
    separation_line,
)
from riskrank.shown.suites.tables import details as task_details
from riskrank.shown.view import Cell, Column, Line, Section, Table
from riskrank.studies.document import Document
from riskrank.studies.rank import RankDocument
from riskrank.studies.report import CHAPTERS, ReportDocument
from riskrank.studies.wording import unseen_in

_OF_TASKS = ("taskmap", "taskforest", "strip", "profile")
_NAMED = 8
"""Columns up to which a table of ranks names them."""
_CURVES = Line(
    "What the ranking is made of. Look at the left ends: there are the samples that a model does worst on. A "
    "curve that lies above another everywhere is better whatever the attitude to risk."
)

_FIELD = Line(
    "These tests ask whether a model is better against the field than another is. Chapter Pairs asks whether "
    "it is ahead of the other, these two alone, and so counts differently."
)


@dataclass(frozen=True)
class ReportPart:
    """A chapter of a report.

    Attributes
    ----------
    anchor, title : str
    source : Document
        Of its pictures.
    pictures : tuple of str
        Kinds of pictures, in order.
    lead : tuple of Line
        Before the pictures.
    sections : tuple of Section
        After them.
    """

    anchor: str
    title: str
    source: Document
    pictures: tuple[str, ...]
    lead: tuple[Line, ...]
    sections: tuple[Section, ...]


def view(document: ReportDocument) -> list[Section]:
    """All chapters one below the other, without pictures."""
    return [section for part in parts(document) for section in (*part.lead, *part.sections)]


def parts(document: ReportDocument) -> list[ReportPart]:
    """Chapters of a report, those that there is something to say in."""
    ranking, risks = document.ranking, document.risks
    found = [
        ReportPart("ranking", CHAPTERS["ranking"], ranking, ("forest",), (), tuple(_ranking(ranking))),
        *_tasks(ranking),
        ReportPart("risks", "Hidden risks", ranking, (), (), tuple(_risks(ranking))),
        ReportPart("curves", "Distributions", ranking, ("quantiles", "tvar"), (_CURVES,), ()),
        _pairs(document),
        _part("mean-risk", CHAPTERS["risks"], risks, mean_risk.details(risks), ("scatter", "radar")),
    ]
    if document.methods is not None:
        found.append(_agreement(document.methods, ranking, "method", CHAPTERS["methods"]))
    if document.metrics is not None:
        found.append(_agreement(document.metrics, ranking, "metric", CHAPTERS["metrics"]))
    if document.by_group is not None and document.by_group.groups is not None:
        sections_of_groups = tuple(group_sections(document.by_group.groups))
        title = f"{CHAPTERS['by_group']} by {document.by_group.groups.column}"
        found.append(ReportPart("groups", title, document.by_group, ("groups",), (), sections_of_groups))
    if document.relation is not None:
        order = document.relation
        found.append(_part("gsd", CHAPTERS["relation"], order, gsd.details(order), ("hasse",)))
    if document.choice is not None:
        choice = document.choice
        found.append(_part("copa", CHAPTERS["choice"], choice, copa.details(choice), ("parallel", "boxes")))
    found.append(
        ReportPart("unseen", "What the samples cannot show", ranking, (), (), tuple(_unseen(document)))
    )
    return found


def _tasks(ranking: RankDocument) -> list[ReportPart]:
    """The chapter of a suite's tasks, where there is one."""
    suite = ranking.suite
    if suite is None:
        return []
    lead = Line(f"{suite.words}; models are ranked {suite.on}.", "Suite:")
    body = [replace(section, more=False) for section in task_details(suite, per_task=False)]
    return [ReportPart("tasks", "Task by task", ranking, _OF_TASKS, (lead,), tuple(body))]


def _part(
    anchor: str, title: str, document: Document, body: Sequence[Section], pictures: tuple[str, ...]
) -> ReportPart:
    """A chapter that says what the study's own command says, its verdict first."""
    return ReportPart(anchor, title, document, pictures, (Line(document.verdict, "In short:"),), tuple(body))


def _pairs(document: ReportDocument) -> ReportPart:
    """The chapter of pairs, with a word on why it counts otherwise than the ranking does."""
    pairs = document.pairs
    part = _part("pairs", CHAPTERS["pairs"], pairs, dominance.details(pairs), ("heatmap", "pair"))
    metric, method = _leading(document.ranking)
    counted = document.ranking.study.studies[metric].separations.get(method)
    direct = document.pairs.by_column[0].study.tests[-1]
    if counted is None or not document.ranking.inference.test or counted.pairs < 2:
        return part
    apart = int(np.triu(direct.dominates | direct.dominates.T, 1).sum())
    text = (
        "The ranking asks of each model whether it is better against the field than another is (relative "
        f"claims: {method} tells {counted.separated} of {counted.pairs} pairs apart). Here two models are "
        f"compared with each other alone (direct claims: {apart} of {counted.pairs} pairs). "
        f"{WHY_COUNTS_DIFFER}"
    )
    return replace(part, lead=(*part.lead, Line(text, "Two tests:")))


def _leading(document: RankDocument) -> tuple[str, str]:
    """Column and method that the ranking is about."""
    metric, study = next(iter(document.study.studies.items()))
    return metric, leading_method(study.rankings)


def _ranking(document: RankDocument) -> list[Section]:
    metric, method = _leading(document)
    study, models = document.study.studies[metric], document.provenance.models
    found: list[Section] = [detail_table(document, metric, method)]
    if method in study.separations and document.inference.test:
        found.append(separation_line(study, method))
        if study.separations[method].pairs > 1:
            found.append(_FIELD)
    found.append(reading(document, [method]))
    found.append(inference_line(study.dominance, document.inference, models, document.scores[metric]))
    return found


def _risks(document: RankDocument) -> list[Section]:
    """A row a model that another of no larger mean beats in the tail."""
    metric, _ = _leading(document)
    study, units, models = document.study.studies[metric], document.units[metric], document.provenance.models
    risks = study.hidden_risks
    if risks is None:
        return [risk_line(document, metric)]
    level = percent(study.dominance.estimates.tail_level)
    words = Line(
        f"A hidden risk is a model with a mean at least as high as another's and a significantly worse mean "
        f"of its worst {level}. Sorting by the mean would not show it."
    )
    shown = np.flatnonzero(risks.status != NONE).tolist()
    if not shown:
        return [words, Line("none was found.", "Hidden risks:")]
    mean, tail = units.of(risks.mean), units.of(risks.tail_mean)
    rows = []
    for i in sorted(shown, key=lambda i: (risks.status[i] != RISK, risks.p_adjusted[i], i)):
        other, proven = int(risks.against[i]), risks.status[i] == RISK
        rows.append(
            (
                models[i],
                Cell("hidden risk", "yellow") if proven else Cell(str(risks.status[i]), "dim"),
                numbers.score(mean[i]),
                numbers.score(tail[i]),
                models[other],
                numbers.score(mean[other]),
                numbers.score(tail[other]),
                numbers.p_value(float(risks.p_adjusted[i])),
            )
        )
    columns = (
        Column("model", "left"),
        Column("verdict", "left"),
        Column("mean"),
        Column(f"worst\n{level}"),
        Column("against", "left"),
        Column("its\nmean"),
        Column(f"its worst\n{level}"),
        Column("p"),
    )
    return [words, Table(f"Hidden risks on {metric}", columns, tuple(rows))]


def _agreement(others: RankDocument, ranking: RankDocument, what: str, title: str) -> ReportPart:
    """Ranks by other methods or metrics, with their agreement with the ranking."""
    column, method = _leading(ranking)
    own, models = ranking.study.rankings[f"{method}@{column}"], ranking.provenance.models
    tau = list(others.agreement_with(own).values())
    shown = {
        name if what == "method" else name.partition("@")[2]: found
        for name, found in others.study.rankings.items()
    }
    # Many columns have no room for their names: numbers stand for them.
    numbered = len(shown) > _NAMED
    rows = []
    for number, ((name, found), agreement) in enumerate(zip(shown.items(), tau, strict=True), start=1):
        first = [models[i] for i in found.order if found.rank[i] == 1]
        leaders = ", ".join(first[:3]) + (" …" if len(first) > 3 else "")
        label = f"{number}  {name}" if numbered else name
        rows.append((label, leaders, f"{agreement:.2f}", str(int((found.rank != own.rank).sum()))))
    table = Table(
        f"Agreement with the ranking, {what} by {what}",
        (
            Column(what, "left"),
            Column("first", "left"),
            Column(f"Kendall's τ to\n{method}@{column}"),
            Column("other\nranks"),
        ),
        tuple(rows),
    )
    heads = [str(number) if numbered else name for number, name in enumerate(shown, start=1)]
    ranks = tuple((models[i], *(str(found.rank[i]) for found in shown.values())) for i in own.order.tolist())
    about = "methods" if what == "method" else "each metric on its own"
    words = Line(
        f"How far the ranking depends on the {what}: ranks by {about}, from the same samples, without tests. "
        "τ is 1 for the same order and −1 for the opposite one."
    )
    columns = (Column("model", "left"), *map(Column, heads))
    return ReportPart(
        f"{what}s", title, others, ("bump",), (words,), (table, Table(f"Ranks by {what}", columns, ranks))
    )


def _unseen(document: ReportDocument) -> list[Section]:
    metric, _ = _leading(document.ranking)
    study = document.ranking.study.studies[metric].dominance.estimates
    level, samples = study.tail_level, study.samples
    tail = max(round(level * samples), 1)
    return [
        Line(
            f"{unseen_in(document.ranking.scores[metric])} What never happened in n independent samples may "
            "still happen in up to about 3 in n of all cases, with 95 % confidence."
        ),
        Line(
            f"The mean of the worst {percent(level)} is a mean of about {tail:,} "
            f"sample{'s' * (tail != 1)} of each model; what is rarer than that, no row here tells."
        ),
        Line(
            "Tests and intervals speak of samples like these. They say nothing about other tasks, other "
            "users, or a metric that misses what matters."
        ),
    ]
