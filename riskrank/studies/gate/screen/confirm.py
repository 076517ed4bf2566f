"""The answer to a question, and how many there have been."""

from __future__ import annotations

from riskrank.shown.view import Cell, Column, OfRow, Section, by_row
from riskrank.studies.gate.ledger import ConfirmDocument
from riskrank.studies.gate.screen.detail import STYLES


def view(document: ConfirmDocument) -> list[Section]:
    """One line."""
    columns: list[OfRow | None] = [
        (Column("answer", "left"), lambda row: Cell(row.verdict.upper(), STYLES[row.verdict])),
        (Column("question"), lambda row: str(row.question)),
        (Column("level"), lambda row: f"{row.level:.2g}"),
        (Column("claim", "left"), lambda row: row.claim),
    ]
    return [by_row("Asked of the held-out table", columns, document.rows, stub=1)]
