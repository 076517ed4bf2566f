"""Scored of all, a model: counts, the reasons that files tell, and where nothing is to be said."""

import numpy as np
import polars as pl

from riskrank.options.reading import ReadOptions
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.score_counts import absent_cells
from riskrank.scores.table.score_table import read_scores

HEAD = "model,sample,metric,score,unscored\n"
ROWS = "A,1,m,1,\nA,2,m,,error\nA,3,m,,refusal\nA,4,m,0,\nB,1,m,0,\nB,2,m,1,\nB,3,m,1,\n"
BOUNDS = {"m": {"bounds": [0, 1]}}


def read(write, rows=ROWS, head=HEAD, **options):
    return read_scores([write("t.csv", head + rows)], ReadOptions(**({"missing": "worst"} | options)))


def told(table):
    return [
        (one.model, one.metric, one.scored, one.total, dict(one.why)) for one in table.scored if one.lacks
    ]


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
            monkeypatch.setattr("riskrank.scores.table.score_counts.DENSE", most)
            assert absent_cells(scores).tolist() == wanted
