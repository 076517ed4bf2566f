"""The same scores and seed give identical bytes for any file format and number of processes."""

import json

import polars as pl
import pytest

from riskrank.engine.dominance import bootstrap
from tests.examples import difference


def without_inputs(outcome, *further: str) -> str:
    """Return the document without file digests and suggested commands."""
    document = outcome.document
    assert document["meta"].pop("inputs")
    for name in ("suggestions", *further):
        document["meta"].pop(name, None)
    return json.dumps(document)


@pytest.mark.parametrize("command", ["rank", "mrm"])
def test_any_number_of_jobs(run, table, command, monkeypatch):
    monkeypatch.setattr(bootstrap, "_PROCESS_THRESHOLD", 0)
    jobs = [
        run(command, table, "--resamples", 100, "--set", f"jobs={jobs}", "--format", "json").stdout
        for jobs in (1, 2)
    ]
    assert jobs[0] == jobs[1]
    assert jobs[0]


@pytest.mark.parametrize("command", ["rank", "check"])
def test_any_order_of_rows_and_any_format(run, write, quick, make_scores, command):
    frame = make_scores()
    paths = [
        write("a.csv", frame),
        write("b.csv", frame.sample(fraction=1, shuffle=True, seed=1)),
        write("c.parquet", frame.sample(fraction=1, shuffle=True, seed=2)),
        write("d.jsonl", frame),
    ]
    extra = quick if command == "rank" else ()
    documents = {without_inputs(run(command, path, *extra, "--format", "json")) for path in paths}
    assert len(documents) == 1


def test_several_files_and_a_glob(run, write, quick, make_scores, tmp_path):
    frame = make_scores()
    single = run("rank", write("all.csv", frame), *quick, "--format", "json")
    for name, part in frame.partition_by("model", as_dict=True).items():
        write(f"part_{name[0]}.csv", part)
    parts = run("rank", tmp_path / "part_*.csv", *quick, "--format", "json")
    assert without_inputs(parts) == without_inputs(single)
    assert [entry["rows"] for entry in parts.document["meta"]["inputs"]] == [80, 80, 80]


def test_wide_and_renamed_columns(run, write, quick, make_scores):
    frame = make_scores()
    wide = frame.pivot("metric", index=["model", "sample"], values="score")
    wide = wide.rename({"model": "system", "sample": "doc"})
    long = run("rank", write("long.csv", frame), *quick, "--format", "json")
    outcome = run(
        "rank",
        write("w.parquet", wide),
        "--wide",
        "--columns",
        "model=system,sample=doc",
        *quick,
        "--format",
        "json",
    )
    settings = {"columns": "model=system,sample=doc", "wide": True}
    assert outcome.document["meta"]["settings"] == settings | long.document["meta"]["settings"]
    assert without_inputs(outcome, "settings") == without_inputs(long, "settings")


def test_another_seed_is_another_sample(run, table, quick):
    first, repeated, other = (
        run("dominance", table, *quick, "--format", "jsonl", "--seed", seed).stdout for seed in (1, 1, 2)
    )
    assert first == repeated
    assert first != other


def test_the_chain_from_portfolio_to_rank(run, table, quick, tmp_path):
    direct = run("rank", table, *quick, "--format", "json").document["results"]
    for name in ("p.csv", "p.parquet", "p.jsonl"):
        assert run("portfolio", table, "--output", tmp_path / name).status == 0
        chained = run("rank", tmp_path / name, *quick, "--format", "json").document["results"]
        assert [row["method"].split("@")[1] for row in chained] == ["portfolio"] * len(chained)
        assert [{**row, "method": row["method"].replace("@portfolio", "@P(IC)")} for row in chained] == direct
    piped = run("portfolio", table, "--format", "csv").stdout.encode()
    document = run("rank", "-", "--input-format", "csv", *quick, "--format", "json", stdin=piped).document
    assert document["results"] == chained
    assert document["meta"]["inputs"][0]["path"] == "-"


def test_draws_survive_the_chain(run, write, quick, make_scores, tmp_path):
    draws = [make_scores(n=30, seed=seed).with_columns(draw=pl.lit(seed)) for seed in (1, 2)]
    path = write("twice.csv", pl.concat(draws))
    assert run("portfolio", path, "--repeats", "draws", "-o", tmp_path / "p.csv").status == 0
    direct = run("rank", path, "--repeats", "draws", *quick, "--format", "json").document["results"]
    chained = run("rank", tmp_path / "p.csv", "--repeats", "draws", *quick, "--format", "json").document
    assert chained["meta"]["samples"] == 30
    assert [row["score"] for row in chained["results"]] == [row["score"] for row in direct]


def test_portfolio_of_a_single_model(run, write):
    path = write("one.csv", models=("A",))
    rows = run("portfolio", path, "--format", "json").document["results"]
    assert len(rows) == 40
    assert all(0 < row["score"] <= 1 for row in rows)


# How much is done at once, by module: numbers, so that a block is a few rows, and rows.
NUMBERS = """
aggregation.rank_aggregation._PAIRS copa.front._WEIGHTS copa.front._PAIRS copa.population._PAIRS
copa.stability._CELLS gates._WEIGHTS portfolio.mean_risk._BATCH dominance.bootstrap._TASK
dominance.contrasts._BATCH dominance.bootstrap._BATCH dominance.sign_flips._BATCH
dominance.violation._CACHE
sampling.weighted_resamples._BATCH_SIZE
"""
ROWS = """
copa.sweep._BLOCK copa.stability._BLOCK portfolio.score_tables._BLOCK_ROWS
portfolio.score_tables._BLOCK_COLUMNS
dominance.influence._BATCH dominance.resampled_tests._PAIRS_AT_ONCE
dominance.influence.BLOCK
"""


@pytest.mark.parametrize(
    "call",
    [
        "rank {table} --resamples 100",
        "rank {table} --unpaired --resamples 100",
        "mrm {table} --resamples 100",
        "copa {table} --higher * --resamples 100",
        "gate {table} --better A:B --not-worse C:B --margin 0.1 --resamples 100",
    ],
)
def test_any_amount_at_once(run, table, monkeypatch, call):
    words = [*call.format(table=table).split(), "--format", "json"]
    expected = run(*words)
    for names, size in ((NUMBERS, 500), (ROWS, 3)):
        for name in names.split():
            monkeypatch.setattr(f"riskrank.engine.{name}", size)
    assert difference(expected.stdout, run(*words).stdout) is None
    assert expected.stdout
