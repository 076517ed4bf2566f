"""``few``, ``worth`` and ``blind-to`` of ``meta.findings``: the same of one table in every command."""

import numpy as np
import polars as pl
import pytest

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


def limits(run, command, *asked):
    asked = [word for word in asked if command != "copa" or word not in ("--jobs", "1")]
    outcome = run(command, *asked, "--wide", "--higher", "*", *COMMANDS.get(command, ()), "--format", "json")
    assert outcome.stdout, outcome.stderr
    meta = outcome.document["meta"]
    kinds = ("few", "worth", "blind-to")
    return {one["kind"]: one for one in meta["findings"] if one["kind"] in kinds}, meta["warnings"]


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
