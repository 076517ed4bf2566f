"""Columns of Parquet are read one at a time, names as numbers; nothing else may hang on that."""

import itertools

import numpy as np
import polars as pl
import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores
from tests.tables import of_rows


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    names = itertools.product((" b", "a", "c "), "yx", range(10))
    return of_rows((model, f"{number}.0", metric, rng.normal()) for model, metric, number in names)


def test_the_same_table_as_from_text(frame, tmp_path):
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_csv(tmp_path / "t.csv")
    one, other = (read_scores([str(tmp_path / name)], ReadOptions()) for name in ("t.parquet", "t.csv"))
    assert (one.models, one.samples) == (other.models, other.samples) == (("a", "b", "c"), one.samples)
    for left, right in zip(one.values, other.values, strict=True):
        np.testing.assert_array_equal(left, right)


def test_at_most_one_column_is_text_at_a_time(frame, tmp_path, loads):
    """Text of millions of rows takes 16 bytes a cell and more, a number 4."""
    frame.write_parquet(tmp_path / "t.parquet")
    read_scores([str(tmp_path / "t.parquet")], ReadOptions())
    assert loads[-4:] == [["model"], ["sample"], ["metric"], ["score"]]


@pytest.mark.parametrize("column", ["model", "sample", "metric"])
def test_names_that_are_missing_are_told(frame, tmp_path, column):
    frame = frame.with_columns(pl.when(pl.int_range(60) == 7).then(None).otherwise(column).alias(column))
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=f"row 8, column {column}: the {column} has no name"):
        read_scores([str(tmp_path / "t.parquet")], ReadOptions())


def test_repeated_rows_are_explained(frame, tmp_path):
    twice = pl.concat([frame.with_columns(run=pl.lit("1")), frame.with_columns(run=pl.lit("2"))])
    twice.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError) as caught:
        read_scores([str(tmp_path / "t.parquet")], ReadOptions())
    assert "run" in caught.value.hint


def test_a_report_is_that_of_a_table_with_a_gap_but_for_the_gap(frame, tmp_path):
    frame.write_parquet(tmp_path / "whole.parquet")
    frame[:-1].write_parquet(tmp_path / "gap.parquet")
    whole = inspect_scores([str(tmp_path / "whole.parquet")])
    gap = inspect_scores([str(tmp_path / "gap.parquet")])
    assert not whole.problems or all(problem.severity == "warning" for problem in whole.problems)
    assert any(problem.severity == "error" for problem in gap.problems)
    assert (whole.most_repeats, gap.most_repeats) == (1, 1)
    assert [metric.missing for metric in whole.metrics] == [0, 0]
    assert sum(metric.missing for metric in gap.metrics) == 1
