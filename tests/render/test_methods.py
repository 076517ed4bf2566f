"""Paragraphs for the methods section of a paper state facts of the run."""

import numpy as np
import polars as pl
import pytest

import riskrank as rr

RNG = np.random.default_rng(2)
N = 40
TABLE = pl.DataFrame(
    {
        "model": ["new"] * N + ["old"] * N,
        "sample": [*range(N)] * 2,
        "topic": [at // 4 for at in range(N)] * 2,
        "acc": RNG.random(2 * N),
        "usd": RNG.random(2 * N),
    }
)
OPTIONS = {"higher": "acc", "lower": "usd", "resamples": 200, "jobs": 1}


def paragraphs(result) -> list[str]:
    text = result._render("methods").decode()
    assert all(len(line) <= 100 for line in text.splitlines())
    return [" ".join(part.split()) for part in text.split("\n\n")]


def test_data_tests_and_limits_of_a_gate():
    result = rr.gate(TABLE, not_worse="new:old", margin=0.5, metric="acc", columns="cluster=topic", **OPTIONS)
    data, limits = paragraphs(result)
    assert "We compared 2 models (new, old) on 40 samples by acc (higher is better)." in data
    assert "The models were scored on the same samples. The column topic contains the cluster" in data
    assert "The significance level was 0.05, corrected by Holm's method. Computations used riskrank" in data
    assert limits.startswith("Limitations.")
    assert "independent: if some" not in limits


def test_weights_families_and_sources_of_a_ranking():
    data, limits, source = paragraphs(
        rr.rank(TABLE, weight={"acc": 3, "usd": 1}, correction="none", **OPTIONS)
    )
    assert "The metrics had the weights acc 0.75, usd 0.25." in data
    assert "without a correction for multiple tests." in data
    assert "200 resamples and seed 0" in data
    assert "Samples count as independent" in limits
    assert source.startswith("[1] A. Nitsure")


@pytest.mark.parametrize("missing", ["drop", "worst"])
def test_missing_scores_are_described(missing):
    lost = TABLE.with_columns(acc=pl.when(pl.col("sample") > 2).then("acc")).select(pl.exclude("usd"))
    options = {"higher": "acc", "metric": "acc", "resamples": 200, "jobs": 1}
    metrics = {"acc": {"direction": "higher", "bounds": [0, 1]}}
    text = " ".join(paragraphs(rr.dominance(lost, missing=missing, metrics=metrics, **options)))
    assert ("Samples without scores of every model were excluded." in text) == (missing == "drop")
    assert ("counted as the worst possible score" in text) == (missing == "worst")
