"""Runs are read one by one: files in natural order, values of a column, fixed sets."""

import polars as pl
import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.baseline import GateReading
from riskrank.scores.table.runs import natural, read_runs

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


def test_people_count_run2_before_run10(files):
    runs = read([files / "*.csv"])
    assert [*runs.tables] == ["run1", "run2", "run10"]
    assert runs.baseline == "run1"
    assert runs.tables["run2"][0].column(0)[0].tolist() == [0, 1, *[0, 1, 0, 1, 0, 1, 0, 1], 0, 1]
    assert sorted(["b2", "a10", "b", "b10", "a9"], key=natural) == ["a9", "a10", "b", "b2", "b10"]


def test_folders_name_runs_whose_files_have_one_name(tmp_path):
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


def test_a_column_that_was_taken_for_samples_is_asked_for(tmp_path):
    wide = [frame(week).select("model", "sample", acc="score").with_columns(week=week) for week in (1, 2)]
    pl.concat(wide).rename({"sample": "case"}).write_csv(tmp_path / "t.csv")
    with pytest.raises(InputError, match="no column 'week' that names runs") as refused:
        read([tmp_path / "t.csv"], columns="run=week", wide=True)
    assert "run=week,sample=COL" in refused.value.hint
    assert len(read([tmp_path / "t.csv"], columns="run=week,sample=case", wide=True).tables) == 2


def test_a_label_makes_one_model_of_changing_names(files):
    frame().with_columns(model=pl.lit("bot-v2")).write_csv(files / "run11.csv")
    runs = read([f"bot={files}/*.csv"])
    assert {table.models for (table,) in runs.tables.values()} == {("bot",)}


def test_a_file_may_stand_before_all_runs(files):
    frame().write_csv(files / "blessed.csv")
    runs = read([files / "run1.csv"], baseline=str(files / "blessed.csv"))
    assert [*runs.tables] == ["blessed", "run1"]
    assert runs.baseline == "blessed"


def test_a_fixed_set_is_read_by_run(files, tmp_path):
    fixed = tmp_path / "fixed.csv"
    rows = [frame(1).drop("model").with_columns(run=pl.lit(f"run{number}")) for number in (1, 2, 10)]
    pl.concat(rows).write_csv(fixed)
    runs = read([files / "run*.csv"], anchors={"acc": str(fixed)})
    assert [*runs.anchors["acc"]] == ["run1", "run2", "run10"]
    pl.concat(rows[:2]).write_csv(fixed)
    with pytest.raises(InputError, match="run10 did not score the fixed set"):
        read([files / "run*.csv"], anchors={"acc": str(fixed)})


@pytest.mark.parametrize("columns", ["run sample score", "run model sample score", "run model sample acc"])
def test_a_fixed_set_may_hold_scores_alone(files, columns):
    whole = pl.concat([frame(at, acc=pl.Series(frame(at)["score"]), run=f"run{at}") for at in (1, 2, 10)])
    whole.write_csv(files / "whole.csv")
    whole.select(columns.split()).write_csv(files / "alone.csv")
    told = [
        {
            run: (table.metrics[0].name, table.samples, [one.tolist() for one in table.values])
            for run, (table,) in read([files / "run*.csv"], anchors={"acc": f"{files}/{name}.csv"})
            .anchors["acc"]
            .items()
        }
        for name in ("whole", "alone")
    ]
    assert told[0] == told[1]


def test_a_run_is_given_once_and_not_alone(files):
    with pytest.raises(UsageError, match="run1 is given twice"):
        read([files / "run1.csv", files / "run*.csv"])
    with pytest.raises(UsageError, match="two runs or more"):
        read([files / "run1.csv"])
    with pytest.raises(UsageError, match="neither a run nor a file"):
        read([files / "*.csv"], baseline="run3")
    for last in ("run10", str(files / "run10.csv")):
        with pytest.raises(UsageError, match="is the last run"):
            read([files / "*.csv"], baseline=last)
    (files / "run11.csv").write_bytes((files / "run2.csv").read_bytes())
    (warning,) = read([files / "*.csv"]).tables["run11"][0].warnings
    assert warning == "run11 is run2 byte for byte: a copy, or a system that answers alike each time"
