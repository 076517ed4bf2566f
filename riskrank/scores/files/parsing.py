"""Conversion of cells: columns to scores and states, JSON and Python values to texts, and formulas."""

import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from riskrank.errors import InputError
from riskrank.scores.files.guards import BrokenFileError, broken_file_error, error_reason

VALID, MISSING, NOT_A_NUMBER, INFINITE, TEXT = range(5)

# Integers from this value on are rounded when stored as floats.
EXACT = 2.0**53

# Column with the reason why a row has no score, as readers of exports write it.
UNSCORED = "unscored"

# Reasons that readers write; a table may contain others.
ERROR, REFUSAL, LIMIT, EMPTY = "error", "refusal", "limit", "empty response"
# Reason for a sample on which another model has a row, and this model has none.
ABSENT = "absent"

# Columns in which each text occurs more often than this, on average, are read once per distinct text.
_MIN_REPEATS = 4
# Texts for a missing value; nan is not included, because it is a failed computation.
MISSING_TEXT = (
    *("", "-", "–", "—", "na", "n/a", "#n/a", "n.a.", "null", "none", "k.a.", "k. a.", "n.d.", "n. d."),
    *("n/d", "s/d", "b.d.", "н/д"),
)
_COMMA_NUMBER = r"^[+-]?\d+,\d+([eE][+-]?\d+)?$"
# Traces are exported with lists of scores, which often contain a single score.
_LIST_OF_ONE = r"^\[\s*([^\[\],]*?)\s*\]$"

# A sample may be named 10.0 in one file (pandas writes this if the column had gaps) and 10 in another.
DOT_ZERO = r"^(-?(?:0|[1-9][0-9]*))\.0$"


