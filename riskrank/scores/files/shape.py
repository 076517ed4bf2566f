"""How wide and how empty a table may be: a few bytes can name more cells than a machine holds."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.errors import InputError, listing

MOST_COLUMNS = 100_000
# Cells of a table that is never too empty; and cells a byte, which columns of numbers do not reach.
_FEW = 10_000_000
_A_BYTE = 4
_LONG = "write a long table, a row a score: model, sample, metric, score"


def require_columns(label: str, names: Sequence[str]) -> None:
    """Refuse more columns than a table of scores has.

    Raises
    ------
    InputError
    """
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"{label}: more than {MOST_COLUMNS:,} columns, which no table of scores has",
            found=f"{len(names):,} columns: {listing(names, 20)}",
            hint=_LONG,
        )


def require_filled(label: str, rows: int, columns: int, size: int) -> None:
    """Refuse a table whose cells are far more than the bytes that hold them.

    Raises
    ------
    InputError
    """
    if rows * columns > _FEW + _A_BYTE * size:
        raise InputError(
            f"{label}: a table of {rows:,} rows and {columns:,} columns, nearly all of it empty",
            found=f"{rows * columns:,} cells in {size:,} bytes",
            hint=_LONG,
        )
