"""Row numbers of several labelled exports."""

from riskrank.scores.table.export_rows import ExportSource
from tests.scores.exports.helpers import read, write_lines


def test_row_numbers_match_the_converted_file(tmp_path):
    row = {
        "schema_version": "0.3.0",
        "evaluation_id": "e",
        "model_id": "org/same",
        "evaluation_name": "parity",
    }
    row |= {"sample_id": "0", "evaluation": {"score": 0.5}}
    for label in "ab":
        write_lines(tmp_path / label / "u_samples.jsonl", [row])
    export = read("auto", *(f"{label}={tmp_path / label}" for label in "ab"))
    lines = export.rows.write_csv().splitlines()
    assert lines[ExportSource("runs", export).row_number(1) - 1].startswith("b,")
