"""Failed calls are no removed cases: no option suggested by a message lets an outage pass."""

import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

CLAIM = ("--not-worse", "new:old", "--margin", "0.05", "--resamples", "400", "--set", "jobs=1")
# Plausible values for options whose value a message leaves open.
VALUES = {"--margin": "0.1", "--cases": "5", "--metrics-file": None}


def table(new, old, *, kind, seed=0, n=200):
    """Return scores of an apparently better model with many failed calls, in a given table layout."""
    rng = np.random.default_rng(seed)
    hard = rng.random(n)
    rows = []
    for name, skill, share in (("new", 0.8, new), ("old", 0.7, old)):
        right = (hard < skill).astype(float)
        right = right if kind != "amount" else np.round(10 * right * rng.random(n), 1)
        failed = rng.permutation(n) < share * n
        for at in range(n):
            if failed[at] and kind == "absent":
                continue
            score = None if failed[at] else float(right[at])
            score = float("nan") if failed[at] and kind == "nan" else score
            rows.append((name, f"q{at:03}", score, 30.0 if failed[at] else 2.0))
    return pl.DataFrame(rows, schema=["model", "sample", "points", "seconds"], orient="row")


def options_named(text):
    """Return the options that a message suggests, with the suggested or a plausible value."""
    words = text.replace(";", " ").replace(",", " ").split()
    for word, after in pairwise([*words, ""]):
        if word.startswith("--") and word != "--bless":
            flag = word.rstrip(".:)")
            value = (
                after
                if re.fullmatch(r"[a-z0-9.]+", after) and flag in ("--missing", "--inconclusive")
                else ""
            )
            yield (flag, VALUES.get(flag, value) or value) if flag in VALUES or value else (flag,)


def assert_never_passes(run, command, bounds):
    """Assert that a gate never passes, with up to three options that its messages suggest."""
    tried, waiting = set(), [frozenset()]
    while waiting:
        chosen = waiting.pop()
        if chosen in tried or len(chosen) > 3:
            continue
        tried.add(chosen)
        outcome = run(*command, *(word for option in sorted(chosen) for word in option))
        assert outcome.status != 0, (chosen, outcome.stdout)
        # Only the user knows that absent cases were removed on purpose.
        text = re.sub(
            r"if the cases were removed on purpose: --missing\s+drop|^  riskrank .* --missing drop$",
            "",
            f"{outcome.stderr} {outcome.stdout.partition('To decide:')[2]}",
            flags=re.MULTILINE,
        )
        for option in options_named(text):
            if option[0] in (
                "--metrics-file",
                "--missing",
                "--inconclusive",
                "--margin",
                "--unpaired",
                "--models",
            ):
                option = ("--metrics-file", str(bounds)) if option[0] == "--metrics-file" else option
                waiting.append(frozenset([*(had for had in chosen if had[0] != option[0]), option]))
    assert len(tried) < 40


@pytest.mark.parametrize(
    ("kind", "new", "old"),
    [
        ("null", 0.4, 0.0),
        ("null", 0.4, 0.4),
        ("null", 0.0, 0.4),
        ("nan", 0.4, 0.4),
        ("absent", 0.4, 0.0),
        ("amount", 0.4, 0.0),
    ],
)
def test_no_option_that_is_named_lets_an_outage_pass(run, tmp_path, kind, new, old):
    path, bounds = tmp_path / "scores.parquet", tmp_path / "bounds.toml"
    table(new, old, kind=kind).write_parquet(path)
    bounds.write_text("[points]\nbounds = [0, 10]\n")
    assert_never_passes(run, ("gate", path, "--wide", "--metric", "points", *CLAIM), bounds)


def test_samples_that_are_left_out_are_counted_as_by_other_commands(run, tmp_path):
    path = tmp_path / "scores.parquet"
    table(0.1, 0.0, kind="absent").write_parquet(path)
    arguments = (path, "--wide", "--metric", "points", "--missing", "drop")
    outputs = [
        run(*command, *arguments).stdout for command in (("gate", *CLAIM), ("rank", "--resamples", "99"))
    ]
    assert all("Scored: new 180 of 200 (20 absent)" in output for output in outputs)
    assert "failed on" not in outputs[0]


@pytest.mark.parametrize(
    ("lost", "missing", "claim"),
    [
        (["points"], "auto", ("--cheapest", "old", "--price", "seconds")),
        (["seconds"], "drop", ("--better", "new:old")),
        (["points", "seconds"], "auto", ("--better", "new:old")),
    ],
)
def test_an_outage_passes_no_claim_on_the_cost_per_success(run, tmp_path, lost, missing, claim):
    """Failures count on both metrics, costs and successes."""
    path, bounds = tmp_path / "scores.parquet", tmp_path / "bounds.toml"
    right, new = table(0, 0, kind="null"), pl.col("model") == "new"
    cost = pl.Series(np.random.default_rng(1).lognormal(0, 0.1, len(right)))
    right = right.with_columns(seconds=pl.when(new).then(cost / 2).otherwise(cost))
    right.write_parquet(path)
    ratio = ("--lower", "seconds", "--on", "cost-per-success:seconds/points", *CLAIM[4:])
    command = ("gate", path, "--wide", *ratio, *claim, "--missing", missing)
    assert run(*command).status == 0
    failed = new & pl.col("sample").str.contains("[0-3]$")
    right.with_columns(pl.when(~failed).then(pl.col(*lost))).write_parquet(path)
    bounds.write_text("[points]\nbounds = [0, 1]\n[seconds]\nbounds = [0, 10]\n")
    assert_never_passes(run, command, bounds)
    document = run(*command, "--metrics-file", bounds, "--format", "json").document
    assert {row["metric"] for row in document["results"] if row["statistic"] == "failed"} == set(lost)
    counted = {
        (entry["model"], entry["metric"]): (entry["scored"], entry["total"])
        for entry in document["meta"]["scored"]
    }
    for metric in ("points", "seconds"):
        assert counted["new", metric] == (120 if metric in lost else 200, 200)
        assert counted["old", metric] == (200, 200)
