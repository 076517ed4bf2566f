"""``riskrank power --anytime``: samples until a gate that is looked at again has an answer."""

from statistics import NormalDist

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import UsageError


def pilot(new, old, n=20_000, seed=0):
    """Passed or not; half of what makes a sample hard is shared."""
    rng = np.random.default_rng(seed)
    luck = (rng.normal(size=n) + rng.normal(size=(2, n))) / np.sqrt(2)
    quantile = NormalDist().inv_cdf
    passed = [(luck[0] < quantile(new)), (luck[1] < quantile(old))]
    rows = {"sample": [f"s{at:05}" for at in range(n)] * 2, "metric": "ok"}
    return pl.DataFrame(
        rows | {"model": ["new"] * n + ["old"] * n, "score": np.concatenate(passed).astype(float)}
    )


@pytest.mark.parametrize(
    ("models", "margin", "median"),
    [
        ((0.80, 0.70), 0.0, 300),
        pytest.param((0.75, 0.70), 0.0, 1150, marks=pytest.mark.slow),
        pytest.param((0.70, 0.70), 0.05, 1200, marks=pytest.mark.slow),
    ],
)
def test_medians_of_0_1_scores(models, margin, median):
    """Within a fifth: 200 runs have a median with an error of a tenth, and a pilot has one, too."""
    settings = {"pair": "new:old", "anytime": True, "margin": margin, "simulations": 200, "limit": 4000}
    meta = rr.power(pilot(*models), **settings).document.meta()["samples_until_answer"]
    assert meta["median"] == pytest.approx(median, rel=0.25)
    assert meta["median_low"] <= meta["median"] <= meta["median_high"]
    assert meta["single_look"] < meta["median"]


@pytest.mark.slow
def test_distributions_of_the_method(run):
    asked = "--anytime --limit 3000 --format json --simulations"
    call = ("power", "new=beta:2.2,1.8", "old=beta:2,2", *asked.split())
    outcome = run(*call, "400")
    assert outcome.document["schema"] == "riskrank/power-anytime"
    meta = outcome.document["meta"]["samples_until_answer"]
    assert meta["median"] == pytest.approx(400, rel=0.13)
    assert meta["single_look"] == pytest.approx(314, abs=2)
    shares = [row["passed"] for row in outcome.document["results"]]
    assert shares == sorted(shares)
    assert run(*call, "20").stdout == run(*call, "20").stdout


def test_the_page(run):
    outcome = run("power", "new=bernoulli:0.8", "old=bernoulli:0.6", "--anytime", "--simulations", "50")
    page = " ".join(outcome.stdout.split())
    assert "until a gate that is looked at again answers whether new is better than old" in page
    assert "A single look takes 79 for a power of 80 %." in page
    assert len(outcome.stdout.splitlines()) <= 25


def test_nothing_is_said_of_sizes_beyond_the_limit(run):
    asked = ("power", "new=bernoulli:0.7", "old=bernoulli:0.7", "--anytime", "--simulations", "20")
    outcome = run(*asked, "--limit", "300", "--format", "json")
    assert [row["size"] for row in outcome.document["results"]] == [100, 300]
    page = " ".join(run(*asked, "--limit", "300").stdout.split())
    assert "Fewer than 80 % of runs have an answer by 300 samples." in page


def test_a_claim_that_does_not_hold_is_refuted(run):
    outcome = run("power", "new=bernoulli:0.5", "old=bernoulli:0.8", "--anytime", "--simulations", "20")
    assert "in the median of all runs; 100 % refute it" in " ".join(outcome.stdout.split())


def test_what_is_refused_of_pilots():
    frame = pilot(0.7, 0.6, n=50)
    with pytest.raises(UsageError, match="nobody declared"):
        rr.power(frame.with_columns(pl.col("score") * 0.7), pair="new:old", anytime=True)
    with pytest.raises(UsageError, match="needs the same samples of both models"):
        rr.power(frame, pair="new:old", anytime=True, unpaired=True)
    tasks = frame.with_columns(c=pl.col("sample").str.slice(1).cast(int) // 5)
    with pytest.raises(UsageError, match="that both models share"):
        rr.power(tasks, pair="new:old", anytime=True, cluster="c")
    two = pl.concat([frame, frame.with_columns(metric=pl.lit("other"))])
    with pytest.raises(UsageError, match="on one metric"):
        rr.power(two, pair="new:old", anytime=True)
