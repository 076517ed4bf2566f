"""A role may combine several columns."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.derived import JoinedSource
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores
from tests.scores.comparison import assert_equal_tables


@pytest.fixture
def split(long_frame):
    """Return a table in which sample s10 is split into the columns s and 10."""
    parts = long_frame["sample"].str.extract_groups(r"(?<letter>s)(?<number>\d+)").struct.unnest()
    return long_frame.drop("sample").hstack(parts.with_columns(pl.col("number").cast(pl.Float64)))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_sample_may_combine_two_columns(write, long_frame, split, suffix):
    options = ReadOptions(columns="sample=letter+number")
    joined = long_frame.with_columns(pl.col("sample").str.replace("s", "s+"))
    assert_equal_tables(
        read_scores([write(f"t.{suffix}", split)], options), read_scores([write("e.csv", joined)])
    )


def test_combined_columns_are_not_metrics(write, long_frame, split):
    wide = split.pivot("metric", index=["model", "letter", "number"], values="score")
    table = read_scores([write("w.csv", wide)], ReadOptions(wide=True, columns="sample=letter+number"))
    assert [metric.name for metric in table.metrics] == ["acc", "loss"]


def test_column_with_the_exact_name_takes_precedence(write, long_frame):
    path = write("t.csv", long_frame.rename({"sample": "letter+number"}))
    assert read_scores([path], ReadOptions(columns="sample=letter+number")).samples == (
        "s1",
        "s10",
        "s2",
        "s3",
    )


def test_a_part_may_have_another_role(write, long_frame):
    path = write("t.csv", long_frame)
    table = read_scores([path], ReadOptions(columns="model=model,sample=sample+metric", missing="keep"))
    assert table.samples[0] == "s1+acc"


def test_missing_parts_are_refused(write, split):
    path = write("t.csv", split)
    with pytest.raises(InputError, match="no column 'numbr'") as caught:
        read_scores([path], ReadOptions(columns="sample=letter+numbr"))
    assert 'columns="sample=letter+number"' in str(caught.value)
    with pytest.raises(InputError, match=r"no column 'a\+b'"):
        read_scores([path], ReadOptions(columns="sample=a+b"))
    with pytest.raises(InputError, match=r"no column 'score\+number'"):
        read_scores([path], ReadOptions(columns="sample=letter,score=score+number"))


def test_empty_part_is_refused(write, split):
    holed = split.with_columns(number=pl.when(pl.col("number") != 10).then("number"))
    with pytest.raises(InputError, match="the sample has no name"):
        read_scores([write("t.csv", holed)], ReadOptions(columns="sample=letter+number"))


@given(st.lists(st.tuples(*[st.text("a+\\", min_size=1, max_size=4)] * 2), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_different_parts_are_different_names(pairs):
    source = FrameSource({"x": [x for x, _ in pairs], "y": [y for _, y in pairs]})
    names = JoinedSource(source, {"x+y": ("x", "y")}, retained=()).load(["x+y"])["x+y"].to_list()
    assert len(set(names)) == len(set(pairs))
