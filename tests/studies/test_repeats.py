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
    assert split.difference_share == pytest.approx(share, abs=0.05)
    assert split.advice == advice
    assert f"{split.difference_share:.0%}".replace("%", " %") in split.sentence
    assert advice in split.sentence


@pytest.mark.parametrize(("interaction", "share"), [(0.0, 1.0), (0.5, 0.5)])
def test_what_models_share_on_a_sample_cancels_in_differences(interaction, share):
    rng = np.random.default_rng(4)
    difficulty = 5 * rng.normal(size=(2000, 1))
    sample = np.repeat(np.arange(2000), 4)
    values = [
        (difficulty + interaction * rng.normal(size=(2000, 1)) + rng.normal(size=(2000, 4))).ravel()
        for _ in range(3)
    ]
    paired = split_run_variance("acc", ClusteredScores.build(values, [sample] * 3))
    assert paired.difference_share == pytest.approx(share, abs=0.05)
    unpaired = split_run_variance("acc", ClusteredScores.build(values, [sample] * 3, paired=False))
    assert unpaired.difference_share == pytest.approx(0.25 / (25 + interaction**2 + 0.25), abs=0.005)
    single = split_run_variance("acc", ClusteredScores.build(values[:1], [sample]))
    assert single.difference_share == pytest.approx(single.components.within_share[0])


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
