"""Trade-offs: a model with a better mean under unset weights prevents a recommendation (method §4)."""

import json

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.studies.rank.document import TRADE
from tests.tables import long_table


def long(**metrics):
    """Rows of every model's scores under every metric."""
    return pl.concat(long_table(models, metric, int) for metric, models in metrics.items())


def steady_and_wild(seed, n=1000):
    rng = np.random.default_rng(seed)
    return long(q={"steady": rng.normal(0, 0.3, n), "wild": rng.normal(1, 3, n)})


def cheap_and_right(seed, n=400):
    """The small model is cheaper and faster, the large one is more accurate."""
    rng = np.random.default_rng(seed)
    return long(
        accuracy={"small": rng.random(n) < 0.71, "large": rng.random(n) < 0.86},
        cost={"small": rng.lognormal(-2, 0.3, n), "large": rng.lognormal(0, 0.3, n)},
        latency={"small": rng.lognormal(0, 0.3, n), "large": rng.lognormal(1, 0.3, n)},
    )


DIRECTIONS = {"lower": "cost,latency", "higher": "accuracy", "resamples": 500, "jobs": 1}


def certainty_and_recommendation(result):
    """Return certainty and recommendation of the only column from JSON."""
    meta = json.loads(result.to_json())["meta"]
    return meta["certainty"], meta["recommendations"][0]


@pytest.mark.slow
def test_model_better_on_every_metric_is_reported():
    """Ranks ignore sizes: a rival has the higher mean score, and no weight settles that."""
    result = rr.rank(
        "sample_data/classifiers.parquet", metrics_file="sample_data/classifiers.toml", resamples=400, jobs=1
    )
    assert certainty_and_recommendation(result)[0] == TRADE
    assert "or lda for the better mean of the combined score (0.778 against 0.764)" in result.verdict
    assert "; neural_net is better on all 4 metrics, for example brier 0.040 against 0.070." in result.verdict
    assert "weight" not in result.verdict


def test_better_mean_of_a_rival_is_a_trade():
    result = rr.rank(steady_and_wild(0), resamples=500, jobs=1)
    assert result.verdict.startswith("A trade-off: choose steady to avoid bad cases (the worst 5 % ")
    assert "or wild for the better mean (q 0.9" in result.verdict
    assert ", difference 0." in result.verdict
    certainty, recommendation = certainty_and_recommendation(result)
    assert certainty == TRADE
    assert recommendation["recommendation"] is None
    assert recommendation["trade"] == ["wild"]
    assert not result.document.named


def test_metrics_without_weights_are_a_trade():
    result = rr.rank(cheap_and_right(0), **DIRECTIONS)
    assert result.verdict.startswith("A trade-off: small comes first with equal weights, ")
    assert "better than large on cost 0.138 against 1.060" in result.verdict
    assert "worse on accuracy 65 % against 88 %" in result.verdict
    assert "small stays first until accuracy is weighted 7.9 times as much (not tested)." in result.verdict
    results = [rr.rank(cheap_and_right(0), **DIRECTIONS, weight={"accuracy": n, "*": 1}) for n in (7.8, 7.9)]
    assert [outcome.verdict.partition(" ")[0] for outcome in results] == ["small", "large"]
    assert "--weight" not in result.verdict
    assert certainty_and_recommendation(result)[1]["trade"] == ["large"]


def cheap_and_right_and_level(seed, n=300):
    """Equal weights tie both models: accuracy and cost are equally far apart."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    return long(
        accuracy={
            name: shared + step + rng.normal(0, 0.5, n) for step, name in enumerate(("small", "large"))
        },
        cost={name: shared + step + rng.normal(0, 0.5, n) for step, name in enumerate(("small", "large"))},
    )


def test_tie_under_default_weights_is_a_trade():
    table = cheap_and_right_and_level(0)
    result = rr.rank(table, lower="cost", higher="accuracy", resamples=500, jobs=1)
    assert result.verdict.startswith("A trade-off: ")
    assert certainty_and_recommendation(result)[0] == TRADE
    assert not result.document.named
    weighted = rr.rank(table, lower="cost", higher="accuracy", weight="equal", resamples=500, jobs=1)
    assert "no test separates them" in weighted.verdict
    assert certainty_and_recommendation(weighted)[0] != TRADE
    assert (
        certainty_and_recommendation(
            rr.rank(table, lower="cost", higher="accuracy", metric="cost", resamples=500, jobs=1)
        )[0]
        != TRADE
    )


@pytest.mark.parametrize(
    ("weight", "metric", "decides"),
    [("equal", None, 0), ({"*": 1}, None, 0), ({"cost": 2}, None, 0), ("equal", ["accuracy", "cost"], 1)],
)
def test_explicit_weights_settle_the_choice(weight, metric, decides):
    """With two metrics each has a different leader; two of three metrics share a leader."""
    result = rr.rank(cheap_and_right(0), **DIRECTIONS, weight=weight, metric=metric)
    assert result.verdict.startswith("Ship small: ")
    assert result.verdict.count("Without cost, large would come first (not tested).") == decides
    assert certainty_and_recommendation(result)[1]["recommendation"] == "small"


def test_default_weight_is_unity():
    named = rr.rank(cheap_and_right(0), **DIRECTIONS, weight={"accuracy": 5})
    explicit = rr.rank(cheap_and_right(0), **DIRECTIONS, weight={"accuracy": 5, "cost": 1, "latency": 1})
    assert [row.score for row in named.document.rows] == [row.score for row in explicit.document.rows]


def test_weights_do_not_settle_a_trade_of_tails():
    """A single metric has no rival metric to be weighted against."""
    result = rr.rank(steady_and_wild(0), resamples=500, jobs=1, weight={"q": 1})
    assert certainty_and_recommendation(result)[0] == TRADE


@pytest.mark.parametrize("weight", ["accuracy=5", "equal"])
def test_weights_settle_a_trade(weight):
    result = rr.rank(cheap_and_right(0), **DIRECTIONS, weight=weight)
    assert certainty_and_recommendation(result)[0] != TRADE


@pytest.mark.slow
def test_equal_models_are_no_trade():
    """For equal models a false alarm needs a recommendation and a better mean of a rival."""
    rng = np.random.default_rng(5)
    trades = 0
    for _ in range(60):
        shared = rng.normal(size=120)
        table = long(q={name: shared + rng.normal(size=120) for name in "abc"})
        trades += certainty_and_recommendation(rr.rank(table, resamples=200, jobs=1))[0] == TRADE
    assert trades == 0


def test_model_with_best_mean_is_named():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=300)
    models = {"first": shared + 0.6, "level": shared + 0.62 + rng.normal(0, 1.5, 300), "last": shared - 1}
    result = rr.rank(long(q=models), resamples=500, jobs=1)
    assert "level" in result.verdict


def test_key_figures_of_a_trade():
    quotes = rr.rank(steady_and_wild(0), resamples=500, jobs=1).document.quotes
    assert quotes[-1].figure == "1 of 1"
    assert quotes[-1].words == "other models significantly behind steady"


def test_trade_in_a_single_column():
    rng = np.random.default_rng(1)
    table = pl.concat(
        [steady_and_wild(0), long(r={"steady": rng.normal(1, 0.3, 1000), "wild": rng.normal(0, 0.3, 1000)})]
    )
    verdict = rr.rank(table, per_metric=True, higher="*", resamples=500, jobs=1).verdict
    prefix = "On q the first model is ahead, but another model has the better mean; "
    assert verdict.endswith(f"{prefix}on r the first model is significantly ahead of all others.")
