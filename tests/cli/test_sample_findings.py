"""``few``, ``worth`` and ``blind-to`` of ``meta.findings``: the same of one table in every command."""

import numpy as np
import polars as pl
import pytest

from riskrank.studies.severity import gravity

OF_SIZES = ("few", "worth", "blind-to")
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
    """Forty users, eight with 30 questions and the others with 2."""
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


def limits(run, command, *asked, pairs=None):
    asked = [word for word in asked if command != "copa" or word not in ("--jobs", "1")]
    extra = COMMANDS.get(command, ()) if pairs is None else pairs
    outcome = run(command, *asked, "--wide", "--higher", "*", *extra, "--format", "json")
    assert outcome.stdout, outcome.stderr
    meta = outcome.document["meta"]
    places = [gravity(one["kind"]) for one in meta["findings"]]
    assert places == sorted(places)
    return {one["kind"]: one for one in meta["findings"] if one["kind"] in OF_SIZES}, meta["warnings"]


@pytest.mark.parametrize("command", COMMANDS)
def test_unequal_clusters_are_few_and_blind_in_every_command(run, unequal, quick, command):
    path, sizes = unequal
    worth = int(sizes.sum() ** 2 / (sizes**2).sum())
    found, warnings = limits(run, command, path, "--cluster", "user", *quick)
    expected = {
        "few": {"units": 40, "worth": worth, "fewest": 30},
        "worth": {"units": 40, "worth": worth},
        "blind-to": {"worth": worth, "once_in": worth // 3},
    }
    if command == "power":
        del expected["blind-to"]
    assert {kind: one["figures"] for kind, one in found.items()} == expected
    told = {line.lower() + "." for line in warnings}
    assert {found[kind]["sentence"].lower() for kind in ("few", "worth")} <= told


@pytest.mark.parametrize("command", [*COMMANDS, "gsd"])
def test_many_equal_samples_leave_only_rare_cases_open(run, write, quick, command):
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 3, (2, 60)) + np.array([[0], [1]])
    rows = {"model": ["a"] * 60 + ["b"] * 60, "sample": [*range(60)] * 2, "acc": scores.ravel()}
    path = write("t.csv", pl.DataFrame({**rows, "style": scores.ravel() * 2}))
    found, _ = limits(run, command, path, *quick)
    once = {kind: one["figures"]["once_in"] for kind, one in found.items()}
    assert once == ({} if command == "power" else {"blind-to": 20})


def test_what_no_test_was_asked_of_is_not_called_fragile(run, unequal, quick):
    found, _ = limits(run, "mrm", unequal[0], "--cluster", "user", "--no-test", *quick)
    assert set(found) == {"blind-to"}


@pytest.mark.parametrize("command", ["rank", "dominance", "mrm"])
def test_few_samples_of_a_group_are_a_finding_of_it(run, write, quick, command):
    scores = np.random.default_rng(1).normal(size=120).round(3)
    rows = {"model": ["a"] * 60 + ["b"] * 60, "sample": [*range(60)] * 2, "acc": scores}
    rows["kind"] = (["x"] * 45 + ["y"] * 15) * 2
    found, warnings = limits(run, command, write("t.csv", pl.DataFrame(rows)), "--group-by", "kind", *quick)
    assert found["few"]["on"] == "y"
    assert found["few"]["figures"] == {"units": 15, "worth": 15, "fewest": 30}
    assert found["few"]["sentence"] == "Group y: only 15 samples: verdicts below 30 samples are fragile."
    assert found["few"]["sentence"][1:-1] in {line[1:] for line in warnings}


def test_servers_are_told_where_samples_are_few(run, unequal, quick):
    asked = ("--cluster", "user", "--better", "b:a", "--metric", "acc", *quick, "--format", "junit")
    told = run("gate", unequal[0], "--wide", "--higher", "*", *asked).stdout
    assert '<property name="few" value="Only 40 clusters of samples, worth 12' in told
    assert '<property name="worth" value="40 clusters of samples of very different sizes' in told


def test_few_clusters_are_called_clusters(run, write, quick):
    rng = np.random.default_rng(4)
    rows = {
        "model": ["a"] * 72 + ["b"] * 72,
        "sample": [*range(72)] * 2,
        "user": [*np.repeat(range(12), 6)] * 2,
    }
    path = write("t.csv", pl.DataFrame({**rows, "acc": rng.normal(size=144).round(3)}))
    screen = " ".join(run("rank", path, "--cluster", "user", *quick).stdout.split())
    assert "no test separates them; 12 clusters of samples are too few to say more" in screen


