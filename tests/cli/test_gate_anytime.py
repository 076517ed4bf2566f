"""``gate --anytime``: answers at every look, what is refused, and a history nobody may rewrite."""

import json
import re

import numpy as np
import polars as pl
import pytest


def table(n, *, seed=0, new=0.8, old=0.7):
    """Passed or not, of two models on the same samples; the first samples are those of a smaller table."""
    rng = np.random.default_rng(seed)
    luck = rng.random((n, 2))
    passed = {"old": luck[:, 0] < old, "new": luck[:, 1] < new}
    rows = [(model, f"s{at}", "acc", int(one[at])) for model, one in passed.items() for at in range(n)]
    return pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row")


@pytest.fixture
def told(refused):
    """The three lines of an error, as one text."""
    return lambda *arguments: "\n".join(refused(*arguments))


@pytest.fixture
def first(run, write, tmp_path):
    """A look at 100 samples."""
    path = str(tmp_path / "look.json")
    outcome = run("gate", write("first.csv", table(100)), "--better", "new:old", "--anytime", "-o", path)
    assert outcome.status == 4
    return path


def test_a_look_goes_on_from_the_one_before(run, write, first):
    outcome = run(
        *("gate", write("more.csv", table(1500)), "--better", "new:old", "--anytime"),
        *("--continues", first, "--format", "json"),
    )
    assert outcome.status == 0, outcome.stderr
    document = outcome.document
    assert document["meta"]["looks"]["number"] == 2
    (row,) = document["results"]
    assert row["e_value"] >= 40
    assert row["p_value"] == pytest.approx(2 / row["e_value"])
    assert row["low"] > 0


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


def test_the_evidence_against_a_claim_is_not_told_as_evidence_for_it(run, write):
    path = write("s.csv", table(400, new=0.4))
    outcome = run("gate", path, "--better", "new:old", "--anytime", "--format", "json")
    (row,) = outcome.document["results"]
    assert (outcome.status, row["verdict"]) == (1, "fail")
    assert row["e_value"] < 1 < 40 < row["e_value_against"]


def test_the_order_of_the_rows_changes_no_byte(run, write):
    scores = table(80)
    texts = {
        json.dumps(
            run(
                *("gate", write("s.csv", one), "--not-worse", "new:old", "--margin", "0.1", "--anytime"),
                *("--format", "json"),
            ).document["results"]
        )
        for one in (scores, scores.reverse(), scores.sample(fraction=1, shuffle=True, seed=1))
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda scores: scores.filter(pl.col("sample") != "s7"), "lacks 1 of its 100"),
        (
            lambda scores: scores.with_columns(
                score=pl.when(pl.col("sample") == "s7").then(1 - pl.col("score")).otherwise("score")
            ),
            "changes 1 of its 100",
        ),
    ],
)
def test_nothing_is_taken_back(told, write, first, change, found):
    path = write("changed.csv", change(table(150)))
    error = told("gate", path, "--better", "new:old", "--anytime", "--continues", first)
    assert "take back" in error
    assert found in error
    assert "'s7'" in error


@pytest.mark.parametrize(
    "other", [["--margin", "0.1"], ["--alpha", "0.1"], ["--not-worse", "new:old"], ["--on", "pass^1:acc"]]
)
def test_looks_are_about_the_same_claims(told, write, first, other):
    path = write("same.csv", table(100))
    error = told("gate", path, "--better", "new:old", "--anytime", "--continues", first, *other)
    assert "other claims" in error


def test_a_history_is_as_short_as_any_file(told, write, tmp_path):
    path = write("history.json", "x" * 200)
    asked = ("gate", write("s.csv", table(20)), "--better", "new:old", "--anytime", "--continues", path)
    assert "more than 100 bytes" in told(*asked, "--max-bytes", "100")


