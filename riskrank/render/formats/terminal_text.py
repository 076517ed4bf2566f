"""Conversion of tables and lines to a terminal's encoding, and of tables to its width."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from riskrank.render.escapes import escape_for_terminal, protect_spaces
from riskrank.render.text_charts import to_ascii
from riskrank.render.view import Cell, Column, Section, Table, as_cell, cell_text


def terminal_section(section: Section, encoding: str) -> Section:
    """Convert a section's texts to characters that a terminal can display.

    Parameters
    ----------
    section : Section
    encoding : str
        Encoding of the terminal.
    """
    if isinstance(section, Table):
        return _table(section, encoding)
    if section.verbatim:
        return replace(section, text=escape_for_terminal(section.text, encoding))
    return replace(
        section, text=_terminal_text(section.text, encoding), label=_terminal_text(section.label, encoding)
    )


def is_unicode(encoding: str) -> bool:
    """Return True if an encoding covers all Unicode characters."""
    return encoding.lower().startswith("utf")


def _terminal_text(text: str, encoding: str) -> str:
    """Convert a text to characters of a terminal's encoding."""
    return protect_spaces(escape_for_terminal(text, encoding))


def _table(table: Table, encoding: str) -> Table:
    """Convert the texts of a table to characters of a terminal's encoding."""

    def cell(content: Cell | str, column: Column) -> Cell | str:
        text = cell_text(content).replace("\n", " ")
        is_chart = column.medium == "terminal" and not is_unicode(encoding)
        displayed = _terminal_text(to_ascii(text) if is_chart else text, encoding)
        return replace(as_cell(content), text=displayed)

    return Table(
        _terminal_text(table.title.replace("\n", " "), encoding),
        tuple(replace(column, head=_terminal_text(column.head, encoding)) for column in table.columns),
        tuple(tuple(map(cell, row, table.columns)) for row in table.rows),
        table.stub,
    )


# Break points of a head: between words, then also within names.
_WORDS, _PARTS = re.compile(r"(?<= )"), re.compile(r"(?<= )|(?<=[_/-])(?=\w)")


def narrow_table(table: Table, fits: Callable[[Table], bool]) -> tuple[Table, list[str]]:
    """Narrow a table until it fits on the page.

    The steps, in this order: remove empty columns, break headings between words, break headings within names,
    drop optional columns from the right.

    Parameters
    ----------
    table : Table
    fits : callable
        Returns True if a table fits.

    Returns
    -------
    table : Table
        The original table if no step suffices.
    dropped : list of str
        Headings of the dropped columns.
    """
    if fits(table):
        return table, []
    for candidate in _narrower_tables(table):
        if fits(candidate):
            return candidate, []
    dropped: list[str] = []
    for number in reversed([number for number, column in enumerate(candidate.columns) if column.optional]):
        dropped.insert(0, candidate.columns[number].name)
        candidate = candidate.with_columns(
            [other for other, _ in enumerate(candidate.columns) if other != number]
        )
        if fits(candidate):
            return candidate, dropped
    return table, []


def _narrower_tables(table: Table) -> Iterator[Table]:
    """Yield successively narrower versions of a table with the same columns."""
    compact = table.without_empty_columns
    yield compact
    for pattern in (_WORDS, _PARTS):
        columns = tuple(
            _fold_head(column, number, compact, pattern) for number, column in enumerate(compact.columns)
        )
        yield replace(compact, columns=columns)


def _fold_head(column: Column, number: int, table: Table, pattern: re.Pattern[str]) -> Column:
    """Break a column heading into lines no wider than the column's cells, if possible."""
    cells = max((len(cell_text(row[number])) for row in table.rows), default=0)
    pieces = [pattern.split(line) for line in column.head.split("\n")]
    width = max(cells, *(len(piece.strip()) for line in pieces for piece in line))
    lines = [folded for line in pieces for folded in _fill_lines(line, width)]
    return replace(column, head="\n".join(lines), name=column.name or column.head.replace("\n", " "))


def _fill_lines(pieces: list[str], width: int) -> Iterator[str]:
    """Yield lines of at most the given width, joined from pieces of text."""
    line = ""
    for piece in pieces:
        if line and len((line + piece).strip()) > width:
            yield line.strip()
            line = ""
        line += piece
    yield line.strip()
