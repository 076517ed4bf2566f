"""LiveBench's judgments: task and category from the row, else from the folders."""

import pytest

from riskrank.errors import InputError, UsageError
from tests.scores.exports.helpers import assert_long, mean, only_reader_of, read, scores, write_lines


def row(question, score, **more):
    return {"question_id": question, "task": "cta", "model": "A", "score": score, "category": "data"} | more


def test_tasks_and_categories(tmp_path):
    folder = tmp_path / "live_bench"
    path = folder / "data" / "cta" / "model_judgment" / "ground_truth_judgment.jsonl"
    write_lines(path, [row("q", 0), row("r", 0.5), row("s", -1)])
    bare = {"question_id": "q", "model": "A", "score": 1.0, "turn": 1}
    other = folder / "reasoning" / "zebra" / "model_judgment" / "ground_truth_judgment.jsonl"
    write_lines(other, [bare, bare | {"turn": 2, "score": 0.25}])
    assert only_reader_of(path) == only_reader_of(other) == "livebench"
    export = read("livebench", folder)
    assert_long(export)
    assert scores(export, "category") == {
        ("A", "cta/q", "score", "data"): 0.0,
        ("A", "cta/r", "score", "data"): 0.5,
        ("A", "cta/s", "score", "data"): None,
        ("A", "zebra/q", "score", "reasoning"): 1.0,
        ("A", "zebra/q/2", "score", "reasoning"): 0.25,
    }
    assert mean(export, task="cta") == 0.25
    assert export.directions == {"score": "higher"}


def test_a_row_with_turn_one_pairs_with_a_row_without(tmp_path):
    rows = [row("q", 1, turn=1), row("q", 0, model="B")]
    export = read("livebench", write_lines(tmp_path / "j.jsonl", rows))
    assert export.rows["sample"].unique().to_list() == ["cta/q"]
    assert "draw" not in export.rows.columns


def test_what_is_cut_short(tmp_path):
    path = write_lines(tmp_path / "j.jsonl", [row("q", 1)])
    path.write_text(path.read_text() + '{"question_id": "r", "sco')
    with pytest.raises(InputError, match=r"j.jsonl: line 2 is not valid JSON"):
        read("livebench", path)
    export = read("livebench", path, skip_bad=True)
    assert len(export.rows) == 1
    assert any("1 line " in note for note in export.notes)


def test_rules_that_mean_nothing_are_refused(tmp_path):
    path = write_lines(tmp_path / "j.jsonl", [row("q", 1)])
    with pytest.raises(UsageError, match="hold nothing to choose"):
        read("livebench", path, filters=("x",))
