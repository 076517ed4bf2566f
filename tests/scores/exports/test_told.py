"""What exports are read as: ``tests/scores/exports/told``, in the signs of ``tests/told.py``.

A remark begins an empty folder. A file in .parquet stands there by its columns, one in .eval by its members,
both in JSON. Below ``read`` stands all that an export holds, or the error; below ``table`` what a score table
made of it holds; below ``formats`` what recognises a file.
``pytest tests/scores/exports/test_told.py -n 0 --write-made`` writes the answers anew.
"""

import json
import os
from pathlib import Path

import polars as pl

from riskrank.errors import RiskrankError, spell
from riskrank.scores.exports.registry import READERS, load_reader
from tests import stored_messages as texts
from tests.scores.exports import archives, helpers
from tests.scores.table import test_told as tables


def described(export):
    """Lines that say all that an export holds."""
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
        return [*described(helpers.read(name, *paths, **rules))]
    except RiskrankError as error:
        first, *others = error.lines(flags=True)
        return [first.replace("error", type(error).__name__, 1), *others]


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


@texts.files_of(__file__, "told")
def test_what_is_read_is_told_as_before(tmp_path_factory, monkeypatch, write_made, told):
    def answer(sign, text, lines):
        if sign == "# ":
            monkeypatch.chdir(tmp_path_factory.mktemp(told.stem))
        return (
            eval(text, {"read": read, "table": tables.read, "formats": formats}) if sign == ">>> " else lines
        )

    texts.compare(told, write_made, answer, write)
