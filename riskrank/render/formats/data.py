"""Data formats: JSON with provenance, and rows only as JSON Lines, CSV and Parquet."""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring
from typing import Any

from riskrank.errors import InputError, option, spell
from riskrank.render.escapes import escape_for_json
from riskrank.studies.document import Document
from riskrank.version import __version__

SCHEMA_VERSION = "1.0"


def to_json(document: Document) -> str:
    """Render the whole document as JSON, with null for NaN and infinities.

    Warnings name parameters as command-line flags, even for documents from the Python API.
    """
    origin = document.provenance
    meta = {
        "version": __version__,
        "command": origin.command,
        "seed": origin.seed,
        "resamples": origin.resamples,
        "settings": dict(origin.settings),
        "method": dict(origin.method),
        **({} if origin.config is None else {"config": origin.config}),
        "inputs": [dict(entry) for entry in origin.inputs],
        "models": list(origin.models),
        "metrics": list(origin.metrics),
        "samples": origin.samples,
        **({"scored": [vars(entry) for entry in origin.scored]} if origin.scored else {}),
        "verdict": spell(document.verdict, flags=True) or None,
        # Warnings may contain invalid Unicode from names, which is escaped here.
        "warnings": [
            spell(warning, flags=True).encode("utf-8", "backslashreplace").decode()
            for warning in origin.warnings
        ],
        **document.meta_entries(),
    }
    head = {"schema": f"riskrank/{document.schema}", "schema_version": SCHEMA_VERSION, "meta": meta}
    text = json.dumps(_to_json_value(head | {"results": []}), indent=2, ensure_ascii=False, allow_nan=False)
    before, _, _ = text.rpartition("[]")
    rows = [
        "    {\n" + ",\n".join(cells) + "\n    }"
        for cells in zip(*_encode_cells(document, indent=2, margin="      "), strict=True)
    ]
    return _encodable_json(before + ("[\n" + ",\n".join(rows) + "\n  ]" if rows else "[]") + "\n}\n")


def to_jsonl(document: Document) -> str:
    """Render the rows as JSON Lines, one object per row, without provenance."""
    lines = ("{" + ", ".join(cells) + "}\n" for cells in zip(*_encode_cells(document), strict=True))
    return _encodable_json("".join(lines))


def _encodable_json(text: str) -> str:
    """Escape control characters and direction marks in JSON text.

    Raises
    ------
    InputError
        If a name is not valid Unicode, for example a file name in another encoding.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        start = text.rfind("\n", 0, error.start) + 1
        excerpt = text[max(error.start - 40, start) : error.start + 40].partition("\n")[0]
        problem = "JSON cannot contain a name that is not valid Unicode"
        hint = "rename the file in UTF-8, or read it through a pipe: - with " + option("input_format", "csv")
        raise InputError(problem, found=repr(excerpt), hint=hint) from None
    return escape_for_json(text)


def to_csv(document: Document) -> str:
    """Render the rows as CSV, with unrounded numbers, empty fields for null, and JSON for lists and objects.

    Names that a spreadsheet would evaluate as formulas are marked as text; the mark is removed on reading.
    """
    table = document.csv_table()
    if not isinstance(table, dict):
        return table.write_csv()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*map(_csv_fields, table.values()), strict=True))
    return text.getvalue()


def to_parquet(document: Document) -> bytes:
    """Render the rows as a Parquet file."""
    buffer = io.BytesIO()
    document.frame().write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()


def _encode_cells(document: Document, indent: int | None = None, margin: str = "") -> list[list[str]]:
    """Return one list per column, with JSON texts ``"name": value``.

    Column-wise encoding is fast enough for the millions of rows of a portfolio.

    Parameters
    ----------
    document : Document
        Result to render.
    indent : int, optional
        Indentation of nested values; by default, they are on one line.
    margin : str
        Indentation of the texts.
    """
    columns = []
    for name, values in document.stored_columns().items():
        prefix = f"{margin}{encode_basestring(name)}: "
        columns.append([prefix + text for text in _encode_column(values, indent, margin)])
    return columns


def _encode_column(values: list[Any], indent: int | None, margin: str) -> Iterable[str]:
    """Encode the values of a column as JSON texts."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return map(encode_basestring, values)
    if kinds == {float} and all(map(math.isfinite, values)):
        return map(float.__repr__, values)
    encode = json.JSONEncoder(indent=indent, ensure_ascii=False, allow_nan=False).encode
    return (encode(_to_json_value(value)).replace("\n", f"\n{margin}") for value in values)


def _csv_fields(values: list[Any]) -> list[Any]:
    """Convert the values of a column to CSV fields."""
    kinds = set(map(type, values))
    if kinds == {str} or (kinds == {float} and all(map(math.isfinite, values))):
        return values
    fields = []
    for value in map(_to_json_value, values):
        if value is None:
            fields.append("")
        elif isinstance(value, bool | list | dict):
            fields.append(json.dumps(value, ensure_ascii=False))
        else:
            fields.append(repr(value) if isinstance(value, float) else value)
    return fields


def _to_json_value(value: Any) -> Any:
    """Convert NumPy scalars and arrays to Python values, and non-finite numbers to None."""
    if isinstance(value, Mapping):
        return {str(key): _to_json_value(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json_value(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _to_json_value(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
