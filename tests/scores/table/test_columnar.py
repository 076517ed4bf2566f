"""Parquet columns are read one at a time, names as numbers; the result does not depend on it."""

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


def test_parquet_and_csv_give_the_same_table(frame, tmp_path):
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_csv(tmp_path / "t.csv")
    from_parquet, from_csv = (
        read_scores([str(tmp_path / name)], ReadOptions()) for name in ("t.parquet", "t.csv")
    )
    assert (
        (from_parquet.models, from_parquet.samples)
        == (from_csv.models, from_csv.samples)
        == (("a", "b", "c"), from_parquet.samples)
    )
    for left, right in zip(from_parquet.values, from_csv.values, strict=True):
        np.testing.assert_array_equal(left, right)


def test_text_columns_are_loaded_singly(frame, tmp_path, loads):
    """A text cell takes at least 16 bytes, a number 4."""
    frame.write_parquet(tmp_path / "t.parquet")
    read_scores([str(tmp_path / "t.parquet")], ReadOptions())
    assert loads[-4:] == [["model"], ["sample"], ["metric"], ["score"]]


@pytest.mark.parametrize("column", ["model", "sample", "metric"])
def test_missing_names_are_refused(frame, tmp_path, column):
    frame = frame.with_columns(pl.when(pl.int_range(60) == 7).then(None).otherwise(column).alias(column))
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=f"row 8, column {column}: the {column} has no name"):
        read_scores([str(tmp_path / "t.parquet")], ReadOptions())


def test_repeated_rows_suggest_a_run_column(frame, tmp_path):
    twice = pl.concat([frame.with_columns(run=pl.lit("1")), frame.with_columns(run=pl.lit("2"))])
    twice.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError) as caught:
        read_scores([str(tmp_path / "t.parquet")], ReadOptions())
    assert "run" in caught.value.hint


def test_missing_row_is_reported_as_a_gap(frame, tmp_path):
    frame.write_parquet(tmp_path / "whole.parquet")
    frame[:-1].write_parquet(tmp_path / "gap.parquet")
    complete = inspect_scores([str(tmp_path / "whole.parquet")])
    gap = inspect_scores([str(tmp_path / "gap.parquet")])
    assert not complete.problems or all(problem.severity == "warning" for problem in complete.problems)
    assert any(problem.severity == "error" for problem in gap.problems)
    assert (complete.most_repeats, gap.most_repeats) == (1, 1)
    assert [metric.missing for metric in complete.metrics] == [0, 0]
    assert sum(metric.missing for metric in gap.metrics) == 1
