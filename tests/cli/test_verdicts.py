"""Warnings, model selections and test variants as a user sees them."""

import re

import numpy as np
import polars as pl
import pytest

from tests.tables import long_table


def rows(outcome) -> list[dict]:
    assert outcome.status == 0, outcome.stderr
    return outcome.document["results"]


def test_per_metric(run, table, quick):
    results = rows(run("rank", table, *quick, "--per-metric", "--format", "json"))
    assert {row["method"].split("@")[1] for row in results} == {"acc", "f1"}
    alone = rows(run("rank", table, *quick, "--metric", "f1", "--format", "json"))
    assert [row for row in results if row["method"].endswith("@f1")] == alone
    pairs = rows(run("dominance", table, *quick, "--per-metric", "--format", "json"))
    assert {row["metric"] for row in pairs} == {"acc", "f1"}


def test_a_weight_of_1_is_the_metric_alone(run, table):
    weighted = rows(run("portfolio", table, "--weight", "acc=1", "--weight", "f1=0", "--format", "json"))
    alone = rows(run("portfolio", table, "--metric", "acc", "--format", "json"))
    assert [row["score"] for row in weighted] == pytest.approx([row["score"] for row in alone], rel=1e-12)


def planted(n=400) -> pl.DataFrame:
    """Return a model with the best mean, and a worst tenth far below those of all other models."""
    rng = np.random.default_rng(7)
    base = rng.normal(size=n)
    risky = base * 0.2 + 3.0
    risky[rng.permutation(n)[: n // 10]] -= 12
    models = {"risky": risky} | {f"steady{k}": base + 1.6 - 0.2 * k for k in range(4)}
    return long_table(models, "gain", str)


def test_a_planted_hidden_risk(run, write, quick):
    frame = planted()
    path = write("t.parquet", frame)
    document = run("rank", path, *quick, "--format", "json").document
    entry = document["meta"]["hidden_risks"][0]
    assert (entry["model"], entry["metric"], entry["status"]) == ("risky", "gain", "risk")
    assert entry["against"].startswith("steady")
    worst = {
        name: values["score"].sort()[:20].mean()  # 5 % of 400
        for (name,), values in frame.group_by("model")
    }
    assert entry["tvar"] == pytest.approx(worst["risky"])
    assert entry["against_tvar"] == pytest.approx(worst[entry["against"]])
    assert entry["mean"] >= entry["against_mean"]
    assert entry["p_adjusted"] <= 0.05
    assert [other for other in document["meta"]["hidden_risks"][1:] if other["status"] == "risk"] == []
    text = " ".join(run("rank", path, *quick, "--explain").stdout.split())
    match = re.search(
        r"Hidden risks: risky: mean ([\d.]+) \(rank 1 by the mean\), worst 5 %: −([\d.]+) against", text
    )
    assert match is not None
    # As many digits as their intervals support.
    for number, exact in zip(match.groups(), (entry["mean"], -entry["tvar"]), strict=True):
        assert number == f"{exact:.{len(number.partition('.')[2])}f}"


def test_a_method_has_the_rows_it_has_in_the_default_table(run, write, make_scores, quick):
    path = write("t.csv", make_scores())
    every = run("rank", path, *quick, "--format", "json").document["results"]
    alone = run("rank", path, *quick, "--method", "R-SSD", "--format", "json").document["results"]
    assert alone == [row for row in every if row["method"] == "R-SSD@P(IC)"]


@pytest.mark.slow
def test_stability_is_the_same_for_any_number_of_jobs(run, write, make_scores):
    path = write("t.csv", make_scores(n=30))
    options = ("--resamples", "40", "--method", "R-SSD", "--stability", "15", "--format", "json")
    serial, parallel = (run("rank", path, *options, "--set", f"jobs={jobs}").document for jobs in (1, 2))
    assert serial == parallel
