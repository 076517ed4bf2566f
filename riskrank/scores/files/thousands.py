"""Signs between thousands, ``640`` and ``1.650``, which are none of decimals, as other cells tell."""

import re
from collections.abc import Sequence

import polars as pl

from riskrank.scores.files.parsing import MISSING_TEXT

_GROUPED = r"^\s*[+-]?(?:0|[1-9]\d{{0,2}}(?:\{0}\d{{3}})*)\s*$"
# The sign between thousands, and the one before decimals.
_SIGNS = ((".", ","), (",", "."))


def signs_of_thousands(rows: Sequence[Sequence[str]]) -> dict[int, str]:
    """Positions of columns whose numbers have a sign between thousands, with that sign.

    That is: all have three digits behind it or none, and either a number without it stands beside one that
    ends in 0, as no program shortens decimals so; or another column has decimals behind the other sign.

    Parameters
    ----------
    rows : sequence of sequences of str
        The first rows of a file, all of one length.
    """
    found: dict[int, str] = {}
    for sign, decimal in _SIGNS:
        grouped = re.compile(_GROUPED.format(sign)).match
        fit = [
            at
            for at, cells in enumerate(zip(*rows, strict=True))
            if any(sign in cell for cell in cells)
            and all(grouped(cell) or cell.strip().casefold() in MISSING_TEXT for cell in cells)
        ]
        if not fit:
            continue
        decimals = re.compile(rf"[+-]?\d+\{decimal}\d+").fullmatch
        told = any(decimals(cell) for row in rows for at, cell in enumerate(row) if at not in fit)
        for at in fit:
            cells = [row[at].strip() for row in rows]
            plain, ends = (
                any(map(str.isdecimal, cells)),
                any(sign in cell and cell[-1] == "0" for cell in cells),
            )
            if told or (plain and ends):
                found[at] = sign
    return found


def is_grouped(cells: pl.Series, sign: str) -> bool:
    """Whether a sign stands between thousands wherever it stands."""
    absent = cells.is_null() | cells.str.strip_chars().str.to_lowercase().is_in(MISSING_TEXT)
    return bool((absent | cells.str.contains(_GROUPED.format(sign))).all())
