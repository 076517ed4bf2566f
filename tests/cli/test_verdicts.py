"""Warnings, gates, selections and the variants of a test, as a user meets them."""

import json

import numpy as np
import polars as pl
import pytest


def rows(outcome) -> list[dict]:
    assert outcome.status == 0, outcome.stderr
    return outcome.document["results"]


def column(model: str, metric: str, values: np.ndarray) -> pl.DataFrame:
    samples = [f"s{number}" for number in range(len(values))]
    return pl.DataFrame({"model": model, "sample": samples, "metric": metric, "score": values})


@pytest.mark.parametrize("command", ["rank", "dominance"])
@pytest.mark.parametrize("format", ["table", "json"])
def test_a_failed_gate_exits_1_after_the_result(run, table, quick, command, format, tmp_path):
    plain = run(command, table, *quick, "--format", format, "--quiet")
    failed = run(command, table, *quick, "--format", format, "--quiet", "--gate-better", "C:A")
    assert (plain.status, failed.status) == (0, 1)
    assert failed.stdout == plain.stdout
    error, found, hint = failed.stderr.splitlines()
    assert error == "error: gate --gate-better C:A failed: C does not significantly dominate A"
    assert found.startswith("found: R-SSD@P(IC), violation ratio ")
    assert hint.startswith("hint: C is not shown to be better")
    path = tmp_path / "out.json"
    assert run(command, table, *quick, "--gate-not-worse", "C:A", "-o", path).status == 1
    assert json.loads(path.read_text())["results"]


@pytest.mark.parametrize("command", ["rank", "dominance"])
def test_gates_that_hold(run, table, quick, command):
    gates = ["--gate-better", "A:C", "--gate-not-worse", "A:C", "--gate-not-worse", "A:B"]
    assert run(command, table, *quick, *gates).status == 0


def test_gates_that_fail_are_counted(run, table, quick):
    gates = ["--gate-better", "C:A", "--gate-not-worse", "C:A", "--gate-better", "B:A"]
    outcome = run("rank", table, *quick, "-q", *gates)
    assert outcome.status == 1
    assert outcome.stderr.splitlines()[0].endswith("(and 2 more failures)")


def test_a_gate_holds_on_every_metric(run, write, quick):
    frame = pl.concat(
        [
            pl.DataFrame(
                {"model": m, "sample": [f"{i}" for i in range(40)], "metric": metric, "score": values}
            )
            for metric, sign in (("up", 1), ("down", -1))
            for m, values in (("A", np.arange(40.0) + 30 * sign), ("B", np.arange(40.0)))
        ]
    )
    path = write("t.csv", frame)
    assert run("rank", path, *quick, "-q", "--metric", "up", "--gate-better", "A:B").status == 0
    outcome = run("rank", path, *quick, "-q", "--per-metric", "--gate-better", "A:B")
    assert outcome.status == 1
    assert "R-SSD@down" in outcome.stderr


def test_names_with_colons(run, write, quick, make_scores):
    path = write("t.csv", make_scores(models=("gpt:4:a", "b:1", "c")))
    assert run("rank", path, *quick, "--gate-better", "gpt:4:a:b:1").status == 0
    outcome = run("rank", path, *quick, "--gate-better", "b:1:gpt:4:a")
    assert outcome.status == 1
    assert "b:1 does not significantly dominate gpt:4:a" in outcome.stderr


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
            assert row["tier"] is row["rank_low"] is row["score_low"] is None
    text = run(command, path, "--no-test").stdout
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
    assert document["meta"]["settings"]["correction"] == "k^2"
    for row in document["results"]:
        assert row["p_adjusted"] == pytest.approx(min(1, row["p_value"] * 9))
        assert row["extrapolated"] is False


def test_corrections(run, table, quick):
    by_rule = {
        rule: [
            (row["p_value"], row["p_adjusted"])
            for row in rows(run("dominance", table, *quick, "--correction", rule, "--format", "json"))
        ]
        for rule in ("none", "bonferroni", "holm", "bh")
    }
    assert all(p == adjusted for p, adjusted in by_rule["none"])
    for rule in ("holm", "bh"):
        for (p, adjusted), (_, bonferroni) in zip(by_rule[rule], by_rule["bonferroni"], strict=True):
            assert p <= adjusted <= bonferroni


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


