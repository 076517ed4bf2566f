"""Nothing is shipped against a better mean that nobody weighed (method §4, "Trade-offs")."""

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
    """Small is cheaper and faster, large is right more often."""
    rng = np.random.default_rng(seed)
    return long(
        accuracy={"small": rng.random(n) < 0.71, "large": rng.random(n) < 0.86},
        cost={"small": rng.lognormal(-2, 0.3, n), "large": rng.lognormal(0, 0.3, n)},
        latency={"small": rng.lognormal(0, 0.3, n), "large": rng.lognormal(1, 0.3, n)},
    )


DIRECTIONS = {"lower": "cost,latency", "higher": "accuracy", "resamples": 500, "jobs": 1}


def of(result):
    """Of the only column of scores what a program reads."""
    meta = json.loads(result.to_json())["meta"]
    return meta["certainty"], meta["recommendations"][0]


@pytest.mark.slow
def test_a_model_better_on_every_metric_is_said_to_be():
    """Ranks forget by how much: the other's mean combined score is higher, and no weight settles that."""
    found = rr.rank(
        "sample_data/classifiers.parquet", metrics_file="sample_data/classifiers.toml", resamples=400, jobs=1
    )
    assert of(found)[0] == TRADE
    assert "lda for who wants the mean of the combined score (0.778 against 0.764)" in found.verdict
    assert "; neural_net is better on all 4 metrics, such as brier 0.040 against 0.070." in found.verdict
    assert "settles it" not in found.verdict


def test_a_better_mean_is_a_trade_and_no_shipment():
    found = rr.rank(steady_and_wild(0), resamples=500, jobs=1)
    assert found.verdict.startswith("A trade-off: steady for who minds bad cases (the worst 5 % ")
    assert "wild for who wants the mean (q 0.9" in found.verdict
    assert ", difference 0." in found.verdict
    certainty, one = of(found)
    assert certainty == TRADE
    assert one["recommendation"] is None
    assert one["trade"] == ["wild"]
    assert not found.document.named


def test_metrics_that_nobody_weighed_are_a_trade():
    found = rr.rank(cheap_and_right(0), **DIRECTIONS)
    assert found.verdict.startswith("A trade-off: small comes first if all metrics count alike, ")
    assert "better than large on cost 0.138 against 1.060" in found.verdict
    assert "worse on accuracy 65 % against 88 %" in found.verdict
    assert "It stays first until accuracy counts 7.9 times as much (not tested)." in found.verdict
    weighed = [rr.rank(cheap_and_right(0), **DIRECTIONS, weight={"accuracy": n, "*": 1}) for n in (7.8, 7.9)]
    assert [one.verdict.partition(" ")[0] for one in weighed] == ["small", "large"]
    assert "--weight" not in found.verdict
    assert of(found)[1]["trade"] == ["large"]


def cheap_and_right_and_level(seed, n=300):
    """Equal weights put neither first: each step to a better answer costs as many places elsewhere."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=n)
    return long(
        accuracy={
            name: shared + step + rng.normal(0, 0.5, n) for step, name in enumerate(("small", "large"))
        },
        cost={name: shared + step + rng.normal(0, 0.5, n) for step, name in enumerate(("small", "large"))},
    )


def test_level_by_weights_that_nobody_gave_is_a_trade():
    table = cheap_and_right_and_level(0)
    found = rr.rank(table, lower="cost", higher="accuracy", resamples=500, jobs=1)
    assert found.verdict.startswith("A trade-off: ")
    assert of(found)[0] == TRADE
    assert not found.document.named
    weighed = rr.rank(table, lower="cost", higher="accuracy", weight="equal", resamples=500, jobs=1)
    assert "no test separates them" in weighed.verdict
    assert of(weighed)[0] != TRADE
    assert (
        of(rr.rank(table, lower="cost", higher="accuracy", metric="cost", resamples=500, jobs=1))[0] != TRADE
    )


@pytest.mark.parametrize(
    ("weight", "metric", "decides"),
    [("equal", None, 0), ({"*": 1}, None, 0), ({"cost": 2}, None, 0), ("equal", ["accuracy", "cost"], 1)],
)
def test_weights_are_a_choice(weight, metric, decides):
    """Of two metrics each would put its own model first, and of three two put the same one."""
    found = rr.rank(cheap_and_right(0), **DIRECTIONS, weight=weight, metric=metric)
    assert found.verdict.startswith("Ship small: ")
    assert found.verdict.count("Without cost large would be first (not tested).") == decides
    assert of(found)[1]["recommendation"] == "small"


def test_a_metric_without_a_weight_weighs_one():
    named = rr.rank(cheap_and_right(0), **DIRECTIONS, weight={"accuracy": 5})
    every = rr.rank(cheap_and_right(0), **DIRECTIONS, weight={"accuracy": 5, "cost": 1, "latency": 1})
    assert [row.score for row in named.document.rows] == [row.score for row in every.document.rows]


def test_weights_are_about_metrics_and_not_about_tails():
    """One metric has no other to be weighed against."""
    found = rr.rank(steady_and_wild(0), resamples=500, jobs=1, weight={"q": 1})
    assert of(found)[0] == TRADE


@pytest.mark.parametrize("settled", ["accuracy=5", "equal"])
def test_what_settles_a_trade_does(settled):
    found = rr.rank(cheap_and_right(0), **DIRECTIONS, weight=settled)
    assert of(found)[0] != TRADE


@pytest.mark.slow
def test_no_trade_where_nobody_is_better():
    """Of equal models an alarm needs a shipment first, and then a better mean."""
    rng = np.random.default_rng(5)
    trades = 0
    for _ in range(60):
        shared = rng.normal(size=120)
        table = long(q={name: shared + rng.normal(size=120) for name in "abc"})
        trades += of(rr.rank(table, resamples=200, jobs=1))[0] == TRADE
    assert trades == 0


def test_the_best_mean_is_named_where_it_is_not_first():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=300)
    models = {"first": shared + 0.6, "level": shared + 0.62 + rng.normal(0, 1.5, 300), "last": shared - 1}
    found = rr.rank(long(q=models), resamples=500, jobs=1)
    assert "level" in found.verdict


def test_figures_of_a_trade_are_of_both():
    quotes = rr.rank(steady_and_wild(0), resamples=500, jobs=1).document.quotes
    assert quotes[-1].figure == "1 of 1"
    assert quotes[-1].words == "others significantly behind steady"


def test_one_column_of_several_is_a_trade():
    rng = np.random.default_rng(1)
    table = pl.concat(
        [steady_and_wild(0), long(r={"steady": rng.normal(1, 0.3, 1000), "wild": rng.normal(0, 0.3, 1000)})]
    )
    verdict = rr.rank(table, per_metric=True, higher="*", resamples=500, jobs=1).verdict
    told = "On q the first is ahead, and another model has the better mean; "
    assert verdict.endswith(f"{told}on r the first is significantly ahead of all others.")
