"""Cases behind a gate that did not pass: the first question that is asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riskrank.engine.changes.cases import sign_test
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.diff.changes import cases_of, groups_of, named_groups, rows_of, tasks_of, with_texts
from riskrank.studies.diff.document import BETTER, WORSE
from riskrank.studies.gate.choice import Lost
from riskrank.studies.gate.document import PASS, GateRow
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.settings import family_of


def lost_cases(tables: Sequence[ScoreTable], rows: Sequence[GateRow], settings: ClaimSettings) -> list[Lost]:
    """The cases that lost most, of every pair, metric, group and task of which a claim did not pass.

    A comment on a pull request tells them of all claims on all samples, whether these pass or not.

    Parameters
    ----------
    tables : sequence of ScoreTable
        In the units of the file.
    rows : sequence of GateRow
    settings : ClaimSettings
        How many cases to list.
    """
    asked, shared = tables[0].options, settings.cases is not None
    if not settings.listed or (not shared and (asked.unpaired or asked.judge is not None)):
        return []
    wanted = dict.fromkeys(
        (row.new, row.old, row.metric, row.group, row.task)
        for row in rows
        if row.verdict != PASS or (settings.comment and row.task is None and row.group is None)
    )
    return [
        found
        for new, old, metric, group, task in wanted
        for found in _lost(tables, (new, old), metric, (group, task), settings)
    ]


def _lost(
    tables: Sequence[ScoreTable],
    pair: tuple[str, str],
    metric: str,
    place: tuple[str | None, str | None],
    settings: ClaimSettings,
) -> Iterator[Lost]:
    """Cases that lost, the most lost first, in a place: a group and a task, None being all."""
    for table in tables:
        for number in _columns(table, metric, place[1]):
            new, old = (table.index(model) for model in pair)
            cases = cases_of(table, new, old, number, family_of(settings))
            found = rows_of(table, cases, groups_of(table, new))
            places = dict(
                zip(table.samples, zip(named_groups(table, new), tasks_of(table), strict=True), strict=True)
            )
            here = [
                row
                for row in found
                if all(asked in (None, has) for asked, has in zip(place, places[row.sample], strict=True))
            ]
            lost = [row for row in here if row.change == WORSE]
            better = sum(row.change == BETTER for row in here)
            p_value = float(sign_test(better, len(lost)))
            yield Lost(
                *pair,
                metric,
                with_texts(table, lost[: settings.listed], *pair),
                *place,
                worse=len(lost),
                better=better,
                of=len(here),
                p_value=p_value,
                by_chance=not family_of(settings).significant(p_value),
            )


def _columns(table: ScoreTable, metric: str, task: str | None) -> list[int]:
    """Columns that hold the scores of a metric; tasks with metrics of their own share one."""
    suite = table.suite
    if task is not None and suite.specs:
        own = dict(zip(suite.names, suite.specs, strict=True))
        return [0] if task in own and own[task].name == metric else []
    return [number for number, spec in enumerate(table.metrics) if spec.name == metric]
