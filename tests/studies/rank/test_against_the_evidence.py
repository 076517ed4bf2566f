"""Tables that could mislead a verdict, and the verdicts on them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from tests.tables import long_table

ROOT = Path(__file__).resolve().parents[3]


def long(**models):
    """Return a long table of one metric from an array per model."""
    return long_table(models, named=int)


@pytest.fixture(scope="module")
def classifiers():
    folder = ROOT / "sample_data"
    return rr.read(folder / "classifiers.parquet", metrics_file=str(folder / "classifiers.toml"))


def test_worst_model_on_every_metric_is_not_shipped(classifiers):
    """The combined score ranks first a model that is worst on all four metrics."""
    four = ["neural_net", "lda", "naive_bayes", "logistic"]
    result = rr.rank(classifiers, models=four, resamples=400)
    assert result.verdict.startswith("No recommendation: naive_bayes comes first")
    assert "neural_net is better on all 4 metrics" in result.verdict
    assert result.verdict.endswith(
        "neural_net ranks after lda, and second-order dominance does not separate them."
    )
    assert "! naive_bayes: worst on all 4 metrics, yet first in the ranking" in result.to_text()


def test_rare_disaster_is_reported():
    """Equal means, but one score in twenty is −5: the second order separates, and tails are reported."""
    rng = np.random.default_rng(1)
    safe = rng.normal(0, 0.5, 2000)
    risky = np.where(rng.random(2000) < 0.05, -5.0, 5 * 0.05 / 0.95) + rng.normal(0, 0.5, 2000)
    risky += safe.mean() - risky.mean()
    verdict = rr.rank(long(safe=safe, risky=risky)).verdict
    assert verdict.startswith("Ship safe: ahead of risky on q by second-order dominance; the mean")
    assert "hides a tail risk: the worst 5 % average −5.14 against −1.04 for safe" in verdict


def test_clear_winner_with_few_samples_ships():
    rng = np.random.default_rng(2)
    shared = rng.normal(0, 1, 15)
    models = {f"m{i}": shared + rng.normal(0, 0.7, 15) for i in range(5)}
    models["best"] = shared + 1.9 + rng.normal(0, 0.4, 15)
    assert all((models["best"] > scores).sum() >= 14 for name, scores in models.items() if name != "best")
    result = rr.rank(long(**models))
    assert result.verdict.startswith("Ship best: significantly better than all 5 others")


def test_undeclared_cost_is_recognised_by_name():
    rng = np.random.default_rng(3)
    cost = pl.concat(
        [long(dear=3 + rng.random(60), cheap=1 + rng.random(60)).with_columns(metric=pl.lit("cost"))]
    )
    result = rr.rank(cost, resamples=400)
    assert result.verdict.startswith("Ship cheap: significantly better than dear on cost.")
    assert "cost (↓)" in result.to_text()
    assert rr.rank(cost, resamples=400, higher="cost").verdict.startswith("Ship dear")


def test_second_order_only_does_not_claim_full_dominance():
    rng = np.random.default_rng(4)
    safe = rng.normal(0, 1, 400)
    bold = np.where(rng.random(400) < 0.1, -12.0, 1.2) + rng.normal(0, 1, 400)
    verdict = rr.rank(long(safe=safe, bold=bold)).verdict
    assert verdict.startswith("Ship safe")
    assert "% of the samples, but its worst" in verdict
    assert "every quantile" not in verdict


def test_worse_tail_of_any_tied_model_is_reported():
    """The third model ties with the first; it fails badly on one sample in fifty."""
    rng = np.random.default_rng(2)
    shared = rng.normal(0, 1, 400)
    first, second = (shared + rng.normal(0, 0.3, 400) + gain for gain in (0.05, 0.03))
    rare = np.where(rng.random(400) < 0.02, -4.0, 0.12) + shared + rng.normal(0, 0.3, 400)
    result = rr.rank(long(a=first, b=second, rare=rare))
    leader = result.document.leaders["q"]
    assert [leader.first, *leader.tied] == [0, 1, 2]
    assert "rare has worse bad cases: the worst 5 % average −3." in result.verdict


def test_better_mean_with_worse_tail_is_not_a_tie():
    """The interval of the means excludes 0, although no test separates the distributions."""
    rng = np.random.default_rng(5)
    shared = 0.4 * rng.normal(size=600)
    brilliant = np.where(rng.random(600) < 0.03, -5.0, 0.45) + shared + 0.3 * rng.normal(size=600)
    steady = shared + 0.3 * rng.normal(size=600)
    table = long(brilliant=brilliant, steady=steady, plain=steady - 0.1)
    result = rr.rank(table, resamples=2000, jobs=1)
    assert result.verdict.startswith(
        "brilliant has a higher mean than steady and plain (0.13 to 0.33 against steady); that every "
        "risk-averse user prefers it is not significant. No significant difference by second-order "
        "dominance. brilliant ranks first, but the tests cannot separate it from the other 2 "
        "models. "
    )
    assert "brilliant has worse bad cases: " in result.verdict
    assert "! brilliant: worse bad cases than " in result.to_text()
    pair = rr.dominance(table, models=["brilliant", "steady"], resamples=2000, jobs=1).verdict
    assert pair.startswith("brilliant has the higher mean (")
    assert "; that every user prefers it is not significant." in pair


def test_losses_to_a_low_ranked_model_are_reported():
    """The third model is best on a metric, although it is far behind on the combined score."""
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
    """A claim that the evidence contradicts is not also significant."""
    four = ["neural_net", "lda", "naive_bayes", "logistic"]
    methods = ["R-SSD", "R-SSD@P(EC)"]
    verdict = rr.rank(classifiers, models=four, method=methods, resamples=400, jobs=1).verdict
    assert "naive_bayes on the combined score P(IC)" in verdict
    assert "On the combined score P(IC) another model beats the first" in verdict
    assert "is significantly ahead of all others" not in verdict


def test_means_are_significant_exactly_if_their_interval_excludes_0():
    rng = np.random.default_rng(0)
    noise, old = rng.normal(size=(2, 100))
    for lead, significant in ((0.175, False), (0.23, True)):
        shift = (noise - noise.mean()) / noise.std(ddof=1) + lead
        rows = [
            (m, f"s{i}", "q", x)
            for m, values in (("old", old), ("new", old + shift))
            for i, x in enumerate(values)
        ]
        frame = pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row")
        result = rr.rank(frame)
        contrasts = result.document.leader.contrasts
        assert (contrasts.better | contrasts.worse).any() == significant
        assert (result.rows[1].difference_low * result.rows[1].difference_high > 0) == significant
