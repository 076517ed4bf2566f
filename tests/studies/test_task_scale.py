"""Scales of suite scores: unchanged, ranks within their task, or shares of their bounds."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import rankdata

import riskrank
from riskrank.errors import UsageError


def frame(models=("a", "b"), sizes=(12, 30), seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for task, size in enumerate(sizes):
        for at, model in enumerate(models):
            scores = rng.uniform(size=size) * (1 + 9 * task) + 0.1 * at
            rows += [(model, f"t{task}", f"s{n}", float(score)) for n, score in enumerate(scores)]
    table = pl.DataFrame(rows, schema=["model", "task", "sample", "score"], orient="row")
    return table.with_columns(metric=pl.lit("score"))


def mean_of(result, model):
    return result.frame.filter(pl.col("model") == model)["mean"][0]


@pytest.mark.parametrize("lower", [False, True])
def test_ranks_are_computed_within_tasks(lower):
    scores = frame()
    options = {"lower": ["score"]} if lower else {"higher": ["score"]}
    result = riskrank.rank(scores, task_scale="rank", resamples=100, **options)
    expected = []
    for task in ("t0", "t1"):
        part = scores.filter(pl.col("task") == task)
        pooled = part["score"].to_numpy() * (-1 if lower else 1)
        shares = (rankdata(pooled) - 0.5) / pooled.size
        expected.append(shares[(part["model"] == "a").to_numpy()].mean())
    assert mean_of(result, "a") == pytest.approx(np.mean(expected))
    assert any("ranks among all models of the task" in line for line in result.document.provenance.warnings)


def test_shares_of_bounds_keep_the_distances():
    scores = frame()
    bounded = {"score": {"direction": "lower", "bounds": [0, 20]}}
    result = riskrank.rank(scores, task_scale="bounds", metrics=bounded, resamples=100)
    plain = [
        scores.filter((pl.col("task") == task) & (pl.col("model") == "b"))["score"].mean()
        for task in ("t0", "t1")
    ]
    assert mean_of(result, "b") == pytest.approx(1 - np.mean(plain) / 20)


def test_shared_metric_is_not_rescaled():
    scores = frame()
    default, unscaled = (
        riskrank.rank(scores, resamples=100, **options) for options in ({}, {"task_scale": "none"})
    )
    assert default.frame.equals(unscaled.frame)


def test_invalid_task_scales_are_refused():
    with pytest.raises(UsageError, match="needs the bounds"):
        riskrank.rank(frame(), task_scale="bounds", resamples=100)
    with pytest.raises(UsageError, match="needs a suite of tasks"):
        riskrank.rank(frame(), task="none", task_scale="rank", resamples=100)


def test_portfolios_average_tasks():
    rng = np.random.default_rng(1)
    rows = [
        (model, f"t{task}", f"s{n}", *rng.normal(10 * task, 1 + task, 2).tolist())
        for task, size in enumerate((8, 40))
        for model in "ab"
        for n in range(size)
    ]
    scores = pl.DataFrame(rows, schema=["model", "task", "sample", "one", "two"], orient="row")
    result = riskrank.portfolio(scores, wide=True, higher=["one", "two"], summary=True)
    alone = [
        riskrank.portfolio(part, wide=True, higher=["one", "two"], task="none", summary=True).frame
        for part in (scores.filter(pl.col("task") == task) for task in ("t0", "t1"))
    ]
    assert result.frame["mean"].to_list() == pytest.approx(
        [
            (first + second) / 2
            for first, second in zip(*(task_frame["mean"] for task_frame in alone), strict=True)
        ]
    )
    assert not any("pooled" in line for line in result.document.provenance.warnings)


def test_power_warns_of_pooled_tasks():
    quick = {"sizes": [50], "simulations": 20, "resamples": 99, "jobs": 1, "higher": ["score"], "pair": "b:a"}
    weighted, pooled = (
        riskrank.power(frame(sizes=(20, 40)), **quick, task=task) for task in ("task", "none")
    )
    for result, is_warned in ((weighted, False), (pooled, True)):
        assert any("pooled" in line for line in result.document.provenance.warnings) == is_warned
