"""``gate --anytime``: verdicts at each look, refusals, and an immutable history."""

import json

import numpy as np
import polars as pl
import pytest


def table(n, *, seed=0, new=0.8, old=0.7):
    """Binary scores of two models on the same samples; larger tables contain the smaller ones."""
    rng = np.random.default_rng(seed)
    luck = rng.random((n, 2))
    passed = {"old": luck[:, 0] < old, "new": luck[:, 1] < new}
    rows = [(model, f"s{at}", "acc", int(score[at])) for model, score in passed.items() for at in range(n)]
    return pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row")


def test_the_evidence_is_that_of_the_formula(run, write):
    scores = table(60)
    row = run(
        "gate", write("s.csv", scores), "--better", "new:old", "--anytime", "--format", "json"
    ).document["results"][0]
    wide = scores.pivot("model", index="sample", values="score")
    differences = wide["new"].to_numpy().astype(float) - wide["old"].to_numpy()
    bets = np.sin(np.pi * (np.arange(1, 65) - 0.5) / 128) ** 2
    e_value = np.mean([np.prod(1 + bet * differences.astype(np.longdouble)) for bet in bets])
    assert row["e_value"] == pytest.approx(float(e_value), rel=1e-9)
    against = np.mean([np.prod(1 - bet * differences.astype(np.longdouble)) for bet in bets])
    assert row["e_value_against"] == pytest.approx(float(against), rel=1e-9)


def test_the_order_of_the_rows_changes_no_byte(run, write):
    scores = table(80)
    texts = {
        json.dumps(
            run(
                *("gate", write("s.csv", rows), "--not-worse", "new:old", "--margin", "0.1", "--anytime"),
                *("--format", "json"),
            ).document["results"]
        )
        for rows in (scores, scores.reverse(), scores.sample(fraction=1, shuffle=True, seed=1))
    }
    assert len(texts) == 1


def test_a_history_is_as_short_as_any_file(messages_of, write, tmp_path):
    path = write("history.json", "x" * 200)
    command = ("gate", write("s.csv", table(20)), "--better", "new:old", "--anytime", "--continues", path)
    assert "more than 100 bytes" in messages_of(*command, "--set", "max-bytes=100")


def test_a_largest_size_holds_from_the_first_look_on(run, messages_of, write):
    """Bets for the actual cluster size, one sample each, would be revised when clusters grow."""
    scores = table(60).with_columns(doc="sample")
    path = write("s.csv", scores)
    command = ("gate", path, "--cluster", "doc", "--better", "new:old", "--anytime")
    assert "--largest-cluster" in messages_of(*command)
    sizes = ("1", "5")
    rows = [
        run(*command, "--largest-cluster", size, "--format", "json").document["results"][0] for size in sizes
    ]
    passed = scores.pivot("model", index="sample", values="score").select(pl.col("new") - pl.col("old"))
    bets = np.sin(np.pi * (np.arange(1, 65) - 0.5) / 128) ** 2
    for row, size in zip(rows, sizes, strict=True):
        wealth = 1 + bets[:, None] * passed.to_numpy()[:, 0] / int(size)
        assert row["e_value"] == pytest.approx(wealth.prod(axis=1).mean(), rel=1e-9)
    error = messages_of("gate", path, "--better", "new:old", "--anytime", "--largest-cluster", "5")
    assert "needs clusters, but there are none" in error
