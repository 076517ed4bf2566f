"""Tables on which a sentence on top could send its reader the wrong way, and what is said of them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from tests.tables import long_table

ROOT = Path(__file__).resolve().parents[3]


def long(**models):
    """Long table of one metric: an array a model."""
    return long_table(models, named=int)


@pytest.fixture(scope="module")
def classifiers():
    folder = ROOT / "sample_data"
    return rr.read(folder / "classifiers.parquet", metrics_file=str(folder / "classifiers.toml"))


def test_the_worst_on_every_metric_is_not_shipped(classifiers):
    """A portfolio of ranks puts first the model that is worst on each of four metrics."""
    four = ["neural_net", "lda", "naive_bayes", "logistic"]
    result = rr.rank(classifiers, models=four, resamples=400)
    assert result.verdict.startswith("No model to ship on this evidence: naive_bayes comes first")
    assert "neural_net is better on all 4 metrics" in result.verdict
    assert result.verdict.endswith(
        "neural_net is not told apart by second-order dominance from lda, ranked before it."
    )
    assert "! naive_bayes: worst on all 4 metrics, yet first in the ranking" in result.to_text()


def test_a_crowd_of_clones_ships_nobody():
    """A is first among clones, though B is ahead of it head to head and in mean."""
    rng = np.random.default_rng(0)
    models = {"A": rng.normal(0.1, 1, 1500), "B": rng.normal(0.65, 2, 1500)}
    models |= {f"c{i}": rng.normal(0, 1, 1500) for i in range(8)}
    result = rr.rank(long(**models), resamples=400, jobs=1)
    assert "A comes first on q, but B" in result.verdict
    assert "Ship" not in result.verdict
    assert "Look at B instead" in result.verdict


def test_a_rare_disaster_is_found_and_told():
    """Equal means, one time in twenty −5: the second order separates, and the worst cases are told."""
    rng = np.random.default_rng(1)
    safe = rng.normal(0, 0.5, 2000)
    risky = np.where(rng.random(2000) < 0.05, -5.0, 5 * 0.05 / 0.95) + rng.normal(0, 0.5, 2000)
    risky += safe.mean() - risky.mean()
    verdict = rr.rank(long(safe=safe, risky=risky)).verdict
    assert verdict.startswith("Ship safe: significantly better than risky")
    assert "hides a risk: the worst 5 % average −5.14 against −1.04 of safe" in verdict


def test_a_clear_winner_of_few_samples_beats_all():
    rng = np.random.default_rng(2)
    shared = rng.normal(0, 1, 15)
    models = {f"m{i}": shared + rng.normal(0, 0.7, 15) for i in range(5)}
    models["best"] = shared + 1.9 + rng.normal(0, 0.4, 15)
    assert all((models["best"] > of).sum() >= 14 for name, of in models.items() if name != "best")
    result = rr.rank(long(**models))
    assert result.verdict.startswith("Ship best: significantly better than all 5 others")


def test_a_cost_is_one_by_its_name_whoever_declared_nothing():
    rng = np.random.default_rng(3)
    cost = pl.concat(
        [long(dear=3 + rng.random(60), cheap=1 + rng.random(60)).with_columns(metric=pl.lit("cost"))]
    )
    result = rr.rank(cost, resamples=400)
    assert result.verdict.startswith("Ship cheap: significantly better than dear on cost.")
    assert "cost (↓)" in result.to_text()
    assert rr.rank(cost, resamples=400, higher="cost").verdict.startswith("Ship dear")


def test_second_order_alone_is_not_the_whole_distribution():
    rng = np.random.default_rng(4)
    safe = rng.normal(0, 1, 400)
    bold = np.where(rng.random(400) < 0.1, -12.0, 1.2) + rng.normal(0, 1, 400)
    verdict = rr.rank(long(safe=safe, bold=bold)).verdict
    assert verdict.startswith("Ship safe")
    assert "% of the samples bold is better, but its worst" in verdict
    assert "whole distribution" not in verdict


def test_a_worse_tail_is_told_of_whoever_is_level_not_of_the_next_alone():
    """The third model is level with the first on the whole; one time in fifty it fails badly."""
    rng = np.random.default_rng(2)
    shared = rng.normal(0, 1, 400)
    first, second = (shared + rng.normal(0, 0.3, 400) + gain for gain in (0.05, 0.03))
    rare = np.where(rng.random(400) < 0.02, -4.0, 0.12) + shared + rng.normal(0, 0.3, 400)
    result = rr.rank(long(a=first, b=second, rare=rare))
    one = result.document.leading["q"]
    assert [one.first, *one.level] == [0, 1, 2]
    assert "The bad cases of rare are worse: the worst 5 % average −3." in result.verdict


def test_a_better_mean_of_worse_bad_cases_is_no_equal_mean():
    """The interval of the means leaves out 0: what no test separates is the whole."""
    rng = np.random.default_rng(5)
    shared = 0.4 * rng.normal(size=600)
    brilliant = np.where(rng.random(600) < 0.03, -5.0, 0.45) + shared + 0.3 * rng.normal(size=600)
    steady = shared + 0.3 * rng.normal(size=600)
    table = long(brilliant=brilliant, steady=steady, plain=steady - 0.1)
    result = rr.rank(table, resamples=2000, jobs=1)
    assert result.verdict.startswith(
        "No test tells brilliant, first in these samples, from any of the 2 others by second-order "
        "dominance. "
    )
    assert "The bad cases of brilliant are worse: " in result.verdict
    assert "! brilliant: worse bad cases than " in result.to_text()
    pair = rr.dominance(table, models=["brilliant", "steady"], resamples=2000, jobs=1).verdict
    assert pair.startswith("No test separates brilliant and steady on q, taken as a whole.")


def test_what_the_first_gives_up_is_told_even_to_a_model_far_behind():
    """Second and third differ from the first in other metrics than the one in which the third is best."""
    rng = np.random.default_rng(6)
    rows = []
    for name, accuracy, latency in (("slow", 1.5, 1.7), ("fast", 0.3, 0.7), ("middling", 0.5, 1.2)):
        passed = (rng.normal(size=150) + accuracy > 0).astype(float)
        rows.append(
            pl.DataFrame(
                {
                    "model": name,
                    "sample": np.arange(150),
                    "passed": passed,
                    "latency": latency + 0.05 * rng.normal(size=150),
                }
            )
        )
    directions = {"wide": True, "higher": "passed", "lower": "latency"}
    verdict = rr.rank(pl.concat(rows), **directions, weight="equal", resamples=1000, jobs=1).verdict
    assert verdict.startswith("Ship fast: significantly better than middling and slow on the combined score.")
    assert ". slow is better on passed, 9" in verdict, verdict


@pytest.mark.slow
def test_two_combined_scores_have_names(classifiers):
    """What the evidence speaks against is not sure as well."""
    four = ["neural_net", "lda", "naive_bayes", "logistic"]
    methods = ["R-SSD", "R-SSD@P(EC)"]
    verdict = rr.rank(classifiers, models=four, method=methods, resamples=400, jobs=1).verdict
    assert "naive_bayes on the combined score P(IC)" in verdict
    assert "On the combined score P(IC) another model is ahead of the first" in verdict
    assert "significantly ahead of all others" not in verdict


def test_a_one_sided_guard_says_so_beside_an_interval_that_leaves_it_open():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=100)
    apart = (noise - noise.mean()) / noise.std(ddof=1) + 0.175
    old = rng.normal(size=100)
    rows = [
        (m, f"s{i}", "q", x) for m, own in (("old", old), ("new", old + apart)) for i, x in enumerate(own)
    ]
    frame = pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row")
    found = rr.rank(frame)
    refuted = next(one for one in found.document.findings if one.kind == "refuted")
    assert found.rows[1].difference_low < 0 < found.rows[1].difference_high
    assert 2 * refuted.figures["p_adjusted"] == pytest.approx(0.083, abs=0.003)
    assert "(q 0.12 against −0.05, one-sided p = 0.042)" in found.verdict
    assert "of old (one-sided p = 0.027)" in found.verdict
    assert "nobody tested" not in rr.dominance(frame).verdict
    assert "not shown to differ (two-sided)" in " ".join(rr.report(frame).to_text().split())
