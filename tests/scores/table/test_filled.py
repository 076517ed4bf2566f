"""Missing scores at the ends of their metric: which are filled, with what, and what no rule mends."""

import polars as pl
import pytest

from riskrank.errors import InputError, spell
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores

HEAD = "model,sample,metric,score\n"
ROWS = "A,1,m,1\nA,2,m,\nA,3,m,0.5\nB,1,m,0\nB,2,m,1\n"
BOUNDS = {"m": {"bounds": [0, 2]}}


def read(write, rows=ROWS, head=HEAD, kind=ReadOptions, **options):
    return read_scores([write("t.csv", head + rows)], kind(**({"missing": "worst"} | options)))


def column(table, model):
    return table.values[table.models.index(model)][:, 0].tolist()


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
