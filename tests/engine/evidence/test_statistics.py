"""Ratios of sums and percentiles, against closed forms, NumPy and simulations."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.evidence.bootstrap import bootstrap_evidence
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.evidence.statistics import (
    _percentiles,
    percentile_difference,
    pseudo_logarithms,
    pseudo_ratios,
)
from riskrank.engine.sampling.design import ClusteredScores

RNG = np.random.default_rng(3)


def test_pseudo_scores_of_ratios_have_the_ratio_and_its_error():
    a, b = RNG.gamma(2, 1, (2, 80)), RNG.gamma(3, 1, (2, 80))
    scores = pseudo_ratios(ClusteredScores.build(a), ClusteredScores.build(b))
    ratios = a.sum(axis=1) / b.sum(axis=1)
    assert [values.mean() for values in scores.values] == pytest.approx(ratios)
    # The jackknife: what the ratio loses without each sample.
    without = (a.sum(axis=1, keepdims=True) - a) / (b.sum(axis=1, keepdims=True) - b)
    errors = without.std(axis=1, ddof=1) * np.sqrt(80)
    means = [MeanContrast.from_mean(scores, model).error_and_df[0] for model in range(2)]
    assert means == pytest.approx(errors)


def test_pseudo_scores_of_logarithms_have_the_error_of_the_log_ratio():
    x = RNG.lognormal(0, 0.5, (2, 60))
    scores = pseudo_logarithms(ClusteredScores.build(-x), -1.0)
    contrast = MeanContrast.from_scores(scores, 0, 1)
    means = x.mean(axis=1)
    assert contrast.estimate == pytest.approx(-np.log(means[0] / means[1]))
    without = [np.log(np.delete(x, i, axis=1).mean(axis=1)) for i in range(60)]
    jackknife = np.array([first - second for first, second in without])
    assert contrast.error_and_df[0] == pytest.approx(
        np.sqrt(59 / 60 * ((jackknife - jackknife.mean()) ** 2).sum())
    )
    assert pseudo_logarithms(ClusteredScores.build([x[0], -x[1]]), 1.0) is None


@pytest.mark.parametrize("proportion", [0.05, 0.5, 0.9, 0.99])
def test_percentiles_match_numpy(proportion):
    values = RNG.choice(20, 37).astype(float)
    clusters = np.sort(RNG.integers(0, 12, 37))
    clusters = np.unique(clusters, return_inverse=True)[1]
    scores = ClusteredScores.build([values], [clusters])
    counts = RNG.integers(0, 4, (50, clusters.max() + 1)) + np.eye(50, clusters.max() + 1, dtype=int)
    expected = [
        np.quantile(np.repeat(scores.values[0], row[scores.clusters[0]]), proportion)
        for row in counts
        if row.any()
    ]
    found = _percentiles(scores, 0, counts[counts.any(axis=1)], proportion)
    assert found == pytest.approx(expected)


def test_few_samples_beyond_a_percentile_decide_nothing():
    x = RNG.normal(size=(2, 59))
    scores = ClusteredScores.build([x[0] + 100, x[1]])
    options = {"resamples": 200, "seed": 0}
    few = percentile_difference(scores, (0, 1), 0.95, **options)
    assert (few.p_above, few.p_below, few.interval(0.05)) == (1, 1, (-np.inf, np.inf))
    assert few.samples_needed(0.05) == 60
    enough = percentile_difference(scores, (0, 1), 0.94, **options)
    assert enough.p_above < 0.01


def simulate(draw, evidence, truth, *, tables, seed=0):
    """Return the share of 95 % intervals that contain the true value, and one-sided errors (low, high)."""
    rng = np.random.default_rng(seed)
    limits = np.array([evidence(draw(rng)).interval(0.05) for _ in range(tables)]).reshape(tables, 2)
    return np.mean((limits[:, 0] <= truth) & (truth <= limits[:, 1])), (
        np.mean(limits[:, 0] > truth),
        np.mean(limits[:, 1] < truth),
    )


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(("n", "proportion"), [(30, 0.5), (30, 0.9), (100, 0.95)])
def test_intervals_of_percentiles_cover(n, proportion, paired):
    """With 300 tables the error is ± .013 at .95."""

    def draw(rng):
        common = rng.normal(size=n) if paired else 0.0
        return ClusteredScores.build(np.exp(common + rng.normal(size=(2, n))), paired=paired)

    def evidence(scores):
        difference = percentile_difference(scores, (0, 1), proportion, logarithms=1.0, resamples=999, seed=1)
        return bootstrap_evidence([difference])

    coverage, errors = simulate(draw, evidence, 0.0, tables=300)
    assert coverage >= 0.93 - 0.026
    assert max(errors) <= 0.035 + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("n", [30, 100])
def test_intervals_of_ratios_of_sums_cover(n, clustered):
    """Skewed costs per success; with 300 tables the error is ± .013 at .95."""
    size = 3 if clustered else 1
    clusters = [np.repeat(np.arange(n), size)] * 2

    def draw(rng):
        shared = np.repeat(rng.normal(0, 0.4, n), size)
        costs = rng.lognormal(shared, 0.8, (2, n * size))
        success = (rng.random((2, n * size)) < 0.7).astype(float)
        both = (ClusteredScores.build(part, clusters) for part in (costs, success))
        return pseudo_ratios(*both)

    def evidence(scores):
        return mean_evidence([MeanContrast.from_scores(scores, 0, 1)], resamples=999)

    coverage, errors = simulate(draw, evidence, 0.0, tables=300)
    assert coverage >= 0.93 - 0.026
    assert max(errors) <= 0.035 + 0.02


def test_percentile_of_one_model_lies_between_order_statistics():
    x = np.sort(RNG.lognormal(size=60))
    scores = ClusteredScores.build([x, np.zeros(60)])
    result = percentile_difference(
        scores, (0, 1), 0.9, boundary=x[-1] + 1, alone=True, resamples=50_000, seed=0
    )
    low, high = result.interval(0.05)
    # Ranks of Clopper and Pearson; too few samples for an upper limit below 36.
    ranks = stats.binom.ppf([0.025, 0.975], 60, 0.9).astype(int)
    assert (low, high) == (x[ranks[0] - 1], x[ranks[1]])
    assert result.p_below == pytest.approx(0.9**60, abs=0.002)
    few = ClusteredScores.build([x[:35], np.zeros(35)])
    result = percentile_difference(few, (0, 1), 0.9, boundary=0.0, alone=True, resamples=50_000, seed=0)
    assert result.interval(0.05)[1] == np.inf
