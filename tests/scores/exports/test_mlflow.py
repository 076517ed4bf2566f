"""MLflow's tables: scores by their names, no model, questions that may occur twice."""

import pytest

from riskrank.errors import InputError
from tests.scores.exports.helpers import assert_long, mean, only_reader_of, read, scores, write_json

COLUMNS = ["inputs", "outputs", "target", "latency", "ease/v1/score", "fit/v1/score", "fit/v1/justification"]
ROWS = [
    ["What?", "a", 3, 1.5, 8, None, "…"],
    ["Why?", "b", 4, 2.5, 6.0, 5, "…"],
    ["What?", "c", 5, 2, 7, 4, "…"],
]


def table(path, columns=COLUMNS, rows=ROWS):
    return write_json(path, {"columns": columns, "data": rows})


def test_scores_by_name(tmp_path):
    path = table(tmp_path / "eval_results_table.json")
    assert only_reader_of(path) == "mlflow"
    export = read("mlflow", f"m={path}")
    assert_long(export)
    assert scores(export) == {
        ("m", "What?", "latency"): 1.5,
        ("m", "Why?", "latency"): 2.5,
        ("m", "What? #2", "latency"): 2.0,
        ("m", "What?", "ease/v1/score"): 8.0,
        ("m", "Why?", "ease/v1/score"): 6.0,
        ("m", "What? #2", "ease/v1/score"): 7.0,
        ("m", "What?", "fit/v1/score"): None,
        ("m", "Why?", "fit/v1/score"): 5.0,
        ("m", "What? #2", "fit/v1/score"): 4.0,
    }
    assert mean(export, metric="fit/v1/score") == 4.5
    assert export.directions == {"latency": "lower"}
    assert any("target" in note for note in export.notes)


def test_directions_of_its_own_metrics(tmp_path):
    told = {"toxicity/v1/score": "lower", "faithfulness/v1/score": "higher", "precision_at_3/score": "higher"}
    names = ["inputs", *told, "token_count", "relevance_of_ours/v1/score", "latency_budget/v1/score"]
    path = table(tmp_path / "t.json", names, [["x", *range(len(names) - 1)]])
    assert read("mlflow", f"m={path}").directions == told


def test_tables_in_another_order_pair_by_their_questions(tmp_path):
    one, other = table(tmp_path / "a.json"), table(tmp_path / "b.json", rows=ROWS[::-1])
    export = read("mlflow", f"a={one}", f"b={other}")
    found = scores(export)
    assert found["a", "Why?", "latency"] == found["b", "Why?", "latency"] == 2.5
    assert export.rows["sample"].n_unique() == 3


def test_rows_without_questions_are_numbered(tmp_path):
    path = table(tmp_path / "t.json", ["exact/value", "note"], [[True, "x"], [False, "y"]])
    export = read("mlflow", f"m={path}")
    assert scores(export) == {("m", "row 1", "exact/value"): 1.0, ("m", "row 2", "exact/value"): 0.0}
    assert any("paired by their number" in note for note in export.notes)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"columns": ["inputs", "latency"], "data": []}, "the table is empty"),
        ({"columns": ["inputs", "latency"], "data": [["a"]]}, "not a table"),
        ({"columns": ["inputs", "target"], "data": [["a", 1]]}, "there is no metric"),
        ("text", "not a table"),
    ],
)
def test_other_tables_are_refused(tmp_path, value, message):
    with pytest.raises(InputError, match=message):
        read("mlflow", f"m={write_json(tmp_path / 't.json', value)}")


def test_a_model_has_to_be_named(tmp_path):
    with pytest.raises(InputError, match="does not say which model"):
        read("mlflow", table(tmp_path / "t.json"))
