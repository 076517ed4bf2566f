"""Percentages written as text, ``85%``: how a query takes the sign away."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from riskrank.errors import option
from riskrank.scores.files.query import quoted_column
from riskrank.scores.files.source import Source

_PERCENT = r"^\s*[+-]?(\d+\.?\d*|\.\d+)\s*%\s*$"


def is_percent(series: pl.Series) -> bool:
    """Whether every filled cell of a column of text is a percentage: only then all have one unit."""
    if series.dtype != pl.String:
        return False
    filled = series.drop_nulls()
    filled = filled.filter(filled.str.strip_chars() != "")
    return filled.len() > 0 and bool(filled.str.contains(_PERCENT).all())


def without_sign(sources: Sequence[Source], names: Sequence[str]) -> str:
    """The query that reads columns of percentages as numbers of percent, for a hint."""
    if any(source.own_sql or source.queried for source in sources):
        return "take the sign away in the query: RTRIM(column, '%') is a number of percent"
    columns = ", ".join(f"RTRIM({quoted_column(name)}, '%') AS {quoted_column(name)}" for name in names)
    return f"{option('sql', f'SELECT * REPLACE ({columns}) FROM scores')} reads them as numbers of percent"
