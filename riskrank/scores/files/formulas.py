"""Names that a spreadsheet would run as a formula, in CSV: an apostrophe before them marks them as text.

Our CSV always has the mark, and reading takes it off again, so that names come back as they were given.
"""

import re
from collections.abc import Callable
from typing import Any

import polars as pl

# A frame, or lists of cells by the names of their columns.
Table = pl.DataFrame | dict[str, list[Any]]

# "=" always begins a formula, also behind blanks. "+", "-" and "@" begin names, too, as in "@org/model" and
# "-attention": these run nothing as long as no function, program or other file is called. The apostrophes
# keep a name that begins with the mark apart from one that has been given it.
_FORMULA = re.compile(r"'*\s*(?:[=＝]|[+\-@＋－＠].*[^\w\s.,:/%+-])", re.DOTALL)
_MARK = "'"


def marked(name: str) -> str:
    """Return a name as CSV holds it."""
    return _MARK + name if _FORMULA.match(name) else name


def unmarked(name: str) -> str:
    """Return a name of a CSV file as it was given."""
    return name[1:] if name.startswith(_MARK) and _FORMULA.match(name) else name


def mark(table: Table) -> Table:
    """Mark the column names and the texts of a table."""
    if isinstance(table, pl.DataFrame):
        return _renamed(table.rename(marked), marked)
    return {
        marked(name): [marked(cell) if isinstance(cell, str) else cell for cell in cells]
        for name, cells in table.items()
    }


def unmark(frame: pl.DataFrame) -> pl.DataFrame:
    """Take the marks off the texts of a frame; its column names have been seen to."""
    return _renamed(frame, unmarked, _MARK)


def _renamed(frame: pl.DataFrame, rename: Callable[[str], str], prefix: str = "") -> pl.DataFrame:
    """Rename the texts that begin with a prefix: each distinct text once."""
    columns = {}
    for name, cells in zip(frame.columns, frame, strict=True):
        if cells.dtype == pl.String:
            texts = cells.filter(cells.str.starts_with(prefix)).unique()
            renamed = {text: new for text in texts if (new := rename(text)) != text}
            cells = cells.replace(renamed) if renamed else cells
        columns[name] = cells
    return pl.DataFrame(columns)
