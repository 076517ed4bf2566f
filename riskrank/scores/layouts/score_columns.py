"""Rules that recognise numeric columns other than scores, such as identifiers and settings."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from riskrank.engine.types import Floats
from riskrank.errors import listing, option
from riskrank.scores.names.directions import is_duration, names_a_metric
from riskrank.scores.names.vocabulary import (
    has_word,
    is_spread,
    looks_like_an_identifier,
    parse_vocabulary,
    vocabulary,
    words,
)

# Complete names of settings. In longer names, the same words have other meanings.
_EXACT_NAMES = {*map(words, ("top_p", "p_value", "page", "line", "worker", "year"))}
# Words that may accompany the word for a prediction.
_OF_SCORES = parse_vocabulary("score value label grade rating")
_NO_MODELS = vocabulary("settings", "places", "identifier")
# Columns with scores, and the reason for each excluded column.
ColumnSplit = tuple[list[str], dict[str, str]]
ROW_IDENTIFIER = "row identifier"
"""Reason to exclude a column that identifies rows."""
# If there are at least this many other columns, a column named like an average is an average.
_FEWEST_AVERAGED = 3
# With fewer rows, or fewer distinct numbers, columns may agree by chance.
_FEWEST_ROWS, _FEWEST_DISTINCT = 10, 3
# Wider tables are not searched for copies of columns.
_MAX_COMPARED = 60
# Unix times from 1998 to 2033 in seconds; other units are powers of 1,000.
_OLDEST_TIME, _NEWEST_TIME = 9e8, 2e9
# Words for statistics of another column, whose name consists of the remaining words, possibly with "mean".
_STATISTICS = parse_vocabulary(
    "std sd stdev stddev se sem stderr standard deviation error var variance lo hi low high lower upper "
    "bound min max median ci lcl ucl iqr q1 q3 q025 q975 q05 q95 ci95"
)
_TOKEN = re.compile(r"[A-Z]?[^\W\d_A-Z]+\d*|[A-Z]+\d*|\d+")


@dataclass
class Candidates:
    """Numeric columns, from which rules exclude those that are not scores.

    Attributes
    ----------
    values : dict of str to ndarray of float64, each of shape (n,)
        Values of each column, NaN if missing.
    series : mapping of str to Series
        The same columns as read from the file.
    are_models : bool
        Whether column names may be model names. A column is then excluded by its name only if every word in
        the name suggests it.
    allow_constant : bool
        Whether a column with the same value in every row may contain scores.
    excluded : dict of str to str
        Reason for excluding each column.
    """

    values: Mapping[str, Floats]
    series: Mapping[str, pl.Series]
    are_models: bool
    allow_constant: bool
    excluded: dict[str, str] = field(default_factory=dict)

    def others(self, name: str) -> list[str]:
        """Return the other columns that are neither excluded nor durations."""
        names = [other for other in self.values if other != name and other not in self.excluded]
        return [other for other in names if not is_duration(other)]


def split_score_columns(
    columns: Mapping[str, Floats],
    series: Mapping[str, pl.Series],
    declared: Collection[str] = (),
    *,
    allow_constant: bool = True,
    columns_are_models: bool = False,
) -> ColumnSplit:
    """Split numeric columns into scores and excluded columns.

    Parameters
    ----------
    columns, series, allow_constant, columns_are_models
        See `Candidates`.
    declared : collection of str
        Column names mentioned in an option; these columns always contain scores.

    Returns
    -------
    scores : list of str
    excluded : dict of str to str
        Reason for excluding each column.
    """
    table = Candidates(columns, series, columns_are_models, allow_constant)
    for rules in (_BY_ITSELF, _BESIDE_SCORES):
        for name in (column for column in columns if column not in declared):
            reason = next((rule.reason for rule in rules if rule.applies(table, name)), "")
            if reason and name not in table.excluded:
                table.excluded[name] = reason
    return [name for name in columns if name not in table.excluded], table.excluded


def format_excluded(excluded: Mapping[str, str]) -> str:
    """Return a sentence that lists excluded columns by reason, with the option that includes them."""
    names_by_reason: dict[str, list[str]] = {}
    for name, reason in excluded.items():
        names_by_reason.setdefault(reason, []).append(name)
    name, pronoun = (next(iter(excluded)), "it") if len(excluded) == 1 else ("NAME", "one")
    parts = [f"{listing(names, 6)} ({reason})" for reason, names in names_by_reason.items()]
    return "; ".join([*parts, f"use {option('metric', name)} to include {pronoun}"])


@dataclass(frozen=True)
class Rule:
    """A reason to exclude a column, and the test for it."""

    reason: str
    applies: Callable[[Candidates, str], bool]


def _may_be_setting(table: Candidates, name: str) -> bool:
    """Return whether a column may be excluded by its name alone, as neither a metric nor a model."""
    name_words = words(name)
    if table.are_models and not name_words <= _NO_MODELS:
        return False
    is_metric = names_a_metric(name) and not name_words & (vocabulary("places") | {"id", "ids", "index"})
    return not (is_metric or name_words & vocabulary("until"))


def _is_prediction(table: Candidates, name: str) -> bool:
    """Return whether a column contains predictions."""
    predicted = vocabulary("predicted")
    return not table.are_models and bool(words(name) & predicted) and words(name) <= predicted | _OF_SCORES


def _is_identifier(table: Candidates, name: str) -> bool:
    """Return whether a column identifies rows, as shown by its name or consecutive numbers."""
    named = words(name) & {"id", "ids", "uuid", "timestamp"}
    return _may_be_setting(table, name) and bool(named or looks_like_an_identifier(name, table.series[name]))


def _is_setting(table: Candidates, name: str) -> bool:
    """Return whether a column has the name of a setting, such as a hyperparameter."""
    name_words = words(name)
    if name_words in _EXACT_NAMES:
        return True
    named = name_words & vocabulary("settings") and not name_words & vocabulary("human", "judge")
    return bool(named) and _may_be_setting(table, name)


def _is_time(table: Candidates, name: str) -> bool:
    """Return whether all numbers are Unix times and the name does not suggest a metric."""
    values = table.values[name][~np.isnan(table.values[name])]
    if values.size < 2 or values.min() < _OLDEST_TIME or names_a_metric(name):
        return False
    unit = 10.0 ** (3 * (len(f"{values.min():.0f}") // 3 - 3))
    return bool(_OLDEST_TIME * unit <= values.min() and values.max() <= _NEWEST_TIME * unit)


def _is_statistic(table: Candidates, name: str) -> bool:
    """Return whether the name denotes a spread, a limit or a quantile of another column."""
    if is_spread(name):
        return bool(table.others(name))
    parts = {*_TOKEN.findall(name)}
    stem = {part.casefold() for part in parts} - _STATISTICS
    if len(stem) == len(parts):
        return False
    means = ({part.casefold() for part in _TOKEN.findall(other)} for other in table.values if other != name)
    return bool(stem) and any(stem == mean - {"mean", "avg", "average"} for mean in means)


def _is_mean(table: Candidates, name: str) -> bool:
    """Return whether a column named like an average is the mean of the other columns."""
    averaged = [table.values[column] for column in table.others(name)]
    if not has_word(name, "averages") or len(averaged) < 2:
        return False
    with np.errstate(invalid="ignore"):
        mean = np.nanmean(np.array(averaged), axis=0)
    return bool(np.allclose(mean, table.values[name], rtol=0.01, atol=1e-9, equal_nan=True))


def _is_best(table: Candidates, name: str) -> bool:
    """Return whether a matrix column equals the maximum of the other columns in every row."""
    compared = [table.values[column] for column in table.others(name)]
    is_named = table.are_models and has_word(name, "best") and len(compared) > 1
    return is_named and np.array_equal(np.fmax.reduce(compared), table.values[name], equal_nan=True)


def _is_constant(table: Candidates, name: str) -> bool:
    """Return whether a column has the same value in all rows."""
    values = table.values[name]
    is_constant = not table.allow_constant and values.size > 1 and (values == values[0]).all()
    return bool(is_constant) and bool(table.others(name))


def _is_copy(table: Candidates, name: str) -> bool:
    """Return whether a metric equals an earlier metric x, or its complement 1 − x or 100 − x."""
    values, names = table.values[name], [*table.values]
    if table.are_models or values.size < _FEWEST_ROWS or len(names) > _MAX_COMPARED:
        return False
    for other in names[: names.index(name)]:
        # The first rows rule out most columns.
        for n in (_FEWEST_ROWS, values.size):
            first, second = table.values[other][:n], values[:n]
            complement = np.isclose(first + second, 1) | np.isclose(first + second, 100)
            if not (np.array_equal(first, second, equal_nan=True) or complement.all()):
                break
        else:
            return np.unique(values[~np.isnan(values)]).size >= _FEWEST_DISTINCT
    return False


# Rules that look at one column, and rules that compare it with the columns that remain.
_BY_ITSELF = (
    Rule("a prediction", _is_prediction),
    Rule(
        "a property of samples",
        lambda table, name: table.are_models and frozenset() < words(name) <= vocabulary("properties"),
    ),
    Rule("a rank", lambda table, name: bool(words(name)) and words(name) <= vocabulary("places")),
    Rule("a time stamp", _is_time),
    Rule(ROW_IDENTIFIER, _is_identifier),
    Rule("a run setting", _is_setting),
)
_BESIDE_SCORES = (
    Rule("a measure of spread or a count", _is_statistic),
    Rule("the mean of other columns", _is_mean),
    Rule(
        "an average",
        lambda table, name: has_word(name, "averages") and len(table.others(name)) >= _FEWEST_AVERAGED,
    ),
    Rule("the best of other columns", _is_best),
    Rule("a duration", lambda table, name: is_duration(name) and bool(table.others(name))),
    Rule("constant", _is_constant),
    Rule("the numbers of another column", _is_copy),
)
