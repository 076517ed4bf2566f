"""Columns become float64 scores, each with a state that says why it is not a number."""

import numpy as np
import polars as pl

VALID, MISSING, NOT_A_NUMBER, INFINITE, TEXT = range(5)

# Text that stands for "no value"; nan is not among them: it is a number gone wrong.
MISSING_TEXT = (
    *("", "-", "–", "—", "na", "n/a", "#n/a", "n.a.", "null", "none", "k.a.", "k. a.", "n.d.", "n. d."),
    *("n/d", "s/d", "b.d.", "н/д"),
)
_COMMA_NUMBER = r"^[+-]?\d+,\d+([eE][+-]?\d+)?$"


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
    values = numbers.to_numpy() if numbers.null_count() == 0 else numbers.fill_null(np.nan).to_numpy()
    values = np.ascontiguousarray(values, dtype=np.float64)
    finite = np.isfinite(values)
    if finite.all():
        return values, None
    state = np.zeros(values.size, dtype=np.int8)
    state[np.isnan(values)] = NOT_A_NUMBER
    state[np.isinf(values)] = INFINITE
    state[numbers.is_null().to_numpy()] = MISSING
    if text is not None:
        state[text] = TEXT
    return np.where(finite, values, np.nan), state


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
    if filled == 0:
        return "empty"
    return "number" if 2 * wrong < filled else "text"


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
    frame = series.str.strip_chars().alias("text").to_frame()
    lowered = pl.col("text").str.to_lowercase()
    if decimal_comma and not frame["text"].str.contains(".", literal=True).any():
        comma = pl.col("text").str.contains(_COMMA_NUMBER)
        text = (
            pl.when(comma).then(pl.col("text").str.replace(",", ".", literal=True)).otherwise(pl.col("text"))
        )
        frame = frame.with_columns(text=text)
    frame = frame.select(
        absent=pl.col("text").is_null() | lowered.is_in(MISSING_TEXT),
        number=pl.when(lowered == "true")
        .then(1.0)
        .when(lowered == "false")
        .then(0.0)
        .otherwise(pl.col("text").cast(pl.Float64, strict=False)),
    )
    unreadable = (frame["number"].is_null() & ~frame["absent"]).to_numpy()
    return frame["number"], unreadable if unreadable.any() else None


def _is_text(dtype: pl.DataType) -> bool:
    return dtype == pl.String or dtype == pl.Categorical or isinstance(dtype, pl.Enum)
