"""Last rows of a table that sum up those above them."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.source import Source
from riskrank.scores.files.sql_names import leaving_out, quoted_column
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.names.vocabulary import vocabulary, words

_MOST_TOTALS = 3
# Rows that are summed up; and how seldom another row would agree with all their means, or sums, by chance.
_FEWEST_SUMMED, _NO_CHANCE = 4, 1e-4
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
        if columns.held(name) == "number" and not np.isnan(columns.numbers(name)).any():
            continue
        known, text = columns.frame[name].str.strip_chars().to_list(), columns.kind(name) == "text"
        summed = _last_totals(known) if text else _among_numbers(known)
        if totals := summed or _summing_up(columns, known):
            plural = "s" if len(totals) > 1 else ""
            return leaving_out(name, totals, known, where), f"without the row{plural} {listing(totals)}"
        # The last of some numbers may be missing.
        if text and not known[-1] and all(known[:-1]) and len(known) > _MOST_TOTALS:
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
    if not sample or "+" in sample or columns.frame[sample].dtype != pl.String or not by:
        return []
    parts = columns.frame.select(pl.col(sample).cast(pl.String), *by).partition_by(by)
    found = [_last_totals(part[sample].to_list()) for part in parts]
    return found[0] if all(one == found[0] for one in found) else []


def refuse_totals(source: Source, sample: str, models: Sequence[str]) -> None:
    """Refuse a matrix whose last rows sum up all above them, which as samples would be counted with them.

    Raises
    ------
    InputError
    """
    frame = source.load([sample, *models])
    where, told = without_totals(Columns(frame, frame.columns, decimal_comma=source.decimal_comma), None)
    if where is not None:
        raise InputError(
            f"{source.label}: the last rows of {sample} sum up those above them, and are no samples",
            found=f"rows: {listing(frame[sample].tail(_MOST_TOTALS))}",
            hint=f"leave them out, to read it {told}: {option('where', where)}",
            ways=[(option("where", where), None)],
        )


def _summing_up(columns: Columns, names: Sequence[str | None]) -> list[str]:
    """Names without a digit of last rows alone, of which the first holds the means or sums of all above."""
    for at in range(max(len(names) - _MOST_TOTALS, _FEWEST_SUMMED), len(names)):
        rest = [str(name or "") for name in names[at:]]
        alone = all(name and not _DIGIT.search(name) and names.index(name) >= at for name in rest)
        if alone and min(_chance(columns, at, combined) for combined in (np.mean, np.sum)) < _NO_CHANCE:
            return rest
    return []


def _chance(columns: Columns, at: int, combined: Callable[..., np.floating]) -> float:
    """How often a row would hold what is combined of all above it by chance; 1 where it does not.

    By chance a number falls within half of the last of its digits as often as that is of the range above it.
    """
    chances = []
    for column in map(columns.numbers, columns.of_kind("number")):
        above, value = column[:at][~np.isnan(column[:at])], column[at]
        if np.isnan(value) or above.size < _FEWEST_SUMMED:
            continue
        within = 0.51 * 10.0 ** -len(f"{value:.8f}".rstrip("0").partition(".")[2])
        if abs(combined(above) - value) > within:
            return 1.0
        chances.append(min(1.0, 2 * within / max(float(np.ptp(above)), within)))
    return float(np.prod(chances)) if len(chances) > 1 else 1.0


def _among_numbers(names: Sequence[str | None]) -> list[str]:
    """Names of totals in a column that else holds whole numbers, as of topics."""
    texts = {name for name in names if name is not None}
    strange = [text for text in texts if not text.isdecimal()]
    if not 0 < len(strange) <= _MOST_TOTALS < len(texts):
        return []
    return sorted(strange) if all(map(_is_total, strange)) else []


def _is_total(name: str) -> bool:
    return bool(words(name)) and words(name) <= vocabulary("totals")


def _last_totals(names: Sequence[str | None]) -> list[str]:
    found: list[str] = []
    for name in reversed([str(name) for name in names[-_MOST_TOTALS:]]):
        if not _is_total(name) or names.count(name) > 1 or _DIGIT.search(name):
            break
        found.append(name)
    return found
