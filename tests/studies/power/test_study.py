"""The study of power: front ends, plans, refusals."""

import re

import numpy as np
import polars as pl
import pytest

import riskrank
from riskrank.engine.power.planning import Plan
from riskrank.errors import InputError, UsageError
from riskrank.studies.dominance.options import DominanceSettings
from riskrank.studies.dominance.study import dominance
from riskrank.studies.power.options import PowerSettings
from riskrank.studies.power.study import build_claim, parse_distributions, power, power_between
from riskrank.studies.runtime import SERIAL
from tests.studies.suites.test_section import screen, suite_table

QUICK = {"variance": "clt", "simulations": 10, "sizes": (20, 60), "limit": 60}
THREE = ["best=normal:2", "normal:1,1", "worst=normal"]


def test_rows_are_pairs_by_size_and_then_all_of_them():
    document = power_between(parse_distributions(THREE), PowerSettings(**QUICK))
    assert document.provenance.models == ("best", "normal:1,1", "worst")
    assert document.metric is None
    rows = document.rows
    assert [(row.claim, row.winner, row.loser, row.size) for row in rows] == [
        *(("pair", "best", "normal:1,1", size) for size in (20, 60)),
        *(("pair", "best", "worst", size) for size in (20, 60)),
        *(("pair", "normal:1,1", "worst", size) for size in (20, 60)),
        *(("all", None, None, size) for size in (20, 60)),
    ]
    for at in (0, 1):
        together, pairs = rows[6 + at].power, [rows[number + at].power for number in (0, 2, 4)]
        assert sum(pairs) - 2 - 1e-12 <= together <= min(pairs)
    assert {row.violation_ratio for row in rows if row.claim == "all"} == {None}
    assert document.provenance.method["distributions"]["worst"] == "normal:0,1"
    assert document.meta()["required_size"]["target"] == 0.8


def test_verdict_counts_differing_full_tests(monkeypatch):
    """More simulations would not help if the closed form finds more than the tests do."""
    monkeypatch.setattr(Plan, "test", lambda *_: [False])
    verdict = power_between(
        parse_distributions(THREE), PowerSettings(pair="normal:1,1:worst", **QUICK)
    ).verdict
    assert re.search(r"to show the claim; (\d+) of 10 full tests disagree\.$", verdict)


def test_single_pair_has_no_row_of_all():
    document = power_between(parse_distributions(THREE), PowerSettings(pair="best:worst", **QUICK))
    assert {(row.winner, row.loser) for row in document.rows} == {("best", "worst")}
    assert document.provenance.method["pair"] == ["best", "worst"]


def test_pilot_plans_its_significant_pairs(table, scores):
    document = power(table(scores(gap=1.5)), PowerSettings(**QUICK))
    assert document.metric == "P(IC)"
    assert {(row.winner, row.loser) for row in document.rows if row.claim == "pair"} == {
        ("A", "B"),
        ("A", "C"),
        ("B", "C"),
    }
    assert document.study.plan.scores.paired
    assert document.provenance.method["copula"] == "independent"
    single = power(table(scores(gap=1.5, metrics=("acc",))), PowerSettings(pair="A:C", **QUICK))
    assert single.metric == "acc"
    assert "copula" not in single.provenance.method


@pytest.mark.parametrize("metrics", [("acc",), ("acc", "f1")])
def test_pair_is_planned_for_the_dominance_test(table, scores, metrics):
    """Both directions are tested, other models are ignored, and the screen names the command."""
    columns, settings = scores(gap=0.3, metrics=metrics), PowerSettings(pair="A:B", **QUICK)
    pair, two = power(table(columns), settings), table(columns, models=("A", "B"))
    assert pair.study.plan.family == ((0, 1), (1, 0))
    assert pair.provenance.models == ("A", "B")
    assert pair.provenance.method["family"] == 2
    assert pair.rows == power(two, settings).rows
    document = dominance(two, DominanceSettings(order=2, test="direct", variance="clt"), SERIAL)
    assert pair.rows[0].violation_ratio == pytest.approx(document.rows[0].violation_ratio)
    assert "simulated tables, tested as in dominance on these two models, by" in " ".join(
        screen(pair).split()
    )


