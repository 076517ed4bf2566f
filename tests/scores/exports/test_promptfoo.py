"""Results of promptfoo: columns are prompts with providers, repeats are draws, errors count 0."""

import json

import pytest

from riskrank.errors import InputError, UsageError
from tests.scores.exports.helpers import assert_named_or_left_out
from tests.scores.exports.helpers import read as read_any


def row(
    test,
    column,
    provider="good",
    prompt="Q: {{q}}",
    place=None,
    reason=0,
    score=1.0,
    description=None,
    **named,
):
    return {
        "testIdx": test if place is None else place,
        "promptIdx": column,
        "provider": {"id": f"exec:{provider}", "label": provider},
        "prompt": {"raw": f"Q: {test}", "label": prompt},
        "vars": {"q": f"question {test}", "n": test},
        "testCase": {"vars": {}, "description": description, "assert": [{"type": "icontains"}]},
        "success": score == 1,
        "score": score,
        "namedScores": named,
        "failureReason": reason,
        "gradingResult": None if reason == 2 else {},
        "error": "no" if reason else None,
    }


@pytest.fixture
def write(tmp_path):
    def to_file(rows, name="results.json"):
        path = tmp_path / name
        if name.endswith("l"):
            path.write_text("\n".join(map(json.dumps, rows)))
        else:
            document = {
                "evalId": "e",
                "results": {"version": 3, "prompts": [], "results": rows},
                "config": {},
            }
            path.write_text(json.dumps(document))
        return path

    return to_file


def read(*paths, name="promptfoo", **rules):
    return read_any(name, *paths, **rules)


def cells(export):
    frame = export.rows
    draws = frame["draw"] if "draw" in frame.columns else ["1"] * frame.height
    keys = zip(frame["model"], frame["sample"], frame["metric"], draws, strict=True)
    return dict(zip(keys, frame["score"], strict=True))


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
def test_scores_successes_and_named_scores(write, name):
    rows = [row(0, 0, correct=1), row(0, 1, "bad", score=0.4, correct=0)]
    export = read(write(rows, name), name="auto")
    sample = "n=0, q=question 0"
    assert cells(export) == {
        ("good", sample, "score", "1"): 1.0,
        ("good", sample, "success", "1"): 1.0,
        ("good", sample, "correct", "1"): 1.0,
        ("bad", sample, "score", "1"): 0.4,
        ("bad", sample, "success", "1"): 0.0,
        ("bad", sample, "correct", "1"): 0.0,
    }
    assert export.directions == {"score": "higher", "success": "higher"}


def test_repeats_have_numbers_of_their_own(write):
    rows = [row(test, 0, place=2 * test + again, score=0.1 * again) for test in (0, 1) for again in (0, 1)]
    export = read(write(rows))
    assert export.rows["sample"].n_unique() == 2
    scores = export.rows.filter(export.rows["metric"] == "score")
    assert scores["draw"].to_list() == ["1", "2", "1", "2"]


def test_rows_that_ended_in_an_error_count_0_and_lack_named_scores(write):
    rows = [
        row(0, 0, correct=1),
        row(0, 1, "bad", reason=2, score=0),
        row(1, 1, "bad", reason=1, score=0, correct=0),
    ]
    export = read(write(rows))
    found = cells(export)
    assert found["bad", "n=0, q=question 0", "score", "1"] == 0.0
    assert found["bad", "n=0, q=question 0", "correct", "1"] is None
    assert found["bad", "n=1, q=question 1", "correct", "1"] == 0.0
    assert "ended in an error" in export.notes[0]
    assert export.notes[0].endswith(": 1")


def test_named_scores_of_some_tests_only(write):
    export = read(write([row(0, 0, exact=1), row(1, 0, correct=1)]))
    assert sum(export.rows["metric"] == "exact") == 1
    assert export.notes == ()


def test_several_prompts_are_asked_for(write):
    path = write([row(0, 0), row(0, 1, prompt="Short: {{q}}", score=0.5)])
    with pytest.raises(UsageError, match="several prompts") as error:
        read(path)
    assert "--filter 'Q: {{q}}'" in error.value.lines(flags=True)[2]
    assert set(read(path, filters=("Short: {{q}}",)).rows["score"]) == {0.5, 0.0}
    assert set(read(path, filters=("*",)).rows["model"]) == {"good [Q: {{q}}]", "good [Short: {{q}}]"}


def test_two_columns_of_one_name_stay_two(write):
    assert set(read(write([row(0, 0), row(0, 1), row(1, 1)])).rows["model"]) == {"good", "good #2"}


def test_tests_are_called_by_their_description_if_it_tells_them_apart(write):
    rows = [row(0, 0, description="first"), row(1, 0, description="same"), row(2, 0, description="same")]
    names = set(read(write(rows)).rows["sample"])
    assert names == {"first", "n=1, q=question 1", "n=2, q=question 2"}