def plain_column(column: pl.Series) -> pl.Series:
    """Convert durations to seconds and bytes to text or hexadecimal digits.

    Every column can then be cast to text.
    """
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
        Whether numbers in text may have a decimal comma.

    Returns
    -------
    values : ndarray of float64, shape (n,)
        NaN wherever the state is not VALID.
    state : ndarray of int8, shape (n,), or None
        VALID, MISSING, NOT_A_NUMBER, INFINITE or TEXT; None if all cells are valid.
    """
    numbers, text = _to_float(series, decimal_comma)
    values = np.ascontiguousarray(numbers.to_numpy(), dtype=np.float64)  # null becomes NaN
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


def column_kind(series: pl.Series, decimal_comma: bool = False) -> str:
    """Classify a column by its values as ``number``, ``text``, ``empty`` or ``other``.

    A text column counts as ``number`` if most of its values are numbers. A stray word among scores is then
    reported as a mistake instead of hiding the column. `decimal_comma` states that numbers may have one.
    """
    dtype = series.dtype
    if series.null_count() == series.len():
        return "empty"
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "number"
    if not _is_text(dtype):
        return "other"
    filled, wrong = _count_cells(series, decimal_comma)
    return "empty" if filled == 0 else "number" if 2 * wrong < filled else "text"


def numeric_proportion(series: pl.Series, decimal_comma: bool = False) -> float:
    """Return the proportion of filled cells in a text column that are numbers.

    `decimal_comma` states that numbers may have one.
    """
    filled, wrong = _count_cells(series, decimal_comma)
    return (filled - wrong) / filled if filled else 0.0


def _count_cells(series: pl.Series, decimal_comma: bool) -> tuple[int, int]:
    """Return the number of filled cells of a column, and the number of these that are not numbers."""
    _, state = parse_scores(series, decimal_comma)
    if state is None:
        return series.len(), 0
    return int(np.count_nonzero(state != MISSING)), int(np.count_nonzero(state == TEXT))


def _to_float(series: pl.Series, decimal_comma: bool) -> tuple[pl.Series, np.ndarray | None]:
    """Convert a column to floats; also return a mask of the cells with non-numeric text.

    Missing cells are null. The mask is None if there is no such text.
    """
    dtype = series.dtype
    if dtype.is_float() or dtype.is_integer() or dtype == pl.Boolean or dtype == pl.Null:
        return series.cast(pl.Float64), None
    if not _is_text(dtype) and not dtype.is_decimal():
        return pl.repeat(None, series.len(), dtype=pl.Float64, eager=True), series.is_not_null().to_numpy()
    series = series.cast(pl.String)
    numbers = series.cast(pl.Float64, strict=False)
    if numbers.null_count() == series.null_count():
        return numbers, None
    texts = series.alias("text").to_frame()
    # Reading each distinct text once is much faster for names of models, metrics and samples.
    distinct = texts.unique()
    few = _MIN_REPEATS * distinct.height < texts.height
    frame = distinct if few else texts
    text = pl.col("text").str.strip_chars()
    if decimal_comma and not frame.select(text.str.contains(".", literal=True).any()).item():
        point = text.str.replace(",", ".", literal=True)
        text = pl.when(text.str.contains(_COMMA_NUMBER)).then(point).otherwise(text)
    text = text.str.replace(_LIST_OF_ONE, "$1")
    lowered = text.str.to_lowercase()
    truths = pl.when(lowered == "true").then(1.0).when(lowered == "false").then(0.0)
    number = truths.otherwise(text.cast(pl.Float64, strict=False))
    absent = text.is_null() | lowered.is_in(MISSING_TEXT)
    # Use a single query, because each query has an overhead.
    frame = frame.select("text", number=number, unreadable=number.is_null() & ~absent)
    if few:
        frame = texts.join(frame, on="text", how="left", maintain_order="left")
    unreadable = frame["unreadable"].fill_null(False)  # a missing text has no match
    return frame["number"], unreadable.to_numpy() if unreadable.any() else None


def _is_text(dtype: pl.DataType) -> bool:
    """Return True if a data type is a string, categorical or enumeration type."""
    return dtype == pl.String or dtype == pl.Categorical or isinstance(dtype, pl.Enum)


_GROUPED = r"^\s*[+-]?(?:0|[1-9]\d{{0,2}}(?:\{0}\d{{3}})*)\s*$"
# Thousands separator and decimal separator.
_SEPARATOR_PAIRS = ((".", ","), (",", "."))


def thousands_separators(rows: Sequence[Sequence[str]]) -> dict[int, str]:
    """Return the thousands separator of each column that has one, by column position.

    All numbers in such a column have groups of three digits. In addition, one of two conditions must hold.
    Either another column uses the other sign as its decimal separator, or the column mixes plain integers
    with grouped numbers that end in 0.

    Parameters
    ----------
    rows : sequence of sequences of str
        First rows of a file, all of the same length.
    """
    separators: dict[int, str] = {}
    for sign, decimal in _SEPARATOR_PAIRS:
        grouped = re.compile(_GROUPED.format(sign)).match
        candidates = [
            i
            for i, cells in enumerate(zip(*rows, strict=True))
            if any(sign in cell for cell in cells)
            and all(grouped(cell) or cell.strip().casefold() in MISSING_TEXT for cell in cells)
        ]
        if not candidates:
            continue
        decimals = re.compile(rf"[+-]?\d+\{decimal}\d+").fullmatch
        certain = any(decimals(cell) for row in rows for i, cell in enumerate(row) if i not in candidates)
        for i in candidates:
            cells = [row[i].strip() for row in rows]
            plain = any(map(str.isdecimal, cells))
            if certain or (plain and any(sign in cell and cell[-1] == "0" for cell in cells)):
                separators[i] = sign
    return separators


def has_thousands(cells: pl.Series, sign: str) -> bool:
    """Return True if `sign` occurs in a column of texts only as a thousands separator."""
    absent = cells.is_null() | cells.str.strip_chars().str.to_lowercase().is_in(MISSING_TEXT)
    return bool((absent | cells.str.contains(_GROUPED.format(sign))).all())


def escape_plus(text: pl.Expr) -> pl.Expr:
    """Return an expression that escapes ``+`` and backslashes in a text."""
    return text.str.replace_all("\\", "\\\\", literal=True).str.replace_all("+", "\\+", literal=True)


def join_columns(parts: Sequence[str]) -> pl.Expr:
    """Return an expression that joins the named columns with ``+``, escaping any ``+`` in their values."""
    plain = (pl.col(part).cast(pl.String).str.strip_chars().str.replace(DOT_ZERO, "$1") for part in parts)
    texts = [*map(escape_plus, plain)]
    blank = pl.any_horizontal(text.is_null() | (text == "") for text in texts)
    return pl.when(blank).then(None).otherwise(pl.concat_str(texts, separator="+"))


# A spreadsheet would interpret some texts as formulas. CSV output escapes them with a leading apostrophe,
# which reading removes, so names survive a round trip.

# A frame, or lists of cells by column name.
Table = pl.DataFrame | dict[str, list[Any]]

# "=" always starts a formula, also after blanks. "+", "-" and "@" also start names, as in "@org/model" and
# "-attention", which are harmless without a call of a function, program or file. Leading apostrophes are
# escaped as well, so that escaping is reversible.
_FORMULA = re.compile(r"'*\s*(?:[=＝]|[+\-@＋－＠].*[^\w\s.,:/%+-])", re.DOTALL)
_MARK = "'"


def escape_formula(name: str) -> str:
    """Return a name as it is written to CSV files.

    An apostrophe precedes it if a spreadsheet could read it as a formula.
    """
    return _MARK + name if _FORMULA.match(name) else name


def unescape_formula(name: str) -> str:
    """Return the original name, given the name in a CSV file; the inverse of `escape_formula`."""
    return name[1:] if name.startswith(_MARK) and _FORMULA.match(name) else name


def escape_table(table: Table) -> Table:
    """Escape the column names and text cells of a table."""
    if isinstance(table, pl.DataFrame):
        return _rename_texts(table.rename(escape_formula), escape_formula)
    return {
        escape_formula(name): [escape_formula(cell) if isinstance(cell, str) else cell for cell in cells]
        for name, cells in table.items()
    }


def unescape_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Unescape the text cells of a data frame, leaving column names unchanged."""
    return _rename_texts(frame, unescape_formula, _MARK)


