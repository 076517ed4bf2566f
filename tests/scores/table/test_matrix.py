"""A matrix: one row per sample, one column per model."""

import pytest

from riskrank.options.reading import ReadOptions
from riskrank.scores.table.score_table import read_scores
from tests.scores.comparison import assert_equal_tables


@pytest.fixture
def matrix(long_frame):
    return long_frame.filter(metric="acc").pivot("model", index="sample", values="score")


@pytest.fixture
def expected(write, long_frame):
    return read_scores([write("long.csv", long_frame.filter(metric="acc"))])


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_columns_are_models(write, matrix, expected, suffix):
    assert_equal_tables(read_scores([write(f"m.{suffix}", matrix)], ReadOptions(matrix="acc")), expected)
