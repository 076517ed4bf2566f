"""Rows with totals or means at the end of a table."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.query import exclude_values, quote_column
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.names.vocabulary import vocabulary, words

_MAX_TOTALS = 3
# Minimum number of summarised rows, and maximum probability of a match by chance.
_MIN_SUMMED, _MAX_CHANCE = 4, 1e-4
_DIGIT = re.compile(r"\d")


def exclude_totals(columns: Columns, where: str | None) -> tuple[str | None, str]:
    """Exclude trailing rows with totals.

    Parameters
    ----------
    columns : Columns
    where : str or None
        Existing condition to combine with.

    Returns
    -------
    where : str or None
        SQL condition that excludes the rows.
    note : str
        Description of the excluded rows.
    """
    for name in (column for column in columns.names if columns.frame[column].dtype == pl.String):
        if columns.raw_kind(name) == "number" and not np.isnan(columns.numbers(name)).any():
            continue
        values, text = columns.frame[name].str.strip_chars().to_list(), columns.kind(name) == "text"
        named = _trailing_totals(values) if text else _totals_among_numbers(values)
        if totals := named or _trailing_summaries(columns, values):
            plural = "s" if len(totals) > 1 else ""
            return exclude_values(name, totals, values, where), f"excluding the row{plural} {listing(totals)}"
        # An unnamed last row is a total.
        if text and not values[-1] and all(values[:-1]) and len(values) > _MAX_TOTALS:
            condition = f"{quote_column(name)} IS NOT NULL"
            combined = condition if where is None else f"({where}) AND {condition}"
            return combined, f"excluding the last row, which has no {name}"
    return where, ""


def common_totals(columns: Columns, sample: str, by: Sequence[str]) -> list[str]:
    """Return the names of trailing rows with totals that every model has.

    Parameters
    ----------
    columns : Columns
    sample : str
        Column that names samples.
    by : sequence of str
        Columns that identify models.
    """
    if not sample or sample in by or "+" in sample or columns.frame[sample].dtype != pl.String or not by:
        return []
    by = [*dict.fromkeys(by)]
    parts = columns.frame.select(pl.col(sample).cast(pl.String), *by).partition_by(by)
    totals = [_trailing_totals(part[sample].to_list()) for part in parts]
    return totals[0] if all(names == totals[0] for names in totals) else []


def reject_totals(source: Source, sample: str, models: Sequence[str]) -> None:
    """Raise InputError if the last rows of a matrix are totals, which would be counted as samples."""
    frame = source.load([sample, *models])
    where, note = exclude_totals(Columns(frame, frame.columns, decimal_comma=source.decimal_comma), None)
    if where is not None:
        raise InputError(
            f"{source.label}: the last rows of {sample} are totals, not samples",
            found=f"rows: {listing(frame[sample].tail(_MAX_TOTALS))}",
            hint=f"to read the table {note}: {option('where', where)}",
            suggestions=[(option("where", where), None)],
        )


def _trailing_summaries(columns: Columns, names: Sequence[str | None]) -> list[str]:
    """Return the names of up to three trailing rows if the first of them is a mean or sum of all rows above.

    Names that contain digits, or that also occur further up, are not names of totals.
    """
    for i in range(max(len(names) - _MAX_TOTALS, _MIN_SUMMED), len(names)):
        last = [str(name or "") for name in names[i:]]
        unique = all(name and not _DIGIT.search(name) and names.index(name) >= i for name in last)
        if unique and min(_chance_agreement(columns, i, stat) for stat in (np.mean, np.sum)) < _MAX_CHANCE:
            return last
    return []


def _chance_agreement(columns: Columns, i: int, statistic: Callable[..., np.floating]) -> float:
    """Return the probability that a row matches a statistic of the rows above it by chance.

    If the row does not match, the probability is 1. A single number matches by chance with a probability
    equal to the width of its rounding interval, divided by the range of the numbers above it.
    """
    chances = []
    for column in map(columns.numbers, columns.by_kind("number")):
        above, value = column[:i][~np.isnan(column[:i])], column[i]
        if np.isnan(value) or above.size < _MIN_SUMMED:
            continue
        tolerance = 0.51 * 10.0 ** -len(f"{value:.8f}".rstrip("0").partition(".")[2])
        if abs(statistic(above) - value) > tolerance:
            return 1.0
        chances.append(min(1.0, 2 * tolerance / max(float(np.ptp(above)), tolerance)))
    return float(np.prod(chances)) if len(chances) > 1 else 1.0


def _totals_among_numbers(names: Sequence[str | None]) -> list[str]:
    """Return the names of totals in a column that otherwise contains integers, such as topic numbers."""
    texts = {name for name in names if name is not None}
    labels = [text for text in texts if not text.isdecimal()]
    if not 0 < len(labels) <= _MAX_TOTALS < len(texts):
        return []
    return sorted(labels) if all(map(_is_total, labels)) else []


def _is_total(name: str) -> bool:
    """Return True if a name consists of words for totals."""
    return bool(words(name)) and words(name) <= vocabulary("totals")


def _trailing_totals(names: Sequence[str | None]) -> list[str]:
    """Return the trailing names that are words for totals."""
    totals: list[str] = []
    for name in reversed([str(name) for name in names[-_MAX_TOTALS:]]):
        if not _is_total(name) or names.count(name) > 1 or _DIGIT.search(name):
            break
        totals.append(name)
    return totals
