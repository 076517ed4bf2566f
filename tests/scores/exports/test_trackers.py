"""Tables of Braintrust, LangSmith, Phoenix and Langfuse: scores told from bookkeeping by their columns."""

import csv

import pytest

from riskrank.errors import InputError
from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores, write_json, write_lines


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def langsmith(correct=1, error=None, example="0012"):
    row = {"inputs.question": "q", "outputs.answer": "x", "error": error, "feedback.correct": correct}
    return row | {"feedback.tone": "warm", "execution_time": 1.5, "example_id": example, "id": "r"}


def phoenix(score=1.0, error=None, failed=None, example="e1"):
    row = {
        "example_id": example,
        "repetition_number": 1,
        "input": "q",
        "reference_output": "y",
        "output": "x",
    }
    row |= {"error": error, "latency_ms": 900.5, "prompt_token_count": 12}
    return row | {"annotation_right_score": score, "annotation_right_error": failed}


def phoenix_json(score=1.0, error=None, failed=None, example="e1"):
    row = {name: value for name, value in phoenix(None, error, None, example).items() if "right" not in name}
    return row | {"annotations": [{"name": "right", "score": score, "error": failed, "label": "yes"}]}


def braintrust(score=1.0, error=None, example="e1"):
    row = {"id": "1", "span_id": example, "root_span_id": example, "is_root": True, "input": {"q": example}}
    return row | {"scores": {"Facts": score}, "error": error, "metrics": {"tokens": 100, "start": 1.0}}


def langfuse(value=1, kind="NUMERIC", trace="t1", **more):
    row = {"id": "s", "traceId": trace, "observationId": "", "timestamp": "2026-01-01", "name": "right"}
    return row | {"dataType": kind, "value": value, "stringValue": ""} | more


CASES = {
    "langsmith": ([langsmith(), langsmith("", "Timeout", "0013")], "0012", "0013", "correct"),
    "phoenix": ([phoenix(), phoenix("", failed="no judge", example="e2")], "e1", "e2", "right"),
    "phoenix.json": ([phoenix_json(), phoenix_json(None, "boom", example="e2")], "e1", "e2", "right"),
    "braintrust.json": ([braintrust(), braintrust(None, "x", "e2")], '{"q": "e1"}', '{"q": "e2"}', "Facts"),
    "braintrust.jsonl": ([braintrust(), braintrust(None, "x", "e2")], '{"q": "e1"}', '{"q": "e2"}', "Facts"),
}


@pytest.mark.parametrize("case", CASES)
def test_scores_and_errors(tmp_path, case):
    rows, sample, failed, metric = CASES[case]
    name, _, kind = case.partition(".")
    write = {"": write_csv, "json": write_json, "jsonl": write_lines}[kind]
    path = write(tmp_path / f"a.{kind or 'csv'}", rows)
    assert only_reader_of(path) == name
    export = read(name, path, write(tmp_path / f"b.{kind or 'csv'}", rows[:1]))
    assert_long(export)
    assert scores(export, "unscored") == {
        ("a", sample, metric, None): 1.0,
        ("a", failed, metric, "error"): None,
        ("b", sample, metric, None): 1.0,
    }
    with pytest.raises(InputError, match="does not say which model"):
        read(name, path)


def test_what_is_no_quality_counts_where_somebody_asks(tmp_path):
    path = write_csv(tmp_path / "a.csv", [phoenix()])
    plain = read("phoenix", f"m={path}")
    assert any("left out: latency_ms, prompt_token_count;" in note for note in plain.notes)
    assert {key[2] for key in scores(plain)} == {"right"}
    export = read("phoenix", f"m={path}", metrics=("right", "latency_ms"))
    assert scores(export)["m", "e1", "latency_ms"] == 900.5
    assert export.directions == {"latency_ms": "lower"}


def test_spans_within_a_case_are_no_cases(tmp_path):
    span = braintrust(0.0) | {"span_id": "inner", "is_root": False}
    export = read("braintrust", f"m={write_json(tmp_path / 'a.json', [braintrust(), span])}")
    assert scores(export) == {("m", '{"q": "e1"}', "Facts"): 1.0}
    assert "spans within a case, left out: 1" in export.notes
    assert (export.directions, export.bounds) == ({"Facts": "higher"}, {"Facts": (0.0, 1.0)})


@pytest.mark.parametrize("snake", [False, True])
def test_scores_of_langfuse(tmp_path, snake):
    rows = [
        langfuse(0.5),
        langfuse(1, "BOOLEAN", "t2", observationId="o", name="ok"),
        langfuse(0, "CATEGORICAL", "t2", stringValue="warm"),
        langfuse(1, trace=""),
    ]
    if snake:
        spelled = {"traceId": "trace_id", "observationId": "observation_id"}
        spelled |= {"dataType": "data_type", "stringValue": "string_value"}
        rows = [{spelled.get(name, name): value for name, value in row.items()} for row in rows]
    path = write_csv(tmp_path / "a.csv", rows)
    assert only_reader_of(path) == "langfuse"
    export = read("langfuse", f"m={path}")
    assert scores(export) == {("m", "t1", "right"): 0.5, ("m", "t2/o", "ok"): 1.0}
    assert export.bounds == {"ok": (0.0, 1.0)}
    assert "scores of sessions and of whole runs, left out: 1" in export.notes
    assert any("text, not scores" in note for note in export.notes)


def test_a_table_without_scores_is_refused(tmp_path):
    path = write_json(tmp_path / "a.json", [braintrust() | {"scores": {}}])
    with pytest.raises(InputError, match="there is no metric"):
        read("braintrust", f"m={path}")
