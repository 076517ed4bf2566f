"""Features of the Python API only: pandas frames, pairs as two names, suggestions for typos."""

import copy
import sys

import numpy as np
import pytest

import riskrank as rr
from riskrank import errors
from tests.test_api import QUICK, long_table


@pytest.fixture(params=["with PyArrow", "without PyArrow"])
def pandas(request, monkeypatch):
    module = pytest.importorskip("pandas")
    storage = "python" if request.param == "without PyArrow" else "pyarrow"
    if storage == "python":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    with module.option_context("mode.string_storage", storage):
        yield module


def test_an_index_of_pandas_is_a_column(pandas):
    """The index may have a name and one or two levels; default row numbers are no column."""
    long = pandas.DataFrame(long_table())
    expected = rr.rank(long_table(), **QUICK).rows
    levels = long.set_index(["model", "sample", "metric"])
    for frame in (
        levels,
        levels["score"],
        long[long["sample"] != "nowhere"],
        long.astype({"model": "category"}),
    ):
        assert rr.rank(frame, **QUICK).rows == expected
    wide = long.drop(columns="metric").rename(columns={"score": "acc"}).set_index(["model", "sample"])
    assert rr.rank(wide, **QUICK).rows == expected
    unnamed = wide.rename_axis([None, None])
    with pytest.raises(errors.InputError, match="several possible readings") as failure:
        rr.rank(unnamed, **QUICK)
    assert 'columns="model=level_0,sample=level_1"' in str(failure.value)
    assert rr.rank(unnamed, columns="model=level_0,sample=level_1", wide=True, **QUICK).rows == expected
    assert rr.rank(long.convert_dtypes(), **QUICK).rows == expected


@pytest.mark.parametrize("name", ["question", None])
def test_a_matrix_of_pandas_needs_a_direction_at_most(pandas, tmp_path, name):
    """The frame is read like its file, whose first column is the index, with or without a name."""
    frame = pandas.DataFrame(long_table()).pivot(index="sample", columns="model", values="score")
    frame = frame.rename_axis(index=name, columns=None)
    frame.to_csv(tmp_path / "t.csv")
    with pytest.raises(errors.InputError, match="several possible readings") as caught:
        rr.rank(frame)
    assert len(caught.value.suggestions) == 2
    from_frame = rr.rank(frame, higher=["score"], **QUICK)
    assert from_frame.rows == rr.rank(tmp_path / "t.csv", higher=["score"], **QUICK).rows
    assert f"one row per sample ({name or 'index'}), one column per model (A, B, C)" in from_frame.warnings[0]
    from_file = rr.rank(tmp_path / "t.csv", columns=f"sample={name or 'index'}", matrix="score", **QUICK)
    assert from_file.rows == from_frame.rows


def test_dates_of_pandas_are_time(pandas):
    days = pandas.date_range("2024-01-01", periods=400, tz="Europe/Berlin")
    walk = np.random.default_rng(3).normal(size=(2, 400)).cumsum(axis=1)
    frame = pandas.DataFrame({"a": walk[0], "b": walk[1]}, index=days)
    with pytest.raises(errors.InputError, match="too autocorrelated for a test"):
        rr.rank(frame, higher=["score"])


@pytest.mark.filterwarnings("ignore:The previous implementation of stack:FutureWarning")  # pandas 2
def test_error_on_two_column_levels_suggests_stacking(pandas):
    long = pandas.DataFrame(long_table())
    frame = long.pivot(index="sample", columns=["metric", "model"], values="score")
    with pytest.raises(errors.InputError, match="have 2 levels") as caught:
        rr.rank(frame)
    assert "frame.stack(frame.columns.names).rename('score')" in caught.value.hint
    frame.columns.names = ["metric", "model"]
    stacked = frame.stack(frame.columns.names).rename("score")
    assert rr.rank(stacked, **QUICK).rows == rr.rank(long, **QUICK).rows


def test_two_models_are_a_pair_in_python():
    assert rr.diff(long_table(), pair=("A", "B")).to_json() == rr.diff(long_table(), pair="A:B").to_json()
    both = [rr.gate(long_table(), better=claim, higher="acc") for claim in (("A", "B"), [("A", "B")], "A:B")]
    assert len({result.to_json() for result in both}) == 1


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("summary", ".verdict or .frame"),
        ("verdikt", ".verdict"),
        ("show", ".to_html() or .to_text()"),
        ("rank_low", '.frame["rank_low"]'),
        ("quite_else", "use .verdict, .rows or .frame"),
    ],
)
def test_unknown_attributes_suggest_existing_ones(name, meant):
    result = rr.rank(long_table(), **QUICK)
    with pytest.raises(AttributeError, match=f"no attribute '{name}'") as caught:
        getattr(result, name)
    assert meant in str(caught.value)
    assert not hasattr(result, name)
    assert copy.copy(result).verdict == result.verdict
