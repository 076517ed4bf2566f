"""Results as data: valid JSON without rounding."""

import csv
import io
import json
from dataclasses import make_dataclass, replace

import numpy as np
import polars as pl
import pytest

from riskrank.render.formats.data import to_csv, to_json, to_jsonl, to_parquet
from riskrank.scores.layouts.layout import FOLDERS, SECTION, WarningText
from riskrank.studies.document import Document, Provenance


def result(row, *, kind="rank", entries=None):
    """Return a document with one arbitrary row."""
    provenance = Provenance(
        command="rank",
        seed=0,
        resamples=None,
        settings={"alpha": np.float64(0.05)},
        inputs=[{"path": "a.csv"}],
        models=("A",),
        metrics=("m",),
        samples=3,
        warnings=(),
    )

    class Found(Document):
        schema = kind
        row_type = make_dataclass("Row", list(row))

        def meta(self):
            return entries or {}

    return Found(provenance=provenance, rows=[Found.row_type(**row)])


ROW = {
    "nan": float("nan"),
    "infinite": np.float64("-inf"),
    "third": 1 / 3,
    "numpy": np.float64(0.1),
    "array": np.array([1.5, np.nan]),
    "count": np.int64(3),
    "yes": np.True_,
    "none": None,
    "name": 'modèle "x", y',
    "u": {"a": 0.1, "b": (1, 2)},
}
PLAIN = ROW | {"nan": None, "infinite": None, "numpy": 0.1, "array": [1.5, None], "count": 3, "yes": True}
PLAIN |= {"u": {"a": 0.1, "b": [1, 2]}}


def test_json():
    document = json.loads(to_json(result(ROW)), parse_constant=pytest.fail)
    assert document["results"] == [PLAIN]
    assert document["schema"] == "riskrank/rank"
    assert document["meta"]["settings"] == {"alpha": 0.05}


def test_json_lines():
    assert [json.loads(line) for line in to_jsonl(result(ROW)).splitlines()] == [PLAIN]


def test_csv():
    (row,) = csv.DictReader(io.StringIO(to_csv(result(ROW))))
    assert row["nan"] == row["infinite"] == row["none"] == ""
    assert float(row["third"]) == 1 / 3
    assert row["yes"] == "true"
    assert row["name"] == ROW["name"]
    assert json.loads(row["u"]) == PLAIN["u"]
    assert json.loads(row["array"]) == PLAIN["array"]


def test_schema_and_extra_entries():
    document = json.loads(to_json(result(ROW, kind="copa-sweep", entries={"hasse": [(0, 1)]})))
    assert document["schema"] == "riskrank/copa-sweep"
    assert document["meta"]["command"] == "rank"
    assert document["meta"]["hasse"] == [[0, 1]]


def test_json_is_indented_as_the_library_does():
    """Rows are written column by column, and the text must equal that of the json module."""
    text = to_json(result(ROW | {"empty": [], "nothing": {}, "nested": [{"a": ["x\ny"]}]}))
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"


def test_no_rows():
    document = replace(result(ROW), rows=[])
    text = to_json(document)
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
    assert json.loads(text)["results"] == []
    assert to_jsonl(document) == ""
    assert to_csv(document) == ",".join(ROW) + "\n"


def test_parquet_keeps_types():
    row = {"model": "A", "n": 3, "score": 0.1, "yes": True}
    assert pl.read_parquet(to_parquet(result(row))).to_dicts() == [row]


def test_the_most_severe_warning_comes_first():
    warnings = [
        WarningText("x/: folders name the models and files the tasks", FOLDERS),
        WarningText("part Other methods: P(EC) is left out", SECTION),
        "only 16 samples",
        "dropped 1 of 20 samples",
    ]
    origin = replace(result(ROW).provenance, warnings=warnings)
    assert origin.ordered_warnings == warnings[::-1]
