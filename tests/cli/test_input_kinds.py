"""Reading options on the command line and in Python: filtered, reshaped and labelled rows of any format."""

import sqlite3
from contextlib import closing

import polars as pl
import pytest

import riskrank as rr

QUICK = ("--format", "json", "--resamples", "50", "--set", "jobs=1")


@pytest.fixture
def scores(tmp_path):
    frame = pl.DataFrame(
        [
            (model, f"q{i}", "test" if i % 3 else "dev", 0.1 * (i * 7 % 11) + 0.3 * (model == "B"))
            for model in ("A", "B")
            for i in range(60)
        ],
        schema=["model", "sample", "split", "score"],
        orient="row",
    ).with_columns(metric=pl.lit("acc"))
    frame.write_csv(tmp_path / "t.csv")
    return frame, tmp_path / "t.csv"


def test_a_condition_is_a_setting_and_both_doors_agree(run, scores):
    _, path = scores
    outcome = run("rank", path, "--where", "split = 'test'", *QUICK)
    assert outcome.status == 0, outcome.stderr
    assert outcome.document["meta"]["settings"]["where"] == "split = 'test'"
    assert outcome.document["meta"]["samples"] == 40
    assert "sql" not in outcome.document["meta"]["settings"]
    assert rr.rank(path, where="split = 'test'", resamples=50, jobs=1).to_json() == outcome.stdout


def test_a_matrix_a_query_and_a_database_agree(run, scores, tmp_path):
    frame, path = scores
    frame.pivot("model", index="sample", values="score").write_csv(tmp_path / "m.csv")
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        connection.execute("CREATE TABLE runs (model, sample, acc)")
        connection.executemany(
            "INSERT INTO runs VALUES (?, ?, ?)", frame.select("model", "sample", "score").rows()
        )
        connection.commit()
    query = "SELECT model, sample, 'acc' AS metric, acc AS score FROM runs"
    halves = [tmp_path / f"{name}.csv" for name in "AB"]
    for half in halves:
        frame.filter(model=half.stem).drop("model").write_csv(half)
    expected = run("rank", path, *QUICK).document["results"]
    for arguments in (
        (tmp_path / "m.csv", "--matrix", "acc"),
        (tmp_path / "t.sqlite", "--sql", query),
        (path, "--sql", "SELECT * FROM scores ORDER BY sample DESC"),
        tuple(f"{half.stem}={half}" for half in halves),
    ):
        outcome = run("rank", *arguments, *QUICK)
        assert outcome.status == 0, outcome.stderr
        assert outcome.document["results"] == expected


def test_the_output_is_no_labelled_input(refused, run, scores):
    outcome = run("rank", f"new={scores[1]}", *QUICK, "--output", scores[1])
    assert outcome.status == 2
    assert "input" in outcome.stderr
