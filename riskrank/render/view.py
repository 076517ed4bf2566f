"""What a person reads: tables and lines of text, before they become a terminal page or Markdown.

A view knows nothing of statistics; one module a command builds it from a document, and every renderer
shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from riskrank.errors import spell

Justify = Literal["left", "right", "center"]


@dataclass(frozen=True)
class Column:
    """Head of a column; a line break in it is kept on the terminal.

    ``name`` is the head where there is no need to be short, in Markdown. What is ``only`` for a terminal is a
    picture, drawn where there is room for it, ``least`` columns wide or more; it says nothing of its own.
    What is ``spare`` gives way on a page that has no room for all, and is named below the table. ``axis``
    says what the ends of the column's bars are, and between them what kind of scale it is if not an even one.
    """

    head: str
    justify: Justify = "right"
    name: str = ""
    only: Literal["", "terminal", "latex"] = ""
    least: int = 0
    spare: bool = False
    axis: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Bar:
    """A number with its interval, as parts of the way from one end of a column's scale to the other.

    ``beyond`` says which end the number is beyond, if any: 1 or −1.
    """

    at: float
    low: float
    high: float
    beyond: int = 0


def headed(*left: str, right: Iterable[str] = ()) -> tuple[Column, ...]:
    """Columns of words, then of numbers, by their heads."""
    return (*(Column(head, "left") for head in left), *map(Column, right))


@dataclass(frozen=True)
class Cell:
    """Text with an optional Rich style, which Markdown leaves out, and a bar, which a page draws."""

    text: str
    style: str = ""
    bar: Bar | None = None


@dataclass(frozen=True)
class Table:
    """A titled table; rows are as long as the columns.

    ``stub`` is the number of leading columns that say what a row is about; they are repeated where the
    other columns need several tables. ``more`` is what only a reader who asks for it sees; ``part`` names the
    part of a page it stands in, if not beside the answer. What is ``folded`` a page shows by its title alone,
    until somebody opens it.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell | str, ...], ...]
    stub: int = 1
    more: bool = False
    part: str = ""
    folded: bool = False

    def with_columns(self, kept: Sequence[int]) -> Table:
        """The same table with some of its columns."""
        return replace(
            self,
            columns=tuple(self.columns[number] for number in kept),
            rows=tuple(tuple(row[number] for number in kept) for row in self.rows),
        )

    @property
    def filled(self) -> Table:
        """The table without columns that have neither a head nor anything in a row."""
        kept = [
            at
            for at, column in enumerate(self.columns)
            if column.head or any(text_of(row[at]) for row in self.rows)
        ]
        stub = sum(at < self.stub for at in kept)
        return self if len(kept) == len(self.columns) else replace(self.with_columns(kept), stub=stub)

    @property
    def plain(self) -> Table:
        """The table without what is only for one kind of reader."""
        return self.shown_in("")

    def shown_in(self, medium: str) -> Table:
        """The table as one kind of reader sees it."""
        kept = [at for at, column in enumerate(self.columns) if column.only in ("", medium)]
        return self if len(kept) == len(self.columns) else self.with_columns(kept)


# A column of a table, and its cell by row: of a model by its number, or of a row of a document.
OfModel = tuple[Column, Callable[[int], Cell | str]]
OfRow = tuple[Column, Callable[[Any], Cell | str]]


def each(head: str, values: Any, say: Callable[[Any], str] = str, name: str = "") -> OfModel | None:
    """A column of an array or a list by model; none where there is nothing."""
    return None if values is None else (Column(head, name=name), lambda i: say(values[i]))


def by_row(
    title: str, columns: Iterable[OfRow | OfModel | None], rows: Iterable[Any], *, stub: int = 1
) -> Table:
    """A table that says of every row what its columns say; columns that are None are left out."""
    told = [column for column in columns if column is not None]
    cells = tuple(tuple(cell(row) for _, cell in told) for row in rows)
    return Table(title, tuple(column for column, _ in told), cells, stub=stub)


@dataclass(frozen=True)
class Line:
    """A line of text under or above a table; ``label`` is its bold beginning.

    One that is ``verbatim``, a command to copy, is neither wrapped nor escaped; ``more`` as of a table.
    """

    text: str
    label: str = ""
    style: str = ""
    verbatim: bool = False
    more: bool = False


Section = Table | Line


def as_cell(cell: Cell | str) -> Cell:
    """A cell; of a plain text one without style."""
    return Cell(cell) if isinstance(cell, str) else cell


def text_of(cell: Cell | str) -> str:
    """Text of a cell without its style."""
    return as_cell(cell).text


def spelled(sections: Iterable[Section], *, flags: bool) -> list[Section]:
    """The sections with the parameters in their words as flags of the command line or Python keywords."""

    def write(section: Section) -> Section:
        if isinstance(section, Table):
            return replace(section, title=spell(section.title, flags=flags))
        return replace(section, text=spell(section.text, flags=flags))

    return [write(section) for section in sections]
