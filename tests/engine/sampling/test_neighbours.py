"""Neighbours against sums written plainly, all orders of few samples, and simulated tables."""

import itertools

import numpy as np
import pytest

from riskrank.engine.sampling import autocorrelation
from riskrank.engine.sampling.autocorrelation import neighbours_alike


def plainly(row, lag):
    return sum((1 - h / (lag + 1)) * sum(row[h:] * row[:-h]) for h in range(1, lag + 1)) / sum(row**2)


@pytest.mark.parametrize("lag", [1, 2, 4])
def test_sums_and_their_moments_over_all_orders(lag):
    values = np.array([0.3, -1.2, 2.0, 0.1, -0.5, -1.0, 0.9])
    values -= values.mean()
    orders = np.array(list(itertools.permutations(values)))
    found = autocorrelation._alike(orders, [lag])[0]
    assert found[:5] == pytest.approx([plainly(row, lag) for row in orders[:5]])
    mean, spread = autocorrelation._moments(values[None], lag)
    assert (mean[0], spread[0]) == pytest.approx((found.mean(), found.std()), rel=1e-9)


@pytest.mark.parametrize("k", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_independent_samples_are_rarely_suspected(k):
    """At most .011 of tables; 600 of them, ± 0.004."""
    rng = np.random.default_rng(k)
    assert np.mean([neighbours_alike(rng.normal(size=(k, 60))) for _ in range(600)]) <= 0.02


@pytest.mark.parametrize("k", [2, 5])
def test_neighbours_that_are_alike_are_found(k):
    rng = np.random.default_rng(0)
    assert np.mean([neighbours_alike(_alike(rng, k, 250)) for _ in range(40)]) > 0.95


def _alike(rng, k, n):
    noise = rng.normal(size=(k, n + 50))
    for at in range(1, n + 50):
        noise[:, at] += 0.6 * noise[:, at - 1]
    return noise[:, 50:]


def test_what_all_models_share_is_no_suspicion():
    rng = np.random.default_rng(1)
    hard = np.cumsum(rng.normal(size=200))
    assert not neighbours_alike(hard + rng.normal(size=(3, 200)))
    assert not neighbours_alike(np.tile(hard, (2, 1)))
    assert not neighbours_alike(_alike(rng, 2, 20))


def test_tasks_of_their_own_one_after_the_other_are_no_suspicion():
    """Means, spreads and skewness differ by task: rows that are ranked over all of them look alike."""
    rng, false = np.random.default_rng(2), 0
    of_task = np.repeat(np.arange(4), 60)
    for _ in range(40):
        hard = rng.exponential(size=(3, 240)) * (1 + of_task) + of_task * np.array([[0], [1], [3]])
        false += neighbours_alike(hard, of_task)
    assert false <= 2
    assert neighbours_alike(hard)