@pytest.fixture
def weekly(unequal, write):
    """The same table as two runs."""
    frame = pl.read_csv(unequal[0])
    return write("weeks.csv", pl.concat(frame.with_columns(week=pl.lit(week)) for week in ("w1", "w2")))


def test_runs_rest_on_the_clusters_they_share(run, weekly, unequal):
    found, warnings = limits(run, "trend", weekly, "--columns", "run=week", "--cluster", "user")
    worth = int(unequal[1].sum() ** 2 / (unequal[1] ** 2).sum())
    assert {kind: one["figures"]["worth"] for kind, one in found.items()} == dict.fromkeys(OF_SIZES, worth)
    told = {line.lower() + "." for line in warnings}
    assert {found[kind]["sentence"].lower() for kind in ("few", "worth")} <= told
    screen = run(
        "trend", weekly, "--columns", "run=week", "--cluster", "user", "--wide", "--higher", "*"
    ).stdout
    assert found["blind-to"]["sentence"] in " ".join(screen.split())


def test_cases_that_change_are_few_in_no_exact_test_and_blind_to_rare_ones(run, unequal):
    path, sizes = unequal
    found, warnings = limits(run, "diff", path, "--cluster", "user", "--pair", "b:a")
    assert set(found) == {"worth", "blind-to"}
    assert {one["figures"]["worth"] for one in found.values()} == {int(sizes.sum() ** 2 / (sizes**2).sum())}
    assert found["worth"]["sentence"][1:-1] in {line[1:] for line in warnings}
    screen = run("diff", path, "--cluster", "user", "--pair", "b:a", "--wide", "--higher", "*").stdout
    assert found["blind-to"]["sentence"] in " ".join(screen.split())


def test_cases_count_alike_whatever_their_tasks_weigh_and_that_is_said(run, write):
    tasks = np.repeat(["law", "maths"], [90, 30]).tolist()
    rows = {"model": ["a"] * 120 + ["b"] * 120, "sample": [*range(120)] * 2, "task": tasks * 2}
    path = write("t.csv", pl.DataFrame({**rows, "acc": np.random.default_rng(2).normal(size=240)}))
    ranked, _ = limits(run, "rank", path)
    assert ranked["blind-to"]["figures"]["worth"] == 90
    found, _ = limits(run, "diff", path, "--pair", "b:a")
    assert found["blind-to"]["figures"] == {"worth": 120, "once_in": 40}
    assert found["blind-to"]["sentence"].startswith("120 independent samples counted alike, whatever their")


def test_the_cheapest_model_rests_on_the_samples_of_its_claims(run, write, unequal, quick):
    asked = ("--price", write("prices.csv", "model,price\na,1\nb,2\n"), "--metric", "acc", "--margin", "1")
    asked += ("--cheapest", "b", "--cluster", "user")
    found, warnings = limits(run, "gate", unequal[0], *asked, *quick, pairs=())
    assert set(found) == set(OF_SIZES)
    assert {found[kind]["sentence"][1:-1] for kind in ("few", "worth")} <= {line[1:] for line in warnings}


def test_costs_per_success_are_of_samples(run, unequal, write):
    frame = pl.read_csv(unequal[0]).select("model", "sample", "user", usd=pl.col("acc").abs() + 1)
    path = write("costs.csv", frame.with_columns(passed=pl.col("sample") % 2))
    asked = ("--lower", "usd", "--per-metric", "--on", "cost-per-success:usd/passed", "--cluster", "user")
    found, warnings = limits(run, "rank", path, *asked)
    assert set(found) == set(OF_SIZES)
    assert {found[kind]["sentence"][1:-1] for kind in ("few", "worth")} <= {line[1:] for line in warnings}


def test_of_several_sources_of_noise_items_are_what_is_rare(run, write):
    rng, names = np.random.default_rng(3), ["model", "sample", "seed"]
    rows = [(model, item, seed) for model in "ab" for item in range(40) for seed in range(4)]
    frame = pl.DataFrame(rows, schema=names, orient="row").with_columns(acc=rng.normal(size=len(rows)))
    found, _ = limits(run, "rank", write("noise.csv", frame), "--noise", "seed")
    assert found["blind-to"]["sentence"].endswith(
        "items are too few to see what happens less than once in 13."
    )


def test_folds_are_nothing_drawn(run, write):
    rng = np.random.default_rng(4)
    folds = [("ab"[model], fold, rng.normal() + model) for model in range(2) for fold in range(10)]
    frame = pl.DataFrame(folds, schema=["model", "sample", "acc"], orient="row")
    found, _ = limits(run, "rank", write("folds.csv", frame), "--folds", "10")
    assert found == {}
