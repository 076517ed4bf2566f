"""The answer to a question, and how many there have been."""

from __future__ import annotations

from riskrank.shown.view import Cell, Column, Section, Table
from riskrank.studies.gate.confirm import ConfirmDocument
from riskrank.studies.gate.screen.detail import STYLES


def view(document: ConfirmDocument) -> list[Section]:
    """One line."""
    cells = tuple(
        (Cell(row.verdict.upper(), STYLES[row.verdict]), str(row.question), f"{row.level:.2g}", row.claim)
        for row in document.rows
    )
    columns = (Column("answer", "left"), Column("question"), Column("level"), Column("claim", "left"))
    return [Table("Asked of the held-out table", columns, cells, stub=1)]
