"""Variance of means between samples and between repeats, and the advice that follows."""

import numpy as np
import pytest

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.repeats import split_run_variance


def scored(between, within, samples=400, runs=4):
    rng = np.random.default_rng(3)
    values = [
        (between * rng.normal(size=(samples, 1)) + within * rng.normal(size=(samples, runs))).ravel()
        for _ in range(3)
    ]
    return ClusteredScores.build(values, [np.repeat(np.arange(samples), runs)] * 3)


@pytest.mark.parametrize(
    ("between", "within", "advice"),
    [
        (1.0, 0.3, "add samples; repeats would hardly help"),
        (1.0, 1.2, "add samples first"),
        (1.0, 4.0, "add repeats or samples"),
    ],
)
def test_advice_follows_the_variance_share(between, within, advice):
    split = split_run_variance("acc", scored(between, within))
    share = (within**2 / 4) / (between**2 + within**2 / 4)
    assert split.run_variance_fraction == pytest.approx(share, abs=0.05)
    assert split.advice == advice
    assert f"{split.run_variance_fraction:.0%}".replace("%", " %") in split.sentence
    assert advice in split.sentence


def test_no_split_without_repeats_or_with_clusters():
    rng = np.random.default_rng(0)
    single = ClusteredScores.build([rng.normal(size=20) for _ in range(2)])
    assert split_run_variance("acc", single) is None
    cluster, sample = [np.arange(20) // 4] * 2, [np.arange(20) // 2] * 2
    assert (
        split_run_variance("acc", ClusteredScores.build([rng.normal(size=20)] * 2, cluster, samples=sample))
        is None
    )


def test_entries_match_the_engine():
    split = split_run_variance("acc", scored(1, 1))
    entries = split.entries("ABC")
    assert [entry["model"] for entry in entries] == ["A", "B", "C"]
    assert [entry["within"] for entry in entries] == split.components.within.tolist()
