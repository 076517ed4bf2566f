"""Escaping of text that a spreadsheet would interpret as a formula, with a leading apostrophe.

CSV output is always escaped. Reading removes the apostrophe, so names survive a round trip.
"""

import re
from collections.abc import Callable
from typing import Any

import polars as pl

# A frame, or lists of cells by column name.
Table = pl.DataFrame | dict[str, list[Any]]

# "=" always starts a formula, also after blanks. "+", "-" and "@" also start names, as in "@org/model" and
# "-attention", which are harmless without a call of a function, program or file. Leading apostrophes are
# escaped as well, so that escaping is reversible.
_FORMULA = re.compile(r"'*\s*(?:[=＝]|[+\-@＋－＠].*[^\w\s.,:/%+-])", re.DOTALL)
_MARK = "'"


def escape_formula(name: str) -> str:
    """Return a name in the escaped form that is written to CSV files."""
    return _MARK + name if _FORMULA.match(name) else name


def unescape_formula(name: str) -> str:
    """Return the original form of an escaped name."""
    return name[1:] if name.startswith(_MARK) and _FORMULA.match(name) else name


def escape_table(table: Table) -> Table:
    """Escape the column names and text cells of a table."""
    if isinstance(table, pl.DataFrame):
        return _rename_texts(table.rename(escape_formula), escape_formula)
    return {
        escape_formula(name): [escape_formula(cell) if isinstance(cell, str) else cell for cell in cells]
        for name, cells in table.items()
    }


def unescape_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Unescape the text cells of a data frame, leaving column names unchanged."""
    return _rename_texts(frame, unescape_formula, _MARK)


def _rename_texts(frame: pl.DataFrame, rename: Callable[[str], str], prefix: str = "") -> pl.DataFrame:
    """Apply a function to each distinct text that starts with a given prefix."""
    columns = {}
    for name, cells in zip(frame.columns, frame, strict=True):
        if cells.dtype == pl.String:
            texts = cells.filter(cells.str.starts_with(prefix)).unique()
            renamed = {text: new for text in texts if (new := rename(text)) != text}
            cells = cells.replace(renamed) if renamed else cells
        columns[name] = cells
    return pl.DataFrame(columns)
