"""``riskrank gsd`` from the command line to its output: brute force, published results, invariances."""

import itertools
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.tables import long_table

UCI = Path(__file__).parents[2] / "sample_data" / "uci.csv"
UCI_OPTIONS = (str(UCI), "--metrics-file", str(UCI.with_suffix(".toml")))


def mixed_table(models=("A", "B", "C"), n=7, seed=0):
    """Two cardinal criteria with one decimal (cost is minimised), and an ordinal one with four levels."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        [
            {
                "model": model,
                "sample": f"s{sample}",
                "acc": round(float(rng.uniform(0.2, 0.6) + 0.3 * (model == "A")), 1),
                "cost": round(float(rng.uniform(1.5, 3) - (model == "A")), 1),
                "grade": int(rng.integers(1, 4) + (model == "A")),
            }
            for model in models
            for sample in range(n)
        ]
    )


MIXED = ("--wide", "--lower", "cost", "--higher", "acc,grade", "--ordinal", "grade", "--set", "jobs=1")


@pytest.fixture
def gsd(run):
    """Run gsd, which must succeed, and return the outcome."""

    def run_gsd(*args):
        outcome = run("gsd", *args, "--format", "json")
        assert outcome.status == 0, outcome.stderr
        return outcome.document

    return run_gsd


@pytest.fixture
def mixed(write):
    return (write("mixed.csv", mixed_table()), *MIXED)


def by_pair(document, field):
    return {(row["winner"], row["loser"]): row[field] for row in document["results"]}


@pytest.mark.slow
def test_published_tests_of_uci(gsd):
    document = gsd(*UCI_OPTIONS, "--delta", "0.00001", "--resamples", "10000")
    p_value = by_pair(document, "p_value")
    over_cart = {(name, "CART") for name in ("GBM", "RF", "GLM", "BDS", "EN", "LASSO", "RIDGE")}
    gbm_wins = {("GBM", name) for name in ("BDS", "EN", "LASSO", "RIDGE")}
    assert all(p_value[pair] < 0.05 for pair in over_cart | gbm_wins)
    assert p_value["GBM", "GLM"] > 0.05
    assert p_value["GBM", "RF"] > 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("options", "significant"), [((), 0), (("--delta", "0.00001"), 3)])
def test_every_pair_of_uci_is_decided_at_the_defaults(gsd, options, significant):
    """With 1,001 relabellings none of 56 pairs could be significant; the number must follow the family."""
    document = gsd(*UCI_OPTIONS, *options)
    assert document["meta"]["resamples"] == 5600
    assert sum(bool(row["significant"]) for row in document["results"]) == significant
    assert all(row["decided"] is not False for row in document["results"])
    assert document["meta"]["warnings"] == []


def test_invariance_to_direction_and_units(gsd, write, mixed):
    names = ("--pairs", "all", "--resamples", "50", "--delta", "0.0001")
    before = gsd(*mixed, *names)
    table = mixed_table()
    changed = table.with_columns(
        acc=pl.col("acc") * 100 + 7, cost=-3 * pl.col("cost"), grade=pl.col("grade").pow(3) - 60
    )
    path = write("changed.csv", changed)
    options = ("--wide", "--higher", "*", "--ordinal", "grade", "--digits", "6", "--set", "jobs=1")
    after = gsd(path, *options, *names)
    for field in ("optimum", "p_value"):
        assert by_pair(after, field) == pytest.approx(by_pair(before, field), abs=1e-8)


def test_bounds_are_in_units_of_the_file(gsd, write, mixed):
    toml = '[acc]\ndirection="higher"\nbounds=[0,1]\n[cost]\ndirection="lower"\nbounds=[0,10]\n'
    toml += '[grade]\ndirection="higher"\nscale="ordinal"\nbounds=[0,9]\n'
    metrics = write("m.toml", toml)
    table = mixed_table()
    path = write("mixed.csv", table)
    bounded = gsd(path, "--wide", "--metrics-file", metrics, "--no-test", "--set", "jobs=1")
    # The same as one more pair of samples at the extremes would give, were they anybody's scores.
    flipped = write("flip.csv", table.with_columns(cost=-pl.col("cost")))
    other = write("o.toml", toml.replace('"lower"\nbounds=[0,10]', '"higher"\nbounds=[-10,0]'))
    mirrored = gsd(flipped, "--wide", "--metrics-file", other, "--no-test", "--set", "jobs=1")
    assert by_pair(mirrored, "optimum") == by_pair(bounded, "optimum")
    assert by_pair(gsd(*mixed, "--no-test"), "optimum") != by_pair(bounded, "optimum")


def test_explanation_adds_up_in_units_of_the_file(gsd, run, mixed):
    document = gsd(*mixed, "--no-test", "--witness", "B:C")
    (witness,) = document["meta"]["witness"]
    vectors = witness["vectors"]
    assert witness["optimum"] == pytest.approx(by_pair(document, "optimum")["B", "C"], abs=1e-9)
    assert sum(v["contribution"] for v in vectors) == pytest.approx(witness["optimum"], abs=1e-8)
    rows = mixed_table().filter(pl.col("model") == "B").select("acc", "cost", "grade").rows()
    shares = {tuple(v["scores"].values()): v["winner_share"] for v in vectors if v["winner_share"]}
    assert shares == pytest.approx({row: rows.count(row) / len(rows) for row in rows})
    for vector, other in itertools.permutations(vectors, 2):
        x, y = vector["scores"], other["scores"]
        if x["acc"] >= y["acc"] and x["cost"] <= y["cost"] and x["grade"] >= y["grade"]:
            assert vector["utility"] >= other["utility"] - 1e-8
    text = " ".join(run("gsd", *mixed, "--no-test", "--witness", "B:C").stdout.split())
    assert "Explained: under it, B has expected utility" in text
    step = re.search(
        r"B loses most, ([\d.e-]+), at .*: C reaches it in ([\d.]+) % of the samples, B in ([\d.]+) %", text
    )
    cost, c, b = map(float, step.groups())
    levels = sorted({v["utility"] for v in vectors})
    losses = [
        (high - low) * sum(v["loser_share"] - v["winner_share"] for v in vectors if v["utility"] >= high)
        for low, high in itertools.pairwise(levels)
    ]
    assert cost == pytest.approx(max(losses), rel=1e-4)
    assert c > b
    assert sum(losses) == pytest.approx(-witness["optimum"], abs=1e-8)


@pytest.mark.slow
def test_same_bytes_whatever_the_jobs(run, mixed):
    options = ("gsd", *mixed[:-2], "--resamples", "100", "--delta", "0.0001", "--format", "json")
    serial, parallel = (run(*options, "--set", f"jobs={jobs}").stdout for jobs in (1, 2))
    assert serial == parallel
    assert run(*options, "--set", "jobs=1", "--seed", 1).stdout != serial


def test_equal_models_share_a_node(run, write):
    path = write("t.csv", long_table({"A": (1, 2, 3), 'B"': (3, 1, 2), "C": (0, 1, 2)}, "level"))
    text = run("gsd", path, "--higher", "level", "--no-test", "--set", "jobs=1", "--explain").stdout
    assert re.search(r'1  A = B"\s+C\n', text)
    assert "equal for every utility" in text
    assert "Incomparable: no pair." in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_diagram_does_not_stay_without_its_result(run, write, tmp_path):
    path, picture = write("mixed.csv", mixed_table()), tmp_path / "order.svg"
    options = (*MIXED, "--no-test", "--plot", picture, "--format", "json")
    outcome = run("gsd", path, *options, "--output", "/dev/full")
    assert outcome.status == 2
    assert "cannot write to /dev/full" in outcome.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["mixed.csv"]
    assert run("gsd", path, *options).status == 0
    assert picture.read_bytes().startswith(b"<?xml")


def test_a_solver_that_fails_is_no_verdict(run, mixed, monkeypatch):
    monkeypatch.setattr("riskrank.engine.gsd.relation._MOST_ROUNDS", 0)
    outcome = run("gsd", *mixed)
    assert outcome.status == 3
    assert outcome.stdout == ""
    assert "could not be solved reliably" in outcome.stderr


def test_a_wrong_solution_is_no_verdict(run, mixed, monkeypatch):
    from riskrank.engine.gsd.relation import UtilityPolytope

    monkeypatch.setattr(UtilityPolytope, "_dual_bound", lambda self, costs: -1.0)
    outcome = run("gsd", *mixed)
    assert outcome.status == 3
    assert "above its lower bound" in outcome.stderr
