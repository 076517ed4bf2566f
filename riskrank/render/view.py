"""Format-independent tables, lines of text and pictures, the input of every renderer.

A view is built from a document by one module per command, and contains no computation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from riskrank.errors import spell

if TYPE_CHECKING:
    from riskrank.render.figures.style import Plot


Justify = Literal["left", "right", "center"]


@dataclass(frozen=True)
class Column:
    """Heading and layout of a table column.

    Attributes
    ----------
    head : str
        Heading, with line breaks that are kept on the terminal.
    justify : {"left", "right", "center"}
        Alignment of the cells.
    name : str
        Longer heading for Markdown; by default, `head`.
    medium : {"", "terminal", "latex"}
        Only medium in which the column is shown, or empty for all.
    min_width : int
        Minimum terminal width, in characters, at which a text chart is drawn.
    optional : bool
        True if the column may be dropped on a narrow terminal; a line below the table then mentions it.
    axis : tuple of str, optional
        Labels of both ends of the bars' axis. A label in between names a scale that is not linear.
    """

    head: str
    justify: Justify = "right"
    name: str = ""
    medium: Literal["", "terminal", "latex"] = ""
    min_width: int = 0
    optional: bool = False
    axis: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Bar:
    """A value with its interval, in fractions of the axis length.

    Attributes
    ----------
    at, low, high : float
        Positions from 0 (left end of the axis) to 1 (right end).
    beyond : {-1, 0, 1}
        Side on which the value lies outside the axis; 0 if it lies inside.
    """

    at: float
    low: float
    high: float
    beyond: int = 0


def column_heads(*left: str, right: Iterable[str] = ()) -> tuple[Column, ...]:
    """Create left-aligned text columns, followed by right-aligned number columns.

    Parameters
    ----------
    *left : str
        Headings of the text columns.
    right : iterable of str
        Headings of the number columns.
    """
    return (*(Column(head, "left") for head in left), *map(Column, right))


@dataclass(frozen=True)
class Cell:
    """Text of a cell, with an optional Rich style for the terminal and an optional bar for HTML."""

    text: str
    style: str = ""
    bar: Bar | None = None


@dataclass(frozen=True)
class Table:
    """A titled table with one cell per row and column.

    Attributes
    ----------
    title : str
        Title above the table.
    columns : tuple of Column
        Headings of the columns.
    rows : tuple of tuple of Cell or str
        Cells by row.
    stub : int
        Number of leading columns that identify a row, repeated if the table is split.
    details : bool
        True if only explained output shows the table.
    part : str
        Part of the page that contains the table, or empty for the answer itself.
    folded : bool
        True if the table is collapsed on the page until the reader opens it.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell | str, ...], ...]
    stub: int = 1
    details: bool = False
    part: str = ""
    folded: bool = False

    def with_columns(self, numbers: Sequence[int]) -> Table:
        """Return the table restricted to the columns with the given indices."""
        rows = tuple(tuple(row[number] for number in numbers) for row in self.rows)
        return replace(self, columns=tuple(self.columns[number] for number in numbers), rows=rows)

    @property
    def without_empty_columns(self) -> Table:
        """Copy of the table without columns that have neither a heading nor any text."""
        numbers = [
            number
            for number, column in enumerate(self.columns)
            if column.head or any(cell_text(row[number]) for row in self.rows)
        ]
        stub = sum(number < self.stub for number in numbers)
        return self if len(numbers) == len(self.columns) else replace(self.with_columns(numbers), stub=stub)

    @property
    def plain(self) -> Table:
        """Copy of the table without medium-specific columns."""
        return self.for_medium("")

    def for_medium(self, medium: str) -> Table:
        """Return the table with the columns shown in a medium."""
        numbers = [number for number, column in enumerate(self.columns) if column.medium in ("", medium)]
        return self if len(numbers) == len(self.columns) else self.with_columns(numbers)


# A column and the function that returns its cell: from the number of a model, or from a document row.
ModelColumn = tuple[Column, Callable[[int], Cell | str]]
RowColumn = tuple[Column, Callable[[Any], Cell | str]]


def value_column(
    head: str, values: Any, text: Callable[[Any], str] = str, name: str = ""
) -> ModelColumn | None:
    """Create a column with one value per model, or return None if `values` is None.

    Parameters
    ----------
    head : str
        Heading of the column.
    values : sequence or None
        One value per model.
    text : callable
        Formats a value.
    name : str
        As in :class:`Column`.
    """
    return None if values is None else (Column(head, name=name), lambda i: text(values[i]))


def build_table(
    title: str, columns: Iterable[RowColumn | ModelColumn | None], rows: Iterable[Any], *, stub: int = 1
) -> Table:
    """Build a table from columns, each with a function that returns its cell for a row.

    Columns that are None are skipped. The first `stub` columns name the rows.
    """
    present = [column for column in columns if column is not None]
    cells = tuple(tuple(cell(row) for _, cell in present) for row in rows)
    return Table(title, tuple(column for column, _ in present), cells, stub=stub)


@dataclass(frozen=True)
class Line:
    """A line of text above or below a table.

    Attributes
    ----------
    text : str
        Text of the line.
    label : str
        Bold text at the beginning of the line.
    style : str
        Rich style.
    verbatim : bool
        True for a command to copy, which is not wrapped or escaped.
    details : bool
        True if only explained output shows the line.
    """

    text: str
    label: str = ""
    style: str = ""
    verbatim: bool = False
    details: bool = False


@dataclass(frozen=True)
class Picture:
    """One picture of a document.

    Attributes
    ----------
    name : str
        Kind of picture, followed by further parts if there are several of a kind:
        ``scatter@gini-tail@accuracy``. Leading parts select the first matching picture.
    caption : str
        One-sentence description, for readers who cannot see the picture.
    draw : callable
        Draws and returns the figure.
    """

    name: str
    caption: str
    draw: Callable[[], Plot]

    @property
    def kind(self) -> str:
        """First part of the name."""
        return self.name.partition("@")[0]


Section = Table | Line
Block = Section | Picture


def as_cell(cell: Cell | str) -> Cell:
    """Return a text as a cell without style, and a cell unchanged."""
    return Cell(cell) if isinstance(cell, str) else cell


def cell_text(cell: Cell | str) -> str:
    """Return the text of a cell."""
    return as_cell(cell).text


def spell_sections(sections: Iterable[Section], *, flags: bool) -> list[Section]:
    """Replace the marked parameters in sections by command-line flags or by Python keywords."""
    return [
        replace(section, title=spell(section.title, flags=flags))
        if isinstance(section, Table)
        else replace(section, text=spell(section.text, flags=flags))
        for section in sections
    ]


def renumber_pictures(
    pictures: Sequence[Picture], models: Sequence[str], all_models: Sequence[str]
) -> list[Picture]:
    """Renumber the models in a study's pictures by their position in a larger table.

    Parameters
    ----------
    pictures : sequence of Picture
        Pictures of the document.
    models : sequence of str
        Models of the study.
    all_models : sequence of str
        Models of the table.
    """
    from riskrank.render.figures.legend import draw_renumbered

    index = {name: number for number, name in enumerate(all_models)}
    numbers = [index[name] for name in models]
    return [replace(picture, draw=partial(draw_renumbered, picture.draw, numbers)) for picture in pictures]