def test_tests_that_differ_in_their_assertions_only(write):
    other = row(0, 0)
    other["testCase"]["assert"] = [{"type": "equals"}]
    assert set(read(write([row(0, 0), other])).rows["sample"]) == {
        "n=0, q=question 0",
        "n=0, q=question 0 #2",
    }


def test_long_variables_get_short_names_that_stay_apart(write):
    rows = [row(0, 0), row(1, 0)]
    for place, entry in enumerate(rows):
        entry["vars"] = {"q": "long " * 1000 + str(place)}
    names = read(write(rows)).rows["sample"].unique()
    assert names.len() == 2
    assert max(map(len, names)) < 100


def test_an_error_of_older_versions(write):
    old = row(0, 0, reason=2, score=0)
    del old["failureReason"], old["testIdx"], old["promptIdx"]
    assert "ended in an error" in read(write([old])).notes[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"evalId": 1}',
        '{"results": {"results": []}}',
        '{"results": {"results": [{"score": 1}]}}',
    ],
)
def test_results_that_are_none_are_named_or_left_out(write, tmp_path, text):
    bad, good = tmp_path / "bad.json", write([row(0, 0)])
    bad.write_text(text)
    assert assert_named_or_left_out("promptfoo", bad, bad, good).rows.height == 2


TABLE = "q,[good] Q: {{q}},Status,Score,Named Scores,Grader Reason,Comment\nx,an answer,PASS,1.00,{},,\n"


def evaluation(seed=0, ids=True):
    """Rows of two providers on six tests."""
    rows = []
    for test in range(6):
        for column, provider in enumerate(("good", "bad")):
            score = ((test * 5 + column * 7 + seed * 3) % 11) / 7 % 1
            entry = row(test, column, provider, score=score)
            rows.append(entry | ({"id": f"{seed}-{test}-{column}"} if ids else {}))
    return rows


@pytest.mark.parametrize("ids", [True, False])
def test_a_run_in_several_formats_is_read_once(write, tmp_path, ids):
    rows = evaluation(ids=ids)
    whole = write(rows)
    alone = read(whole)
    lines = write(rows[::-1], "results.jsonl")
    table = tmp_path / "results.csv"
    table.write_text(TABLE)
    export = read(tmp_path, name="auto")
    assert cells(export) == cells(alone)
    assert set(export.notes) == {
        f"{lines}: left out, as it holds the run of {whole} once more",
        f"{table}: left out, promptfoo's CSV cuts scores to two decimals",
    }
    assert [entry.path for entry in export.inputs] == [str(whole)]


@pytest.mark.parametrize("name", ["promptfoo", "auto"])
def test_a_table_alone_is_asked_for_as_json(tmp_path, name):
    table = tmp_path / "results.csv"
    table.write_text(TABLE)
    with pytest.raises(InputError) as error:
        read(table, name=name)
    assert error.value.hint == "give the JSON: promptfoo eval --output results.json"


def test_other_runs_of_the_same_tests_are_repeats_and_told(write, tmp_path):
    write(evaluation(), "one.json")
    write(evaluation(1), "two.jsonl")
    export = read(tmp_path)
    assert set(export.rows["draw"]) == {"1", "2"}
    assert "2 files of the same models and tests" in export.notes[0]
    apart = read(tmp_path, model_from_path="(one|two)")
    assert set(apart.rows["model"]) == {"one", "two"} | {"one #2", "two #2"}
    assert not any("repeats" in note for note in apart.notes)


def test_runs_of_equal_results_and_other_identifiers_are_both_read(write, tmp_path):
    write(evaluation(), "one.json")
    again = [entry | {"id": f"again {entry['id']}"} for entry in evaluation()]
    write(again, "two.jsonl")
    assert read(tmp_path).rows["draw"].n_unique() == 2


def test_one_wrong_score_makes_lines_another_run(write, tmp_path):
    rows = evaluation(ids=False)
    write(rows)
    other = [dict(entry) for entry in rows]
    other[3]["score"] += 1e-9
    write(other, "results.jsonl")
    assert not any("left out" in note for note in read(tmp_path).notes)


@pytest.mark.parametrize("field", ["vars", "testCase", "namedScores", "prompt"])
@pytest.mark.parametrize("wrong", [["x"], "x", 3, True])
def test_fields_of_a_wrong_type_are_refused(write, field, wrong):
    path = write([row(0, 0), row(1, 0) | {field: wrong}])
    with pytest.raises(InputError) as error:
        read(path)
    assert f"{path}: results, results 2, {field} is not an object" in error.value.what
    assert json.dumps(wrong) in error.value.found
