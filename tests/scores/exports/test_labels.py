"""Several exports under labels of their own become one table."""

import json

import pytest

from riskrank.scores.exports.export_source import ExportSource
from tests.scores.exports.helpers import read, scores


@pytest.fixture
def logs(tmp_path):
    """Write one run a label; whether its metric is better low; returns LABEL=PATH for each."""

    def make(**lower):
        found = []
        for label, down in lower.items():
            folder = tmp_path / label
            folder.mkdir()
            row = {
                "schema_version": "0.3.0",
                "evaluation_id": "e",
                "model_id": "org/same",
                "evaluation_name": "parity",
                "sample_id": "0",
                "evaluation": {"score": 0.5},
            }
            (folder / "u_samples.jsonl").write_text(json.dumps(row) + "\n")
            result = {"evaluation_name": "parity", "metric_config": {"lower_is_better": down}}
            result["score_details"] = {"score": 0.5}
            (folder / "u.json").write_text(json.dumps({"evaluation_results": [result]}))
            found.append(f"{label}={folder}")
        return found

    return make


@pytest.mark.parametrize(
    ("lower", "directions"),
    [
        ({"a": True, "b": True}, {"parity": "lower"}),
        ({"a": False, "b": False, "c": False}, {"parity": "higher"}),
        ({"a": True, "b": False}, {}),
        ({"a": True, "b": False, "c": True}, {}),
    ],
)
def test_directions_count_where_all_say_the_same(logs, lower, directions):
    export = read("auto", *logs(**lower))
    assert export.directions == directions
    assert set(scores(export)) == {(label, "parity/0", "parity") for label in lower}


def test_rows_are_numbered_as_in_the_file_that_is_converted_to(logs):
    export = read("auto", *logs(a=True, b=True))
    source = ExportSource("runs", export)
    lines = export.rows.write_csv().splitlines()
    assert lines[source.row_number(1) - 1].startswith("b,")
