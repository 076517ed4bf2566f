"""Cases in a table: what either model scored, and the test of each where it has several runs."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.shown import numbers
from riskrank.shown.view import Cell, Column, Table
from riskrank.studies.diff.document import WORSE, CaseRow


def cases_table(cases: Sequence[CaseRow], new: str, old: str, title: str) -> Table:
    """A line a case; its metric, group and p-value where they say something."""
    several = len({row.metric for row in cases}) > 1
    grouped = len({row.group for row in cases}) > 1
    tested = any(row.p_value is not None for row in cases)
    columns = (
        Column("case", "left"),
        *((Column("metric", "left"),) if several else ()),
        *((Column("of", "left"),) if grouped else ()),
        Column(old),
        Column(new),
        *((Column("p"),) if tested else ()),
    )
    rows = tuple(
        (
            row.sample,
            *((row.metric,) if several else ()),
            *((row.group or "",) if grouped else ()),
            f"{row.old:.4g}",
            f"{row.new:.4g}",
            *((_p(row),) if tested else ()),
        )
        for row in cases
    )
    return Table(title, columns, rows, stub=1)


def _p(row: CaseRow) -> Cell | str:
    if row.p_adjusted is None:
        return "–"
    return Cell(numbers.p_value(row.p_adjusted), "red" if row.shown and row.change == WORSE else "")
