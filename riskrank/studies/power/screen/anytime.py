"""When a gate that may be looked at again stops, in words."""

from __future__ import annotations

from riskrank.errors import option
from riskrank.shown.numbers import power_share
from riskrank.shown.view import Column, Line, OfRow, Section, by_row
from riskrank.studies.power.anytime import AnytimePowerDocument
from riskrank.studies.power.planned import AS_TRUTH


def view(document: AnytimePowerDocument) -> list[Section]:
    """Shares of runs with an answer by size, and what was simulated."""
    rows = document.rows
    fails = any(row.failed for row in rows)
    columns: list[OfRow | None] = [
        (Column("samples"), lambda row: f"{row.size:,}"),
        (Column("passed"), lambda row: power_share(row.passed)),
        (Column("failed"), lambda row: power_share(row.failed)) if fails else None,
    ]
    stops, first = document.stops, rows[0]
    found = stops.by_share(document.target)
    share = f"{100 * document.target:g} %"
    by = f"{share} of runs have an answer by {found or 0:,} samples."
    if found is None:
        by = f"Fewer than {share} of runs have an answer by {stops.limit:,} samples."
    truth = AS_TRUTH
    if document.metric is None:
        truth = "the distributions are taken as given and independent"
    return [
        by_row(f"{first.title}: runs with an answer", columns, rows, stub=1),
        Line(by),
        Line(
            f"{stops.passed.size:,} runs, looked at every {document.every:,} samples up to {stops.limit:,} "
            f"({option('every')}, {option('limit')}); {truth}."
        ),
    ]
