"""``gate --on pass^3``: claims on runs that all pass, or of which one does."""

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def runs(write):
    """Six runs of 80 samples: ``flaky`` passes more often, ``steady`` always on the same samples."""
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


def test_all_of_five_runs_is_another_question_than_one(run, runs):
    statistics = ("--on", "pass^5:acc", "--on", "acc", "--on", "pass@5:acc")
    rows = gate(run, runs, "--better", "steady:flaky", *statistics)
    verdicts = {row["statistic"]: row for row in rows}
    assert verdicts["pass^5"]["verdict"] == "pass"
    # Of six runs that pass with .8, five of them all do with .8^5 = .33.
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


@pytest.mark.parametrize(
    ("statistic", "says"),
    [("pass^7:acc", "needs 7 runs"), ("pass^0", "neither a statistic"), ("pass^2:half", "1, or fail, 0")],
)
def test_what_is_refused(refused, runs, write, statistic, says):
    scores = pl.read_csv(runs).cast({"score": float})
    half = scores.filter(pl.col("metric") == "acc").with_columns(
        metric=pl.lit("half"), score=pl.col("score") * 0.5
    )
    path = write("half.csv", pl.concat([scores, half]))
    told = refused(
        *("gate", path, "--repeats", "draws", "--lower", "failed"),
        *("--better", "steady:flaky", "--on", statistic),
    )
    assert says in "\n".join(told)


def test_the_worst_run_says_that_it_depends_on_their_number(run, runs):
    outcome = run("check", runs, "--repeats", "min", "--lower", "failed", "--format", "json")
    assert any("pass^k" in text for text in outcome.document["meta"]["warnings"])
