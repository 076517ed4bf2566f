"""Columns become float64 scores, each with why it is not a number, or what files say; signs of thousands."""

import re
from collections.abc import Sequence

import numpy as np
import polars as pl

VALID, MISSING, NOT_A_NUMBER, INFINITE, TEXT = range(5)

UNSCORED = "unscored"
"""Column of a table that says why a row has no score, as readers of exports write it."""

# Reasons readers tell; a table may tell others.
ERROR, REFUSAL, LIMIT, EMPTY = "error", "refusal", "limit", "empty response"
ABSENT = "absent"
"""A sample on which another model has a row, and this one none."""

# Text that stands for "no value"; nan is not among them: it is a number gone wrong.
MISSING_TEXT = (
    *("", "-", "–", "—", "na", "n/a", "#n/a", "n.a.", "null", "none", "k.a.", "k. a.", "n.d.", "n. d."),
    *("n/d", "s/d", "b.d.", "н/д"),
)
_COMMA_NUMBER = r"^[+-]?\d+,\d+([eE][+-]?\d+)?$"

# A sample called 10.0 by one file (pandas does, once a column held a gap) and 10 by another is one sample.
WHOLE_FLOAT = r"^(-?(?:0|[1-9][0-9]*))\.0$"


def plain_column(column: pl.Series) -> pl.Series:
    """Return a column in a type that casts to text: durations as seconds, bytes as text or else as digits."""
    if isinstance(column.dtype, pl.BaseExtension):
        column = column.ext.storage()
    if column.dtype == pl.Duration:
        return column.dt.total_microseconds() / 1e6
    if column.dtype != pl.Binary:
        return column
    try:
        return column.cast(pl.String)  # older writers do not mark texts as such
    except pl.exceptions.PolarsError:
        return column.bin.encode("hex")


def parse_scores(series: pl.Series, decimal_comma: bool = False) -> tuple[np.ndarray, np.ndarray | None]:
    """Convert a column to scores.

    Parameters
    ----------
    series : polars.Series
        Numbers, booleans or text.
    decimal_comma : bool
        Whether text may be written with a decimal comma.

    Returns
    -------
    values : ndarray of float64, shape (n,)
        NaN wherever the state is not valid.
    state : ndarray of int8, shape (n,), or None
        VALID, MISSING, NOT_A_NUMBER, INFINITE or TEXT; None if all are valid.
    """
    numbers, text = _to_float(series, decimal_comma)
    values = np.ascontiguousarray(numbers.to_numpy(), dtype=np.float64)  # NaN where there is none
    finite = np.isfinite(values)
    if finite.all():
        return values, None
    state = np.zeros(values.size, dtype=np.int8)
    state[np.isnan(values)] = NOT_A_NUMBER
    state[np.isinf(values)] = INFINITE
    if numbers.null_count():
        state[numbers.is_null().to_numpy()] = MISSING
    if text is not None:
        state[text] = TEXT
    return np.where(finite, values, np.nan), state


def present(series: pl.Series) -> pl.Series:
    """The cells of a column that hold anything."""
    return series.drop_nulls() if series.null_count() else series


def column_kind(series: pl.Series, decimal_comma: bool = False) -> str:
    """Tell what a column holds: ``number``, ``text``, ``empty`` or ``other``.

    Text counts as ``number`` when most of its values are: a stray word in a column of scores is a mistake to
    be reported, not a reason to ignore the column.
    """
    dtype = series.dtype
    if series.null_count() == series.len():
        return "empty"
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "number"
    if not _is_text(dtype):
        return "other"
    filled, wrong = _counts(series, decimal_comma)
    return "empty" if filled == 0 else "number" if 2 * wrong < filled else "text"


def numeric_share(series: pl.Series, decimal_comma: bool = False) -> float:
    """Share of the filled cells of a text column that are numbers."""
    filled, wrong = _counts(series, decimal_comma)
    return (filled - wrong) / filled if filled else 0.0


