"""A table whose names stand in two rows, as pivots and merged cells leave them, or below a title."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.errors import InputError, as_one_word, listing

# What people call a row of names, in the cell before them.
_NAMES_OF = {
    "model": {"model", "models", "system", "systems", "method", "methods", "algorithm", "llm", "agent"},
    "metric": {"metric", "metrics", "measure", "measures", "measurement", "criterion", "criteria", "scorer"},
}
# Rows that tell whether there are titles, and rows there are at least from the names on.
_LOOK, _BELOW = 30, 3
_ORDER, _OTHER_ORDER = ("model", "metric"), ("metric", "model")


def refuse_two_headers(label: str, rows: Sequence[Sequence[object]], *, read: str) -> None:
    """Refuse a table whose first row leaves out or repeats names, and whose second names columns as well.

    Parameters
    ----------
    label : str
    rows : sequence of sequences
        The first four.
    read : str
        How pandas reads the file, ``read_csv('t.csv'``, for the line that makes a long table of it.

    Raises
    ------
    InputError
    """
    first = [str(cell or "").strip() for cell in rows[0]]
    named = [name for name in first if name]
    if len(rows) < 3 or ("" not in first[1:] and len(set(named)) == len(named)):
        return
    second, data = rows[1], [cell for row in rows[2:] for cell in row]
    if any(map(_is_number, second)) or not any(map(_is_number, data)):
        return
    below = [str(cell).strip() for cell in second if cell not in (None, "")]
    if len(named) == 1 and len(below) > 1:
        raise InputError(
            f"{label}: the names of the columns stand below a title",
            found=f"'{named[0]}' in the first row, and {listing(below)} in the second",
            hint="delete the rows above the names",
        )
    if len(below) < 2:
        return
    raise InputError(
        f"{label}: two rows name the columns, and a table has one",
        found=f"{listing(named)} in the first row, and {listing(below)} in the second",
        hint=_long_table(read, _order(rows[0][0], second[0])),
    )


def titles_above(rows: Sequence[Sequence[object]]) -> int:
    """How many of the first rows are titles: one cell of text each, above rows of several.

    Parameters
    ----------
    rows : sequence of sequences
        The first rows of a file; of these the ones without a filled cell are passed over.
    """
    filled = [sum(cell not in (None, "") and str(cell).strip() != "" for cell in row) for row in rows[:_LOOK]]
    widest = max(filled, default=0)
    first = next((at for at, count in enumerate(filled) if count == widest), 0)
    if widest < 2 or any(count > 1 for count in filled[:first]) or len(filled) < first + _BELOW:
        return 0
    below = [count for count in filled[first + 1 :] if count]
    return first if below and sum(2 * count > widest for count in below) == len(below) else 0


def _order(above: object, below: object) -> tuple[str, str] | None:
    """What the two rows name, by the cells before their names; None where these do not tell."""
    first, second = (
        {role for role, names in _NAMES_OF.items() if str(cell or "").strip().casefold() in names}
        for cell in (above, below)
    )
    if first == second:
        return None
    return _ORDER if "model" in first or "metric" in second else _OTHER_ORDER


def _long_table(read: str, order: tuple[str, str] | None) -> str:
    """The line that writes a long table, and what it takes the two rows for."""
    first, second = order or _ORDER
    code = (
        f"import pandas as pd; t = pd.{read}, header=None, dtype=str).set_index(0); "
        f"t.columns = pd.MultiIndex.from_frame(t.iloc[:2].ffill(axis=1).T, names=['{first}', '{second}']); "
        "t.iloc[2:].rename_axis('sample').melt(ignore_index=False, value_name='score').dropna()"
        ".to_csv('long.csv')"
    )
    line = (
        f"if the first row names {first}s, the second {second}s and the first column samples, "
        f"write a long table: python -c {as_one_word(code)}"
    )
    if order is not None:
        return line
    other = [*_OTHER_ORDER]
    return f"{line}; if the first row names {second}s and the second {first}s, write {other} in it"


def _is_number(cell: object) -> bool:
    if isinstance(cell, str):
        try:
            float(cell.replace(",", "."))
        except ValueError:
            return False
        return True
    return isinstance(cell, int | float)
