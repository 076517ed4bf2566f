"""Variance of means from runs and from samples, and what it advises."""

import numpy as np
import pytest

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.repeats import split_of_runs


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
        (1.0, 0.3, "more samples; repeats would hardly help"),
        (1.0, 1.2, "more samples first"),
        (1.0, 4.0, "more repeats or more samples"),
    ],
)
def test_the_share_of_the_runs_decides(between, within, advice):
    split = split_of_runs("acc", scored(between, within))
    share = (within**2 / 4) / (between**2 + within**2 / 4)
    assert split.share == pytest.approx(share, abs=0.05)
    assert split.advice == advice
    assert f"{split.share:.0%}".replace("%", " %") in split.sentence
    assert advice in split.sentence


def test_without_repeats_or_with_clusters_there_is_none():
    rng = np.random.default_rng(0)
    single = ClusteredScores.build([rng.normal(size=20) for _ in range(2)])
    assert split_of_runs("acc", single) is None
    cluster, sample = [np.arange(20) // 4] * 2, [np.arange(20) // 2] * 2
    assert (
        split_of_runs("acc", ClusteredScores.build([rng.normal(size=20)] * 2, cluster, samples=sample))
        is None
    )


def test_entries_are_those_of_the_engine():
    split = split_of_runs("acc", scored(1, 1))
    entries = split.described("ABC")
    assert [entry["model"] for entry in entries] == ["A", "B", "C"]
    assert [entry["within"] for entry in entries] == split.components.within.tolist()
