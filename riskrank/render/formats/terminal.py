"""A view as a terminal page, drawn by Rich, which is imported only then.

On a terminal too narrow for a table nothing is cut: heads go on below, what can be spared is named instead,
then words and long names go on over several lines, and columns that do not fit follow in a second table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, Literal, TextIO, cast

from riskrank.render.escapes import apart
from riskrank.render.formats.showable import in_utf, narrowed, showable
from riskrank.render.view import Line, Section, Table, as_cell, text_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable


MOST_ROWS = 2000
"""Rows of a table on a screen: with ten thousand Rich takes half a minute, and nobody reads them there."""

# Off a terminal nothing is cut: wide enough for every table, and text wraps at a readable length.
UNBOUNDED_WIDTH = 10_000
TEXT_WIDTH = 100

# Names are folded down to the first width if that saves a second table, and never below the second;
# the third holds "(FSD, SSD)" of an answer on one line.
_NAME_WIDTH = 16
_NARROWEST = 8
_WORDS_WIDTH = 10
_EDGES, _GAP = 2, 2
# Names beside pictures go on below from this width.
_FOLDED_NAME = 24


def to_terminal(view: Sequence[Section], stream: TextIO, *, width: int | None, color: bool) -> None:
    """Draw a view with Rich.

    Parameters
    ----------
    view : sequence of Section
    stream : text stream
    width : int or None
        Columns of the terminal; None where there is no terminal.
    color : bool
        Whether to use colour and weight.
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    def console(color_system: Literal["auto", "standard"] | None) -> Console:
        return Console(
            file=cast("IO[str]", _Blanks(stream)),
            width=UNBOUNDED_WIDTH,
            color_system=color_system,
            force_terminal=color or None,
            no_color=not color,
            highlight=False,
            emoji=False,
            markup=False,
            legacy_windows=False,
        )

    page = console("auto" if color else None)
    if color and page.color_system is None:
        page = console("standard")
    encoding = getattr(stream, "encoding", None) or "utf-8"
    ascii_only = not in_utf(encoding)
    text_width = min(width or TEXT_WIDTH, TEXT_WIDTH)
    has_room: Callable[[Table], bool]
    has_room = lambda table: width is None or _total(fitting_widths(table, None)) <= width  # noqa: E731

    def say(text: Text) -> None:
        page.print(Padding(text, (0, 1)), width=text_width)

    spaced = False  # tables begin and end with an empty line, and between two of them one is enough
    shown = [showable(section, encoding) for section in view]
    for before, section in zip([None, *shown], shown, strict=False):
        spaced = spaced and isinstance(section, Table)
        if isinstance(section, Table) and section.title and isinstance(before, Line):
            page.print()
        if isinstance(section, Line) and section.verbatim:
            page.print(Text(f"   {section.text}"), soft_wrap=True)
            continue
        if isinstance(section, Line):
            label = f"{section.label} " if section.label else ""
            say(Text.assemble((label, "bold"), (section.text, section.style)))
            continue
        more = len(section.rows) - MOST_ROWS
        section = replace(section, rows=section.rows[:MOST_ROWS])
        table, left_out = narrowed(with_pictures(section, width), has_room)
        widths = fitting_widths(table, width)
        for number, block in enumerate(blocks(widths, table.stub, width)):
            title = f"{table.title}, continued" if number and table.title else table.title
            if title:
                say(Text(title, style="bold"))
            _print_rows(page, table, block, widths, int(spaced and not title), ascii_only=ascii_only)
            spaced = True
        if left_out:
            say(Text(f"No room here for {', '.join(left_out)}."))
        if more > 0:
            say(Text(f"… {more:,} more rows, which data formats have."))
        spaced = not left_out and more <= 0


class _Blanks:
    """A stream that is given joints and writes blanks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(apart(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


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
        left = own[number] - (_total(folded) - width)
        folded[number] = min(own[number], max(longest_word, _WORDS_WIDTH, left))
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


def _print_rows(
    page: Console, table: Table, block: Sequence[int], widths: Sequence[int], above: int, *, ascii_only: bool
) -> None:
    """Draw a table without its first lines, so many of them."""
    with page.capture() as laid_out:
        page.print(_grid(table, block, widths, ascii_only=ascii_only))
    page.file.write("".join(laid_out.get().splitlines(keepends=True)[above:]))


def _grid(table: Table, block: Sequence[int], widths: Sequence[int], *, ascii_only: bool) -> RichTable:
    from rich.box import SIMPLE_HEAD, Box
    from rich.table import Table as RichTable
    from rich.text import Text

    rule = Box("    \n    \n -- \n" + "    \n" * 5, ascii=True)
    grid = RichTable(box=rule if ascii_only else SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    tallest = max(table.columns[number].head.count("\n") for number in block)
    for number in block:
        column = table.columns[number]
        above = "\n" * (tallest - column.head.count("\n"))
        head = Text(above + column.head)
        grid.add_column(head, justify=column.justify, overflow="fold", width=widths[number])
    for row in table.rows:
        cells = [as_cell(row[number]) for number in block]
        grid.add_row(*(Text(cell.text, style=cell.style) for cell in cells))
    return grid
