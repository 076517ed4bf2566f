"""Tables of very many rows: the first ones are laid out by Rich, and the others are written as those are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from riskrank.shown.view import Cell, Column, as_cell, text_of

if TYPE_CHECKING:
    from rich.console import Console

LAID_OUT = 500
"""Rows that are laid out; with ten thousand of them Rich takes half a minute."""


@cache
def known_layout() -> bool:
    """Whether Rich lays rows out as we write them; earlier ones fold narrow columns otherwise."""
    return int(version("rich").partition(".")[0]) >= 15


def all_fit(rows: Sequence[Sequence[Cell | str]], widths: Sequence[int]) -> bool:
    """Whether no cell has to go on in a second line."""
    from rich.cells import cell_len

    return all(
        cell_len(text_of(cell)) <= width for row in rows for cell, width in zip(row, widths, strict=True)
    )


def lines(
    page: Console, rows: Sequence[Sequence[Cell | str]], columns: Sequence[Column], widths: Sequence[int]
) -> str:
    """Rows as Rich would print them below others: padded to their column, in their style.

    Parameters
    ----------
    page : Console
        Whose colours the cells' styles are written in.
    rows : sequence of sequences of c cells
    columns : sequence of c Column
    widths : sequence of c int
        At least as wide as every cell.
    """
    from rich.cells import cell_len
    from rich.console import COLOR_SYSTEMS
    from rich.style import Style

    colors = COLOR_SYSTEMS.get(page.color_system or "")

    def cell(given: Cell | str, column: Column, width: int) -> str:
        text = text_of(given)
        free = width - cell_len(text)
        before = {"right": free, "center": free // 2}.get(column.justify, 0)
        padded = " " * before + text + " " * (free - before)
        style = as_cell(given).style
        return Style.parse(style).render(padded, color_system=colors) if style else padded

    return "".join(" " + "  ".join(map(cell, row, columns, widths)) + " \n" for row in rows)
