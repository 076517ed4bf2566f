"""Missing scores at the ends of their metric: which are filled, with what, and what no rule mends."""

import polars as pl
import pytest

from riskrank.asked.baseline import GateReading
from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, spell
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores

HEAD = "model,sample,metric,score\n"
ROWS = "A,1,m,1\nA,2,m,\nA,3,m,0.5\nB,1,m,0\nB,2,m,1\n"
BOUNDS = {"m": {"bounds": [0, 2]}}


def read(write, rows=ROWS, head=HEAD, kind=ReadOptions, **options):
    return read_scores([write("t.csv", head + rows)], kind(**({"missing": "worst"} | options)))


def column(table, model):
    return table.values[table.models.index(model)][:, 0].tolist()


def test_a_blank_and_an_absent_score_are_at_the_worst(write):
    table = read(write, metrics=BOUNDS)
    assert table.samples == ("1", "2", "3")
    assert (column(table, "A"), column(table, "B")) == ([1, 0, 0.5], [0, 1, 0])


def test_the_worst_of_less_is_better_is_the_upper_end(write):
    table = read(write, metrics=BOUNDS, lower=("m",))
    assert (column(table, "A"), column(table, "B")) == ([-1, -2, -0.5], [0, -1, -2])


def test_the_worst_behind_a_logarithm(write):
    rows = "A,1,m,1\nA,2,m,\nB,1,m,0.5\nB,2,m,1\n"
    described = {"m": {"bounds": [0.25, 2], "transform": "neg_log"}}
    table = read(write, rows, metrics=described)
    assert table.raw(0)[:, 0].tolist() == [1, 2]
    best = read(write, rows, kind=GateReading, missing="bounds", metrics=described).at_best()
    assert best.raw(0)[:, 0].tolist() == [1, 0.25]


def test_both_ends(write):
    table = read(write, kind=GateReading, missing="bounds", metrics=BOUNDS)
    assert (column(table, "A"), column(table, "B")) == ([1, 0, 0.5], [0, 1, 0])
    best = table.at_best()
    assert (column(best, "A"), column(best, "B")) == ([1, 2, 0.5], [0, 1, 2])
    assert all((low <= high).all() for low, high in zip(table.values, best.values, strict=True))


def test_what_was_seen_is_no_bound(write):
    with pytest.raises(InputError, match="nobody declared those of m") as error:
        read(write)
    assert [spell(way, flags=True) for way, _ in error.value.ways] == ["--metrics-file 'm.bounds = [0, 1]'"]
    assert "0 to 1, do not say what there can be" in error.value.found
    with pytest.raises(InputError, match="nobody declared those of an m") as error:
        read(write, "A,1,an m,1\nA,2,an m,\nB,1,an m,0\nB,2,an m,1\n")
    assert "all 0 or 1, do not say" in error.value.found
    (way, _), *_ = error.value.ways
    assert "--metrics-file '\"an m\".bounds = [0, 1]'" in spell(way, flags=True)
    # Nothing is missing, and nothing is asked.
    assert column(read(write, "A,1,m,1\nA,2,m,0\nB,1,m,0\nB,2,m,1\n"), "A") == [1, 0]


def test_true_and_false_are_bounds(write):
    frame = pl.DataFrame(
        {"model": ["A", "A", "B", "B"], "sample": ["1", "2"] * 2, "ok": [True, None, False, True]}
    )
    table = read_scores([write("t.parquet", frame)], ReadOptions(missing="worst", wide=True))
    assert column(table, "A") == [1, 0]
    numbers = write("n.parquet", frame.with_columns(pl.col("ok").cast(float)))
    with pytest.raises(InputError, match="nobody declared"):
        read_scores([numbers], ReadOptions(missing="worst", wide=True))


def test_a_blank_run_is_one_of_the_runs(write):
    rows = "A,1,m,1\nA,1,m,\nA,2,m,1\nB,1,m,0\nB,2,m,1\n"
    assert column(read(write, rows, metrics=BOUNDS, repeats="mean"), "A") == [0.5, 1]
    assert column(read(write, rows, metrics=BOUNDS, repeats="draws"), "A") == [0, 1, 1]
    assert column(read(write, rows, metrics=BOUNDS, repeats="max"), "A") == [1, 1]


def test_a_metric_a_sample_was_not_asked_for_is_no_gap(write):
    rows = "A,1,m,1\nA,2,m,0\nA,1,n,1\nB,1,m,0\nB,2,m,\nB,1,n,0\n"
    with pytest.raises(InputError, match="no score for model 'A', sample '2', metric 'n'"):
        read(write, rows, metrics=BOUNDS | {"n": {"bounds": [0, 2]}})
    # Where another model was asked for it, the metric is missing.
    table = read(write, rows + "B,2,n,1\n", metrics=BOUNDS | {"n": {"bounds": [0, 2]}})
    assert table.values[0].tolist() == [[1, 1], [0, 0]]


def test_runs_that_lack_a_metric_have_it_at_the_worst(write):
    head = "model,sample,metric,score,draw\n"
    rows = "A,1,m,1,a\nA,1,m,0,b\nB,1,m,1,a\nB,1,n,1,a\nA,2,m,1,a\nA,2,n,1,a\nB,2,m,0,a\nB,2,n,2,a\n"
    options = {"metrics": BOUNDS | {"n": {"bounds": [-1, 2]}}}
    table = read(write, rows, head, repeats="draws", **options)
    assert table.values[0].tolist() == [[0, -1], [1, -1], [1, 1]]
    assert read(write, rows, head, repeats="mean", **options).values[0].tolist() == [[0.5, -1], [1, 1]]


def test_clusters_and_groups_of_what_was_absent(write):
    head = "model,sample,metric,score,doc,part\n"
    rows = "A,1,m,1,x,p\nA,2,m,0,x,q\nA,3,m,1,y,q\nB,1,m,0,x,p\nB,2,m,1,x,q\n"
    table = read(write, rows, head, metrics=BOUNDS, cluster="doc", group_by="part")
    assert [units.tolist() for units in table.clusters] == [[0, 0, 1]] * 2
    assert [units.tolist() for units in table.groups] == [[0, 1, 1]] * 2


def test_models_with_samples_of_their_own_lack_blanks_only(write):
    table = read(write, metrics=BOUNDS, unpaired=True)
    assert (column(table, "A"), column(table, "B")) == ([1, 0, 0.5], [0, 1])


def test_any_order_of_rows_gives_the_same_table(write):
    lines = ROWS.splitlines(keepends=True)
    tables = [read(write, "".join(order), metrics=BOUNDS) for order in (lines, lines[::-1])]
    assert tables[0].values[0].tolist() == tables[1].values[0].tolist()
    assert [rows.tolist() for rows in tables[0].row_samples] == [
        rows.tolist() for rows in tables[1].row_samples
    ]


def test_check_says_the_same(write):
    path = write("t.csv", HEAD + ROWS)
    with pytest.raises(InputError) as error:
        read_scores([path], ReadOptions(missing="worst"))
    refused = inspect_scores([path], ReadOptions(missing="worst"))
    assert [one.what for one in refused.problems if one.severity == "error"] == [error.value.what]
    fine = inspect_scores([path], ReadOptions(missing="worst", metrics=BOUNDS))
    assert not [one for one in fine.problems if one.severity == "error"]
    assert fine.metrics[0].missing == 2
