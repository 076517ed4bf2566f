"""Warnings, selections and the variants of a test, as a user meets them."""

import re

import numpy as np
import polars as pl
import pytest


def rows(outcome) -> list[dict]:
    assert outcome.status == 0, outcome.stderr
    return outcome.document["results"]


@pytest.mark.parametrize("command", ["rank", "dominance"])
def test_without_a_test(run, write, command):
    path = write("t.csv", n=3)
    document = run(command, path, "--no-test", "--format", "json").document
    assert (document["meta"]["seed"], document["meta"]["resamples"]) == (None, None)
    for row in document["results"]:
        if command == "dominance":
            assert row["p_value"] is row["p_adjusted"] is row["standard_error"] is None
            assert row["dominates"] == (row["statistic"] < row["threshold"])
        else:
            assert row["tier"] is row["rank_low"] is row["difference_low"] is row["decided"] is None
    text = run(command, path, "--no-test", "--explain").stdout
    assert "no test was asked for" in text
    assert "resamples" not in text


@pytest.mark.parametrize("n", [10, 29, 30])
def test_few_samples_warn(run, write, quick, n):
    outcome = run("dominance", write("t.csv", n=n), *quick, "--format", "json")
    assert outcome.status == 0
    said = f"only {n} samples: verdicts below 30 samples are fragile"
    assert (said in outcome.document["meta"]["warnings"]) == (n < 30)
    assert (f"warning: {said}\n" in outcome.stderr) == (n < 30)


def test_every_warning_is_on_stderr_and_in_the_document(run, write, quick, make_scores):
    path = write("t.csv", make_scores(n=12, metrics=("acc", "loss")))
    loud = run("rank", path, *quick, "--paper-exact", "--format", "json")
    quiet = run("rank", path, *quick, "--paper-exact", "--format", "json", "--quiet")
    warnings = loud.document["meta"]["warnings"]
    assert [line.removeprefix("warning: ") for line in loud.stderr.splitlines()] == warnings
    assert any("loss" in warning for warning in warnings)
    assert any("--paper-exact" in warning for warning in warnings)
    assert any("only 12 samples" in warning for warning in warnings)
    assert (quiet.stdout, quiet.stderr) == (loud.stdout, "")


def test_what_is_dropped_is_counted(run, write, quick, make_scores):
    frame = make_scores()
    kept = frame.filter(~((pl.col("model") == "B") & (pl.col("sample").is_in(["s3", "s7"]))))
    outcome = run("rank", write("t.csv", kept), "--missing", "drop", *quick, "--format", "json")
    assert outcome.document["meta"]["samples"] == 38
    (warning,) = [line for line in outcome.document["meta"]["warnings"] if "drop" in line]
    assert "2" in warning
    assert f"warning: {warning}\n" in outcome.stderr


def test_paper_exact_rejects_by_its_own_rule(run, table, quick):
    document = run("dominance", table, *quick, "--paper-exact", "--format", "json").document
    assert document["meta"]["method"]["correction"] == "k^2"
    for row in document["results"]:
        assert row["p_adjusted"] == pytest.approx(min(1, row["p_value"] * 9))
        assert row["extrapolated"] is False


def test_per_metric(run, table, quick):
    found = rows(run("rank", table, *quick, "--per-metric", "--format", "json"))
    assert {row["method"].split("@")[1] for row in found} == {"acc", "f1"}
    alone = rows(run("rank", table, *quick, "--metric", "f1", "--format", "json"))
    assert [row for row in found if row["method"].endswith("@f1")] == alone
    pairs = rows(run("dominance", table, *quick, "--per-metric", "--format", "json"))
    assert {row["metric"] for row in pairs} == {"acc", "f1"}


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--order", "1"], 4),
        (["--order", "2", "--test", "relative"], 1),
        (["--order", "2", "--test", "direct"], 1),
        (["--order", "1", "--test", "all"], 5),
        (["--test", "absolute", "--threshold", "0.3", "--threshold", "0.1"], 4),
        (["--threshold", "0.3", "--threshold", "0.3"], 4),
    ],
)
def test_the_claims_asked_for(run, table, quick, options, count):
    found = rows(run("dominance", table, *quick, *options, "--format", "json"))
    assert len({(row["order"], row["test"], row["threshold"]) for row in found}) == count
    assert len(found) == 6 * count
    assert run("rank", table, *quick, *options).status == 0
    assert run("dominance", table, *quick, *options, "--ratios").status == 0


def test_a_weight_of_1_is_the_metric_alone(run, table):
    weighted = rows(run("portfolio", table, "--weight", "acc=1", "--weight", "f1=0", "--format", "json"))
    alone = rows(run("portfolio", table, "--metric", "acc", "--format", "json"))
    assert [row["score"] for row in weighted] == pytest.approx([row["score"] for row in alone], rel=1e-12)


