"""Missing scores imputed with the bounds of their metric, and tables where that is refused."""

import polars as pl
import pytest

from riskrank.errors import InputError, UsageError, spell
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


def test_observed_extremes_are_not_bounds(write):
    with pytest.raises(InputError, match="m has no declared bounds") as error:
        read(write)
    assert [spell(suggestion, flags=True) for suggestion, _ in error.value.suggestions] == [
        "--metrics-file 'm.bounds = [0, 1]'"
    ]
    assert "0 to 1, but may not reach the bounds" in error.value.found
    with pytest.raises(InputError, match="an m has no declared bounds") as error:
        read(write, "A,1,an m,1\nA,2,an m,\nB,1,an m,0\nB,2,an m,1\n")
    assert "all 0 or 1, but may not" in error.value.found
    (suggestion, _), *_ = error.value.suggestions
    assert "--metrics-file '\"an m\".bounds = [0, 1]'" in spell(suggestion, flags=True)
    # Without missing scores, no bounds are needed.
    assert column(read(write, "A,1,m,1\nA,2,m,0\nB,1,m,0\nB,2,m,1\n"), "A") == [1, 0]


def test_booleans_have_bounds(write):
    frame = pl.DataFrame(
        {"model": ["A", "A", "B", "B"], "sample": ["1", "2"] * 2, "ok": [True, None, False, True]}
    )
    table = read_scores([write("t.parquet", frame)], ReadOptions(missing="worst", wide=True))
    assert column(table, "A") == [1, 0]
    numbers = write("n.parquet", frame.with_columns(pl.col("ok").cast(float)))
    with pytest.raises(InputError, match="has no declared bounds"):
        read_scores([numbers], ReadOptions(missing="worst", wide=True))


def test_any_order_of_rows_gives_the_same_table(write):
    lines = ROWS.splitlines(keepends=True)
    tables = [read(write, "".join(order), metrics=BOUNDS) for order in (lines, lines[::-1])]
    assert tables[0].values[0].tolist() == tables[1].values[0].tolist()
    assert [rows.tolist() for rows in tables[0].row_samples] == [
        rows.tolist() for rows in tables[1].row_samples
    ]


def test_check_reports_the_same_problem(write):
    path = write("t.csv", HEAD + ROWS)
    with pytest.raises(InputError) as error:
        read_scores([path], ReadOptions(missing="worst"))
    refused = inspect_scores([path], ReadOptions(missing="worst"))
    assert [problem.what for problem in refused.problems if problem.severity == "error"] == [
        error.value.problem
    ]
    accepted = inspect_scores([path], ReadOptions(missing="worst", metrics=BOUNDS))
    assert not [problem for problem in accepted.problems if problem.severity == "error"]
    assert accepted.metrics[0].missing == 2


STAND_IN = "A,1,m,1\nA,2,m,\nB,1,m,0\nB,2,m,3\nC,2,m,5\n"


def test_a_named_model_replaces_missing_rows_and_scores(write):
    table = read(write, STAND_IN, missing="B")
    assert (column(table, "A"), column(table, "C")) == ([1, 3], [0, 5])
    assert "2 missing scores replaced by the scores of B" in table.warnings
    with pytest.raises(InputError, match="lacks scores that other models need"):
        read(write, STAND_IN, missing="A")
    with pytest.raises(UsageError, match="not a valid choice") as error:
        read(write, STAND_IN, missing="Z")
    assert "A, B, C" in spell(error.value.found, flags=True)


def test_a_named_model_replaces_whole_tasks(write):
    head = "model,task,sample,metric,score,note\n"
    rows = "".join(
        f"{m},{t},{s},m,{'' if failed else s + len(m)},{'out of memory' if failed else ''}\n"
        for m in ("A", "B", "constant")
        for t in ("x", "y")
        for s in range(4)
        for failed in [(m, t) == ("A", "y")]
    )
    with pytest.raises(InputError, match="model 'A' has no scores on task 'y'") as error:
        read(write, rows, head, missing="error")
    assert "note is out of memory" in error.value.found
    assert spell(error.value.hint, flags=True).startswith("--missing constant replaces failures")
    assert spell(next(iter(error.value.suggestions))[0], flags=True) == "--missing constant"
    table = read(write, rows, head, missing="constant")
    assert column(table, "A") == [1, 2, 3, 4, 8, 9, 10, 11]


def test_negated_errors_are_scores(write):
    head, row = "model,sample,neg_log_loss\n", "{},{},{}\n".format
    rows = "".join(row(model, i, -1 / (2 + i + (model == "B"))) for model in "AB" for i in range(12))
    table = read(write, rows, head)
    assert table.metrics[0].direction == "higher"
