"""``gate --on pass^3``: claims that all runs of a sample pass, or that one does."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def runs(write):
    """Six runs of 80 samples: ``flaky`` passes more often, ``steady`` passes always the same samples."""
    rng = np.random.default_rng(0)
    rows = []
    for model in ("flaky", "steady"):
        for at in range(80):
            share = 0.8 if model == "flaky" else float(at < 60)
            rows += [
                (model, f"s{at}", draw, metric, int(passed if metric == "acc" else not passed))
                for draw, passed in enumerate(rng.random(6) < share)
                for metric in ("acc", "failed")
            ]
    schema = ["model", "sample", "draw", "metric", "score"]
    return write("runs.csv", pl.DataFrame(rows, schema=schema, orient="row"))


def gate(run, runs, *claim):
    outcome = run("gate", runs, "--repeats", "draws", *claim, "--lower", "failed", "--format", "json")
    assert outcome.status in (0, 1, 4), outcome.stderr
    return outcome.document["results"]


def test_all_of_five_runs_differs_from_a_single_run(run, runs):
    statistics = ("--on", "pass^5:acc", "--on", "acc", "--on", "pass@5:acc")
    rows = gate(run, runs, "--better", "steady:flaky", *statistics)
    verdicts = {row["statistic"]: row for row in rows}
    assert verdicts["pass^5"]["verdict"] == "pass"
    # With a pass rate of .8, five runs all pass with probability .8^5 = .33.
    assert verdicts["pass^5"]["estimate"] == pytest.approx(0.75 - 0.8**5, abs=0.08)
    assert verdicts["pass@5"]["verdict"] == "fail"
    assert verdicts["mean"]["verdict"] == "inconclusive"


def test_less_that_fail_is_more_that_pass(run, runs):
    first, second = gate(run, runs, "--better", "steady:flaky", "--on", "pass^3")
    assert first["metric"] != second["metric"]
    assert first["estimate"] == pytest.approx(second["estimate"])
    assert (first["direction"], second["direction"]) == ("higher", "higher")
    assert {row["verdict"] for row in (first, second)} == {"pass"}


def test_a_look_at_any_time(run, runs):
    (row,) = gate(run, runs, "--better", "steady:flaky", "--on", "pass^5:acc", "--anytime")
    assert row["verdict"] == "pass"
    assert row["e_value"] > 40


def test_the_worst_run_depends_on_the_number_of_runs(run, runs):
    outcome = run("check", runs, "--repeats", "min", "--lower", "failed", "--format", "json")
    assert any("pass^k" in text for text in outcome.document["meta"]["warnings"])


@pytest.mark.parametrize("statistic", ["pass^2", "pass@3"])
@pytest.mark.parametrize("anytime", [(), ("--anytime", "--largest-cluster", "20")])
def test_clusters_against_subsets_of_the_runs(run, write, statistic, anytime):
    """Scores per sample, averaged over all subsets of its runs, lead to the same decision."""
    rng = np.random.default_rng(4)
    count, every = int(statistic[-1]), all if "^" in statistic else any
    rows, shares = [], []
    for model, share in (("new", 0.8), ("old", 0.6)):
        for at in range(90):
            # Clusters of growing size, and three to six runs.
            doc, passed = f"d{int(np.sqrt(2 * at))}", rng.random(3 + at % 4) < share
            rows += [(model, f"s{at:02}", doc, draw, float(success)) for draw, success in enumerate(passed)]
            subsets = [every(some) for some in combinations(passed, count)]
            shares.append((model, f"s{at:02}", doc, 0, float(np.mean(subsets))))
    schema = ["model", "sample", "doc", "draw", "acc"]
    runs, single = (
        write(name, pl.DataFrame(records, schema=schema, orient="row"))
        for name, records in (("runs.parquet", rows), ("single.parquet", shares))
    )
    bounds = write("bounds.toml", "[acc]\nbounds = [0, 1]\n")
    command = (
        "--wide",
        "--metric",
        "acc",
        "--cluster",
        "doc",
        "--better",
        "new:old",
        "--format",
        "json",
        *anytime,
    )
    (records,) = run("gate", runs, *command, "--repeats", "draws", "--on", statistic).document["results"]
    (expected,) = run("gate", single, *command, "--metrics-file", bounds).document["results"]
    assert records["samples"] == expected["samples"] == len({row[2] for row in rows})
    for name in ("estimate", "low", "high", "p_value", "standard_error", *(["e_value"] if anytime else [])):
        assert records[name] == pytest.approx(expected[name], rel=1e-9), name
    # Clusters matter: with independent samples the error of the difference is another.
    (alone,) = run(
        "gate",
        runs,
        *command[:3],
        "--cluster",
        "none",
        *command[5:9],
        "--repeats",
        "draws",
        "--on",
        statistic,
    ).document["results"]
    assert alone["samples"] == 90
    assert alone["estimate"] == pytest.approx(records["estimate"])
