"""Cached profiles of table columns: kinds, counts, tests for keys, and rules that recognise scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from riskrank.engine.types import Floats
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.parsing import MISSING_TEXT, column_kind, parse_scores
from riskrank.scores.files.source import Source
from riskrank.scores.names.directions import (
    clearly_higher_is_better,
    is_duration,
    is_metric_name,
    looks_like_a_cost,
    metric_in_file_name,
)
from riskrank.scores.names.vocabulary import (
    column_for_role,
    has_word,
    is_spread,
    is_unnamed,
    looks_like_an_identifier,
    parse_vocabulary,
    suggests_role,
    to_numeric,
    vocabulary,
    words,
)
from riskrank.scores.table.written_numbers import NumberFormat, grade_format, number_format, outcome_format

# Complete names of settings. In longer names, the same words have other meanings.
_EXACT_NAMES = {*map(words, ("top_p", "p_value", "page", "line", "worker", "year"))}
# Words that may accompany the word for a prediction.
_SCORE_WORDS = parse_vocabulary("score value label grade rating")
_NO_MODELS = vocabulary("settings", "places", "identifier")
# Columns with scores, and the reason for each excluded column.
ColumnSplit = tuple[list[str], dict[str, str]]
# Reason to exclude a column that identifies rows.
ROW_IDENTIFIER = "row identifier"
# Reason to exclude a column with the means of the others.
AVERAGED = "the mean of other columns"
# If there are at least this many other columns, a column named like an average is an average.
_FEWEST_AVERAGED = 3
# Minimum number of statistics, such as max and stddev, beside the mean of the runs of a benchmark.
_FEWEST_STATISTICS = 3
# With fewer rows, or fewer distinct numbers, columns may agree by chance.
_FEWEST_ROWS, _FEWEST_DISTINCT = 10, 3
# Wider tables are not searched for copies of columns.
_MAX_COMPARED = 60
# Unix times from 1998 to 2033 in seconds; other units are powers of 1,000.
_OLDEST_TIME, _NEWEST_TIME = 9e8, 2e9
# Words for statistics of another column, whose name consists of the remaining words, possibly with "mean".
_STATISTICS = vocabulary("statistics")
TOKEN = re.compile(r"[A-Z]?[^\W\d_A-Z]+\d*|[A-Z]+\d*|\d+")


@dataclass
class Candidates:
    """Numeric columns, from which rules exclude those that are not scores.

    Attributes
    ----------
    values : dict of str to ndarray of float64, each of shape (n,)
        Values of each column, NaN if missing.
    frame : DataFrame
        The table as read from the file.
    columns_are_models : bool
        Whether column names may be model names. A column is then excluded by its name only if every word in
        the name suggests it.
    allow_constant : bool
        Whether a column with the same value in every row may contain scores.
    excluded : dict of str to str
        Reason for excluding each column.
    """

    values: Mapping[str, Floats]
    frame: pl.DataFrame
    columns_are_models: bool = False
    allow_constant: bool = True
    excluded: dict[str, str] = field(default_factory=dict)

    def remaining(self, name: str) -> list[str]:
        """Return the columns other than `name` that may still be scores.

        They are neither excluded nor durations.
        """
        names = [other for other in self.values if other != name and other not in self.excluded]
        return [other for other in names if not is_duration(other)]


def format_excluded(excluded: Mapping[str, str]) -> str:
    """Format the excluded columns by reason, with the option that includes them.

    `excluded` holds the reason for each column.
    """
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
    """Return True if the name of a column may be a reason to exclude it as a setting or an identifier.

    This is not the case if the name suggests a metric. The same holds for a model name in a table whose
    columns may be models.
    """
    name_words = words(name)
    if table.columns_are_models and not name_words <= _NO_MODELS:
        return False
    is_metric = is_metric_name(name) and not name_words & (vocabulary("places") | {"id", "ids", "index"})
    return not (is_metric or name_words & vocabulary("until"))


def _is_prediction(table: Candidates, name: str) -> bool:
    """Return True if a column contains predictions of a model instead of scores."""
    predicted = vocabulary("predicted")
    is_named = bool(words(name) & predicted) and words(name) <= predicted | _SCORE_WORDS
    return is_named and not table.columns_are_models


def _is_identifier(table: Candidates, name: str) -> bool:
    """Return True if the name of a column, or its consecutive numbers, show that it identifies rows."""
    named = name == "sample" or words(name) & {"id", "ids", "uuid", "timestamp"}
    return _may_be_setting(table, name) and bool(named or looks_like_an_identifier(name, table.frame[name]))


def _is_setting(table: Candidates, name: str) -> bool:
    """Return True if a column is named after a setting, such as a hyperparameter."""
    name_words = words(name)
    if name_words in _EXACT_NAMES:
        return True
    named = name_words & vocabulary("settings") and not name_words & vocabulary("human", "judge")
    return bool(named) and _may_be_setting(table, name)


def _is_time(table: Candidates, name: str) -> bool:
    """Return True if a column contains only Unix times, and its name does not suggest a metric."""
    values = table.values[name][~np.isnan(table.values[name])]
    if values.size < 2 or values.min() < _OLDEST_TIME or is_metric_name(name):
        return False
    unit = 10.0 ** (3 * (len(f"{values.min():.0f}") // 3 - 3))
    return bool(_OLDEST_TIME * unit <= values.min() and values.max() <= _NEWEST_TIME * unit)


def _is_bare_statistic(name: str) -> bool:
    """Return True if a column name consists of words for statistics other than the mean, such as max."""
    return bool(words(name)) and words(name) <= _STATISTICS


def _describes_runs(table: Candidates) -> bool:
    """Return True if columns describe the runs of a benchmark: their mean and other statistics."""
    statistics = sum(map(_is_bare_statistic, table.values))
    return statistics >= _FEWEST_STATISTICS and any(words(name) == {"mean"} for name in table.values)


def _is_statistic(table: Candidates, name: str) -> bool:
    """Return True if a column is named after a spread, a limit or a quantile of another column."""
    if is_spread(name):
        return bool(table.remaining(name))
    if _is_bare_statistic(name) and _describes_runs(table):
        return True
    if name.startswith("#") and not all(other.startswith("#") for other in table.values):
        return True
    parts = {*TOKEN.findall(name)}
    # The error of a score, as in "Score Error (99.9%)".
    bases = table.values if "error" in words(name) else ()
    if any(has_word(other, "role score") and words(other) | {"error"} == words(name) for other in bases):
        return True
    stem = {part.casefold() for part in parts} - _STATISTICS
    if len(stem) == len(parts) or (not stem and "standard" in words(name)):
        return not stem
    means = ({part.casefold() for part in TOKEN.findall(other)} for other in table.values if other != name)
    return bool(stem) and any(stem == mean - {"mean", "avg", "average"} for mean in means)


def _is_summary(table: Candidates, name: str, word: str, summarise: Callable[..., Floats]) -> bool:
    """Return True if a column has a word in its name and summarises the other columns in every row.

    `summarise` computes the summary from an array of shape (columns, rows), as `numpy.nanmean` does.
    """
    columns = [table.values[column] for column in table.remaining(name)] if has_word(name, word) else []
    with np.errstate(invalid="ignore"):
        return len(columns) > 1 and np.allclose(
            summarise(np.array(columns), axis=0), table.values[name], rtol=0.01, atol=1e-9, equal_nan=True
        )


def _is_average(table: Candidates, name: str) -> bool:
    """Return True if a column is named an average, apart from words that several other columns share."""
    if words(name) == {"mean"} and _describes_runs(table):
        return False
    parts = words(name) - vocabulary("averages")
    is_total = bool(words(name)) and words(name) <= {"total", "sum"}
    others = table.remaining(name) if is_total or parts != words(name) else []
    if is_total:
        return len(others) > 1
    shared = all(sum(part in words(other) for other in others) >= _FEWEST_AVERAGED for part in parts)
    return shared and len(others) >= _FEWEST_AVERAGED


def _is_rank(table: Candidates, name: str) -> bool:
    """Return True if a column is named a rank, and any further words describe whole numbers from 1 on."""
    values, places = table.values[name], vocabulary("places")
    present = values[~np.isnan(values)]
    is_whole = bool(present.size) and present.min() >= 1 and bool((present == np.rint(present)).all())
    further = is_whole and not table.columns_are_models and not words(name) - places <= vocabulary("averages")
    return bool(words(name) & places) and (words(name) <= places or further)


def _is_constant(table: Candidates, name: str) -> bool:
    """Return True if a column has the same value in all rows, while other columns may be scores.

    The result is False if the table allows constant scores.
    """
    values = table.values[name]
    is_constant = not table.allow_constant and values.size > 1 and (values == values[0]).all()
    return bool(is_constant) and bool(table.remaining(name))


def _is_copy(table: Candidates, name: str) -> bool:
    """Return True if a metric equals an earlier metric x, its complement 1 − x or 100 − x, or 1 / x."""
    values, names = table.values[name], [*table.values]
    if table.columns_are_models or values.size < _FEWEST_ROWS or len(names) > _MAX_COMPARED:
        return False
    for other in names[: names.index(name)]:
        # The first rows rule out most columns.
        for n in (_FEWEST_ROWS, values.size):
            first, second = table.values[other][:n], values[:n]
            complement = np.isclose(first + second, 1) | np.isclose(first + second, 100)
            inverse = np.isclose(first * second, 1, rtol=1e-4) & (first != 1)
            if not (np.array_equal(first, second, equal_nan=True) or complement.all() or inverse.all()):
                break
        else:
            return np.unique(values[~np.isnan(values)]).size >= _FEWEST_DISTINCT
    return False


def _is_part_of_rate(table: Candidates, name: str) -> bool:
    """Return True if a column of counts is the numerator or the denominator of a rate in another column."""
    if table.columns_are_models or len(table.values) > _MAX_COMPARED:
        return False
    counts = [
        other for other, column in table.values.items() if (column >= 0).all() and not (column % 1).any()
    ]
    rates = [other for other in table.remaining(name) if other not in counts]
    if name not in counts or len(counts) * len(rates) > _MAX_COMPARED:
        return False
    pairs = [pair for other in counts if other != name for pair in ((name, other), (other, name))]
    return any(_is_rate(table, rate, *pair) for rate in rates for pair in pairs)


def _is_rate(table: Candidates, rate: str, numerator: str, denominator: str) -> bool:
    """Return True if a column is the ratio of two others, as a fraction or in percent, in every row."""
    rows = table.values[rate].size
    for n in (_FEWEST_ROWS, rows):  # the first rows rule out most columns
        value, number, total = (table.values[name][:n] for name in (rate, numerator, denominator))
        ratio = number / np.where(total > 0, total, np.nan)
        if not any(np.allclose(ratio * unit, value, rtol=0.01, atol=0.0006 * unit) for unit in (1, 100)):
            return False
    return rows >= _FEWEST_ROWS


# Rules that look at one column, and rules that compare it with the columns that remain.
_SINGLE_COLUMN_RULES = (
    Rule("a prediction", _is_prediction),
    Rule(
        "a property of samples",
        lambda table, name: (
            table.columns_are_models and frozenset() < words(name) <= vocabulary("properties")
        ),
    ),
    Rule("a rank", _is_rank),
    Rule("a time stamp", _is_time),
    Rule(ROW_IDENTIFIER, _is_identifier),
    Rule("a run setting", _is_setting),
)
_COMPARISON_RULES = (
    Rule("a measure of spread or a count", _is_statistic),
    Rule(AVERAGED, partial(_is_summary, word="averages", summarise=np.nanmean)),
    Rule("an average", _is_average),
    Rule("the maximum of other columns", partial(_is_summary, word="best", summarise=np.fmax.reduce)),
    Rule("a duration", lambda table, name: is_duration(name) and bool(table.remaining(name))),
    Rule("constant", _is_constant),
    Rule("a copy of another column", _is_copy),
    Rule("a part of a rate", _is_part_of_rate),
)


# More rows slow down profiling without changing the result. In wider tables, not all columns are metrics.
_MAX_ROWS, _MAX_COLUMNS = 2_000_000, 1_000
# Number of cached values (80 MB), because several checks use the same columns.
_MAX_CACHED = 10_000_000
# Names of columns with the reason for a missing score.
_STATUS_WORDS = vocabulary("status") - {"outcome"}
# An index must restart at least this often, and have at least this many values.
_MIN_SEQUENCES, _MIN_POSITIONS = 3, 3
# Added column with the file index of each row, if files name models.
FILE = "\0file"


@dataclass(eq=False)
class Columns:
    """Columns of a table with cached statistics.

    Parameters
    ----------
    frame : DataFrame
    names : sequence of str
        Columns to profile.
    label : str
        Name of the table in messages.
    decimal_comma : bool
        Whether numbers may have a decimal comma.
    by_file : bool
        Whether each file may contain the scores of one model, named by the label of the file.
    is_complete : bool
        Whether every named column of the files was loaded.
    metrics : collection of str
        Metrics that the user requested.
    """

    frame: pl.DataFrame
    names: Sequence[str]
    label: str = ""
    decimal_comma: bool = False
    by_file: bool = False
    is_complete: bool = True
    metrics: Collection[str] = ()

    def __post_init__(self) -> None:
        """Create the caches of statistics."""
        frame, self.names, self.height = self.frame, [*self.names], self.frame.height
        self.file_metric = metric_in_file_name(Path(self.label).stem)
        self.n_unique = cache(self._n_unique)
        self.raw_kind = cache(lambda name: column_kind(frame[name], self.decimal_comma))
        self.kind = cache(self._kind)
        self.numbers = lru_cache(_MAX_CACHED // max(frame.height, 1))(self._numbers)
        self.is_integer = cache(lambda name: bool(to_numeric(frame[name]).dtype.is_integer()))
        self.n_sequences = cache(self._n_sequences)

    @cached_property
    def text_scores(self) -> dict[str, NumberFormat]:
        """Text columns that contain scores: numbers with a unit or sign, or words such as pass and fail."""
        text = [name for name in self.names if self.raw_kind(name) == "text"]
        writings = {name: w for name in text if (w := number_format(self.frame[name])) is not None}
        # Several columns with model names each contain the outcomes of one model: build_41, build_42.
        model_columns = [name for name in text if column_for_role("model", [name]) is not None]
        candidates = [name for name in text if len(model_columns) > 1 or name not in model_columns]
        formats = {name: outcome_format(self.frame[name]) for name in text}
        # Equal outcomes in other columns show that these are columns of models, too.
        shared = {w.outcomes for name, w in formats.items() if w and name not in model_columns}
        formats = {n: w for n, w in formats.items() if n in candidates or (w and w.outcomes in shared)}
        formats |= {name: grade_format(self.frame[name]) for name, w in formats.items() if w is None}
        truths = {name: w for name, w in formats.items() if w is not None}
        truths = {name: w for name, w in truths.items() if not (w.grades and has_word(name, "answer"))}
        if not truths:
            return writings
        # Columns that appear to have a role or to identify rows are not scores.
        numeric = [n for n in self.names if self.raw_kind(n) == "number" and not suggests_role(n)]
        numeric = [name for name in numeric if not looks_like_an_identifier(name, self.frame[name])]
        numbers = {name: parse_scores(self.frame[name], self.decimal_comma)[0] for name in numeric}
        scores, excluded = self._split_numbers(numbers)
        texts = {name: w.numbers(self.frame[name]) for name, w in writings.items()}
        values = [parse_scores(text, self.decimal_comma)[0] for text in texts.values()]
        values += [numbers[name] for name in scores]
        if values:
            # The status of a run is a score only if all other scores are costs.
            if writings or not all(map(looks_like_a_cost, scores)):
                truths = {n: w for n, w in truths.items() if n in self.metrics or not w.has_failure_words}
            return writings | {name: w for name, w in truths.items() if self._is_score(name, w, values)}
        return _select_outcomes(truths, bool(excluded))

    def _is_score(self, name: str, writing: NumberFormat, scores: Sequence[np.ndarray]) -> bool:
        """Return True if a column of outcome words is a score rather than a flag or a status.

        Parameters
        ----------
        name : str
            Name of the column.
        writing : NumberFormat
            Format of its cells.
        scores : sequence of ndarray, each of shape (n,)
            Numeric scores in the other columns.
        """
        if name in self.metrics:
            return True
        if words(name) & _STATUS_WORDS:
            failed = writing.numbers(self.frame[name]).to_numpy() == 0
            if any(np.isnan(numbers[failed]).mean() > 0.5 for numbers in scores):
                return False
        by_name = has_word(name, "verdict") or (has_word(name, "truths") and clearly_higher_is_better(name))
        return not looks_like_a_cost(name) and (by_name or writing.direction == "explicit")

    def _kind(self, name: str) -> str:
        """Return the kind of a column: ``number``, ``text``, ``empty`` or ``other``.

        Text that encodes scores has the kind ``number``.
        """
        kind = self.raw_kind(name)
        return "number" if kind == "text" and name in self.text_scores else kind

    def by_kind(self, kind: str) -> list[str]:
        """Return the names of the columns of a kind, such as ``number`` or ``text``."""
        return [name for name in self.names if self.kind(name) == kind]

    def _n_unique(self, *names: str) -> int:
        """Return the number of distinct values in a column, or of distinct rows in several columns."""
        if not names:
            return 1
        frame = self.frame[[*dict.fromkeys(part for name in names for part in self.parts(name))]]
        return int(frame.n_unique() if frame.width > 1 else frame.to_series().n_unique())

    def parts(self, name: str) -> list[str]:
        """Split a joined column name such as ``doc+turn`` into its columns."""
        if not name or name in self.frame.columns:
            return [name] * bool(name)
        parts = name.split("+")
        for size in range(len(parts) - 1, 0, -1):  # a name may contain a plus sign
            if (first := "+".join(parts[:size])) in self.frame.columns:
                return [first, *self.parts("+".join(parts[size:]))]
        return parts

    def is_key(self, *names: str) -> bool:
        """Return True if no two rows have the same values in all of the given columns."""
        # The product of counts is an upper bound that is much cheaper to compute.
        return prod(map(self.n_unique, names)) >= self.height == self.n_unique(*names)

    def shared_proportion(self, name: str, by: Sequence[str]) -> float:
        """Return the proportion of a column's values that occur in every group of rows.

        Each combination of values in the columns `by` defines a group.
        """
        if self.n_unique(*by, name) == self.n_unique(*by) * self.n_unique(name):
            return 1.0
        parts = self.parts(name)
        n_groups = self.frame.lazy().select({*parts, *by}).unique().group_by(parts).len().collect()["len"]
        return int((n_groups == self.n_unique(*by)).sum()) / max(n_groups.len(), 1)

    def is_constant_within(self, name: str, by: Sequence[str]) -> bool:
        """Return True if a column has a single value in each group of rows with equal values in `by`."""
        return self.n_unique(*by, name) == self.n_unique(*by)

    def is_missing_for_groups(self, name: str, by: Sequence[str]) -> bool:
        """Return True if a column has no numbers in at least one group of rows.

        Each combination of values in the columns `by` defines a group.
        """
        if not by or not self.n_missing(name):
            return False
        present = self.frame.select(*by)[np.flatnonzero(~np.isnan(self.numbers(name)))]
        return present.n_unique() < self.n_unique(*by)

    def ranked_column(self, name: str, by: Sequence[str]) -> str:
        """Return the score column by which an integer column ranks the rows, or an empty string.

        In every group defined by the columns `by`, the integers must count up from 0 or 1, and the scores
        must be monotonic in them. Unless the name of the integer column suggests a rank, this must hold for
        all score columns.
        """
        if self.kind(name) != "number" or not self.is_integer(name) or self.n_missing(name):
            return ""
        groups = self.frame.select(pl.struct(by).rank("dense")).to_series().to_numpy()
        ranks = self.numbers(name)
        order = np.lexsort((ranks, groups))
        starts = np.flatnonzero(np.diff(groups[order], prepend=0))
        inner = np.delete(np.arange(groups.size), starts)
        steps = np.diff(ranks[order], prepend=0)
        if len(starts) < 2 or len(inner) < 4 * len(starts) or not (steps[inner] == 1).all():
            return ""
        named = words(name) & vocabulary("places")
        numbers = [column for column in self.by_kind("number") if column != name]
        scores, _ = self._split_numbers({column: self.numbers(column) for column in numbers})
        changes = {column: np.diff(self.numbers(column)[order], prepend=0)[inner] for column in scores}
        ranked = [column for column, x in changes.items() if x.any() and ((x <= 0).all() or (x >= 0).all())]
        return ranked[0] if ranked and (named or len(ranked) == len(scores)) else ""

    def word_direction(self, name: str) -> str:
        """Return how clearly the words in a column show the better outcome.

        It is ``explicit``, ``implied`` or ``ambiguous``, and empty for numbers.
        """
        return self.text_scores[name].direction if name in self.text_scores else ""

    def n_missing(self, name: str) -> int:
        """Return the number of cells without a value, including ``nan`` and texts such as ``n/a``."""
        column, n_blank = self.frame[name], 0
        if column.dtype == pl.String:
            is_blank = pl.first().str.strip_chars().str.to_lowercase().is_in([*MISSING_TEXT, "nan"])
            n_blank = column.value_counts().select(pl.last().filter(is_blank).sum()).item()
        return int(column.null_count() + n_blank)

    def _numbers(self, name: str) -> np.ndarray:
        """Return a column as float64 with shape (n,), NaN where a cell is not a number."""
        column = self.frame[name]
        if name in self.text_scores:
            column = self.text_scores[name].numbers(column)
        return parse_scores(column, self.decimal_comma)[0]

    def split_scores(
        self, names: Iterable[str], declared: Collection[str] = (), **options: bool
    ) -> ColumnSplit:
        """Split numeric columns into scores and excluded columns.

        Parameters
        ----------
        names : iterable of str
            Columns to examine.
        declared : collection of str
            Columns that an option mentions, which always contain scores.
        **options : bool
            ``columns_are_models`` and ``allow_constant``, as in `Candidates`.

        Returns
        -------
        scores : list of str
        excluded : dict of str to str
            Reason for excluding each column.
        """
        numbers = [name for name in names if self.kind(name) == "number"]
        return self._split_numbers({name: self.numbers(name) for name in numbers}, declared, **options)

    def _split_numbers(
        self, numbers: Mapping[str, np.ndarray], declared: Collection[str] = (), **options: Any
    ) -> ColumnSplit:
        """Split columns of numbers into scores and excluded columns with reasons.

        `numbers` maps column names to values; see `split_scores` for the other parameters. Unlike
        `split_scores`, this method can be called before the kinds of columns are known.
        """
        # Solvers are also compared by their run time.
        is_solver = any(has_word(name, "solvers") for name in self.names)
        declared = {*declared, *(filter(is_duration, numbers) if is_solver else ())}
        positions = [name for name in numbers if name not in declared and self.n_sequences(name)]
        values = {name: column for name, column in numbers.items() if name not in positions}
        table = Candidates(values, self.frame, **options)
        for rules in (_SINGLE_COLUMN_RULES, _COMPARISON_RULES):
            for name in (column for column in values if column not in declared):
                reason = next((rule.reason for rule in rules if rule.applies(table, name)), "")
                if reason and name not in table.excluded:
                    table.excluded[name] = reason
        scores = [name for name in values if name not in table.excluded]
        return scores, dict.fromkeys(positions, ROW_IDENTIFIER) | table.excluded

    def _n_sequences(self, name: str) -> int:
        """Return how many times a column counts up from 0 or 1, or 0 if it is not an index of rows.

        Rows are read in file order. A value may occur in several consecutive rows, if all values do so
        equally often. Ranks do not count as an index.
        """
        is_rank = words(name) & vocabulary("places") - vocabulary("within")
        if is_rank or is_metric_name(name) or not self.is_integer(name) or self.n_missing(name):
            return 0
        values = to_numeric(self.frame[name]).to_numpy()
        changes = np.flatnonzero(np.diff(values, prepend=values[0] - 1))
        positions, starts = values[changes], values[changes] == values[0]
        consecutive = starts[1:] | (np.diff(positions) == 1)
        regular = len({*np.diff(changes, append=values.size).tolist()}) == 1
        is_index = values[0] in (0, 1) and regular and consecutive.all()
        is_index = is_index and np.ptp(values) >= _MIN_POSITIONS - 1
        return int(starts.sum()) if is_index and starts.sum() >= _MIN_SEQUENCES else 0


def _select_outcomes(outcomes: Mapping[str, NumberFormat], with_numbers: bool) -> dict[str, NumberFormat]:
    """Select the columns of outcome words, such as passed and failed, that are used as scores.

    They are needed if no column contains numeric scores. Columns whose better word is known are preferred.
    Otherwise, a single ambiguous column is selected.

    Parameters
    ----------
    outcomes : mapping of str to NumberFormat
        Candidate columns and the format of their words.
    with_numbers : bool
        Whether the table has numeric columns that are not scores. Words in a column with an uninformative
        name are then treated as ambiguous.
    """
    clear = {name: w for name, w in outcomes.items() if w.direction in ("explicit", "implied")}
    if clear and with_numbers:
        return {name: w if is_metric_name(name) else w.as_ambiguous() for name, w in clear.items()}
    unnamed = [name for name in outcomes if column_for_role("compared", [name]) is None]
    return clear or ({unnamed[0]: outcomes[unnamed[0]]} if len(unnamed) == 1 else {})


def profile_columns(sources: Sequence[Source], metrics: Collection[str] = ()) -> Columns:
    """Collect statistics on the columns that all files of a table have in common.

    Parameters
    ----------
    sources : sequence of Source
    metrics : collection of str
        Metrics that the user requested.

    Raises
    ------
    InputError
        If no column has a name.
    """
    first = sources[0]
    shared = set.intersection(*(set(source.columns) for source in sources))
    named = [name for name in first.columns if name in shared and not is_unnamed(name)]
    names = named
    if len(named) > _MAX_COLUMNS:  # prefer names that suggest a role
        chosen = {*sorted(named, key=suggests_role, reverse=True)[:_MAX_COLUMNS]}
        names = [name for name in named if name in chosen]
    if not shared:
        detail = "; ".join(f"{source.label}: {listing(source.columns, 4)}" for source in sources[:3])
        hint = "name files with the same columns, or rename the columns so that they agree"
        raise InputError("the files have no column in common", found=detail, hint=hint)
    if not names:
        problem = f"{first.label}: no column has a name"
        hint = "write the names in the first row: model, sample and one per metric"
        raise InputError(problem, found=f"{len(first.columns)} columns without a name", hint=hint)
    frames = [source.load(names).head(_MAX_ROWS) for source in sources]
    if len(frames) > 1:
        indices = [pl.lit(i).alias(FILE) for i in range(len(frames))]
        frames = [frame.with_columns(index) for frame, index in zip(frames, indices, strict=True)]
    profile = Columns(
        pl.concat(frames, how="vertical_relaxed") if len(frames) > 1 else frames[0],
        names,
        first.label,
        decimal_comma=first.decimal_comma,
        by_file=all(source.model_label is not None for source in sources),
        is_complete=len(names) == len(named),
        metrics=metrics,
    )
    profile.file_metric = first.metric or profile.file_metric
    return profile
