"""What a person reads: tables and lines of text, before they become a terminal page or Markdown.

A view knows nothing of statistics; one module a command builds it from results, and both renderers
show it. Rich is imported only when a terminal page is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TextIO

Justify = Literal["left", "right", "center"]


@dataclass(frozen=True)
class Column:
    """Head of a column; a line break in it is kept on the terminal."""

    head: str
    justify: Justify = "right"


@dataclass(frozen=True)
class Cell:
    """Text with an optional Rich style, which Markdown leaves out."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Table:
    """A titled table; rows are as long as the columns."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell | str, ...], ...]


@dataclass(frozen=True)
class Line:
    """A line of text under or above a table; ``label`` is its bold beginning."""

    text: str
    label: str = ""
    style: str = ""


Section = Table | Line

# Off a terminal nothing is cut: wide enough for every table, and text wraps at a readable length.
UNBOUNDED_WIDTH = 10_000
TEXT_WIDTH = 100


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
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(
        file=stream,
        width=width or UNBOUNDED_WIDTH,
        color_system="auto" if color else None,
        force_terminal=color or None,
        no_color=not color,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    if color and console.color_system is None:
        console = Console(
            file=stream, width=console.width, color_system="standard", force_terminal=True, highlight=False
        )
    plain = not (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")
    for section in view:
        if isinstance(section, Line):
            text = Text.assemble(
                (f"{section.label} " if section.label else "", "bold"), (section.text, section.style)
            )
            console.print(
                Padding(text, (0, 1)), width=min(console.width, max(TEXT_WIDTH, 0)), soft_wrap=False
            )
            continue
        table = RichTable(
            title=section.title,
            title_justify="left",
            title_style="bold",
            box=SIMPLE_HEAD,
            pad_edge=False,
            safe_box=plain,
            padding=(0, 1),
        )
        for number, column in enumerate(section.columns):
            table.add_column(
                Text(column.head),
                justify=column.justify,
                overflow="fold",
                no_wrap=number > 0,
                vertical="bottom",
            )
        for row in section.rows:
            table.add_row(*(_rich_cell(cell) for cell in row))
        console.print(table, crop=False)


def _rich_cell(cell: Cell | str):
    from rich.text import Text

    return Text(cell) if isinstance(cell, str) else Text(cell.text, style=cell.style)


def to_markdown(view: Sequence[Section]) -> str:
    """Write a view as Markdown: pipe tables and paragraphs."""
    blocks = []
    for section in view:
        if isinstance(section, Line):
            label = f"**{_escape(section.label)}** " if section.label else ""
            blocks.append(label + _escape(section.text))
            continue
        marks = {"left": ":---", "right": "---:", "center": ":---:"}
        lines = [
            _pipe_row(column.head.replace("\n", " ") for column in section.columns),
            _pipe_row((marks[column.justify] for column in section.columns), escape=False),
        ]
        lines += [
            _pipe_row(cell if isinstance(cell, str) else cell.text for cell in row) for row in section.rows
        ]
        blocks.append(f"### {_escape(section.title)}\n\n" + "\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _pipe_row(cells, *, escape: bool = True) -> str:
    return "| " + " | ".join(_escape(cell) if escape else cell for cell in cells) + " |"


def _escape(text: str) -> str:
    for mark in ("\\", "|", "*", "_", "`", "<"):
        text = text.replace(mark, "\\" + mark)
    return text.replace("\n", " ")