def test_the_empirical_copula_against_a_loop(run, write):
    scores = np.random.default_rng(3).normal(size=(2, 12, 2)).round(3)
    lines = ["model,sample,a,b"] + [
        f"{model},{i},{scores[m, i, 0]},{scores[m, i, 1]}" for m, model in enumerate("AB") for i in range(12)
    ]
    path = write("t.csv", "\n".join(lines) + "\n")
    found = rows(run("portfolio", path, "--wide", "--copula", "empirical", "--format", "json"))
    pooled = scores.reshape(-1, 2)
    expected = [np.mean(np.all(pooled < own, axis=1)) for own in pooled]
    order = {(row["model"], row["sample"]): row["score"] for row in found}
    assert [order["AB"[k // 12], str(k % 12)] for k in range(24)] == pytest.approx(expected)
    own = rows(
        run(
            "portfolio",
            path,
            "--wide",
            "--copula",
            "empirical",
            "--copula-scope",
            "model",
            "--format",
            "json",
        )
    )
    expected = [np.mean(np.all(scores[k // 12] < pooled[k], axis=1)) for k in range(24)]
    order = {(row["model"], row["sample"]): row["score"] for row in own}
    assert [order["AB"[k // 12], str(k % 12)] for k in range(24)] == pytest.approx(expected)


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
    path = write("t.parquet", planted())
    document = run("rank", path, *quick, "--format", "json").document
    (entry,) = document["meta"]["hidden_risks"]
    assert (entry["model"], entry["metric"], entry["win_rate_rank"]) == ("risky", "gain", 1)
    assert entry["risk_rank"] >= 3
    text = " ".join(run("rank", path, *quick).stdout.split())
    shown = f"risky (win rate 1, R-SSD {entry['risk_rank']}; {entry['ratio_rank']} by ε: bad in the tail)."
    assert f"Hidden risks: {shown}" in text


# Levels at which chance decides some of the wins.
LENIENT = ("--correction", "none", "--alpha", "0.2")
STRICT = ("--correction", "none", "--alpha", "0.002")


@pytest.mark.parametrize("models", ["ABCD", "ABCDEFGHIJKL"])
def test_hidden_risks_follow_from_the_rows(run, write, quick, make_scores, models):
    """Two places count in a large field, one place in a field of less than five."""
    found = 0
    for seed in range(24):
        frame = make_scores(models=tuple(models), metrics=("x",), n=30, seed=seed, gap=0.6 / len(models))
        document = run("rank", write("t.csv", frame), *quick, *LENIENT, "--format", "json").document
        rank = {
            method: {r["model"]: r for r in document["results"] if r["method"] == f"{method}@x"}
            for method in ("R-SSD", "MWR")
        }
        expected = {}
        for model, row in rank["R-SSD"].items():
            gap = row["rank"] - rank["MWR"][model]["rank"]
            if gap > 0 and (gap >= 2 or gap >= len(models) / 4):
                expected[model] = (row["rank"], rank["MWR"][model]["rank"])
        entries = document["meta"]["hidden_risks"]
        assert {e["model"]: (e["risk_rank"], e["win_rate_rank"]) for e in entries} == expected
        for entry in entries:
            ratios = [row["score"] for row in rank["R-SSD"].values()]
            assert entry["ratio_rank"] == 1 + sum(
                ratio < rank["R-SSD"][entry["model"]]["score"] for ratio in ratios
            )
        gaps = [e["risk_rank"] - e["win_rate_rank"] for e in entries]
        assert gaps == sorted(gaps, reverse=True)
        found += len(entries)
    assert found


def test_few_wins_are_told_from_a_bad_tail(run, write):
    """One of equally good models has the fewest significant wins by chance; its ε is fine."""
    rng = np.random.default_rng(4)
    shifts = {"best": 1.2, "good": 0.9, "fair": 0.6, "poor": 0.0, "worst": -1.5}
    told = set()
    how = ("--variance", "clt")
    for _ in range(40):
        columns = {name: rng.normal(size=30) + shift for name, shift in shifts.items()}
        wide = pl.DataFrame({"sample": [f"{i}" for i in range(30)], **columns})
        frame = wide.unpivot(index="sample", variable_name="model", value_name="x")
        path = write("t.csv", frame)
        entries = run("rank", path, "--wide", *how, *STRICT, "--format", "json").document["meta"][
            "hidden_risks"
        ]
        if not entries:
            continue
        text = " ".join(run("rank", path, "--wide", *how, *STRICT).stdout.split())
        for entry in entries:
            gap = entry["ratio_rank"] - entry["win_rate_rank"]
            why = "bad in the tail" if gap >= 2 else "too few significant wins"
            told.add(why)
            shown = f"{entry['model']} (win rate {entry['win_rate_rank']}, R-SSD {entry['risk_rank']}; "
            assert f"{shown}{entry['ratio_rank']} by ε: {why})" in text
    assert "too few significant wins" in told