def _rename_texts(frame: pl.DataFrame, rename: Callable[[str], str], prefix: str = "") -> pl.DataFrame:
    """Apply `rename` to each distinct text cell of a data frame that starts with a prefix."""
    columns = {}
    for name, cells in zip(frame.columns, frame, strict=True):
        if cells.dtype == pl.String:
            texts = cells.filter(cells.str.starts_with(prefix)).unique()
            renamed = {text: new for text in texts if (new := rename(text)) != text}
            cells = cells.replace(renamed) if renamed else cells
        columns[name] = cells
    return pl.DataFrame(columns)


# Maximum characters of a value in a message.
_PREVIEW_LENGTH = 80


def unicode_error(location: str, name: str) -> InputError:
    r"""Return the error for a text with a lone surrogate, such as ``\ud800``.

    `location` is its file and row.
    """
    detail = "half of a surrogate pair, such as \\ud800 alone"
    hint = "check the program that wrote it: it may have split a character"
    return InputError(f"{location}: '{name}' is not valid Unicode", found=detail, hint=hint)


def rows_with_surrogates(rows: Sequence[Mapping[str, object]]) -> dict[int, str]:
    """Return the position of each row that contains a lone surrogate, with the last such text in it."""
    texts = ((i, text) for i, row in enumerate(rows) for text in row.values() if isinstance(text, str))
    return {i: text for i, text in texts if has_surrogate(text)}


def has_surrogate(text: str) -> bool:
    """Return True if a text contains a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def json_object(text: str | bytes) -> dict[str, object] | None:
    """Parse a text as a JSON object, or return None if it is anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def preview(value: object) -> str:
    """Return the beginning of a value as one line of JSON, for use in messages."""
    try:
        pieces = json.JSONEncoder(default=str).iterencode(value)
        return "".join(islice(pieces, _PREVIEW_LENGTH))[:_PREVIEW_LENGTH]
    except RecursionError:
        return "values nested too deeply"


