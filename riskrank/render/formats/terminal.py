"""Terminal output by Rich, which is imported only when needed.

Tables are never truncated on a narrow terminal. First, headings wrap; then optional columns are dropped and
listed; then words and long names wrap. The remaining columns follow in a second table.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from riskrank.render.escapes import escape_for_terminal, protect_spaces, restore_spaces
from riskrank.render.text_charts import to_ascii
from riskrank.render.view import Cell, Column, Line, Section, Table, as_cell, cell_text

if TYPE_CHECKING:
    from rich.console import Console


# Maximum number of table rows on a terminal. Rich needs half a minute for ten thousand rows.
MOST_ROWS = 2000

# Without a terminal, the width is enough for every table, and text wraps at a readable length.
UNBOUNDED_WIDTH = 10_000
TEXT_WIDTH = 100

# Names shrink to the first width if that avoids a second table, and never below the second.
# The third keeps "(FSD, SSD)" on one line.
_NAME_WIDTH = 16
_NARROWEST = 8
_WORDS_WIDTH = 10
_EDGES, _GAP = 2, 2
# Width to which names shrink to make room for text charts.
_FOLDED_NAME = 24


def to_terminal(view: Sequence[Section], *, width: int | None, color: bool, encoding: str = "utf-8") -> str:
    """Return the sections of a document as printed by Rich.

    Parameters
    ----------
    view : sequence of Section
        Sections to render.
    width : int or None
        Width of the terminal in characters, or None if the output is not a terminal.
    color : bool
        Whether to use colors and bold text.
    encoding : str
        Encoding of the output. Characters that it does not have are escaped.
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    def console(color_system: Literal["auto", "standard"] | None) -> Console:
        """Return a console that writes to memory without a limit of its width."""
        return Console(
            file=io.StringIO(),
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
    ascii_only = not is_unicode(encoding)
    text_width = min(width or TEXT_WIDTH, TEXT_WIDTH)
    fits: Callable[[Table], bool]
    fits = lambda table: width is None or _total_width(column_widths(table, None)) <= width  # noqa: E731

    def print_text(text: Text) -> None:
        """Print a text with a margin of one cell."""
        page.print(Padding(text, (0, 1)), width=text_width)

    spaced = False  # Rich surrounds tables with empty lines, and one between two tables is enough
    prepared = [terminal_section(section, encoding) for section in view]
    for previous, section in zip([None, *prepared], prepared, strict=False):
        spaced = spaced and isinstance(section, Table)
        if isinstance(section, Table) and section.title and isinstance(previous, Line):
            page.print()
        if isinstance(section, Line) and section.verbatim:
            page.print(Text(f"   {section.text}"), soft_wrap=True)
            continue
        if isinstance(section, Line):
            label = f"{section.label} " if section.label else ""
            print_text(Text.assemble((label, "bold"), (section.text, section.style)))
            continue
        more = len(section.rows) - MOST_ROWS
        section = replace(section, rows=section.rows[:MOST_ROWS])
        table, dropped = narrow_table(with_charts(section, width), fits)
        widths = column_widths(table, width)
        for number, block in enumerate(split_columns(widths, table.stub, width)):
            title = f"{table.title}, continued" if number and table.title else table.title
            if title:
                print_text(Text(title, style="bold"))
            _print_rows(page, table, block, widths, int(spaced and not title), ascii_only=ascii_only)
            spaced = True
        if dropped:
            print_text(Text(f"Columns that do not fit here: {', '.join(dropped)}."))
        if more > 0:
            print_text(Text(f"… {more:,} more rows, available in data formats."))
        spaced = not dropped and more <= 0
    return restore_spaces(cast(io.StringIO, page.file).getvalue())


def with_charts(table: Table, width: int | None) -> Table:
    """Return the table with the text charts that fit next to its other columns.

    Long names wrap before a chart is dropped. Without a terminal, whose width is None, there are no charts.
    """
    numbers = [number for number, column in enumerate(table.columns) if not column.medium]
    if width is None or len(numbers) == len(table.columns):
        return table.plain
    for number, column in enumerate(table.columns):
        if column.medium == "terminal" and width >= column.min_width:
            candidate = sorted([*numbers, number])
            widths = column_widths(table.with_columns(candidate), None)
            folded = [*(min(name, _FOLDED_NAME) for name in widths[: table.stub]), *widths[table.stub :]]
            if _total_width(folded) <= width:
                numbers = candidate
    return table.with_columns(numbers)


def column_widths(table: Table, width: int | None) -> list[int]:
    """Return the width of every column, in characters.

    Columns have their natural widths if these fit on the page. Otherwise, text wraps in narrower columns.

    Parameters
    ----------
    table : Table
        Table to render.
    width : int or None
        Width of the page in characters, or None if it is unlimited.
    """
    from rich.cells import cell_len

    texts = [column.head.split("\n") for column in table.columns]
    for row in table.rows:
        for lines, cell in zip(texts, row, strict=True):
            lines.append(cell_text(cell))
    natural = [max(map(cell_len, lines)) for lines in texts]
    if width is None or _total_width(natural) <= width:
        return natural
    stub = range(table.stub)
    names = [number for number in stub if table.columns[number].justify == "left"]
    words = [n for n in range(table.stub, len(natural)) if table.columns[n].justify == "left"]
    words = [n for n in words if not table.columns[n].medium]
    folded = list(natural)
    for number in words:
        longest_word = max(cell_len(word) for text in texts[number] for word in text.split() or [""])
        remaining = natural[number] - (_total_width(folded) - width)
        folded[number] = min(natural[number], max(longest_word, _WORDS_WIDTH, remaining))
    excess = max(_total_width(folded) - width, 0)
    available = sum(folded[number] for number in names) - excess
    if available >= min(_NAME_WIDTH * len(names), sum(natural[number] for number in names)):
        return _shrink_widest(folded, names, available)
    # The table must be split. Names get at most half of the page, and text columns get more room.
    fixed = sum(natural[number] for number in stub if number not in names)
    widest_number = max((natural[n] for n in range(table.stub, len(natural)) if n not in words), default=0)
    available = min(width // 2, width - _EDGES - widest_number - _GAP) - fixed - _GAP * (table.stub - 1)
    widths = _shrink_widest(natural, names, max(available, _NARROWEST * len(names)))
    remaining = width - _EDGES - sum(widths[number] for number in stub) - _GAP * table.stub
    return _shrink_widest(widths, words, max(remaining, _NARROWEST) * len(words))


def _shrink_widest(widths: Sequence[int], columns: Sequence[int], available: int) -> list[int]:
    """Shrink the widest of the given columns, one character at a time, until their total width fits."""
    shrunk = list(widths)
    while columns and sum(shrunk[number] for number in columns) > available:
        shrunk[max(columns, key=lambda number: shrunk[number])] -= 1
    return shrunk


def split_columns(widths: Sequence[int], stub: int, width: int | None) -> list[list[int]]:
    """Split the columns of a table into blocks that fit on the page; each repeats the first `stub` columns.

    Returns
    -------
    list of list of int
        Column indices of each block.
    """
    leading = list(range(stub))
    blocks = [[*leading]]
    for number in range(stub, len(widths)):
        full = width is not None and _total_width([widths[i] for i in [*blocks[-1], number]]) > width
        if full and len(blocks[-1]) > stub:
            blocks.append([*leading])
        blocks[-1].append(number)
    return blocks


def _total_width(widths: Sequence[int]) -> int:
    """Return the width of a table with the given column widths, in characters."""
    return _EDGES + sum(widths) + _GAP * (len(widths) - 1)


def _print_rows(
    page: Console,
    table: Table,
    block: Sequence[int],
    widths: Sequence[int],
    skipped: int,
    *,
    ascii_only: bool,
) -> None:
    """Print some columns of a table, without the first `skipped` lines of output.

    Parameters
    ----------
    page : Console
        Rich console to print on.
    table : Table
        Table to render.
    block : sequence of int
        Indices of the columns.
    widths : sequence of int
        Widths of all columns of the table, in characters.
    skipped : int
        Number of output lines to leave out.
    ascii_only : bool
        Whether to draw the rule below the heading with hyphens.
    """
    from rich.box import SIMPLE_HEAD, Box
    from rich.table import Table as RichTable
    from rich.text import Text

    rule = Box("    \n    \n -- \n" + "    \n" * 5, ascii=True)
    grid = RichTable(box=rule if ascii_only else SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    tallest = max(table.columns[number].head.count("\n") for number in block)
    for number in block:
        column = table.columns[number]
        padding = "\n" * (tallest - column.head.count("\n"))
        head = Text(padding + column.head)
        grid.add_column(head, justify=column.justify, overflow="fold", width=widths[number])
    for row in table.rows:
        cells = [as_cell(row[number]) for number in block]
        grid.add_row(*(Text(cell.text, style=cell.style) for cell in cells))
    with page.capture() as captured:
        page.print(grid)
    page.file.write("".join(captured.get().splitlines(keepends=True)[skipped:]))


def terminal_section(section: Section, encoding: str) -> Section:
    """Convert a section's texts to characters that a terminal can display.

    Parameters
    ----------
    section : Section
        Section to render.
    encoding : str
        Encoding of the terminal.
    """
    if isinstance(section, Table):
        return _terminal_table(section, encoding)
    if section.verbatim:
        return replace(section, text=escape_for_terminal(section.text, encoding))
    text = _terminal_text(section.text, encoding)
    return replace(section, text=text, label=_terminal_text(section.label, encoding))


def is_unicode(encoding: str) -> bool:
    """Return True if an encoding covers all Unicode characters."""
    return encoding.lower().startswith("utf")


def _terminal_text(text: str, encoding: str) -> str:
    """Escape a text for a terminal, and protect its spaces between numbers and units."""
    return protect_spaces(escape_for_terminal(text, encoding))


def _terminal_table(table: Table, encoding: str) -> Table:
    """Convert the texts of a table to characters that a terminal can display."""

    def cell(content: Cell | str, column: Column) -> Cell | str:
        """Return a cell as one line of characters that the terminal's encoding contains."""
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
        Table to render.
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
    compact = candidate = table.without_empty_columns
    if fits(compact):
        return compact, []
    for pattern in (_WORDS, _PARTS):
        columns = (_wrap_heading(number, compact, pattern) for number in range(len(compact.columns)))
        candidate = replace(compact, columns=tuple(columns))
        if fits(candidate):
            return candidate, []
    dropped: list[str] = []
    for number in reversed([number for number, column in enumerate(candidate.columns) if column.optional]):
        dropped.insert(0, candidate.columns[number].name)
        numbers = [other for other, _ in enumerate(candidate.columns) if other != number]
        candidate = candidate.with_columns(numbers)
        if fits(candidate):
            return candidate, dropped
    return table, []


def _wrap_heading(number: int, table: Table, pattern: re.Pattern[str]) -> Column:
    """Return a column of a table with its heading broken into lines as wide as its cells, if possible.

    Parameters
    ----------
    number : int
        Index of the column.
    table : Table
        Table to render.
    pattern : re.Pattern
        Places where a heading may break.
    """
    column = table.columns[number]
    cells = max((len(cell_text(row[number])) for row in table.rows), default=0)
    pieces = [pattern.split(line) for line in column.head.split("\n")]
    width = max(cells, *(len(piece.strip()) for line in pieces for piece in line))
    lines = []
    for first, *others in pieces:
        lines.append(first)
        for piece in others:
            if len((lines[-1] + piece).strip()) > width:
                lines.append("")
            lines[-1] += piece
    head = "\n".join(map(str.strip, lines))
    return replace(column, head=head, name=column.name or column.head.replace("\n", " "))
