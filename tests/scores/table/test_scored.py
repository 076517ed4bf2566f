"""Number of scored samples per model, with the reasons for missing scores."""

import numpy as np
import polars as pl

from riskrank.options.reading import ReadOptions
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.score_table import read_scores
from riskrank.scores.table.scores import absent_cells

HEAD = "model,sample,metric,score,unscored\n"
ROWS = "A,1,m,1,\nA,2,m,,error\nA,3,m,,refusal\nA,4,m,0,\nB,1,m,0,\nB,2,m,1,\nB,3,m,1,\n"
BOUNDS = {"m": {"bounds": [0, 1]}}


def read(write, rows=ROWS, head=HEAD, **options):
    return read_scores([write("t.csv", head + rows)], ReadOptions(**({"missing": "worst"} | options)))


def incomplete_counts(table):
    return [
        (count.model, count.metric, count.scored, count.total, dict(count.why))
        for count in table.scored
        if count.missing
    ]


def test_files_without_reasons_are_counted(write):
    first = write("a.csv", HEAD + "A,1,m,1,\nA,2,m,,error\nA,3,m,0,\n")
    second = pl.DataFrame({"model": "B", "sample": ["1", "2", "3"], "metric": "m", "score": [1.0, None, 0.0]})
    table = read_scores([first, write("b.parquet", second)], ReadOptions(missing="keep"))
    assert incomplete_counts(table) == [("A", "m", 2, 3, {"error": 1}), ("B", "m", 2, 3, {})]


def test_absent_cells_match_a_dense_count(write, monkeypatch):
    """Any table, with and without a dense table of all cells."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        present = rng.random((3, 6, 4)) < rng.choice([0.3, 0.8, 1.0])
        present[:, 0, :] = present[:, :, 0] = True
        rows = "".join(f"m{i},s{j},x{k},1\n" for i, j, k in np.argwhere(present))
        scores = read_frame([write("t.csv", HEAD.replace(",unscored", "") + rows)], ReadOptions())
        expected = np.argwhere(present.any(axis=0) & ~present).tolist()
        for limit in (0, 1000):
            monkeypatch.setattr("riskrank.scores.table.scores.MAX_SPARSITY", limit)
            assert absent_cells(scores).tolist() == expected
