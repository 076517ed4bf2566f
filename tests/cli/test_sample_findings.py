"""Findings ``few``, ``unequal-clusters`` and ``detection-limit`` of ``meta.findings``.

All commands report the same ones for the same table.
"""

import numpy as np
import polars as pl
import pytest

from riskrank.studies.findings import severity_rank

OF_SIZES = ("few", "unequal-clusters", "detection-limit")
COMMANDS = {
    "rank": (),
    "dominance": (),
    "mrm": (),
    "gate": ("--better", "b:a"),
    "copa": (),
    "power": ("--sizes", "20", "--limit", "20"),
}


@pytest.fixture
def unequal(write):
    """Forty users: eight with 30 questions, the others with 2."""
    rng, sizes = np.random.default_rng(0), [30] * 8 + [2] * 32
    users = np.repeat(np.arange(40), sizes)
    columns = {
        "model": np.repeat(["a", "b"], users.size),
        "sample": np.tile(np.arange(users.size), 2),
        "user": np.tile(users, 2),
        "acc": np.repeat([0, 2], users.size) + rng.normal(size=2 * users.size).round(3),
        "style": rng.normal(size=2 * users.size).round(3),
    }
    return write("t.csv", pl.DataFrame(columns)), np.array(sizes)


def limits(run, command, *options, pairs=None):
    options = [word for word in options if command != "copa" or word not in ("--set", "jobs=1")]
    extra = COMMANDS.get(command, ()) if pairs is None else pairs
    outcome = run(command, *options, "--wide", "--higher", "*", *extra, "--format", "json")
    assert outcome.stdout, outcome.stderr
    meta = outcome.document["meta"]
    places = [severity_rank(finding["kind"]) for finding in meta["findings"]]
    assert places == sorted(places)
    return {finding["kind"]: finding for finding in meta["findings"] if finding["kind"] in OF_SIZES}, meta[
        "warnings"
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_unequal_clusters_are_few_and_blind_in_every_command(run, unequal, quick, command):
    path, sizes = unequal
    effective = int(sizes.sum() ** 2 / (sizes**2).sum())
    findings, warnings = limits(run, command, path, "--cluster", "user", *quick)
    expected = {
        "few": {"units": 40, "effective_size": effective, "fewest": 30},
        "unequal-clusters": {"units": 40, "effective_size": effective},
        "detection-limit": {"effective_size": effective, "once_in": effective // 3},
    }
    if command == "power":
        del expected["detection-limit"]
    assert {kind: finding["figures"] for kind, finding in findings.items()} == expected
    lines = {line.lower() + "." for line in warnings}
    assert {findings[kind]["sentence"].lower() for kind in ("few", "unequal-clusters")} <= lines


@pytest.mark.parametrize("command", [*COMMANDS, "gsd"])
def test_many_equal_samples_leave_only_rare_cases_open(run, write, quick, command):
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 3, (2, 60)) + np.array([[0], [1]])
    rows = {"model": ["a"] * 60 + ["b"] * 60, "sample": [*range(60)] * 2, "acc": scores.ravel()}
    path = write("t.csv", pl.DataFrame({**rows, "style": scores.ravel() * 2}))
    findings, _ = limits(run, command, path, *quick)
    once = {kind: finding["figures"]["once_in"] for kind, finding in findings.items()}
    assert once == ({} if command == "power" else {"detection-limit": 20})


def test_untested_results_are_not_called_fragile(run, unequal, quick):
    findings, _ = limits(run, "mrm", unequal[0], "--cluster", "user", "--no-test", *quick)
    assert set(findings) == {"detection-limit"}


@pytest.mark.parametrize("command", ["rank", "dominance", "mrm"])
def test_few_samples_of_a_group_are_a_finding_of_it(run, write, quick, command):
    scores = np.random.default_rng(1).normal(size=120).round(3)
    rows = {"model": ["a"] * 60 + ["b"] * 60, "sample": [*range(60)] * 2, "acc": scores}
    rows["kind"] = (["x"] * 45 + ["y"] * 15) * 2
    findings, warnings = limits(
        run, command, write("t.csv", pl.DataFrame(rows)), "--group-by", "kind", *quick
    )
    assert findings["few"]["on"] == "y"
    assert findings["few"]["figures"] == {"units": 15, "effective_size": 15, "fewest": 30}
    assert (
        findings["few"]["sentence"]
        == "Group y: only 15 samples: verdicts from fewer than 30 samples are fragile."
    )
    assert findings["few"]["sentence"][1:-1] in {line[1:] for line in warnings}


def test_junit_reports_few_samples(run, unequal, quick):
    options = ("--cluster", "user", "--better", "b:a", "--metric", "acc", *quick, "--format", "junit")
    output = run("gate", unequal[0], "--wide", "--higher", "*", *options).stdout
    assert '<property name="few" value="Only 40 clusters of samples (effective sample size 12' in output
    assert '<property name="unequal-clusters" value="40 clusters of samples of very different sizes' in output


def test_few_clusters_are_called_clusters(run, write, quick):
    rng = np.random.default_rng(4)
    rows = {
        "model": ["a"] * 72 + ["b"] * 72,
        "sample": [*range(72)] * 2,
        "user": [*np.repeat(range(12), 6)] * 2,
    }
    path = write("t.csv", pl.DataFrame({**rows, "acc": rng.normal(size=144).round(3)}))
    screen = " ".join(run("rank", path, "--cluster", "user", *quick).stdout.split())
    assert "12 clusters of samples are too few to exclude" in screen


@pytest.fixture
def weekly(unequal, write):
    """The same table as two runs."""
    frame = pl.read_csv(unequal[0])
    return write("weeks.csv", pl.concat(frame.with_columns(week=pl.lit(week)) for week in ("w1", "w2")))


def test_runs_are_compared_on_shared_clusters(run, weekly, unequal):
    findings, warnings = limits(run, "trend", weekly, "--columns", "run=week", "--cluster", "user")
    effective = int(unequal[1].sum() ** 2 / (unequal[1] ** 2).sum())
    assert {
        kind: finding["figures"]["effective_size"] for kind, finding in findings.items()
    } == dict.fromkeys(OF_SIZES, effective)
    lines = {line.lower() + "." for line in warnings}
    assert {findings[kind]["sentence"].lower() for kind in ("few", "unequal-clusters")} <= lines
    screen = run(
        "trend", weekly, "--columns", "run=week", "--cluster", "user", "--wide", "--higher", "*"
    ).stdout
    assert findings["detection-limit"]["sentence"] in " ".join(screen.split())


def test_cases_that_change_are_few_in_no_exact_test_and_blind_to_rare_ones(run, unequal):
    path, sizes = unequal
    findings, warnings = limits(run, "diff", path, "--cluster", "user", "--pair", "b:a")
    assert set(findings) == {"unequal-clusters", "detection-limit"}
    assert {finding["figures"]["effective_size"] for finding in findings.values()} == {
        int(sizes.sum() ** 2 / (sizes**2).sum())
    }
    assert findings["unequal-clusters"]["sentence"][1:-1] in {line[1:] for line in warnings}
    screen = run("diff", path, "--cluster", "user", "--pair", "b:a", "--wide", "--higher", "*").stdout
    assert findings["detection-limit"]["sentence"] in " ".join(screen.split())


def test_cases_have_equal_weights_in_any_task(run, write):
    tasks = np.repeat(["law", "maths"], [90, 30]).tolist()
    rows = {"model": ["a"] * 120 + ["b"] * 120, "sample": [*range(120)] * 2, "task": tasks * 2}
    path = write("t.csv", pl.DataFrame({**rows, "acc": np.random.default_rng(2).normal(size=240)}))
    ranked, _ = limits(run, "rank", path)
    assert ranked["detection-limit"]["figures"]["effective_size"] == 90
    findings, _ = limits(run, "diff", path, "--pair", "b:a")
    assert findings["detection-limit"]["figures"] == {"effective_size": 120, "once_in": 40}
    assert findings["detection-limit"]["sentence"].startswith(
        "120 independent samples (weighted equally, without task"
    )


def test_the_cheapest_model_rests_on_the_samples_of_its_claims(run, write, unequal, quick):
    options = ("--price", write("prices.csv", "model,price\na,1\nb,2\n"), "--metric", "acc", "--margin", "1")
    options += ("--cheapest", "b", "--cluster", "user")
    findings, warnings = limits(run, "gate", unequal[0], *options, *quick, pairs=())
    assert set(findings) == set(OF_SIZES)
    assert {findings[kind]["sentence"][1:-1] for kind in ("few", "unequal-clusters")} <= {
        line[1:] for line in warnings
    }


def test_costs_per_success_are_of_samples(run, unequal, write):
    frame = pl.read_csv(unequal[0]).select("model", "sample", "user", usd=pl.col("acc").abs() + 1)
    path = write("costs.csv", frame.with_columns(passed=pl.col("sample") % 2))
    options = ("--lower", "usd", "--on", "sum(usd)/sum(passed)", "--cluster", "user")
    findings, warnings = limits(run, "rank", path, *options)
    assert set(findings) == set(OF_SIZES)
    assert {findings[kind]["sentence"][1:-1] for kind in ("few", "unequal-clusters")} <= {
        line[1:] for line in warnings
    }


def test_items_are_the_rare_source_of_noise(run, write):
    rng, names = np.random.default_rng(3), ["model", "sample", "seed"]
    rows = [(model, item, seed) for model in "ab" for item in range(40) for seed in range(4)]
    frame = pl.DataFrame(rows, schema=names, orient="row").with_columns(acc=rng.normal(size=len(rows)))
    findings, _ = limits(run, "rank", write("noise.csv", frame), "--noise", "seed")
    assert findings["detection-limit"]["sentence"].endswith("items cannot detect events rarer than 1 in 13.")


def test_folds_are_not_samples(run, write):
    rng = np.random.default_rng(4)
    folds = [("ab"[model], fold, rng.normal() + model) for model in range(2) for fold in range(10)]
    frame = pl.DataFrame(folds, schema=["model", "sample", "acc"], orient="row")
    findings, _ = limits(run, "rank", write("folds.csv", frame), "--folds", "10")
    assert findings == {}
