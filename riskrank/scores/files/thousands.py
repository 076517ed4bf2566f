"""Signs between thousands, ``640`` and ``1.650``, which are none of decimals, as other cells tell."""

from __future__ import annotations

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
    columns = [
        pl.Series([cell.strip() for cell in cells], dtype=pl.String) for cells in zip(*rows, strict=True)
    ]
    found: dict[int, str] = {}
    for sign, decimal in _SIGNS:
        fit = [
            at
            for at, cells in enumerate(columns)
            if cells.str.contains(sign, literal=True).any() and is_grouped(cells, sign)
        ]
        others = [cells for at, cells in enumerate(columns) if at not in fit] if fit else []
        told = any(cells.str.contains(rf"^[+-]?\d+\{decimal}\d+$").any() for cells in others)
        for at in fit:
            without = columns[at].str.contains(r"^\d+$")
            if told or (without.any() and columns[at].str.contains(rf"\{sign}\d\d0$").any()):
                found[at] = sign
    return found


def is_grouped(cells: pl.Series, sign: str) -> bool:
    """Whether a sign stands between thousands wherever it stands."""
    absent = cells.is_null() | cells.str.strip_chars().str.to_lowercase().is_in(MISSING_TEXT)
    return bool((absent | cells.str.contains(_GROUPED.format(sign))).all())
