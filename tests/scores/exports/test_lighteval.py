"""lighteval's details: a field of the metric struct is a metric, directions come from the results file."""

import polars as pl
import pytest

from riskrank.errors import InputError
from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores, write_json

DATE = "2026-08-10T17-22-11.385681"


def details(folder, task, docs, metrics, *, date=DATE, model="org/m", column="metric"):
    path = folder / "details" / model / date / f"details_{task.replace(':', '_')}_{date}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = {"doc": [{"id": doc, "task_name": task, "query": "?"} for doc in docs], column: metrics}
    pl.DataFrame(rows).write_parquet(path)
    return path


def results(folder, *, date=DATE, model="org/m", **tasks):
    config = {
        f"{task}|0": {"metrics": [{"metric_name": m, "higher_is_better": up} for m, up in ways.items()]}
        for task, ways in tasks.items()
    }
    value = {"config_general": {"model_name": f"{model}-named"}, "config_tasks": config}
    return write_json(folder / "results" / model / f"results_{date}.json", value)


def test_documents_of_tasks(tmp_path):
    path = details(tmp_path, "sums|0", ["7", "9"], [{"acc": 1, "loss": 0.5}, {"acc": 0, "loss": None}])
    details(tmp_path, "texts|0", ["7", "8"], [{"em": 0.25, "pair": [1, 2]}, {"em": 0.75, "pair": [0, 1]}])
    results(tmp_path, sums={"acc": True, "loss": False}, texts={"em": True})
    assert only_reader_of(path) == "lighteval"
    export = read("lighteval", tmp_path)
    assert_long(export)
    model = "org/m-named"
    assert scores(export, "task") == {
        (model, "sums|0/7", "acc", "sums|0"): 1.0,
        (model, "sums|0/9", "acc", "sums|0"): 0.0,
        (model, "sums|0/7", "loss", "sums|0"): 0.5,
        (model, "sums|0/9", "loss", "sums|0"): None,
        (model, "texts|0/7", "em", "texts|0"): 0.25,
        (model, "texts|0/8", "em", "texts|0"): 0.75,
    }
    assert export.directions == {"acc": "higher", "loss": "lower", "em": "higher"}
    assert any("pair" in note and "lists" in note for note in export.notes)


def test_without_results_the_folders_name_the_model(tmp_path):
    details(tmp_path, "sums|0", [None, ""], [{"acc": 1}, {"acc": 0}], column="metrics")
    export = read("lighteval", tmp_path)
    assert set(scores(export)) == {("org/m", "sums|0/0", "acc"), ("org/m", "sums|0/1", "acc")}
    assert export.directions == {}
    assert any("no directions" in note for note in export.notes)


def test_two_dates_are_repeats(tmp_path):
    for date, right in ((DATE, 1), ("2026-08-11T00-00-00.000001", 0)):
        details(tmp_path, "sums|0", ["7"], [{"acc": right}], date=date)
    found = scores(read("lighteval", tmp_path), "draw", "run")
    assert [key[3] for key in found] == ["1", "2"]
    assert list(found.values()) == [1.0, 0.0]


def test_broken_files_are_refused(tmp_path):
    path = details(tmp_path, "sums|0", ["7"], [{"acc": 1}])
    empty = details(tmp_path, "none|0", [], pl.Series([], dtype=pl.Struct({"acc": pl.Int64})))
    with pytest.raises(InputError, match="a Parquet file without rows"):
        read("lighteval", empty)
    cut = details(tmp_path, "cut|0", ["7"], [{"acc": 1}])
    cut.write_bytes(cut.read_bytes()[:-40])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read("lighteval", cut)
    export = read("lighteval", tmp_path, skip_bad=True)
    assert export.rows.height == 1
    assert sum("left out" in note for note in export.notes) == 2
    assert path.exists()
