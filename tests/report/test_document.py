"""Results as data: nothing JSON cannot hold, nothing rounded."""

import csv
import io
import json

import numpy as np
import pytest

from riskrank.report.document import Provenance, Result
from riskrank.report.formats.data import to_csv, to_json, to_jsonl


def result(row, **extra):
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
        **extra,
    )
    return Result(provenance=provenance, fields=tuple(row), rows=[row], view=())


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
PLAIN = {
    "nan": None,
    "infinite": None,
    "third": 1 / 3,
    "numpy": 0.1,
    "array": [1.5, None],
    "count": 3,
    "yes": True,
    "none": None,
    "name": 'modèle "x", y',
    "u": {"a": 0.1, "b": [1, 2]},
}


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
    document = json.loads(to_json(result(ROW, schema="copa-sweep", extra={"hasse": [(0, 1)]})))
    assert document["schema"] == "riskrank/copa-sweep"
    assert document["meta"]["command"] == "rank"
    assert document["meta"]["hasse"] == [[0, 1]]
