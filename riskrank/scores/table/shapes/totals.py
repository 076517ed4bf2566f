"""Last rows of a table that sum up those above them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from riskrank.scores.names.words import vocabulary, words
from riskrank.scores.table.shapes.columns import Columns

# What the last rows of a table are called that sum it up.
_TOTALS = vocabulary(
    """total totals mean average avg sum overall all median gesamt summe mittel mittelwert durchschnitt
    moyenne somme promedio media suma totale totaal std ø macro micro"""
)
_MOST_TOTALS = 3


def totals_of(columns: Columns, sample: str, by: Sequence[str]) -> list[str]:
    """Names of the last rows of every model that are called as what sums up others.

    Parameters
    ----------
    columns : Columns
    sample : str
        The column that names samples.
    by : sequence of str
        Columns that tell models apart; none where a column is a model.
    """
    if not sample or "+" in sample or columns.kind(sample) != "text":
        return []
    frame = columns.frame.select(pl.col(sample).cast(pl.String), *by)
    parts = frame.partition_by(by) if by else [frame]
    found = [_last_totals(part[sample].to_list()) for part in parts]
    return found[0] if all(one == found[0] for one in found) else []


def _last_totals(names: Sequence[str | None]) -> list[str]:
    found: list[str] = []
    for name in reversed([str(name) for name in names[-_MOST_TOTALS:]]):
        if not words(name) or not words(name) <= _TOTALS or names.count(name) > 1:
            break
        found.append(name)
    return found
