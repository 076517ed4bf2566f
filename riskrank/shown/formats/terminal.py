"""A view as a terminal page: words, tables and colour.

On a terminal too narrow for a table nothing is cut: heads go on below, what can be spared is named instead,
then words and long names go on over several lines, and columns that do not fit follow in a second table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from riskrank.shown.escapes import apart
from riskrank.shown.formats.showable import in_utf, narrowed, showable
from riskrank.shown.view import Justify, Line, Section, Table, as_cell, text_of

MOST_ROWS = 2000
"""Rows of a table on a screen: nobody reads ten thousand there."""

# Off a terminal nothing is cut: every table has room, and text wraps at a readable length.
TEXT_WIDTH = 100

# Names are folded down to the first width if that saves a second table, and never below the second;
# the third holds "(FSD, SSD)" of an answer on one line.
_NAME_WIDTH = 16
_NARROWEST = 8
_WORDS_WIDTH = 10
_EDGES, _GAP = 2, 2
# Names beside pictures go on below from this width.
_FOLDED_NAME = 24

# What a terminal calls the styles of a view.
_CODES = {"": "", "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_WORD = re.compile(r"\s*\S+\s*")

Paint = Callable[[str, str], str]


def to_terminal(view: Sequence[Section], *, width: int | None, color: bool, encoding: str = "utf-8") -> str:
    """Lay a view out.

    Parameters
    ----------
    view : sequence of Section
    width : int or None
        Columns of the terminal; None where there is no terminal.
    color : bool
        Whether to use colour and weight.
    encoding : str
        Of who shows it.
    """

    def paint(text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if color and style and text else text

    text_width = min(width or TEXT_WIDTH, TEXT_WIDTH)
    lines: list[str] = []
    spaced = False  # tables begin and end with an empty line, and between two of them one is enough
    shown = [showable(section, encoding) for section in view]
    for before, section in zip([None, *shown], shown, strict=False):
        spaced = spaced and isinstance(section, Table)
        if isinstance(section, Table):
            if section.title and isinstance(before, Line):
                lines.append("")
            tables = _tables(section, width, text_width, paint, "─" if in_utf(encoding) else "-")
            told = [*chain.from_iterable(tables)]
            lines += told[spaced and told[:1] == [""] :]
            spaced = told[-1] == ""
        elif section.verbatim:
            lines += f"   {section.text}".split("\n")
        else:
            lines += _said(section, text_width, paint)
    return apart("".join(f"{line.rstrip()}\n" for line in lines))


def _said(line: Line, width: int, paint: Paint) -> Iterator[str]:
    """A line of text in as many as it takes, its label bold."""
    label = f"{line.label} " if line.label else ""
    for text in wrapped(label + line.text, width - _EDGES):
        yield f" {paint(text[: len(label)], 'bold')}{paint(text[len(label) :], line.style)}"
        label = label[len(text) :]


def _tables(
    section: Table, width: int | None, text_width: int, paint: Paint, rule: str
) -> Iterator[list[str]]:
    """Lines of the tables that one becomes, each after its title, and what there was no room for."""

    def has_room(table: Table) -> bool:
        return width is None or _total(fitting_widths(table, None)) <= width

    more = len(section.rows) - MOST_ROWS
    section = replace(section, rows=section.rows[:MOST_ROWS])
    table, left_out = narrowed(with_pictures(section, width), has_room)
    widths = fitting_widths(table, width)
    for number, block in enumerate(blocks(widths, table.stub, width)):
        title = f"{table.title}, continued" if number and table.title else table.title
        above = [*_said(Line(title, style="bold"), text_width, paint)] if title else []
        grid = [*_grid(table, block, widths, paint, rule)]
        yield above + grid[bool(number and not title) :]
    if left_out:
        yield [*_said(Line(f"No room here for {', '.join(left_out)}."), text_width, paint)]
    if more > 0:
        yield [*_said(Line(f"… {more:,} more rows, which data formats have."), text_width, paint)]


def wrapped(text: str, width: int) -> Iterator[str]:
    """Lines no wider than this: they end between words, and within those that are wider than a line."""
    from rich.cells import cell_len, chop_cells

    for line in text.split("\n"):
        here = ""
        for word in [line] if cell_len(line) <= width else _WORD.findall(line):
            if here and cell_len(here) + cell_len(word.rstrip()) > width:
                yield here
                here = ""
            *whole, word = [word] if cell_len(word.rstrip()) <= width else chop_cells(word, max(width, 1))
            yield from whole
            here += word
        yield here


def with_pictures(table: Table, width: int | None) -> Table:
    """The table with as many of its pictures as fit beside the other columns; without a terminal none do.

    Long names rather go on below than push a picture out.
    """
    kept = [at for at, column in enumerate(table.columns) if not column.only]
    if width is None or len(kept) == len(table.columns):
        return table.plain
    for at, column in enumerate(table.columns):
        if column.only == "terminal" and width >= column.least:
            tried = sorted([*kept, at])
            own = fitting_widths(table.with_columns(tried), None)
            least = [min(of, _FOLDED_NAME) if n < table.stub else of for n, of in enumerate(own)]
            if _total(least) <= width:
                kept = tried
    return table.with_columns(kept)


def fitting_widths(table: Table, width: int | None) -> list[int]:
    """Width of every column: its own where the page allows, less for text that can go on below.

    Parameters
    ----------
    table : Table
    width : int or None
        Width of the page; None if it has none.
    """
    from rich.cells import cell_len

    texts = [column.head.split("\n") for column in table.columns]
    for row in table.rows:
        for lines, cell in zip(texts, row, strict=True):
            lines.append(text_of(cell))
    own = [max(map(cell_len, lines)) for lines in texts]
    if width is None or _total(own) <= width:
        return own
    stub = range(table.stub)
    names = [number for number in stub if table.columns[number].justify == "left"]
    words = [n for n in range(table.stub, len(own)) if table.columns[n].justify == "left"]
    words = [n for n in words if not table.columns[n].only]
    folded = list(own)
    for number in words:
        longest_word = max(cell_len(word) for text in texts[number] for word in text.split() or [""])
        folded[number] = min(
            own[number], max(longest_word, _WORDS_WIDTH, own[number] - (_total(folded) - width))
        )
    excess = max(_total(folded) - width, 0)
    room = sum(folded[number] for number in names) - excess
    if room >= min(_NAME_WIDTH * len(names), sum(own[number] for number in names)):
        return _capped(folded, names, room)
    # Several tables it will be: names take half of the page at most, and words have room again.
    fixed = sum(own[number] for number in stub if number not in names)
    beside = max((own[n] for n in range(table.stub, len(own)) if n not in words), default=0)
    room = min(width // 2, width - _EDGES - beside - _GAP) - fixed - _GAP * (table.stub - 1)
    widths = _capped(own, names, max(room, _NARROWEST * len(names)))
    left = width - _EDGES - sum(widths[number] for number in stub) - _GAP * table.stub
    return _capped(widths, words, max(left, _NARROWEST) * len(words))


def _capped(widths: Sequence[int], columns: Sequence[int], room: int) -> list[int]:
    """Cut the widest of the columns until together they take no more than the room."""
    found = list(widths)
    while columns and sum(found[number] for number in columns) > room:
        found[max(columns, key=lambda number: found[number])] -= 1
    return found


def blocks(widths: Sequence[int], stub: int, width: int | None) -> list[list[int]]:
    """Columns of the tables to draw one below the other, each beginning with the stub."""
    leading = list(range(stub))
    found = [[*leading]]
    for number in range(stub, len(widths)):
        full = width is not None and _total([widths[i] for i in [*found[-1], number]]) > width
        if full and len(found[-1]) > stub:
            found.append([*leading])
        found[-1].append(number)
    return found


def _total(widths: Sequence[int]) -> int:
    return _EDGES + sum(widths) + _GAP * (len(widths) - 1)


def _grid(
    table: Table, block: Sequence[int], widths: Sequence[int], paint: Paint, rule: str
) -> Iterator[str]:
    """A table between two empty lines, its heads on the rule."""
    columns = [table.columns[number] for number in block]
    own = [widths[number] for number in block]
    heads = [[*wrapped(column.head, width)] for column, width in zip(columns, own, strict=True)]
    tallest = max(map(len, heads))
    cells = [[as_cell(row[number]) for number in block] for row in table.rows]
    ways = [column.justify for column in columns]
    yield ""
    yield from _row(
        [[""] * (tallest - len(head)) + head for head in heads], ["bold"] * len(own), own, ways, paint
    )
    yield " " + rule * (_total(own) - _EDGES)
    for row in cells:
        texts = [wrapped(cell.text, width) for cell, width in zip(row, own, strict=True)]
        yield from _row(texts, [cell.style for cell in row], own, ways, paint)
    yield ""


def _row(
    texts: Sequence[Iterable[str]],
    styles: Sequence[str],
    widths: Sequence[int],
    ways: Sequence[Justify],
    paint: Paint,
) -> Iterator[str]:
    """Cells beside each other, in as many lines as the tallest takes."""
    from rich.cells import cell_len

    for parts in zip_longest(*texts, fillvalue=""):
        cells = []
        for part, style, width, way in zip(parts, styles, widths, ways, strict=True):
            text = part.rstrip()
            room = max(width - cell_len(text), 0)
            left = {"left": 0, "right": room, "center": room // 2}[way]
            cells.append(" " * left + paint(text, style) + " " * (room - left))
        yield " " + (" " * _GAP).join(cells)
