"""Conversion of JSON and Python values to texts and columns."""

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from riskrank.errors import InputError
from riskrank.scores.files.guards import BrokenFileError, broken_file_error, error_reason

# Maximum characters of a value in a message.
_PREVIEW_LENGTH = 80


def unicode_error(location: str, name: str) -> InputError:
    r"""Return the error for a text with a lone surrogate, such as ``\ud800``."""
    return InputError(
        f"{location}: '{name}' is not valid Unicode",
        found="half of a surrogate pair, such as \\ud800 alone",
        hint="check the program that wrote it: it may have split a character",
    )


def rows_with_surrogates(rows: Sequence[Mapping[str, object]]) -> dict[int, str]:
    """Return the texts that contain a lone surrogate, by row position."""
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
    """Return the beginning of a value as JSON, for use in messages."""
    try:
        return json.dumps(value, default=str)[:_PREVIEW_LENGTH]
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
    kinds = set(map(type, values))
    return list(map(repr if kinds <= {int, float} else json_text, values))


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
    """Return the error for a text that is not valid JSON."""
    detail = error_reason(error)[:200]
    if isinstance(error, UnicodeDecodeError):
        detail = f"byte 0x{data[error.start]:02x} at {error.start}, which is not UTF-8"
    return broken_file_error(f"{subject} is not valid JSON", detail)


def build_column(name: str, values: Sequence[object]) -> pl.Series:
    """Build a numeric column if all values are numbers, otherwise a text column without loss of information.

    Decimals count as numbers; dates and other types become text.
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
