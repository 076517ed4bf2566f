"""Inputs and outputs of samples in the formats of several harnesses."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from riskrank.scores.exports.reader import INPUT_TEXT, OUTPUT_TEXT, Export, likeliest_choice
from riskrank.scores.files.parsing import message_text
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
def test_message_text_of_any_value(value, text):
    assert message_text(value) == text


def test_the_likeliest_choice():
    assert likeliest_choice(["-2", "-0.5"], ["no", "yes"]) == "yes"
    assert likeliest_choice([-2, -0.5], {"text": ["no", "yes"], "label": ["A", "B"]}) == "yes"
    assert likeliest_choice([-2, -0.5], ["one"]) == "choice 2 of 2"
    assert likeliest_choice(["text", "s"], ["no", "yes"]) is None
    assert likeliest_choice([], []) is None


def test_deeply_nested_values_have_no_text():
    deep: list = []
    for _ in range(100_000):
        deep = [deep, 1]
    assert message_text(deep) == ""


def test_texts_of_changed_files_are_not_used():
    rows = pl.DataFrame(
        {"model": ["a", "b"], "sample": ["1", "1"], "metric": ["m"] * 2, "score": [1.0, None]}
    )
    export = Export(rows=rows)
    requested = []

    def reread(samples, changed=0):
        requested.append(samples)
        frame = rows.with_columns(pl.lit("q").alias(INPUT_TEXT), pl.Series(OUTPUT_TEXT, ["x", "y"]))
        return replace(export, rows=frame.slice(changed))

    texts = ExportSource("log", export, reread).texts(np.array([1]))
    assert texts.rows(named=True) == [{"input": "q", "output": "y"}]
    assert requested == [frozenset({"1"})]
    assert ExportSource("log", export, lambda samples: reread(samples, 1)).texts(np.array([1])) is None
    assert ExportSource("log", export, lambda _: export).texts(np.array([1])) is None, "it has none"
