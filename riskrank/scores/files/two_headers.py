"""A table whose names stand in two rows, as pivots and merged cells leave them, or below a title."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.errors import InputError, as_one_word, listing


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
    code = (
        f"import pandas as pd; t = pd.{read}, header=None, index_col=0); "
        "t.columns = pd.MultiIndex.from_frame(t.iloc[:2].ffill(axis=1).T); "
        "t.iloc[2:].stack([0, 1]).dropna().rename_axis(['sample', 'model', 'metric']).rename('score')"
        ".to_csv('long.csv')"
    )
    raise InputError(
        f"{label}: two rows name the columns, and a table has one",
        found=f"{listing(named)} in the first row, and {listing(below)} in the second",
        hint="if they name model and metric, and the first column the sample, write a long table: python -c "
        + as_one_word(code),
    )


def _is_number(cell: object) -> bool:
    if isinstance(cell, str):
        try:
            float(cell.replace(",", "."))
        except ValueError:
            return False
        return True
    return isinstance(cell, int | float)