def _counts(series: pl.Series, decimal_comma: bool) -> tuple[int, int]:
    """How many cells are filled, and how many of them are no numbers."""
    _, state = parse_scores(series, decimal_comma)
    if state is None:
        return series.len(), 0
    return int(np.count_nonzero(state != MISSING)), int(np.count_nonzero(state == TEXT))


def _to_float(series: pl.Series, decimal_comma: bool) -> tuple[pl.Series, np.ndarray | None]:
    """The numbers (null where missing) and, if there is any, a mask of text that is none."""
    dtype = series.dtype
    if dtype.is_float() or dtype.is_integer() or dtype == pl.Boolean or dtype == pl.Null:
        return series.cast(pl.Float64), None
    if not _is_text(dtype) and not dtype.is_decimal():
        return pl.repeat(None, series.len(), dtype=pl.Float64, eager=True), series.is_not_null().to_numpy()
    series = series.cast(pl.String)
    numbers = series.cast(pl.Float64, strict=False)
    if numbers.null_count() == series.null_count():
        return numbers, None
    return _careful(series, decimal_comma)


def _careful(series: pl.Series, decimal_comma: bool) -> tuple[pl.Series, np.ndarray | None]:
    frame, text = series.alias("text").to_frame(), pl.col("text").str.strip_chars()
    if decimal_comma and not frame.select(text.str.contains(".", literal=True).any()).item():
        point = text.str.replace(",", ".", literal=True)
        text = pl.when(text.str.contains(_COMMA_NUMBER)).then(point).otherwise(text)
    lowered = text.str.to_lowercase()
    truths = pl.when(lowered == "true").then(1.0).when(lowered == "false").then(0.0)
    number = truths.otherwise(text.cast(pl.Float64, strict=False))
    absent = text.is_null() | lowered.is_in(MISSING_TEXT)
    # One query: each takes its time.
    frame = frame.select(number=number, unreadable=number.is_null() & ~absent)
    return frame["number"], frame["unreadable"].to_numpy() if frame["unreadable"].any() else None


def _is_text(dtype: pl.DataType) -> bool:
    return dtype == pl.String or dtype == pl.Categorical or isinstance(dtype, pl.Enum)


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
    found: dict[int, str] = {}
    for sign, decimal in _SIGNS:
        grouped = re.compile(_GROUPED.format(sign)).match
        fit = [
            at
            for at, cells in enumerate(zip(*rows, strict=True))
            if any(sign in cell for cell in cells)
            and all(grouped(cell) or cell.strip().casefold() in MISSING_TEXT for cell in cells)
        ]
        if not fit:
            continue
        decimals = re.compile(rf"[+-]?\d+\{decimal}\d+").fullmatch
        told = any(decimals(cell) for row in rows for at, cell in enumerate(row) if at not in fit)
        for at in fit:
            cells = [row[at].strip() for row in rows]
            plain = any(map(str.isdecimal, cells))
            if told or (plain and any(sign in cell and cell[-1] == "0" for cell in cells)):
                found[at] = sign
    return found


def is_grouped(cells: pl.Series, sign: str) -> bool:
    """Whether a sign stands between thousands wherever it stands."""
    absent = cells.is_null() | cells.str.strip_chars().str.to_lowercase().is_in(MISSING_TEXT)
    return bool((absent | cells.str.contains(_GROUPED.format(sign))).all())


def escaped(text: pl.Expr) -> pl.Expr:
    """A text as a part of a name that "+" joins."""
    return text.str.replace_all("\\", "\\\\", literal=True).str.replace_all("+", "\\+", literal=True)


def as_one_name(parts: Sequence[str]) -> pl.Expr:
    """Join columns with "+"; a "+" inside a part is escaped, so that different parts stay different."""
    plain = (pl.col(part).cast(pl.String).str.strip_chars().str.replace(WHOLE_FLOAT, "$1") for part in parts)
    texts = [*map(escaped, plain)]
    blank = pl.any_horizontal(text.is_null() | (text == "") for text in texts)
    return pl.when(blank).then(None).otherwise(pl.concat_str(texts, separator="+"))
