"""OpenAI Evals' logs: match and metrics events are scores, wherever the spec stands."""

import pytest

from riskrank.errors import InputError
from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores, write_lines

SPEC = {"spec": {"completion_fns": ["gpt-x"], "eval_name": "sums.dev.v0", "run_id": "1"}}
REPORT = {"final_report": {"accuracy": 0.5}}


def event(sample, kind, **data):
    return {"run_id": "1", "event_id": 0, "sample_id": sample, "type": kind, "data": data}


def test_matches_and_metrics(tmp_path):
    events = [
        REPORT,
        event("s.1", "sampling", prompt="…"),
        event("s.1", "match", correct=True, expected="2", picked="2"),
        event("s.2", "match", correct=False, expected="2", picked=None),
        event("s.2", "metrics", f1=0.25, choice="Y", exact=False),
        event("s.3", "sampling", prompt="…"),
        SPEC,
    ]
    path = write_lines(tmp_path / "log.jsonl", events)
    assert only_reader_of(path) == "openai-evals"
    assert only_reader_of(write_lines(tmp_path / "spec_first.jsonl", [SPEC, *events])) == "openai-evals"
    export = read("openai-evals", path)
    assert_long(export)
    assert scores(export) == {
        ("gpt-x", "s.1", "correct"): 1.0,
        ("gpt-x", "s.2", "correct"): 0.0,
        ("gpt-x", "s.3", "correct"): None,
        ("gpt-x", "s.1", "f1"): None,
        ("gpt-x", "s.2", "f1"): 0.25,
        ("gpt-x", "s.3", "f1"): None,
        ("gpt-x", "s.1", "exact"): None,
        ("gpt-x", "s.2", "exact"): 0.0,
        ("gpt-x", "s.3", "exact"): None,
    }
    assert export.directions == {"correct": "higher"}
    assert any("choice" in note and "text" in note for note in export.notes)
    assert export.rows["task"].unique().to_list() == ["sums.dev.v0"]


def test_a_run_without_a_report_was_not_finished(tmp_path):
    export = read(
        "openai-evals", write_lines(tmp_path / "l.jsonl", [SPEC, event("1", "match", correct=True)])
    )
    assert any("was not finished" in note for note in export.notes)


def test_old_names_of_the_model_and_none(tmp_path):
    matched = event("1", "match", correct=True)
    old = {"spec": {"model_names": {"completions": ["davinci"]}, "eval_name": "e"}}
    export = read("openai-evals", write_lines(tmp_path / "l.jsonl", [old, matched]))
    assert export.rows["model"].to_list() == ["davinci"]
    path = write_lines(tmp_path / "n.jsonl", [matched, REPORT])
    with pytest.raises(InputError, match="does not say which model"):
        read("openai-evals", path)


def test_two_runs_are_repeats(tmp_path):
    for name, right in (("a", True), ("b", False)):
        write_lines(tmp_path / f"{name}.jsonl", [SPEC, event("1", "match", correct=right), REPORT])
    found = scores(read("openai-evals", tmp_path), "draw")
    assert found == {("gpt-x", "1", "correct", "1"): 1.0, ("gpt-x", "1", "correct", "2"): 0.0}


def test_no_event_is_a_score(tmp_path):
    path = write_lines(tmp_path / "l.jsonl", [SPEC, event("1", "sampling"), REPORT])
    with pytest.raises(InputError, match="no scores in it"):
        read("openai-evals", path)
    bad = write_lines(tmp_path / "b.jsonl", [SPEC, event("1", "match") | {"data": [1]}])
    with pytest.raises(InputError, match="line 2, data is not an object"):
        read("openai-evals", bad)
