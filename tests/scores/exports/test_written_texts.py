"""What was asked and answered, in the ways harnesses write it."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from riskrank.scores.exports.interface import INPUT_TEXT, OUTPUT_TEXT, Export, likeliest_choice
from riskrank.scores.files.json_objects import as_text
from riskrank.scores.table.export_rows import ExportSource


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (" a\nb ", "a\nb"),
        ([["answer"]], "answer"),
        ([{"role": "user", "content": "hi"}], "hi"),
        (
            [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}],
            "system: be kind\nuser: hi",
        ),
        ([{"role": "user", "content": [{"type": "text", "text": "see"}]}], "see"),
        ({"q": "é"}, '{"q": "é"}'),
        (["a", "b"], '["a", "b"]'),
        (3.5, "3.5"),
        ("half \ud800", "half ?"),
    ],
)
def test_one_text_of_whatever_was_written(value, text):
    assert as_text(value) == text


def test_the_likeliest_choice():
    assert likeliest_choice(["-2", "-0.5"], ["no", "yes"]) == "yes"
    assert likeliest_choice([-2, -0.5], {"text": ["no", "yes"], "label": ["A", "B"]}) == "yes"
    assert likeliest_choice([-2, -0.5], ["one"]) == "choice 2 of 2"
    assert likeliest_choice(["text", "s"], ["no", "yes"]) is None
    assert likeliest_choice([], []) is None


def test_what_is_nested_without_end_is_no_text():
    deep: list = []
    for _ in range(100_000):
        deep = [deep, 1]
    assert as_text(deep) == ""


def test_texts_of_files_that_changed_meanwhile_are_of_other_rows():
    rows = pl.DataFrame(
        {"model": ["a", "b"], "sample": ["1", "1"], "metric": ["m"] * 2, "score": [1.0, None]}
    )
    export = Export(rows=rows)
    asked = []

    def again(samples, changed=0):
        asked.append(samples)
        told = rows.with_columns(pl.lit("q").alias(INPUT_TEXT), pl.Series(OUTPUT_TEXT, ["x", "y"]))
        return replace(export, rows=told.slice(changed))

    found = ExportSource("log", export, again).texts(np.array([1]))
    assert found.rows(named=True) == [{"input": "q", "output": "y"}]
    assert asked == [frozenset({"1"})]
    assert ExportSource("log", export, lambda samples: again(samples, 1)).texts(np.array([1])) is None
    assert ExportSource("log", export, lambda _: export).texts(np.array([1])) is None, "it has none"
