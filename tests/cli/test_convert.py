"""``riskrank convert verdicts``: judge verdicts become a table that ``rank`` reads."""

import csv
import io

import numpy as np
import polars as pl
import pytest

HEAD = "sample,model_a,model_b,verdict\n"
FEW = HEAD + "q1,x,y,A\nq1,y,z,tie (bothbad)\nq1,x,z,both-good\nq2,x,y,[[B]]\nq2,y,x,A is better\nq2,x,z,\n"


def judged(n=60, seed=0):
    """Return verdicts of a judge who prefers x to y and y to z, on every pair and sample."""
    rng = np.random.default_rng(seed)
    quality = {"x": 1.0, "y": 0.4, "z": 0.0}
    rows = []
    for sample in range(n):
        for a, b in (("x", "y"), ("z", "x"), ("y", "z")):
            edge = quality[a] - quality[b] + rng.normal()
            rows.append((sample, a, b, "tie" if abs(edge) < 0.2 else "a" if edge > 0 else "b"))
    return pl.DataFrame(rows, schema=["sample", "model_a", "model_b", "verdict"], orient="row")


def scores_of(text):
    return {(row["model"], row["sample"]): float(row["score"]) for row in csv.DictReader(io.StringIO(text))}


@pytest.mark.parametrize("name", ["v.csv", "v.tsv", "v.parquet", "v.jsonl"])
def test_any_format_in_and_out(run, write, tmp_path, name):
    table = judged(6)
    source = write(name, table.write_csv(separator="\t") if name.endswith("tsv") else table)
    expected = scores_of(run("convert", "verdicts", write("w.csv", table), "--format", "csv").stdout)
    assert scores_of(run("convert", "verdicts", source, "--format", "csv").stdout) == expected
    for suffix, read in ((".parquet", pl.read_parquet), (".csv", pl.read_csv), (".jsonl", pl.read_ndjson)):
        target = tmp_path / f"scores{suffix}"
        assert run("convert", "verdicts", source, "--output", target).status == 0
        written = read(target)
        assert written.columns == ["model", "sample", "metric", "score"]
        keys = zip(written["model"], written["sample"].cast(pl.String), strict=True)
        assert dict(zip(keys, written["score"], strict=True)) == expected


def test_it_feeds_rank(run, write, tmp_path):
    scores = tmp_path / "scores.parquet"
    run("convert", "verdicts", write("v.csv", judged()), "--output", scores)
    document = run("rank", scores, "--resamples", "400", "--set", "jobs=1", "--format", "json").document
    ranks = {row["model"]: row["rank"] for row in document["results"] if row["method"] == "R-SSD@verdict"}
    assert ranks["x"] < ranks["z"]
    assert ranks["x"] == 1


def test_incomplete_verdicts_feed_rank_too(run, write, tmp_path):
    scores = tmp_path / "scores.csv"
    table = judged().filter((pl.col("sample") > 2) | (pl.col("model_a") == "x"))
    outcome = run("convert", "verdicts", write("v.csv", table), "--output", scores)
    assert "excluded 3 of 180 scores" in outcome.stderr
    rank = ("rank", scores, "--resamples", "400", "--set", "jobs=1", "--format", "json")
    assert run(*rank).status == 2
    document = run(*rank, "--missing", "drop").document
    assert document["meta"]["samples"] == 57


def test_a_table_for_people_and_csv_for_a_pipe(run, write):
    path = write("v.csv", judged())
    assert run("convert", "verdicts", path).stdout.startswith("model,sample,metric,score\n")  # to a pipe
    assert "Scores from verdicts by model" in run("convert", "verdicts", path, tty=True).stdout
    outcome = run("convert", "verdicts", path, "--format", "table")
    assert "Scores from verdicts by model" in outcome.stdout
    rows = [
        line.split()[0] for line in outcome.stdout.splitlines() if line.split()[:1] in (["x"], ["y"], ["z"])
    ]
    assert rows == ["x", "y", "z"]


def test_columns_of_other_names_and_standard_input(run, write):
    arena = FEW.replace("sample", "question_id").replace(",verdict", ",winner")
    expected = run("convert", "verdicts", write("v.csv", FEW), "--format", "csv").stdout
    named = ("--columns", "sample=question_id,verdict=winner", "--format", "csv")
    assert run("convert", "verdicts", "-", *named, stdin=arena.encode()).stdout == expected


def test_convert_needs_a_format(run):
    outcome = run("convert")
    assert outcome.status == 2
    assert "verdicts" in outcome.stderr
