"""Series of runs: files in natural order, values of a column, anchor sets."""

import polars as pl
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.baseline import GateReading
from riskrank.scores.table.runs import natural_sort_key, read_runs

OPTIONS = {"min_models": 1, "allow_constant": True}


def frame(shift=0, **columns):
    rows = {"model": "bot", "sample": [f"s{at}" for at in range(12)], "metric": "acc"}
    return pl.DataFrame(rows | {"score": [(at + shift) % 2 for at in range(12)]} | columns)


def read(paths, baseline=None, anchors=None, **options):
    return read_runs([*map(str, paths)], GateReading(**OPTIONS | options), baseline=baseline, anchors=anchors)


@pytest.fixture
def files(tmp_path):
    for number in (10, 2, 1):
        frame(number, build=number).write_csv(tmp_path / f"run{number}.csv")
    return tmp_path


def test_runs_are_sorted_in_natural_order(files):
    runs = read([files / "*.csv"])
    assert [*runs.tables] == ["run1", "run2", "run10"]
    assert runs.baseline == "run1"
    assert runs.tables["run2"][0].column(0)[0].tolist() == [0, 1, *[0, 1, 0, 1, 0, 1, 0, 1], 0, 1]
    assert sorted(["b2", "a10", "b", "b10", "a9"], key=natural_sort_key) == ["a9", "a10", "b", "b2", "b10"]


def test_folder_names_are_runs_if_file_names_are_equal(tmp_path):
    for number in (2, 10):
        (tmp_path / f"week-{number}").mkdir()
        frame(build=number).write_csv(tmp_path / f"week-{number}" / "scores.csv")
    assert [*read([tmp_path / "*" / "scores.csv"]).tables] == ["week-2", "week-10"]


def test_a_column_names_runs(tmp_path):
    table = pl.concat([frame(week).with_columns(week=week) for week in (10, 9)])
    other = frame().with_columns(week=9, model=pl.lit("other"))
    pl.concat([table, other], how="diagonal_relaxed").write_csv(tmp_path / "t.csv")
    runs = read([tmp_path / "t.csv"], columns="run=week", baseline="9")
    assert [*runs.tables] == ["week 9", "week 10"]
    assert runs.baseline == "week 9"
    assert [table.models for (table,) in runs.tables.values()] == [("bot", "other"), ("bot",)]


def test_run_column_read_as_samples_needs_a_sample_column(tmp_path):
    wide = [frame(week).select("model", "sample", acc="score").with_columns(week=week) for week in (1, 2)]
    pl.concat(wide).rename({"sample": "case"}).write_csv(tmp_path / "t.csv")
    with pytest.raises(InputError, match="there is no run column 'week'") as refused:
        read([tmp_path / "t.csv"], columns="run=week", wide=True)
    assert "run=week,sample=COL" in refused.value.hint
    assert len(read([tmp_path / "t.csv"], columns="run=week,sample=case", wide=True).tables) == 2


def test_label_unifies_changing_model_names(files):
    frame().with_columns(model=pl.lit("bot-v2")).write_csv(files / "run11.csv")
    runs = read([f"bot={files}/*.csv"])
    assert {table.models for (table,) in runs.tables.values()} == {("bot",)}


def test_baseline_may_be_a_separate_file(files):
    frame().write_csv(files / "blessed.csv")
    runs = read([files / "run1.csv"], baseline=str(files / "blessed.csv"))
    assert [*runs.tables] == ["blessed", "run1"]
    assert runs.baseline == "blessed"


def test_anchor_file_is_read_by_run(files, tmp_path):
    fixed = tmp_path / "fixed.csv"
    rows = [frame(1).drop("model").with_columns(run=pl.lit(f"run{number}")) for number in (1, 2, 10)]
    pl.concat(rows).write_csv(fixed)
    runs = read([files / "run*.csv"], anchors={"acc": str(fixed)})
    assert [*runs.anchors["acc"]] == ["run1", "run2", "run10"]
    pl.concat(rows[:2]).write_csv(fixed)
    with pytest.raises(InputError, match="the fixed set has no scores of run10"):
        read([files / "run*.csv"], anchors={"acc": str(fixed)})


@pytest.mark.parametrize("columns", ["run sample score", "run model sample score", "run model sample acc"])
def test_anchor_file_may_hold_scores_only(files, columns):
    full = pl.concat([frame(at, acc=pl.Series(frame(at)["score"]), run=f"run{at}") for at in (1, 2, 10)])
    full.write_csv(files / "whole.csv")
    full.select(columns.split()).write_csv(files / "alone.csv")
    results = [
        {
            run: (table.metrics[0].name, table.samples, [values.tolist() for values in table.values])
            for run, (table,) in read([files / "run*.csv"], anchors={"acc": f"{files}/{name}.csv"})
            .anchors["acc"]
            .items()
        }
        for name in ("whole", "alone")
    ]
    assert results[0] == results[1]


def test_duplicate_and_single_runs_are_refused(files):
    with pytest.raises(UsageError, match="run1 is given twice"):
        read([files / "run1.csv", files / "run*.csv"])
    with pytest.raises(UsageError, match="two or more runs"):
        read([files / "run1.csv"])
    with pytest.raises(UsageError, match="neither a run nor a file"):
        read([files / "*.csv"], baseline="run3")
    for last in ("run10", str(files / "run10.csv")):
        with pytest.raises(UsageError, match="is the last run"):
            read([files / "*.csv"], baseline=last)
    (files / "run11.csv").write_bytes((files / "run2.csv").read_bytes())
    (warning,) = read([files / "*.csv"]).tables["run11"][0].warnings
    assert warning == "run11 is identical to run2: a copy, or a deterministic system"
