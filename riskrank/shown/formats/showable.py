"""Sections as a terminal can show them: in its encoding, with joints where no line may end."""

from dataclasses import replace

from riskrank.shown.escapes import for_terminal
from riskrank.shown.text_pictures import in_ascii
from riskrank.shown.together import together
from riskrank.shown.view import Cell, Column, Section, Table, as_cell, text_of


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
