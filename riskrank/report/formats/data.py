"""A document as data: JSON with its provenance, or rows alone as JSON lines, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from typing import Any

from riskrank import __version__
from riskrank.errors import spell
from riskrank.studies.document import Document, as_mapping
from riskrank.studies.frames import FrameRows

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
        "inputs": [dict(entry) for entry in origin.inputs],
        "models": list(origin.models),
        "metrics": list(origin.metrics),
        "samples": origin.samples,
        "warnings": [spell(warning, flags=True) for warning in origin.warnings],
        **document.meta(),
    }
    whole = {
        "schema": f"riskrank/{document.schema}",
        "schema_version": SCHEMA_VERSION,
        "meta": meta,
        "results": [as_mapping(row) for row in document.rows],
    }
    return json.dumps(_plain(whole), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_jsonl(document: Document) -> str:
    """Write one JSON object a row, without provenance."""
    return "".join(
        json.dumps(_plain(as_mapping(row)), ensure_ascii=False, allow_nan=False) + "\n"
        for row in document.rows
    )


def to_csv(document: Document) -> str:
    """Write rows as CSV: unrounded numbers, empty for null, JSON for lists and objects."""
    if isinstance(document.rows, FrameRows):
        return document.rows.frame.write_csv()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(document.fields)
    for row in document.rows:
        values = as_mapping(row)
        writer.writerow([_csv_cell(_plain(values[name])) for name in document.fields])
    return text.getvalue()


def to_parquet(document: Document) -> bytes:
    """Write rows as Parquet."""
    import polars

    buffer = io.BytesIO()
    if isinstance(document.rows, FrameRows):
        document.rows.frame.write_parquet(buffer, compression="zstd", statistics=False)
        return buffer.getvalue()
    polars.DataFrame(document.columns()).write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()


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