def test_lower_is_better(run, table, quick):
    as_given = run("rank", table, *quick, "--format", "json").document
    turned = run("rank", table, *quick, "--lower", "acc,f1", "--format", "json").document
    first = [next(r["model"] for r in d["results"] if r["method"] == "MWR@P(IC)") for d in (as_given, turned)]
    assert first == ["A", "C"]
    assert [metric["direction"] for metric in turned["meta"]["metrics"]] == ["lower", "lower"]


def test_selections(run, write, quick, make_scores):
    path = write("t.csv", make_scores(models=("A, large", "B", "C")))
    document = run("rank", path, *quick, "--models", 'B,"A, large"', "--format", "json").document
    assert document["meta"]["models"] == ["A, large", "B"]
    document = run("rank", path, *quick, "--models", "B", "--models", "C", "--format", "json").document
    assert document["meta"]["models"] == ["B", "C"]


def planted(n=400) -> pl.DataFrame:
    """A model with the best mean whose worst tenth is far below everyone else's worst."""
    rng = np.random.default_rng(7)
    base = rng.normal(size=n)
    risky = base * 0.2 + 3.0
    risky[rng.permutation(n)[: n // 10]] -= 12
    models = {"risky": risky} | {f"steady{k}": base + 1.6 - 0.2 * k for k in range(4)}
    return pl.concat(
        [
            pl.DataFrame(
                {"model": name, "sample": [str(i) for i in range(n)], "metric": "gain", "score": values}
            )
            for name, values in models.items()
        ]
    )


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
    shown = re.search(
        r"Hidden risks: risky: mean ([\d.]+) \(place 1 by the mean\), worst 5 %: −([\d.]+) against", text
    )
    assert shown is not None
    # As many digits as their intervals support.
    for number, exact in zip(shown.groups(), (entry["mean"], -entry["tvar"]), strict=True):
        assert number == f"{exact:.{len(number.partition('.')[2])}f}"


def test_without_resamples_no_risk_is_looked_for(run, write):
    outcome = run("rank", write("t.parquet", planted()), "--no-test", "--explain")
    assert "Hidden risks: not looked for" in outcome.stdout


def test_the_verdict_comes_first_and_says_what_to_ship(run, table, quick):
    document = run("rank", table, *quick, "--format", "json").document
    verdict = document["meta"]["verdict"]
    assert verdict.startswith("Ship A: significantly better than B and C on the combined score. ")
    assert "Against B, A is better on acc " in verdict
    page = " ".join(run("rank", table, *quick).stdout.split())
    assert page.startswith(f"Verdict: {verdict}")
    assert (
        "40 paired samples (too few to see what happens less than once in 13); 3 of 3 pairs told apart"
        in page
    )


def test_a_verdict_says_who_cannot_be_told_apart(run, write, quick, make_scores):
    path = write("t.csv", make_scores(n=40, gap=0.0, metrics=("x",)))
    verdict = run("rank", path, *quick, "--format", "json").document["meta"]["verdict"]
    assert verdict.startswith("No test tells B, first in these samples, from any of the 2 others. B's mean ")
    assert "(difference −" in verdict
    untested = run("rank", path, "--no-test", "--format", "json").document["meta"]["verdict"]
    assert "nothing was tested, so nothing says how sure that is" in untested


def test_a_pair_that_no_test_separates(run, write, quick, make_scores):
    path = write("t.csv", make_scores(n=40, gap=0.0, metrics=("x",)))
    pair = run("dominance", path, "--models", "A,B", *quick, "--format", "json").document["meta"]["verdict"]
    assert pair.startswith("No test separates A and B on x. A's mean is ")


def test_claims_too_many_for_the_resamples_are_not_decided(run, write, make_scores):
    path = write("t.csv", make_scores(n=60, gap=2.0, metrics=("x",), models=tuple("ABCDEF")))
    few = ("--resamples", "40", "--test", "direct", "--order", "2")
    outcome = run("dominance", path, *few, "--format", "json")
    found = outcome.document["results"]
    assert any(not row["decided"] for row in found)
    assert not any(row["dominates"] for row in found if not row["decided"])
    assert "not decided at 40 resamples" in outcome.stderr
    page = run("dominance", path, *few, "--explain").stdout
    assert "not decided" in page
    enough = run("dominance", path, "--test", "direct", "--order", "2", "--format", "json").document
    assert all(row["decided"] for row in enough["results"])
    assert sum(row["dominates"] for row in enough["results"]) == 15
