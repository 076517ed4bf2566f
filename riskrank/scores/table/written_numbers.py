"""Numbers with units or other text, such as ``85%`` and ``0.81 ± 0.02``, and queries that convert them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from riskrank.engine.types import Floats
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.parsing import MISSING_TEXT, column_kind, numeric_proportion, parse_scores
from riskrank.scores.files.query import quote_column, quote_text
from riskrank.scores.files.source import Source
from riskrank.scores.names.directions import OutcomePair, classify_outcomes
from riskrank.scores.names.vocabulary import grade_scales, parse_vocabulary, vocabulary, words

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+|\d+,\d{1,2})"
_PERCENT = rf"^\s*{_NUMBER}\s*%\s*$"
# A number with a currency before it or a unit after it, and numbers that certainly have a decimal comma.
_UNITS = "s|ms|us|\u00b5s|ns|sec|secs|seconds|min|h|kB|KB|MB|GB|kWh|Wh|J|x|pts|tok/s|\u20ac|\\$|USD|EUR"
# Sizes of units, by quantity.
UNIT_SIZES: tuple[dict[str, float], ...] = (
    {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0},
    {"b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    {"kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30},
    {"%": 0.01, "percent": 0.01, "fraction": 1.0, "share": 1.0},
    {"wh": 1.0, "kwh": 1e3, "mwh": 1e6},
    {"mg": 1e-3, "g": 1.0, "kg": 1e3},
)
_AMOUNT = r"(?P<number>[+-]?\d[\d.,]*|\.\d+)"
_IN_UNITS = rf"^\s*(?P<before>[$\u20ac\u00a3\u00a5])?\s*{_AMOUNT}\s*(?P<behind>{_UNITS})?\s*$"
_DECIMAL_COMMA = r"^[+-]?\d*,(?:\d{1,2}|\d{4,})$|^[+-]?0,"
# Beginning of a number with a unit; checking the first cell rules out most text columns.
_NUMBER_START = re.compile(r"\s*[$\u20ac\u00a3\u00a5]?\s*[+-]?[.\d,]")
# A text column with at least this share of numbers may hold scores and failure messages.
_MIN_NUMERIC_SHARE = 0.2
# Successes of trials, and the smallest share of cells with the same number of trials. Dates have several.
_SHARE, _MIN_EQUAL_TRIALS = r"^(\d+)/(\d+)$", 0.8
# Limits in one cell, such as +5/-4, [0.81, 0.85] and 0.81-0.85, in which the dash is no sign.
_LIMIT = re.compile(r"(?<![\d.])[+-]?\d*\.?\d+")
# Width of a 95 % interval of normal errors, in standard errors.
_WIDTH = 2 * 1.959963984540054
# Separators between a mean and its spread.
_SIGNS = ("±", "+/-", "+-", "\\pm", "(")
# Number of cells that decide whether a column contains two words or many.
_HEAD_ROWS = 1000
# Largest number of spellings of grades.
_MAX_GRADES = 40
# Words in names of columns of letters that are grades.
_GRADE_WORDS = parse_vocabulary("grade grades rating ratings mark marks")
# Texts for a missing verdict.
_NO_VERDICT = (*MISSING_TEXT, *vocabulary("no verdict"), "not run")
# A verdict in brackets before the text it judges.
_TAG = r"^\s*\[([^\W\d_]+)\]\s"
# Placeholder for the column in SQL.
_COLUMN = "{0}"


@dataclass(frozen=True)
class NumberFormat:
    """Number format that all filled cells of a column share.

    Attributes
    ----------
    description : str
        Description for messages, such as ``percentages``.
    sql : str
        SQL expression that extracts the number from the column ``{0}``.
    sign : str
        Text after the number: ``%``, or the separator between a mean and its spread.
    outcomes : OutcomePair, or None
        Words for success and failure, if the column contains only these.
    grades : tuple of (str, int)
        Words of an ordinal scale with their scores, if the column contains only these.
    """

    description: str
    sql: str
    sign: str = ""
    outcomes: OutcomePair | None = None
    grades: tuple[tuple[str, int], ...] = ()

    def query(self, name: str) -> str:
        """Return an SQL expression that converts the texts of the named column to numbers."""
        return self.sql.replace(_COLUMN, quote_column(name))

    @property
    def direction(self) -> str:
        """Certainty about which word is the better outcome; empty for numbers.

        It is ``explicit`` (pass, fail), ``implied`` (yes, no) or ``ambiguous``.
        """
        if self.grades:
            return "explicit"
        if self.outcomes is None:
            return ""
        if self.outcomes.is_ambiguous:
            return "ambiguous"
        return "explicit" if self.outcomes.is_explicit else "implied"

    @property
    def has_failure_words(self) -> bool:
        """True if several words describe failures."""
        return self.outcomes is not None and len(self.outcomes.negatives) > 1

    def as_ambiguous(self) -> "NumberFormat":
        """Return a copy marked as ambiguous, unless the words clearly state which outcome is better."""
        if self.outcomes is None or self.outcomes.is_explicit:
            return self
        return replace(self, outcomes=replace(self.outcomes, is_ambiguous=True))

    @property
    def rule(self) -> str:
        """Description of how texts become numbers, for messages; empty if the cells are numbers."""
        if self.grades:
            return ", ".join(f"{word} = {grade}" for word, grade in self.grades)
        if self.outcomes:
            return f"{self.outcomes.positive} = 1, {listing(self.outcomes.negatives)} = 0"
        return ""

    def numbers(self, column: pl.Series) -> pl.Series:
        """Convert a column of text or numbers to numbers."""
        return column.to_frame().sql(f"SELECT {self.query(column.name)} FROM self").to_series()


def outcome_format(series: pl.Series) -> NumberFormat | None:
    """Return the format of a column that contains only words for success and failure, or None."""
    if series.dtype != pl.String:
        return None
    head = series.head(_HEAD_ROWS).drop_nulls()
    tagged = head.len() > 0 and "[" in head[0] and bool(head.str.contains(_TAG).all())
    if _fold_words(series.head(_HEAD_ROWS), tagged).n_unique() > 2 + len(_NO_VERDICT):
        return None
    folded = _fold_words(series.drop_nulls(), tagged)
    outcomes = classify_outcomes(*folded.filter(~folded.is_in(_NO_VERDICT)).unique())
    if outcomes is None:
        return None
    word = f"SPLIT_PART(SPLIT_PART({_COLUMN}, ']', 1), '[', 2)" if tagged else _COLUMN
    failures = " ".join(f"WHEN {quote_text(word)} THEN 0" for word in outcomes.negatives)
    sql = f"CASE LOWER(TRIM({word})) WHEN {quote_text(outcomes.positive)} THEN 1 {failures} END"
    return NumberFormat("outcomes in words", sql, "%", outcomes)


def grade_format(series: pl.Series) -> NumberFormat | None:
    """Return the format of a column with at least three words of an ordinal scale, or None.

    The worst word scores 1, or the word for "equal" scores 0.
    """
    if series.dtype != pl.String or series.head(_HEAD_ROWS).n_unique() > _MAX_GRADES:
        return None
    folded = series.drop_nulls().unique().str.strip_chars().str.to_lowercase().str.replace_all("[_ ]", "-")
    present = {*folded} - {*_NO_VERDICT}
    for scale in grade_scales():
        if len(present) > 2 and present <= {*scale}:
            zero = scale.get("equal", 0)
            grades = tuple((word, grade - zero) for word, grade in scale.items() if word in present)
            word_sql = f"REPLACE(REPLACE(LOWER(TRIM({_COLUMN})), '_', '-'), ' ', '-')"
            cases = " ".join(f"WHEN {quote_text(word)} THEN {grade}" for word, grade in grades)
            if all(len(word) == 1 for word, _ in grades) and not words(series.name) & _GRADE_WORDS:
                return None  # letters may be names, such as those of models
            return NumberFormat("grades", f"CASE {word_sql} {cases} END", grades=grades)
    return None


def _fold_words(column: pl.Series, tagged: bool) -> pl.Series:
    """Convert texts to lower case without surrounding spaces.

    If they are `tagged`, keep only the tag in brackets at their beginning.
    """
    words = pl.first().str.extract(_TAG, 1) if tagged else pl.first()
    return column.to_frame().select(words.str.strip_chars().str.to_lowercase()).to_series()


def number_format(series: pl.Series) -> NumberFormat | None:
    """Return the number format that all cells of a text column share, or None if they share none."""
    if series.dtype != pl.String:
        return None
    filled = series.drop_nulls()
    first = filled[0] if filled.len() else ""
    if not _NUMBER_START.match(first) and first.strip().lower() not in MISSING_TEXT:
        return None
    filled = filled.filter(~filled.str.strip_chars().str.to_lowercase().is_in(MISSING_TEXT))
    if filled.len() == 0:
        return None
    if filled.str.contains(_PERCENT).all():
        comma = filled.str.contains(",", literal=True).any()
        sql = f"RTRIM(REPLACE({_COLUMN}, ',', '.'), '% ')" if comma else f"RTRIM({_COLUMN}, '%')"
        return NumberFormat("percentages", sql, "%")
    is_percent = filled.str.contains(_PERCENT)
    if is_percent.any() and filled.filter(~is_percent).str.contains(rf"^\s*{_NUMBER}\s*$").all():
        numbers = filled.filter(~is_percent).str.replace(",", ".", literal=True).cast(pl.Float64)
        return NumberFormat("percentages and numbers", percent_sql(float(numbers.max() or 0)))  # type: ignore[arg-type]
    if (share := _share_format(filled)) is not None:
        return share
    sign = next((sign for sign in _SIGNS if sign in filled[0]), None)
    if sign is None:
        return _unit_format(filled)
    part = rf"{_NUMBER}(?:\s*\\?%)?"
    consistent = filled.str.contains("%", literal=True).n_unique() == 1
    pattern = rf"^\s*\$?\s*{part}\s*{re.escape(sign)}\s*{part}\)?\s*\$?\s*$"
    if not consistent or not filled.str.contains(pattern).all():
        return None
    mean = f"SPLIT_PART({_COLUMN}, '{sign}', 1)"
    return NumberFormat("means with spreads", f"RTRIM(LTRIM({mean}, '$ '), '% \\')", sign)


def _share_format(filled: pl.Series) -> NumberFormat | None:
    """Return the format of filled cells with successes of trials, such as 17/20, or None.

    Most cells have the same number of trials, at least two; a row of totals has another one.
    """
    counts = filled.str.extract_groups(_SHARE).struct.unnest().cast(pl.Float64, strict=False)
    successes, trials = counts.get_columns()
    if trials.null_count() or (successes > trials).any() or (trials < 2).any():
        return None
    if trials.value_counts()["count"].max() < _MIN_EQUAL_TRIALS * trials.len():  # type: ignore[operator]
        return None
    parts = [f"CAST(SPLIT_PART({_COLUMN}, '/', {at}) AS DOUBLE)" for at in (1, 2)]
    return NumberFormat("successes of trials", " / ".join(parts))


def percent_sql(largest: float) -> str:
    """Return an SQL expression that reads percentages among numbers, as fractions if the numbers are.

    `largest` is the largest of the numbers.
    """
    text, unit = f"REPLACE({_COLUMN}, ',', '.')", 100 if largest <= 1 else 1
    number = f"TRY_CAST(RTRIM({text}, '% ') AS DOUBLE) / {unit}"
    return f"CASE WHEN ENDS_WITH({_COLUMN}, '%') THEN {number} ELSE TRY_CAST({text} AS DOUBLE) END"


def _unit_format(filled: pl.Series) -> NumberFormat | None:
    """Return the format of filled cells with a common unit or currency, thousands or decimal commas.

    Return None for other cells.
    """
    parts = filled.str.extract_groups(_IN_UNITS)
    units = {*parts.struct.field("behind")}
    base = next((sizes for sizes in UNIT_SIZES if len(units) > 1 and units <= sizes.keys()), None)
    if base is not None and not filled.str.contains(",", literal=True).any():
        return _mixed_unit_format({str(unit): base[str(unit)] for unit in units})
    signs = [set(parts.struct.field(name)) for name in ("before", "behind")]
    if parts.struct.field("number").null_count() or any(len(values) > 1 for values in signs):
        return None
    trimmed = "".join(sign or "" for values in signs for sign in values)
    number = parts.struct.field("number")
    for groups, decimal in ((",", "."), (".", ",")):
        thousands = rf"^[+-]?\d{{1,3}}(?:\{groups}\d{{3}})*(?:\{decimal}\d+)?$"
        grouped = rf"\{groups}\d{{3}}[\{groups}\{decimal}]"
        if number.str.contains(thousands).all() and number.str.contains(grouped).any():
            number_alone = f"REPLACE({_COLUMN}, '{groups}', '')"
            return NumberFormat("thousands", _trim_sql(number_alone, trimmed, comma=decimal == ","))
    comma = not number.str.contains(".", literal=True).any() and number.str.contains(_DECIMAL_COMMA).any()
    plain = rf"^[+-]?\d*{',' if comma else '[.]'}?\d+$"
    if not (trimmed or comma) or not number.str.contains(plain).all():
        return None
    sql = _trim_sql(_COLUMN, trimmed, comma=bool(comma))
    return NumberFormat("units" if trimmed else "decimal commas", sql)


def _mixed_unit_format(sizes: Mapping[str, float]) -> NumberFormat:
    """Return the format of cells with several units of one quantity, such as 4.51s and 2.79ms.

    `sizes` maps each unit to its size in the base unit, in which the numbers are read.
    """
    number = f"TRY_CAST(RTRIM({_COLUMN}, ' {''.join(sizes)}') AS DOUBLE)"
    # A unit may end with another one: ms and s.
    cases = " ".join(
        f"WHEN ENDS_WITH(RTRIM({_COLUMN}), {quote_text(unit)}) THEN {number} * {size:g}"
        for unit, size in sorted(sizes.items(), key=lambda item: -len(item[0]))
    )
    return NumberFormat("units", f"CASE {cases} END")


def _trim_sql(number: str, signs: str, *, comma: bool) -> str:
    """Return an SQL expression that trims signs and whitespace around a number.

    Parameters
    ----------
    number : str
        SQL expression of the text.
    signs : str
        Characters to remove at both ends.
    comma : bool
        Whether the number has a decimal comma.
    """
    number = f"REPLACE({number}, ',', '.')" if comma else number
    return f"RTRIM(LTRIM({number}, '{signs} '), '{signs} ')"


def read_limits(column: pl.Series) -> Floats:
    """Return the lower and upper limits in each text of a column, shape (n, 2); NaN if there are not two."""
    texts = column.cast(pl.String).fill_null("").str.replace_all("−", "-")
    limits = [sorted(map(float, _LIMIT.findall(text))) for text in texts]
    return np.array([pair if len(pair) == 2 else (np.nan, np.nan) for pair in limits]).reshape(-1, 2)


def standard_errors(columns: Sequence[pl.Series], *, decimal_comma: bool = False) -> Floats:
    """Return published standard errors, shape (n,): those of one column, or from 95 % limits.

    The limits are in two columns, or in one column of texts such as ``+5/-4``.
    """
    if len(columns) == 1 and column_kind(columns[0], decimal_comma) == "text":
        return np.ptp(read_limits(columns[0]), axis=1) / _WIDTH
    first, *others = (parse_scores(column, decimal_comma)[0] for column in columns)
    return np.abs(others[0] - first) / _WIDTH if others else first


def reject_mixed_columns(source: Source, texts: pl.DataFrame, parameter: str) -> None:
    """Raise InputError if any of the text columns mixes numbers with other texts.

    `parameter` is the option, ``metric`` or ``models``, by which the user could select columns.
    """
    for column in texts:
        share = numeric_proportion(column, source.decimal_comma)
        if share >= _MIN_NUMERIC_SHARE:
            kind = parameter.removesuffix("s")
            problem = f"{source.label}: column '{column.name}' contains numbers and text"
            detail = f"{100 * share:.0f} % numbers; other values such as {format_examples(column)}"
            hint = f"clean it if it is a {kind}, or select the {kind}s with {option(parameter)}"
            raise InputError(problem, found=detail, hint=hint)


def format_examples(series: pl.Series) -> str:
    """Return two cells of a column as examples for a message."""
    return listing((repr(value) for value in series.drop_nulls().head(2).to_list()), 2)


def conversion_hint(sources: Sequence[Source], formats: Mapping[str, NumberFormat]) -> str:
    """Return a hint that shows the SQL query by which columns become numbers.

    `formats` maps columns to their number formats.
    """
    if any(source.native_sql or source.queried for source in sources):
        return "remove other characters in the query, for example RTRIM(column, '%')"
    percent = all(fmt.sign == "%" for fmt in formats.values())
    numbers = "the percentages" if percent else "the numbers"
    return f"{option('sql', conversion_query(formats))} reads {numbers}"


def conversion_query(formats: Mapping[str, NumberFormat]) -> str:
    """Return an SQL query that converts columns with known number formats to numbers."""
    columns = ", ".join(f"{fmt.query(name)} AS {quote_column(name)}" for name, fmt in formats.items())
    return f"SELECT * REPLACE ({columns}) FROM scores"
