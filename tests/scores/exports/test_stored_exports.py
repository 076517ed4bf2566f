"""Stored readings of exports: ``tests/scores/exports/expected_readings``, as in ``tests/stored_messages.py``.

A remark starts an empty folder. A .parquet file is listed by its columns, an .eval file by its members, both
in JSON. The lines below ``read`` are the contents of an export, or the error; those below ``table`` the score
table built from it; those below ``formats`` the formats that recognise a file.
``pytest tests/scores/exports/test_stored_exports.py -n 0 --write-made`` rewrites the answers.
"""

import json
import os
from pathlib import Path

import polars as pl

from riskrank.errors import RiskrankError, spell
from riskrank.scores.exports.registry import READERS, load_reader
from tests import stored_messages as texts
from tests.scores.exports import archives, helpers
from tests.scores.table import test_stored_tables as tables


def describe(export):
    """Yield lines that describe all contents of an export."""
    helpers.assert_long(export)
    yield from export.rows.write_csv().splitlines()
    yield from (f"direction: {metric} {way}" for metric, way in sorted(export.directions.items()))
    yield from (
        f"bounds: {metric} {low:g} to {high:g}" for metric, (low, high) in sorted(export.bounds.items())
    )
    yield from (f"task {task} is judged by: {metric}" for task, metric in export.primary.items())
    yield from ["averages of tasks"] if export.has_task_averages else []
    yield from (f"note: {spell(text, flags=True)}" for text in export.notes)
    yield from (f"rows of {os.path.relpath(entry.path)}: {entry.rows}" for entry in export.inputs)


def read(name, *paths, **rules):
    try:
        return [*describe(helpers.read(name, *paths, **rules))]
    except RiskrankError as error:
        first, *details = error.lines(flags=True)
        return [first.replace("error", type(error).__name__, 1), *details]


def formats(path):
    return [", ".join(name for name in READERS if load_reader(name).recognises(Path(path))) or "none"]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pl.DataFrame(json.loads(text)).write_parquet(path)
    elif path.suffix == ".eval":
        path.write_bytes(archives.archive(json.loads(text)))
    else:
        path.write_text(text, "utf-8")


@texts.files_of(__file__, "expected_readings")
def test_exports_match_the_stored_ones(tmp_path_factory, monkeypatch, update_stored, stored):
    def answer(sign, text, lines):
        if sign == "# ":
            monkeypatch.chdir(tmp_path_factory.mktemp(stored.stem))
        return (
            eval(text, {"read": read, "table": tables.read, "formats": formats}) if sign == ">>> " else lines
        )

    texts.compare(stored, update_stored, answer, write)
