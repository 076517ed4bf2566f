"""Ragas' tables: the sample's fields are no metrics, an empty cell is no score."""

import polars as pl
import pytest

from riskrank.errors import InputError
from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores

FRAME = pl.DataFrame(
    {
        "": [0, 1, 2],
        "user_input": ["Who?\nAnd why?", "When?", "Where?"],
        "retrieved_contexts": ["['a, b']", "['']", "[]"],
        "response": ["x", "1999", "z"],
        "reference": [1998, 1999, 2000],
        "faithfulness": [0.5, None, 1.0],
        "noise_sensitivity(mode=relevant)": [0.25, 0.0, 0.5],
        "context_recall": [None, None, None],
        "my_critic": [1, 0, 1],
        "remark": ["fine", None, "wrong"],
    }
)


def test_metrics_of_a_table(tmp_path):
    path = tmp_path / "result.csv"
    FRAME.write_csv(path)
    assert only_reader_of(path) == "ragas"
    export = read("ragas", f"m={path}")
    assert_long(export)
    noise = "noise_sensitivity(mode=relevant)"
    assert scores(export) == {
        ("m", "Who? And why?", "faithfulness"): 0.5,
        ("m", "When?", "faithfulness"): None,
        ("m", "Where?", "faithfulness"): 1.0,
        ("m", "Who? And why?", noise): 0.25,
        ("m", "When?", noise): 0.0,
        ("m", "Where?", noise): 0.5,
        ("m", "Who? And why?", "my_critic"): 1.0,
        ("m", "When?", "my_critic"): 0.0,
        ("m", "Where?", "my_critic"): 1.0,
    }
    assert export.directions == {"faithfulness": "higher", noise: "lower"}
    assert any("context_recall: no sample has a score" in note for note in export.notes)


def test_names_of_older_versions(tmp_path):
    path = tmp_path / "result.csv"
    old = {"user_input": "question", "response": "answer", "reference": "ground_truth"}
    FRAME.rename(old).write_csv(path)
    assert only_reader_of(path) == "ragas"
    assert ("m", "When?", "my_critic") in scores(read("ragas", f"m={path}"))


def test_no_rows_no_metrics_no_model(tmp_path):
    path = tmp_path / "result.csv"
    FRAME.head(0).write_csv(path)
    with pytest.raises(InputError, match=r"result.csv: the file is empty"):
        read("ragas", f"m={path}")
    FRAME.select("user_input", "response").write_csv(path)
    with pytest.raises(InputError, match="there is no metric"):
        read("ragas", f"m={path}")
    FRAME.write_csv(path)
    with pytest.raises(InputError, match="does not say which model"):
        read("ragas", path)
