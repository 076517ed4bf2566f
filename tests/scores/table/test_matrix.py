"""A matrix: one row a sample, one column a model."""

import polars as pl
import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, UsageError
from riskrank.scores.table.score_table import read_scores
from tests.scores.same import assert_same


@pytest.fixture
def matrix(long_frame):
    return long_frame.filter(metric="acc").pivot("model", index="sample", values="score")


@pytest.fixture
def expected(write, long_frame):
    return read_scores([write("long.csv", long_frame.filter(metric="acc"))])


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_columns_are_models(write, matrix, expected, suffix):
    assert_same(read_scores([write(f"m.{suffix}", matrix)], ReadOptions(matrix="acc")), expected)


def test_samples_by_another_name_and_by_their_rows(write, matrix, expected):
    renamed = write("m.csv", matrix.rename({"sample": "doc"}).with_columns(note=pl.lit("x")))
    options = ReadOptions(matrix="acc", columns="sample=doc")
    assert_same(read_scores([renamed], options), expected)
    found = read_scores([renamed], ReadOptions(matrix="acc"))
    assert_same(found, expected)
    assert found.warnings[0] == "Read as a matrix: a row a sample (doc), a column a model (B, A, C)"
    bare = read_scores([write("b.csv", matrix.drop("sample"))], ReadOptions(matrix="acc"))
    assert bare.samples == ("1", "2", "3", "4")
    assert bare.models == expected.models


def test_a_counter_is_no_model(write, matrix):
    counted = matrix.drop("sample").with_row_index("item_id")
    table = read_scores([write("m.csv", counted)], ReadOptions(matrix="acc"))
    assert (table.models, table.samples) == (("A", "B", "C"), ("0", "1", "2", "3"))


def test_models_are_picked_and_labelled(write, matrix, expected):
    path = write("m.csv", matrix.with_columns(half=pl.Series(["1", "x", "y", "z"])))
    with pytest.raises(InputError, match="'half' holds numbers and text"):
        read_scores([path], ReadOptions(matrix="acc"))
    table = read_scores([path], ReadOptions(matrix="acc", models=("A", "C")))
    assert table.models == ("A", "C")
    with pytest.raises(UsageError, match="there is no column 'D'"):
        read_scores([path], ReadOptions(matrix="acc", models=("A", "D")))
    clean = write("c.csv", matrix)
    assert read_scores([f"new={clean}"], ReadOptions(matrix="acc")).models == ("new/A", "new/B", "new/C")


def test_a_wrong_score_is_found_in_its_cell(write, matrix):
    text = matrix.write_csv().replace(matrix.write_csv().splitlines()[2].split(",")[2], "inf", 1)
    with pytest.raises(InputError, match=r"m\.csv: row 3, column A: the score"):
        read_scores([write("m.csv", text)], ReadOptions(matrix="acc"))


def test_gaps_are_missing_scores(write, matrix):
    holed = matrix.with_columns(B=pl.when(pl.col("sample") != "s1").then("B"))
    with pytest.raises(InputError, match="row 4, column B: no score"):
        read_scores([write("m.csv", holed)], ReadOptions(matrix="acc"))
    table = read_scores([write("m.csv", holed)], ReadOptions(matrix="acc", missing="drop"))
    assert len(table.samples) == 3


def test_conditions_come_before(write, matrix):
    table = read_scores([write("m.csv", matrix)], ReadOptions(matrix="acc", where="sample <> 's10'"))
    assert table.samples == ("s1", "s2", "s3")


@pytest.mark.parametrize("options", [{"matrix": "acc", "wide": True}, {"matrix": " "}])
def test_contradictions(write, matrix, options):
    with pytest.raises(UsageError):
        read_scores([write("m.csv", matrix)], ReadOptions(**options))


def test_a_column_of_texts_may_name_the_samples(write):
    rows = "".join(f"{n % 3},s{n},{n % 2}\n" for n in range(6))
    table = read_scores([write("m.csv", f"a,words,b\n{rows}")], ReadOptions(matrix="acc"))
    assert (table.models, table.samples[:2]) == (("a", "b"), ("s0", "s1"))
