"""Helpers that write and read small exports of other tools."""

import json
from pathlib import Path

import polars as pl
import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.reader import Export
from riskrank.scores.exports.registry import READERS, load_reader, read_export


def write_json(path: Path, value) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path: Path, records) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def read(name: str, *paths, **rules) -> Export:
    return read_export(name, [str(path) for path in paths], ReadOptions(from_="auto", **rules))


def scores(export: Export, *columns: str) -> dict:
    """Map (model, sample, metric) and further columns to the score, without repeated keys."""
    keys = ["model", "sample", "metric", *columns]
    rows = export.rows.select(*keys, "score").rows()
    result = {row[:-1]: row[-1] for row in rows}
    assert len(result) == len(rows)
    return result


def only_reader_of(path: Path) -> str:
    """Return the only format whose reader recognises a file."""
    matches = [name for name in READERS if load_reader(name).recognises(path)]
    assert len(matches) == 1, matches
    return matches[0]


def assert_long(export: Export) -> None:
    """Check the columns, types and directions of an export."""
    assert export.rows.columns[:4] == ["model", "sample", "metric", "score"]
    for name, dtype in export.rows.schema.items():
        assert dtype == (pl.Float64 if name == "score" else pl.String), name
    assert set(export.directions) <= set(export.rows["metric"])


def assert_refused_or_skipped(name: str, bad: Path, *paths, match: str | None = None) -> Export:
    """Assert that an unreadable file is refused by name, or skipped with a note; the others stay."""
    with pytest.raises(InputError, match=match) as error:
        read(name, *paths)
    assert bad.name in error.value.problem
    export = read(name, *paths, skip_bad=True)
    assert any(bad.name in note for note in export.notes)
    return export
