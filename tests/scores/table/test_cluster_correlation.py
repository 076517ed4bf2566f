"""Correlation within clusters is detected, and not found in independent samples."""

import numpy as np
import pytest
import scipy.stats

from riskrank.engine.sampling.dependence import cluster_p_value, interval_widening
from riskrank.scores.table.dependence import LEVEL

TABLES = 400


def random_clusters(rng, samples, many, even):
    share = np.ones(many) if even else 1 / np.arange(1, many + 1)
    return rng.choice(many, samples, p=share / share.sum())


@pytest.mark.parametrize(
    ("samples", "many", "even", "rare"),
    [(60, 9, True, True), (60, 9, False, False), (400, 90, True, False), (400, 90, False, True)],
)
@pytest.mark.slow
def test_error_rate_on_independent_samples(samples, many, even, rare):
    """An F test alone rejects up to a fifth of such tables: clusters of one or two, rare scores."""
    rng, p_values = np.random.default_rng(11), []
    for _ in range(TABLES):
        scores = rng.random((samples, 1)) < 0.01 if rare else rng.standard_t(2, (samples, 3))
        clusters = np.unique(random_clusters(rng, samples, many, even), return_inverse=True)[1]
        p_values.append(cluster_p_value(scores - scores.mean(axis=0), clusters))
    assert np.mean(np.array(p_values) < 0.01) <= 0.025  # 0.01 are expected, and more once in 1,000 times
    assert min(p_values) >= LEVEL


@pytest.mark.parametrize(
    ("samples", "within"), [(300, 0.3), pytest.param(120_000, 0.02, marks=pytest.mark.slow)]
)
def test_correlated_samples_are_detected(samples, within):
    rng = np.random.default_rng(12)
    cluster = np.arange(samples) % (samples // 10)
    common = rng.normal(size=samples // 10)[cluster]
    scores = np.sqrt(within) * common + np.sqrt(1 - within) * rng.normal(size=samples)
    columns = np.column_stack((rng.normal(size=samples), scores))
    assert cluster_p_value(columns - columns.mean(axis=0), cluster) < LEVEL


def test_p_value_is_that_of_an_analysis_of_variance():
    """SciPy's F test on mid-ranks, where the permutations confirm it."""
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(6), 15)
    scores = rng.normal(size=90) + 0.8 * rng.normal(size=6)[cluster]
    groups = np.split(scipy.stats.rankdata(scores), 6)
    assert cluster_p_value(scores[:, None], cluster) == pytest.approx(scipy.stats.f_oneway(*groups).pvalue)


def test_widening_is_the_ratio_of_standard_errors():
    """The standard error of a mean of cluster means, relative to that of independent samples."""
    scores = np.random.default_rng(3).normal(size=(60, 1)) + np.repeat(np.arange(6), 10)[:, None]
    means = scores.reshape(6, 10).mean(axis=1)
    ratio = means.std(ddof=1) / 6**0.5 / (scores.std() / 60**0.5)
    assert interval_widening(scores, np.repeat(np.arange(6), 10)) == pytest.approx(ratio)
