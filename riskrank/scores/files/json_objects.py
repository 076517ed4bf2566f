"""JSON as values and texts that a table can hold; and Python values as columns."""

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from riskrank.errors import InputError
from riskrank.scores.files.guards import BrokenFileError, cut_short, reason_of

# Characters of a value that a message shows.
_SHOWN = 80


def no_unicode(place: str, name: str) -> InputError:
    r"""Tell that a text is none: half of a pair of ``\ud800`` escapes stands for no character."""
    return InputError(
        f"{place}: '{name}' is no Unicode text",
        found="half of a surrogate pair, such as \\ud800 on its own",
        hint="check the program that wrote it: it may have cut a text in the middle of a character",
    )


def halves(rows: Sequence[Mapping[str, object]]) -> dict[int, str]:
    """Rows by their place that hold a text which is none, with that text."""
    texts = ((at, one) for at, row in enumerate(rows) for one in row.values() if isinstance(one, str))
    return {at: one for at, one in texts if is_half(one)}


def is_half(text: str) -> bool:
    """Whether a text holds half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def json_object(text: str | bytes) -> dict[str, object] | None:
    """The object that a text is; None where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def shown(value: object) -> str:
    """Write the beginning of a value as JSON, for a message."""
    try:
        return json.dumps(value, default=str)[:_SHOWN]
    except RecursionError:
        return "values nested too deeply"


def json_text(value: object) -> str | None:
    """A JSON value as the text a cell of it would be."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else json.dumps(value)


def plain_text(value: object) -> str:
    """A text as it is, of anything else its JSON."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def as_text(value: object) -> str:
    """A text without the blanks around it; of messages and their parts the texts, of anything else its JSON.

    Half a character, which no table can hold, is a question mark.
    """
    return _said(value).encode(errors="replace").decode()


def _said(value: object) -> str:
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list) and len(value) == 1:
        return _said(value[0])
    if isinstance(value, list) and value and all(isinstance(one, dict) and "content" in one for one in value):
        return "\n".join(f"{one.get('role', '')}: {_said(one['content'])}" for one in value)
    if isinstance(value, dict):
        said = next((value[at] for at in ("content", "text") if isinstance(value.get(at), str | list)), None)
        if said is not None:
            return _said(said)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return ""


def json_texts(values: list[object]) -> list[str | None]:
    """JSON values as texts, numbers alone at once."""
    kinds = set(map(type, values))
    return list(map(repr if kinds <= {int, float} else json_text, values))


def parse_json(
    label: str, data: bytes, *, hook: Callable[[list[tuple[str, object]]], object] | None = None
) -> Any:
    """Parse a JSON document; NaN and Infinity are numbers, as Python writes them.

    Parameters
    ----------
    label : str
    data : bytes
    hook : callable, optional
        Makes an object of its names and values.

    Raises
    ------
    InputError
        If the text is not UTF-8, not JSON, or nested too deeply.
    """
    try:
        return json.loads(data, object_pairs_hook=hook)
    except (ValueError, RecursionError) as error:
        raise _no_json(f"{label}: the file", data, error) from None


def parse_lines(label: str, data: bytes) -> Iterator[tuple[int, Any]]:
    """Parse JSON lines one by one; what cannot be parsed comes as an error in the value's place.

    Yields
    ------
    number : int
        Line, counted from 1; blank lines are passed over.
    value : object
    """
    for number, ended in enumerate(io.BytesIO(data), start=1):
        line = ended.removesuffix(b"\n")
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, _no_json(f"{label}: line {number}", line, error)


def _no_json(what: str, data: bytes, error: Exception) -> BrokenFileError:
    found = reason_of(error)[:200]
    if isinstance(error, UnicodeDecodeError):
        found = f"byte 0x{data[error.start]:02x} at {error.start}, which is not UTF-8"
    return cut_short(f"{what} is not valid JSON", found)


def column(name: str, values: Sequence[object]) -> pl.Series:
    """Cells as a column: of numbers if all of them are, else of text, none of them lost.

    An exact decimal counts as a number; dates and the like are text.
    """
    kinds = {type(value).__name__ for value in values if value is not None}
    if kinds <= {"bool"}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds <= {"int", "bool"} and all(abs(int(v)) < 2**63 for v in values if isinstance(v, int)):
        return pl.Series(name, [None if v is None else int(v) for v in values], dtype=pl.Int64)  # type: ignore[call-overload]
    if kinds <= {"int", "float", "bool", "Decimal"}:
        return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)  # type: ignore[arg-type]
    return pl.Series(name, map(_text, values), dtype=pl.String)


def _text(value: object) -> str | None:
    if isinstance(value, float) and value.is_integer() and math.isfinite(value):
        return str(int(value))
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | dict):
        try:
            return json.dumps(value, default=str)
        except (TypeError, ValueError, RecursionError):  # names that are no texts
            return str(value)
    return json_text(value) if value is None or isinstance(value, str | bool | int | float) else str(value)
