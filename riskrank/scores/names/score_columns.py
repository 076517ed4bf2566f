"""Distinguish numeric columns that contain scores from bookkeeping columns."""

from collections.abc import Collection, Mapping

import numpy as np
import polars as pl

from riskrank.errors import listing, option
from riskrank.scores.names.directions import is_duration, names_a_metric, terminating_event
from riskrank.scores.names.vocabulary import (
    has_word,
    is_spread,
    looks_like_an_identifier,
    parse_vocabulary,
    vocabulary,
    words,
)

# Words for settings, sizes and resources of a run.
_SETTINGS = vocabulary("settings")
# Complete names of settings; their words mean other things in longer names.
_EXACT_NAMES = {*map(words, ("top_p", "p_value", "page", "line", "worker", "year"))}
# Words for predictions, and words that may accompany them.
_PREDICTED = vocabulary("predicted")
_OF_SCORES = parse_vocabulary("score value label grade rating")
_NO_MODELS = _SETTINGS | vocabulary("places", "identifier")
# Columns with scores, and the reason for each excluded column.
ColumnSplit = tuple[list[str], dict[str, str]]
ROW_IDENTIFIER = "row identifier"
"""Reason to exclude a column that identifies rows."""
# With so many other columns, a column named like an average is one.
_FEWEST_AVERAGED = 3


def split_score_columns(
    columns: Mapping[str, np.ndarray],
    series: Mapping[str, pl.Series],
    declared: Collection[str] = (),
    *,
    allow_constant: bool = True,
    columns_are_models: bool = False,
) -> ColumnSplit:
    """Split numeric columns into scores and excluded columns.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Values of each column, NaN if missing.
    series : mapping of str to Series
        The same columns as read from the file.
    declared : collection of str
        Column names mentioned in an option; these columns always contain scores.
    allow_constant : bool
        Whether a column with the same value in every row may contain scores.
    columns_are_models : bool
        Whether column names may be model names. Then a column is excluded by name only if all words in it
        imply that.

    Returns
    -------
    scores : list of str
    excluded : dict of str to str
        Reason for excluding each column.
    """
    excluded = {
        name: reason
        for name in columns
        if name not in declared
        and (reason := _reason_by_name(name, series[name], all_words=columns_are_models))
    }
    durations = {name for name in columns if is_duration(name)}
    remaining = {name: name in durations for name in columns if name not in excluded}
    for name in [name for name in remaining if name not in declared]:
        values = columns[name]
        n_remaining = len(remaining) - sum(remaining.values()) - (name not in durations)
        if is_spread(name) and n_remaining:
            excluded[name] = "a measure of spread or a count"
        elif has_word(name, "averages") and _is_average(columns, name, remaining):
            excluded[name] = "the mean of other columns"
        elif columns_are_models and has_word(name, "best") and _is_best(columns, name, remaining):
            excluded[name] = "the best of other columns"
        elif name in durations and n_remaining:
            excluded[name] = "a duration"
        elif n_remaining and not allow_constant and values.size > 1 and (values == values[0]).all():
            excluded[name] = "constant"
        if name in excluded:
            del remaining[name]
    return [name for name in columns if name not in excluded], excluded


def format_excluded(excluded: Mapping[str, str]) -> str:
    """Return a sentence that lists excluded columns by reason, with the option that includes them."""
    names_by_reason: dict[str, list[str]] = {}
    for name, reason in excluded.items():
        names_by_reason.setdefault(reason, []).append(name)
    name, pronoun = (next(iter(excluded)), "it") if len(excluded) == 1 else ("NAME", "one")
    parts = [f"{listing(names, 6)} ({reason})" for reason, names in names_by_reason.items()]
    return "; ".join([*parts, f"use {option('metric', name)} to include {pronoun}"])


def _reason_by_name(name: str, series: pl.Series, *, all_words: bool) -> str:
    """Return the reason to exclude a column by its name or its consecutive values, or an empty text."""
    name_words = words(name)
    if name_words & _PREDICTED and name_words <= _PREDICTED | _OF_SCORES and not all_words:
        return "a prediction"
    if all_words and name_words and name_words <= vocabulary("properties"):
        return "a property of samples"
    if name_words in _EXACT_NAMES:
        return "a run setting"
    if all_words and not name_words <= _NO_MODELS:
        return ""
    is_metric = names_a_metric(name) and not name_words & (vocabulary("places") | {"id", "ids", "index"})
    if is_metric or "per" in name_words or terminating_event(name):
        return ""
    if name_words <= vocabulary("places"):
        return "a rank"
    if looks_like_an_identifier(name, series) or name_words & {"id", "ids", "uuid", "timestamp"}:
        return ROW_IDENTIFIER
    if name_words & _SETTINGS and not name_words & vocabulary("human", "judge"):
        return "a run setting"
    return ""


def _is_average(columns: Mapping[str, np.ndarray], name: str, durations: Mapping[str, bool]) -> bool:
    """Return whether a column whose name means "average" is the mean of the other columns.

    With three or more other columns, it is assumed to be.
    """
    averaged = [column for column, is_time in durations.items() if column != name and not is_time]
    if len(averaged) < 2:
        return False
    if len(averaged) >= _FEWEST_AVERAGED:
        return True
    with np.errstate(invalid="ignore"):
        mean = np.nanmean(np.array([columns[column] for column in averaged]), axis=0)
    return bool(np.allclose(mean, columns[name], rtol=0.01, atol=1e-9, equal_nan=True))


def _is_best(columns: Mapping[str, np.ndarray], name: str, remaining: Collection[str]) -> bool:
    """Return whether a column is the maximum of the other columns in every row."""
    compared = [columns[column] for column in remaining if column != name]
    return len(compared) > 1 and np.array_equal(np.fmax.reduce(compared), columns[name], equal_nan=True)