def test_unbounded_scores_need_bounds(run, told, write, tmp_path):
    scores = table(50).with_columns(score=pl.col("score") * 3.5)
    path = write("s.csv", scores)
    spec = tmp_path / "metrics.toml"
    spec.write_text("[acc]\nbounds = [0, 3.5]\n")
    bounded = run(
        *("gate", path, "--better", "new:old", "--anytime", "--metrics-file", str(spec), "--format", "json")
    )
    plain = run("gate", write("t.csv", table(50)), "--better", "new:old", "--anytime", "--format", "json")
    assert bounded.document["results"][0]["e_value"] == pytest.approx(
        plain.document["results"][0]["e_value"], rel=1e-9
    )


def test_clusters_need_a_largest_size(run, told, write):
    scores = table(60).with_columns(doc=pl.col("sample").str.slice(1).cast(int) // 3)
    path = write("s.csv", scores)
    asked = ("gate", path, "--cluster", "doc", "--better", "new:old", "--anytime")
    assert "--largest-cluster" in told(*asked)
    assert "larger than" in told(*asked, "--largest-cluster", "2")
    rows = [
        run(*asked, "--largest-cluster", size, "--format", "json").document["results"][0]
        for size in ("3", "6")
    ]
    assert rows[0]["samples"] == 20
    assert rows[0]["p_value"] <= rows[1]["p_value"]


def test_clusters_are_not_called_samples(run, write):
    scores = table(60).with_columns(doc=pl.col("sample").str.slice(1).cast(int) // 3, lang=pl.lit("d\ne"))
    path = write("s.csv", scores)
    more = ("--group-by", "lang", "--correction", "none")
    for looks in ((), ("--anytime", "--largest-cluster", "3"), more):
        outcome = run("gate", path, "--cluster", "doc", "--not-worse", "new:old", *looks)
        page = " ".join(outcome.stdout.split())
        assert "20 clusters of samples (too few to see" in page
        assert re.search("clusters of samples(?: in reach)?, were the difference found the true one", page)
        for text in (page, outcome.stderr):
            assert re.search("clusters of samples(?: in reach)? would decide", text)


def test_a_verdict_is_one_line_whatever_groups_are_called(run, write):
    """The group alone is refuted, and so it is the one that the verdict names."""
    odd = pl.col("sample").str.slice(1).cast(int) % 2 == 1
    scores = table(400, new=0.1, old=0.9).with_columns(
        score=pl.when(odd).then(1).otherwise("score"),
        lang=pl.when(odd).then(pl.lit("a")).otherwise(pl.lit("d\ne")),
    )
    asked = ("--group-by", "lang", "--not-worse", "new:old", "--margin", "0.6", "--format", "json")
    outcome = run("gate", write("s.csv", scores), *asked)
    assert "on acc in d e (" in outcome.document["meta"]["verdict"]


def test_a_largest_size_holds_from_the_first_look_on(run, told, write):
    """Bets of the whole size while clusters hold one sample each would be taken back by the next look."""
    scores = table(60).with_columns(doc="sample")
    path = write("s.csv", scores)
    asked = ("gate", path, "--cluster", "doc", "--better", "new:old", "--anytime")
    assert "--largest-cluster" in told(*asked)
    sizes = ("1", "5")
    rows = [
        run(*asked, "--largest-cluster", size, "--format", "json").document["results"][0] for size in sizes
    ]
    passed = scores.pivot("model", index="sample", values="score").select(pl.col("new") - pl.col("old"))
    bets = np.sin(np.pi * (np.arange(1, 65) - 0.5) / 128) ** 2
    for row, size in zip(rows, sizes, strict=True):
        each = 1 + bets[:, None] * passed.to_numpy()[:, 0] / int(size)
        assert row["e_value"] == pytest.approx(each.prod(axis=1).mean(), rel=1e-9)
    error = told("gate", path, "--better", "new:old", "--anytime", "--largest-cluster", "5")
    assert "is about clusters, and there are none" in error
