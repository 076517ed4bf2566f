"""The result as data: one JSON document with its provenance, or rows as JSON lines and CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from riskrank import __version__

SCHEMA_VERSION = "1.0"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Everything needed to make a result again.

    Attributes
    ----------
    command : str
        Name of the command; also names the schema unless ``schema`` does.
    seed, resamples : int or None
        None where nothing random was done.
    settings : mapping
        Options that decide the result; not those that only speed or show it.
    inputs : sequence of mapping
        ``path``, ``sha256`` and ``rows`` of each file.
    models, metrics : sequence of str
    samples : int
        Number of distinct samples.
    warnings : sequence of str
    extra : mapping
        Further entries of ``meta``.
    """

    command: str
    seed: int | None
    resamples: int | None
    settings: Mapping[str, Any]
    inputs: Sequence[Mapping[str, Any]]
    models: Sequence[str]
    metrics: Sequence[Mapping[str, Any]] | Sequence[str]
    samples: int
    warnings: Sequence[str]
    schema: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a command found, in the forms every output format needs.

    Attributes
    ----------
    provenance : Provenance
    fields : sequence of str
        Columns of the CSV, in order; every row has them.
    rows : sequence of mapping
    view : sequence of Section
        Tables and lines for people.
    """

    provenance: Provenance
    fields: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    view: Sequence[Any]


def to_json(result: Result) -> str:
    """Write the whole document; NaN and infinities become null."""
    origin = result.provenance
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
        "warnings": list(origin.warnings),
        **origin.extra,
    }
    document = {
        "schema": f"riskrank/{origin.schema or origin.command}",
        "schema_version": SCHEMA_VERSION,
        "meta": meta,
        "results": [dict(row) for row in result.rows],
    }
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_jsonl(result: Result) -> str:
    """Write one JSON object a row, without provenance."""
    return "".join(
        json.dumps(_plain(dict(row)), ensure_ascii=False, allow_nan=False) + "\n" for row in result.rows
    )


def to_csv(result: Result) -> str:
    """Write rows as CSV: unrounded numbers, empty for null, JSON for lists and objects."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(result.fields)
    for row in result.rows:
        writer.writerow([_csv_cell(_plain(row[name])) for name in result.fields])
    return text.getvalue()


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
