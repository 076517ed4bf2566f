"""promptfoo's CSV in the layouts it has had: what it says is what the JSON of the same run says."""

import csv

import pytest

from riskrank.errors import InputError
from riskrank.scores.exports.interface import ExportRules
from riskrank.scores.exports.registry import read_export

BLOCK = ["Status", "Score", "Named Scores", "Metric: form", "Grader Reason", "Comment"]


@pytest.fixture
def write(tmp_path):
    def to_file(rows, name="results.csv"):
        path = tmp_path / name
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        return path

    return to_file


def read(path, name="auto", **rules):
    return read_export(name, [str(path)], ExportRules(**rules))


def cells(export):
    return {
        (row["model"], row["sample"], row["metric"]): row["score"]
        for row in export.rows.iter_rows(named=True)
    }


def test_a_block_of_columns_a_prompt_and_provider(write):
    named = ["0.25", '{"form":0.25}', "0.25", "too long", ""]
    path = write(
        [
            ["Description", "q", "[org/a:1] Q: {{q}}", *BLOCK, "[b] Q: {{q}}", *BLOCK],
            ["first", "say, what?", "PASS or fail", "FAIL", *named, "x", "PASS", "1.00", "", "", "all", ""],
            ["", "'=1+1", "line\nline", "ERROR", "0.00", "", "", "", "", "", "", "", "", "", "", ""],
        ]
    )
    export = read(path)
    assert cells(export) == {
        ("org/a:1", "first", "score"): 0.25,
        ("org/a:1", "first", "success"): 0.0,
        ("org/a:1", "first", "form"): 0.25,
        ("b", "first", "score"): 1.0,
        ("b", "first", "success"): 1.0,
        ("b", "first", "form"): None,
        ("org/a:1", "q==1+1", "score"): 0.0,
        ("org/a:1", "q==1+1", "success"): 0.0,
        ("b", "q==1+1", "score"): None,
        ("b", "q==1+1", "success"): None,
    }
    assert set(export.rows["prompt"]) == {"Q: {{q}}"}
    assert any("two decimals" in note for note in export.notes)
    assert "rows that ended in an error, whose score counts 0 as in promptfoo: 1" in export.notes


def test_repeats_are_draws_and_prompts_are_chosen(write):
    row = ["x", "o", "PASS", "1.00", "", "", "", "", "o", "FAIL", "0.50", "", "", "", ""]
    path = write([["q", "[a] one", *BLOCK, "[a] two", *BLOCK], row, row])
    rows = read(path, filters=("one",)).rows.filter(metric="score")
    assert rows["draw"].to_list() == ["1", "2"]
    assert rows["score"].to_list() == [1.0, 1.0]
    assert set(read(path, filters=("*",)).rows["model"]) == {"a [one]", "a [two]"}


@pytest.mark.parametrize("reasoning", [[], ["Reasoning"]])
def test_tables_that_tell_only_who_passed(write, reasoning):
    blank = [""] * len(reasoning)
    path = write(
        [
            [
                "q",
                "[a] p",
                *reasoning,
                "Grader Reason",
                "Comment",
                "[b] p",
                *reasoning,
                "Grader Reason",
                "Comment",
            ],
            ["1", "[PASS] 7 (1.00)", *blank, "all", "", "[FAIL] 8", *blank, "wrong", ""],
            ["2", "[ERROR] out of time", *blank, "", "", "[PASS] 9", *blank, "", "good"],
        ]
    )
    export = read(path)
    assert set(export.rows["metric"]) == {"success"}
    assert list(cells(export).values()) == [1.0, 0.0, 0.0, 1.0]


def test_scores_in_brackets_before_the_answer(write):
    path = write(
        [
            ["q", "[a] p", "[b] p"],
            ["1", "[PASS] (0.75, form: 1.00, a, b: 0.50)\n\ntext", "[FAIL] (0.00)\n\n(1.00)"],
        ]
    )
    assert cells(read(path)) == {
        ("a", "q=1", "score"): 0.75,
        ("a", "q=1", "success"): 1.0,
        ("a", "q=1", "form"): 1.0,
        ("a", "q=1", "a, b"): 0.5,
        ("b", "q=1", "score"): 0.0,
        ("b", "q=1", "success"): 0.0,
        ("b", "q=1", "form"): None,
        ("b", "q=1", "a, b"): None,
    }


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["q", "a"], ["1", "2"]], "no results of promptfoo"),
        ([["q", "[a] p", *BLOCK]], "no rows in it"),
        ([["q", "[a] p", *BLOCK], ["1", "x", "PASS"]], "row 2 has 3 fields, the header has 8"),
        ([["q", "no provider", *BLOCK], ["1", "x", "PASS", "1.00", "", "", "", ""]], "names no provider"),
        ([["q", "[a] p", *BLOCK[:3], "Comment"], ["1", "x", "PASS", "1.00", "{", ""]], "that are no JSON"),
        ([], "the file is empty"),
    ],
)
def test_what_is_no_table_of_results_is_named(write, rows, message):
    path = write(rows)
    with pytest.raises(InputError, match=message) as caught:
        read(path, name="promptfoo")
    assert str(path) in str(caught.value)
    assert len(caught.value.lines()) == 3
