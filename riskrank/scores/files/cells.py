"""Python values from workbooks and databases become columns."""

import json
import math
from collections.abc import Sequence

import polars as pl

from riskrank.scores.files.json_objects import json_text


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
