"""Scored of all, a model: counts, the reasons that files tell, and where nothing is to be said."""

import numpy as np
import polars as pl
import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.score_table import read_scores
from riskrank.scores.table.scored import absent_cells

HEAD = "model,sample,metric,score,unscored\n"
ROWS = "A,1,m,1,\nA,2,m,,error\nA,3,m,,refusal\nA,4,m,0,\nB,1,m,0,\nB,2,m,1,\nB,3,m,1,\n"
BOUNDS = {"m": {"bounds": [0, 1]}}


def read(write, rows=ROWS, head=HEAD, **options):
    return read_scores([write("t.csv", head + rows)], ReadOptions(**({"missing": "worst"} | options)))


def told(table):
    return [
        (one.model, one.metric, one.scored, one.total, dict(one.why)) for one in table.scored if one.lacks
    ]


@pytest.mark.parametrize("missing", ["worst", "drop", "keep"])
def test_counts_and_reasons(write, missing):
    assert told(read(write, missing=missing, metrics=BOUNDS)) == [
        ("A", "m", 2, 4, {"error": 1, "refusal": 1}),
        ("B", "m", 3, 4, {"absent": 1}),
    ]


def test_nothing_where_all_are_there(write):
    assert read(write, "A,1,m,1,\nA,2,m,0,\nB,1,m,0,\nB,2,m,1,\n").scored == ()


def test_runs_count_one_by_one_and_selections_count(write):
    rows = ROWS + "A,1,m,,error\nC,1,m,,limit\n"
    table = read(write, rows, metrics=BOUNDS, repeats="mean", models=("A", "B"))
    assert told(table)[0] == ("A", "m", 2, 5, {"error": 2, "refusal": 1})
    some = read(write, metrics=BOUNDS, where="sample < 3")
    assert told(some) == [("A", "m", 1, 2, {"error": 1})]


def test_a_wide_row_tells_it_of_all_its_gaps(write):
    head = "model,sample,m,o,unscored\n"
    rows = "A,1,1,,limit\nA,2,,,error\nB,1,0,1,\nB,2,1,0,\nA,3,0,1,\nB,3,0,0,\n"
    table = read(write, rows, head, wide=True, missing="drop", allow_constant=True)
    assert told(table) == [
        ("A", "m", 2, 3, {"error": 1}),
        ("A", "o", 1, 3, {"limit": 1, "error": 1}),
    ]


def test_reasons_nobody_told_are_not_made_up(write):
    rows = "A,1,m,1,7\nA,2,m,,8\nB,1,m,0,9\nB,2,m,1,9\n"
    table = read(write, rows, metrics=BOUNDS)
    assert told(table) == [("A", "m", 1, 2, {})]
    assert [(one.model, one.total) for one in table.scored] == [("A", 2), ("B", 2)]


def test_the_error_tells_them(write):
    with pytest.raises(InputError) as error:
        read(write, ROWS.replace("B,3,m,1,", "B,3,m,1,\nB,4,m,1,"), missing="error")
    assert error.value.found == "2 missing of 8 scores (1 error, 1 refusal)"


def test_several_files_one_of_which_tells_nothing(write):
    first = write("a.csv", HEAD + "A,1,m,1,\nA,2,m,,error\nA,3,m,0,\n")
    second = pl.DataFrame({"model": "B", "sample": ["1", "2", "3"], "metric": "m", "score": [1.0, None, 0.0]})
    table = read_scores([first, write("b.parquet", second)], ReadOptions(missing="keep"))
    assert told(table) == [("A", "m", 2, 3, {"error": 1}), ("B", "m", 2, 3, {})]


def test_cells_that_are_absent_by_hand(write, monkeypatch):
    """Any table, in a table of all cells and without one."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        there = rng.random((3, 6, 4)) < rng.choice([0.3, 0.8, 1.0])
        there[:, 0, :] = there[:, :, 0] = True
        rows = "".join(f"m{i},s{j},x{k},1\n" for i, j, k in np.argwhere(there))
        scores = read_frame([write("t.csv", HEAD.replace(",unscored", "") + rows)], ReadOptions())
        wanted = np.argwhere(there.any(axis=0) & ~there).tolist()
        for most in (0, 1000):
            monkeypatch.setattr("riskrank.scores.table.scored._DENSE", most)
            assert absent_cells(scores).tolist() == wanted


def test_each_of_several_files_tells_its_own_reasons(write):
    first = write("a.csv", HEAD + "A,1,m,1,\nA,2,m,,error\nA,3,m,1,\n")
    second = write("b.csv", HEAD + "B,1,m,0,\nB,2,m,1,\nB,3,m,,refusal\n")
    table = read_scores([first, second], ReadOptions(missing="worst", metrics=BOUNDS))
    assert told(table) == [("A", "m", 2, 3, {"error": 1}), ("B", "m", 2, 3, {"refusal": 1})]
