"""Last rows of a table that sum up those above them."""

import re
from collections.abc import Sequence

import polars as pl

from riskrank.errors import listing
from riskrank.scores.files.sql_names import leaving_out, quoted_column
from riskrank.scores.names.words import vocabulary, words
from riskrank.scores.table.shapes.columns import Columns

# What the last rows of a table are called that sum it up.
_TOTALS = vocabulary(
    """total totals mean average avg sum overall all median gesamt summe mittel mittelwert durchschnitt
    moyenne somme promedio media suma totale totaal std ø macro micro"""
)
_MOST_TOTALS = 3
_DIGIT = re.compile(r"\d")


def without_totals(columns: Columns, where: str | None) -> tuple[str | None, str]:
    """The condition that leaves out last rows that sum up all above them, and what is said of it.

    Parameters
    ----------
    columns : Columns
    where : str or None
        The condition there is.
    """
    for name in (one for one in columns.names if columns.frame[one].dtype == pl.String):
        if columns.kind(name) == "number" and (totals := _among_numbers(columns, name)):
            known = columns.frame[name].to_list()
            return leaving_out(name, totals, known, where), f"without rows of {listing(totals)}"
    for name in (one for one in columns.names if columns.kind(one) == "text"):
        known = columns.frame[name].cast(pl.String).str.strip_chars().to_list()
        if totals := _last_totals(known):
            plural = "s" if len(totals) > 1 else ""
            return leaving_out(name, totals, known, where), f"without the row{plural} {listing(totals)}"
        if not known[-1] and all(known[:-1]) and len(known) > _MOST_TOTALS:
            condition = f"{quoted_column(name)} IS NOT NULL"
            given = condition if where is None else f"({where}) AND {condition}"
            return given, f"without the last row, which has no {name}"
    return where, ""


def totals_of(columns: Columns, sample: str, by: Sequence[str]) -> list[str]:
    """Names of the last rows of every model that are called as what sums up others.

    Parameters
    ----------
    columns : Columns
    sample : str
        The column that names samples.
    by : sequence of str
        Columns that tell models apart.
    """
    if not sample or "+" in sample or columns.kind(sample) != "text" or not by:
        return []
    parts = columns.frame.select(pl.col(sample).cast(pl.String), *by).partition_by(by)
    found = [_last_totals(part[sample].to_list()) for part in parts]
    return found[0] if all(one == found[0] for one in found) else []


def _among_numbers(columns: Columns, name: str) -> list[str]:
    """Names of totals in a column that else holds whole numbers, as of topics."""
    texts = columns.frame[name].drop_nulls().unique().str.strip_chars()
    strange = [text for text in texts if not text.isdecimal()]
    told = all(words(text) and words(text) <= _TOTALS for text in strange)
    return sorted(strange) if told and len(strange) <= _MOST_TOTALS < texts.len() else []


def _last_totals(names: Sequence[str | None]) -> list[str]:
    found: list[str] = []
    for name in reversed([str(name) for name in names[-_MOST_TOTALS:]]):
        if not words(name) or not words(name) <= _TOTALS or names.count(name) > 1 or _DIGIT.search(name):
            break
        found.append(name)
    return found