def test_two_models_are_a_pair_with_the_better_first(table, scores):
    two = table(scores(gap=0.3, metrics=("acc",)), models=("A", "B"))
    assert power(two, PowerSettings(**QUICK)).rows == power(two, PowerSettings(pair="B:A", **QUICK)).rows


def test_relative_pair_is_planned_for_the_rank_test(table, scores):
    settings = PowerSettings(pair="A:C", test="relative", **QUICK)
    document = power(table(scores(gap=0.3, metrics=("acc",))), settings)
    assert len(document.study.plan.family) == 6
    assert "simulated tables, tested as in rank on all 3 models, by" in " ".join(screen(document).split())


def test_pair_of_distributions_ignores_the_third():
    settings = PowerSettings(pair="best:worst", **QUICK)
    document = power_between(parse_distributions(THREE), settings)
    assert document.rows == power_between(parse_distributions([THREE[0], THREE[2]]), settings).rows
    assert document.study.plan.family == ((0, 1), (1, 0))


@pytest.mark.slow
def test_seed_and_resamples_are_recorded_if_used():
    clt = power_between(parse_distributions(THREE[:2]), PowerSettings(**QUICK))
    assert (clt.provenance.seed, clt.provenance.resamples) == (0, None)
    options = {"simulations": 1, "sizes": 20, "limit": 20, "resamples": 20, "seed": 4}
    bootstrap = power_between(parse_distributions(THREE[:2]), PowerSettings(**options))
    assert (bootstrap.provenance.seed, bootstrap.provenance.resamples) == (4, 20)


def test_distributions_are_parsed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parse_distributions(["scores.csv"]) == {}
    assert parse_distributions([{"model": ["A"]}]) == {}
    (tmp_path / "normal").write_text("a file of that name")
    assert parse_distributions(["normal"]) == {}
    assert list(parse_distributions(["a=normal:0.5,2", "Beta:1,2"])) == ["a", "beta:1,2"]
    for arguments, message in (
        (["normal:1", "normal:1,1"], "a unique name"),
        (["=normal:1", "normal:2"], "a unique name"),
        (["a=normal:1", "scores.csv"], "cannot be combined"),
        (["a=nrmal:1", "b=normal:0"], "did you mean normal?"),
    ):
        with pytest.raises(UsageError) as error:
            parse_distributions(arguments)
        assert message in str(error.value)


def test_limit_below_minimum_is_refused():
    with pytest.raises(UsageError, match="limit=9"):
        power_between(parse_distributions(THREE), PowerSettings(limit=9))


def test_settings_at_their_bounds():
    settings = PowerSettings(sizes="10, 1_000", limit=1000, simulations=1, resamples=20, order=1)
    assert (settings.sizes, settings.order) == ((10, 1000), "1")
    assert build_claim(PowerSettings(threshold=0.25)).threshold == 0.25
    assert build_claim(PowerSettings()).threshold is None


def test_table_settings_need_a_table():
    with pytest.raises(UsageError, match="needs a pilot table"):
        power_between(parse_distributions(THREE), PowerSettings(copula="empirical", **QUICK))
    with pytest.raises(UsageError, match="at least two"):
        power_between(parse_distributions(["normal"]), PowerSettings(**QUICK))


def test_pilot_needs_a_significant_pair(table, scores):
    with pytest.raises(InputError, match="no dominance is significant") as error:
        power(table(scores(gap=0)), PowerSettings(**QUICK))
    assert "C:B" in error.value.hint
    with pytest.raises(InputError, match="at least 10 samples"):
        power(table(scores(n=9)), PowerSettings(pair="A:C", **QUICK))


QUICK_SUITE = {"pair": "m1:m2", "simulations": 10, "resamples": 40}


def test_suite_is_planned_by_samples_per_task():
    document = power(suite_table([0.3, 0.0]), PowerSettings(variance="clt", **QUICK_SUITE))
    assert {row.size for row in document.rows} == {20, 50, 100}
    assert "samples per task on these 8 give a power of 80 % to show the claim" in document.verdict
    assert document.meta()["required_size"]["of"] == "samples per task"
    assert document.meta()["required_size"]["endless_samples"] is None
    assert document.provenance.method["sizes_count"] == "samples per task"
    assert not any("pooled" in warning for warning in document.provenance.warnings)


