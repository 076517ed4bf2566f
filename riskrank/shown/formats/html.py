"""A view as a fragment of HTML, for notebooks."""

from collections.abc import Sequence

from riskrank.shown.escapes import for_html
from riskrank.shown.view import Cell, Line, Section, Table, as_cell, text_of


def to_fragment(view: Sequence[Section]) -> str:
    """Write a view as tables and paragraphs; every text is escaped."""
    return "<div>\n" + "\n".join(_section(section) for section in view) + "\n</div>\n"


def _section(section: Section) -> str:
    if isinstance(section, Line):
        label = f"<b>{for_html(section.label)}</b> " if section.label else ""
        return f"<p>{label}{for_html(section.text)}</p>"
    return _table(section.plain)


def _table(table: Table) -> str:
    head = "".join(
        f'<th style="text-align:{column.justify}">{for_html(column.name or column.head)}</th>'
        for column in table.columns
    )
    rows = "\n".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{column.justify}{_weight(cell)}">{for_html(text_of(cell))}</td>'
            for column, cell in zip(table.columns, row, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    return (
        f"<table>\n<caption>{for_html(table.title)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    )


def _weight(cell: Cell | str) -> str:
    return ";font-weight:bold" if "bold" in as_cell(cell).style else ""
