"""Samples that are alike within wholes: found where they are, and not among independent ones."""

import numpy as np
import pytest

from riskrank.scores.table.dependence import alike_within

TABLES = 400


def wholes(own, samples, many, even):
    share = np.ones(many) if even else 1 / np.arange(1, many + 1)
    return own.choice(many, samples, p=share / share.sum())


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize(("samples", "many"), [(60, 9), (400, 90)])
@pytest.mark.parametrize("rare", [True, False])
def test_independent_samples_are_refused_no_more_often_than_promised(samples, many, even, rare):
    """An F test refuses up to a fifth of such tables at the same level: wholes of one or two, rare scores."""
    own = np.random.default_rng(11)
    refused = 0
    for _ in range(TABLES):
        scores = own.random((samples, 1)) < 0.01 if rare else own.standard_t(2, (samples, 3))
        refused += alike_within(scores - scores.mean(axis=0), wholes(own, samples, many, even), 999)
    assert refused <= 3  # 0.4 are expected, and more than 3 happen once in 1,000 times


@pytest.mark.parametrize(
    ("samples", "within"), [(300, 0.3), pytest.param(120_000, 0.02, marks=pytest.mark.slow)]
)
def test_samples_that_are_alike_are_found(samples, within):
    own = np.random.default_rng(12)
    whole = np.arange(samples) % (samples // 10)
    common = own.normal(size=samples // 10)[whole]
    scores = np.sqrt(within) * common + np.sqrt(1 - within) * own.normal(size=samples)
    found = np.column_stack((own.normal(size=samples), scores))
    assert alike_within(found - found.mean(axis=0), whole, 999)
