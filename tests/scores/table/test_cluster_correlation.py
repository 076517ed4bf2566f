"""Correlation within clusters is detected, and not found in independent samples."""

import numpy as np
import pytest

from riskrank.scores.table.dependence import clusters_differ

TABLES = 400


def random_clusters(rng, samples, many, even):
    share = np.ones(many) if even else 1 / np.arange(1, many + 1)
    return rng.choice(many, samples, p=share / share.sum())


@pytest.mark.parametrize(
    ("samples", "many", "even", "rare"),
    [(60, 9, True, True), (60, 9, False, False), (400, 90, True, False), (400, 90, False, True)],
)
def test_error_rate_on_independent_samples(samples, many, even, rare):
    """An F test rejects up to a fifth of such tables at this level: clusters of one or two, rare scores."""
    rng = np.random.default_rng(11)
    refused = 0
    for _ in range(TABLES):
        scores = rng.random((samples, 1)) < 0.01 if rare else rng.standard_t(2, (samples, 3))
        refused += clusters_differ(
            scores - scores.mean(axis=0), random_clusters(rng, samples, many, even), 999
        )
    assert refused <= 3  # 0.4 are expected, and more than 3 happen once in 1,000 times


@pytest.mark.parametrize(
    ("samples", "within"), [(300, 0.3), pytest.param(120_000, 0.02, marks=pytest.mark.slow)]
)
def test_correlated_samples_are_detected(samples, within):
    rng = np.random.default_rng(12)
    cluster = np.arange(samples) % (samples // 10)
    common = rng.normal(size=samples // 10)[cluster]
    scores = np.sqrt(within) * common + np.sqrt(1 - within) * rng.normal(size=samples)
    columns = np.column_stack((rng.normal(size=samples), scores))
    assert clusters_differ(columns - columns.mean(axis=0), cluster, 999)
