"""Tables and lines as a terminal can show them: in its encoding, and tables made to fit its width."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from riskrank.render.escapes import for_terminal, together
from riskrank.render.text_charts import in_ascii
from riskrank.render.view import Cell, Column, Section, Table, as_cell, text_of


def showable(section: Section, encoding: str) -> Section:
    """A section whose texts a terminal of this encoding can show.

    Parameters
    ----------
    section : Section
    encoding : str
    """
    if isinstance(section, Table):
        return _table(section, encoding)
    if section.verbatim:
        return replace(section, text=for_terminal(section.text, encoding))
    return replace(section, text=_words(section.text, encoding), label=_words(section.label, encoding))


def in_utf(encoding: str) -> bool:
    """Whether an encoding has all characters."""
    return encoding.lower().startswith("utf")


def _words(text: str, encoding: str) -> str:
    return together(for_terminal(text, encoding))


def _table(table: Table, encoding: str) -> Table:
    def cell(given: Cell | str, column: Column) -> Cell | str:
        text = text_of(given).replace("\n", " ")
        drawn = column.only == "terminal" and not in_utf(encoding)
        shown = _words(in_ascii(text) if drawn else text, encoding)
        return replace(as_cell(given), text=shown)

    return Table(
        _words(table.title.replace("\n", " "), encoding),
        tuple(replace(column, head=_words(column.head, encoding)) for column in table.columns),
        tuple(tuple(map(cell, row, table.columns)) for row in table.rows),
        table.stub,
    )


# Where a head goes on in the next line: between words, then in names.
_WORDS, _PARTS = re.compile(r"(?<= )"), re.compile(r"(?<= )|(?<=[_/-])(?=\w)")


def narrowed(table: Table, fits: Callable[[Table], bool]) -> tuple[Table, list[str]]:
    """The table as a page has room for it in one piece, and the heads of what it has no room for.

    Parameters
    ----------
    table : Table
    fits : callable
        Whether a table has room.

    Returns
    -------
    table : Table
        As it was where nothing helps.
    left_out : list of str
    """
    if fits(table):
        return table, []
    for tried in _shorter(table):
        if fits(tried):
            return tried, []
    left_out: list[str] = []
    for at in reversed([at for at, column in enumerate(tried.columns) if column.spare]):
        left_out.insert(0, tried.columns[at].name)
        tried = tried.with_columns([n for n, _ in enumerate(tried.columns) if n != at])
        if fits(tried):
            return tried, left_out
    return table, []


def _shorter(table: Table) -> Iterator[Table]:
    """The same table in less and less width, nothing left out."""
    closed = table.filled
    yield closed
    for where in (_WORDS, _PARTS):
        columns = tuple(_folded(column, at, closed, where) for at, column in enumerate(closed.columns))
        yield replace(closed, columns=columns)


def _folded(column: Column, at: int, table: Table, where: re.Pattern[str]) -> Column:
    """A column whose head takes as many lines as its cells are narrower than it."""
    cells = max((len(text_of(row[at])) for row in table.rows), default=0)
    pieces = [where.split(line) for line in column.head.split("\n")]
    room = max(cells, *(len(piece.strip()) for line in pieces for piece in line))
    lines = [folded for line in pieces for folded in _filled(line, room)]
    return replace(column, head="\n".join(lines), name=column.name or column.head.replace("\n", " "))


def _filled(pieces: list[str], room: int) -> Iterator[str]:
    line = ""
    for piece in pieces:
        if line and len((line + piece).strip()) > room:
            yield line.strip()
            line = ""
        line += piece
    yield line.strip()
