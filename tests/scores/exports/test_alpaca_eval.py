"""AlpacaEval's annotations: a preference of 1 to 2 is the model's probability to win, from 0 to 1."""

import pytest

from riskrank.errors import InputError, UsageError
from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores, write_json


def annotation(instruction, preference, model="M", annotator="judge", reference="R"):
    return {
        "dataset": "helpful_base",
        "instruction": instruction,
        "output_1": "…",
        "generator_1": reference,
        "output_2": "…",
        "generator_2": model,
        "annotator": annotator,
        "preference": preference,
    }


def test_preferences_are_probabilities_to_win(tmp_path):
    one = write_json(tmp_path / "m.annotations.json", [annotation("a", 1.25), annotation("b", 2)])
    write_json(tmp_path / "n.annotations.json", [annotation("a", 1.0, "N"), annotation("b", 1.5, "N")])
    assert only_reader_of(one) == "alpaca-eval"
    export = read("alpaca-eval", tmp_path)
    assert_long(export)
    assert scores(export) == {
        ("M", "a", "win_rate"): 0.25,
        ("M", "b", "win_rate"): 1.0,
        ("N", "a", "win_rate"): 0.0,
        ("N", "b", "win_rate"): 0.5,
    }
    assert export.directions == {"win_rate": "higher"}
    assert [entry.rows for entry in export.inputs] == [2, 2]
    assert export.rows["reference"].unique().to_list() == ["R"]


def test_old_draws_are_zero_and_null_is_no_score(tmp_path):
    path = write_json(tmp_path / "a.json", [annotation("a", 0), annotation("b", None), annotation("c", "2")])
    export = read("alpaca-eval", path)
    assert scores(export) == {("M", "a", "win_rate"): 0.5, ("M", "b", "win_rate"): None}
    assert any("without a score: 1" in note for note in export.notes)
    assert any("text" in note and note.endswith("1") for note in export.notes)


@pytest.mark.parametrize("preference", [0.5, 2.5, -1])
def test_another_preference_is_refused(tmp_path, preference):
    path = write_json(tmp_path / "a.json", [annotation("a", 1), annotation("b", preference)])
    with pytest.raises(InputError, match=r"a.json: entry 2 has a preference outside 1 to 2"):
        read("alpaca-eval", path)


def test_of_several_annotators_or_references_one_is_asked_for(tmp_path):
    rows = [annotation("a", 1.25), annotation("a", 1.75, annotator="other")]
    path = write_json(tmp_path / "a.json", rows)
    with pytest.raises(UsageError, match="several annotators"):
        read("alpaca-eval", path)
    assert scores(read("alpaca-eval", path, filters=("other",))) == {("M", "a", "win_rate"): 0.75}
    both = read("alpaca-eval", path, filters=("*",))
    assert scores(both) == {("M", "a", "win_rate,judge"): 0.25, ("M", "a", "win_rate,other"): 0.75}
    assert both.directions == {"win_rate,judge": "higher", "win_rate,other": "higher"}
    with pytest.raises(UsageError, match='did you mean filter="other"'):
        read("alpaca-eval", path, filters=("othre",))
    other = write_json(tmp_path / "b.json", [annotation("a", 1.5, reference="S")])
    with pytest.raises(UsageError, match="several references"):
        read("alpaca-eval", path, other, filters=("judge",))


def test_the_same_instruction_twice_is_a_repeat(tmp_path):
    path = write_json(tmp_path / "a.json", [annotation("a", 1.25), annotation("a", 1.5)])
    found = scores(read("alpaca-eval", path, path), "draw")
    assert found == {("M", "a", "win_rate", "1"): 0.25, ("M", "a", "win_rate", "2"): 0.5}


def test_a_label_names_the_model(tmp_path):
    path = write_json(tmp_path / "a.json", [annotation("a", 1.25)])
    assert read("alpaca-eval", f"mine={path}").rows["model"].to_list() == ["mine"]