def json_text(value: object) -> str | None:
    """Return a JSON value as text for a table cell."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else json.dumps(value)


def plain_text(value: object) -> str:
    """Return text unchanged, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def message_text(value: object) -> str:
    """Return the stripped text of a message or a list of messages, and any other value as JSON.

    Lone surrogates, which a table cannot contain, are replaced by question marks.
    """
    return _extract_text(value).encode(errors="replace").decode()


def _extract_text(value: object) -> str:
    """Return the text of a chat message or a list of messages, or any other value as JSON."""
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list) and len(value) == 1:
        return _extract_text(value[0])
    if isinstance(value, list) and value and all(isinstance(msg, dict) and "content" in msg for msg in value):
        return "\n".join(f"{msg.get('role', '')}: {_extract_text(msg['content'])}" for msg in value)
    if isinstance(value, dict):
        texts = (value.get(key) for key in ("content", "text"))
        text = next((text for text in texts if isinstance(text, str | list)), None)
        if text is not None:
            return _extract_text(text)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return ""


def json_texts(values: list[object]) -> list[str | None]:
    """Convert JSON values to texts for the cells of a column."""
    return list(map(repr if {*map(type, values)} <= {int, float} else json_text, values))


def parse_json(
    label: str, data: bytes, *, hook: Callable[[list[tuple[str, object]]], object] | None = None
) -> Any:
    """Parse a JSON document; NaN and Infinity are accepted, as in Python.

    Parameters
    ----------
    label : str
        Name of the file in messages.
    data : bytes
    hook : callable, optional
        Builds an object from a list of (name, value) pairs.

    Raises
    ------
    InputError
        If the text is not UTF-8, not JSON, or nested too deeply.
    """
    try:
        return json.loads(data, object_pairs_hook=hook)
    except (ValueError, RecursionError) as error:
        raise _json_error(f"{label}: the file", data, error) from None


def parse_lines(label: str, data: bytes) -> Iterator[tuple[int, Any]]:
    """Parse JSON Lines, yielding the error in place of a value if a line is invalid.

    Yields
    ------
    number : int
        Line number, counted from 1; blank lines are skipped.
    value : object
        Parsed value, or the error for an invalid line.
    """
    for number, raw in enumerate(io.BytesIO(data), start=1):
        line = raw.removesuffix(b"\n")
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, _json_error(f"{label}: line {number}", line, error)


def _json_error(subject: str, data: bytes, error: Exception) -> BrokenFileError:
    """Return the error for a text that is not valid JSON. `subject` names it in the message."""
    detail = error_reason(error)[:200]
    if isinstance(error, UnicodeDecodeError):
        detail = f"byte 0x{data[error.start]:02x} at {error.start}, which is not UTF-8"
    return broken_file_error(f"{subject} is not valid JSON", detail)


def build_column(name: str, values: Sequence[object]) -> pl.Series:
    """Build a column of numbers if all values are numbers, otherwise a column of texts.

    Texts lose no information. Decimals count as numbers; dates and other types become text.
    """
    kinds = {type(value).__name__ for value in values if value is not None}
    if kinds <= {"bool"}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds <= {"int", "bool"} and all(abs(int(v)) < 2**63 for v in values if isinstance(v, int)):
        return pl.Series(name, [None if v is None else int(v) for v in values], dtype=pl.Int64)  # type: ignore[call-overload]
    if kinds <= {"int", "float", "bool", "Decimal"}:
        return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)  # type: ignore[arg-type]
    return pl.Series(name, map(_cell_text, values), dtype=pl.String)


def _cell_text(value: object) -> str | None:
    """Return a value as text for a table cell, with integral floats as integers."""
    if isinstance(value, float) and value.is_integer() and math.isfinite(value):
        return str(int(value))
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | dict):
        try:
            return json.dumps(value, default=str)
        except (TypeError, ValueError, RecursionError):  # keys that are not strings
            return str(value)
    return json_text(value) if value is None or isinstance(value, str | bool | int | float) else str(value)
