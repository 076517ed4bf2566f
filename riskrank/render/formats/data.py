"""A document as data: JSON with its provenance, or rows alone as JSON lines, CSV and Parquet."""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring
from typing import Any

from riskrank.errors import InputError, option, spell
from riskrank.render.escapes import for_json
from riskrank.studies.document import Document
from riskrank.version import __version__

SCHEMA_VERSION = "1.0"


def to_json(document: Document) -> str:
    """Write the whole document; NaN and infinities become null.

    Parameters in warnings are written as flags, whichever door was used: the document is the contract
    of the command line.
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
        # What is told of names that are no Unicode text shows them; names themselves stay what they are.
        "warnings": [
            spell(warning, flags=True).encode("utf-8", "backslashreplace").decode()
            for warning in origin.warnings
        ],
        **document.described(),
    }
    head = {"schema": f"riskrank/{document.schema}", "schema_version": SCHEMA_VERSION, "meta": meta}
    text = json.dumps(_plain(head | {"results": []}), indent=2, ensure_ascii=False, allow_nan=False)
    before, _, _ = text.rpartition("[]")
    rows = [
        "    {\n" + ",\n".join(cells) + "\n    }"
        for cells in zip(*_named_cells(document, indent=2, margin="      "), strict=True)
    ]
    return _written(before + ("[\n" + ",\n".join(rows) + "\n  ]" if rows else "[]") + "\n}\n")


def to_jsonl(document: Document) -> str:
    """Write one JSON object a row, without provenance."""
    lines = ("{" + ", ".join(cells) + "}\n" for cells in zip(*_named_cells(document), strict=True))
    return _written("".join(lines))


def _written(text: str) -> str:
    """JSON as it is written; a name that is no Unicode text, as files may have, cannot be."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = text[text.rfind("\n", 0, error.start) + 1 : text.find("\n", error.end)]
        at = error.start - text.rfind("\n", 0, error.start) - 1
        around = line[max(at - 40, 0) : at + 40]
        raise InputError(
            "a name is no Unicode text, which JSON cannot hold",
            found=repr(around),
            hint="rename the file in UTF-8, or read it through a pipe: - with "
            + option("input_format", "csv"),
        ) from None
    return for_json(text)


def to_csv(document: Document) -> str:
    """Write rows as CSV: unrounded numbers, empty for null, JSON for lists and objects.

    A name that a spreadsheet would run as a formula is marked as text; reading the file removes the mark.
    """
    table = document.for_csv()
    if not isinstance(table, dict):
        return table.write_csv()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*map(_csv_column, table.values()), strict=True))
    return text.getvalue()


def to_parquet(document: Document) -> bytes:
    """Write rows as Parquet."""
    buffer = io.BytesIO()
    document.frame().write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()


def _named_cells(document: Document, indent: int | None = None, margin: str = "") -> list[list[str]]:
    """Columns of JSON texts ``"name": value``; column by column, as a portfolio may have a million rows."""
    columns = []
    for name, values in document.written().items():
        before = f"{margin}{encode_basestring(name)}: "
        columns.append([before + text for text in _json_column(values, indent, margin)])
    return columns


def _json_column(values: list[Any], indent: int | None, margin: str) -> Iterable[str]:
    kinds = set(map(type, values))
    if kinds == {str}:
        return map(encode_basestring, values)
    if kinds == {float} and all(map(math.isfinite, values)):
        return map(float.__repr__, values)
    texts = (json.dumps(_plain(v), indent=indent, ensure_ascii=False, allow_nan=False) for v in values)
    return (text.replace("\n", f"\n{margin}") for text in texts)


def _csv_column(values: list[Any]) -> list[Any]:
    kinds = set(map(type, values))
    if kinds == {str} or (kinds == {float} and all(map(math.isfinite, values))):
        return values
    return [_csv_cell(_plain(value)) for value in values]


def _plain(value: Any) -> Any:
    """Turn NumPy scalars into Python numbers and what JSON cannot hold into null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _csv_cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return repr(value) if isinstance(value, float) else value