@pytest.mark.slow
def test_random_tasks_are_counted_and_may_be_required():
    ahead = 0.3 + 0.5 * np.array([1, -1, 1, -1, 1, -1, 1, -1])
    settings = PowerSettings(tasks="random", sizes=(10, 20), limit=20, **QUICK_SUITE)
    document = power(suite_table([ahead, 0.0]), settings)
    assert "20 tasks like these" in document.verdict
    assert "more than the 8 available: only more tasks help." in document.verdict
    text = " ".join(screen(document).split())
    assert (
        "Shares of 100 simulated tables, tested as in dominance on these two models, by tests of macro means"
        "; standard error at most " in text
    )
    assert re.search(r"full tests agree, on \d+ tables? of", text)
    required_size = document.meta()["required_size"]
    assert (required_size["of"], required_size["size_low"]) == ("tasks", None)
    assert 8 < required_size["endless_samples"] <= 20
    equal_tasks = power(suite_table([0.6, 0.0]), settings)
    assert "only more tasks" not in equal_tasks.verdict


@pytest.mark.slow
def test_errors_count_random_tasks():
    level = suite_table([0.0, 0.0], sizes=(20,) * 8)
    with pytest.raises(InputError, match="no dominance is significant") as none:
        power(suite_table([0.0] * 3, sizes=(20,) * 8), PowerSettings(tasks="random", resamples=200))
    assert none.value.found == "3 models, 8 tasks"
    with pytest.raises(UsageError, match="at least 6 tasks") as few:
        power(level, PowerSettings(tasks="random", pair="m1:m2", sizes=(3,)))
    assert "10,20,50" in few.value.hint
    behind = power(level, PowerSettings(tasks="random", pair=_behind(level), resamples=100, simulations=10))
    assert behind.verdict.startswith("No number of tasks like these")
    assert any(warning.startswith("no number of tasks like these") for warning in behind.provenance.warnings)


def _behind(table):
    """Return the pair that the sample contradicts."""
    ahead = table.values[0].mean() > table.values[1].mean()
    return "m2:m1" if ahead else "m1:m2"


def test_task_settings_need_tasks(table, scores):
    with pytest.raises(UsageError, match="needs a suite of tasks"):
        power(table(scores(gap=1.5)), PowerSettings(tasks="random", **QUICK))
    with pytest.raises(UsageError, match="needs a pilot table"):
        power_between(parse_distributions(THREE), PowerSettings(tasks="random", **QUICK))


def test_statistics_need_the_samples_of_the_normal_formula():
    """For paired means, n = ((z₁₋α/₂ + z_power) σ/δ)², with the standard deviation σ of the differences."""
    rng = np.random.default_rng(3)
    old = rng.normal(size=400)
    differences = 0.2 + rng.normal(size=400)
    frame = pl.DataFrame(
        {
            "model": ["old"] * 400 + ["new"] * 400,
            "sample": [*range(400)] * 2,
            "score": [*old, *(old + differences)],
        }
    )
    ratio = differences.std(ddof=1) / differences.mean()
    expected = ((1.959964 + 0.841621) * ratio) ** 2
    result = riskrank.power(frame, on="mean")
    document = result.to_dict()
    (needed,) = document["meta"]["required_sizes"]["needed"].values()
    assert needed == np.ceil(expected)
    assert "new is better than old" in result.verdict
    powers = {row["size"]: row["power"] for row in document["results"]}
    assert powers[min(powers, key=lambda size: abs(size - needed))] == pytest.approx(0.8, abs=0.02)


def test_percentiles_need_enough_samples_beyond_them():
    scores = [float(i) for i in range(100)]
    frame = pl.DataFrame(
        {
            "model": ["old"] * 100 + ["new"] * 100,
            "sample": [*range(100)] * 2,
            "score": [*scores, *(51 + score for score in scores)],
        }
    )
    (needed,) = riskrank.power(frame, on="p95").to_dict()["meta"]["required_sizes"]["needed"].values()
    assert needed == 60


def test_dominance_is_not_planned_as_a_statistic():
    frame = pl.DataFrame(
        {"model": ["a"] * 20 + ["b"] * 20, "sample": [*range(20)] * 2, "score": [float(i) for i in range(40)]}
    )
    with pytest.raises(UsageError, match="ssd"):
        riskrank.power(frame, on="ssd")
