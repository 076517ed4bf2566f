"""Small exports imitating what tools write."""

import json
from pathlib import Path

import polars as pl
import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.exports.interface import Export
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
    """Map (model, sample, metric) and further columns to the score; every key once."""
    keys = ["model", "sample", "metric", *columns]
    rows = export.rows.select(*keys, "score").rows()
    found = {row[:-1]: row[-1] for row in rows}
    assert len(found) == len(rows)
    return found


def only_reader_of(path: Path) -> str:
    """The one format whose reader recognises a file."""
    fitting = [name for name in READERS if load_reader(name).recognises(path)]
    assert len(fitting) == 1, fitting
    return fitting[0]


def assert_long(export: Export) -> None:
    """Check what every export promises about its rows."""
    assert export.rows.columns[:4] == ["model", "sample", "metric", "score"]
    for name, dtype in export.rows.schema.items():
        assert dtype == (pl.Float64 if name == "score" else pl.String), name
    assert set(export.directions) <= set(export.rows["metric"])


def assert_named_or_left_out(name: str, bad: Path, *given, match: str | None = None) -> Export:
    """A file that cannot be read is refused by its name, or left out and noted; the others stay."""
    with pytest.raises(InputError, match=match) as error:
        read(name, *given)
    assert bad.name in error.value.what
    export = read(name, *given, skip_bad=True)
    assert any(bad.name in note for note in export.notes)
    return export
