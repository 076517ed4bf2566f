"""Cases behind a gate that did not pass: the first question that is asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riskrank.asked.gate import ClaimSettings
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.diff.changes import cases_of, groups_of, rows_of
from riskrank.studies.diff.document import WORSE, CaseRow
from riskrank.studies.gate.document import PASS, GateRow, Lost


def lost_cases(tables: Sequence[ScoreTable], rows: Sequence[GateRow], settings: ClaimSettings) -> list[Lost]:
    """The cases that lost most, of every pair and metric of which a claim did not pass.

    Parameters
    ----------
    tables : sequence of ScoreTable
    rows : sequence of GateRow
    settings : ClaimSettings
        How many cases to list.
    """
    wanted = dict.fromkeys((row.new, row.old, row.metric) for row in rows if row.verdict != PASS)
    return [
        Lost(new, old, metric, found)
        for new, old, metric in (wanted if settings.cases else ())
        for found in _lost(tables, (new, old), metric, settings)
    ]


def _lost(
    tables: Sequence[ScoreTable], pair: tuple[str, str], metric: str, settings: ClaimSettings
) -> Iterator[list[CaseRow]]:
    for table in tables:
        for number, spec in enumerate(table.metrics):
            if spec.name == metric:
                models = table.index(pair[0]), table.index(pair[1])
                cases = cases_of(table, *models, number)
                found = rows_of(table, cases, models, groups_of(table, models[0]), settings.alpha)
                yield [row for row in found if row.change == WORSE][: settings.cases]
