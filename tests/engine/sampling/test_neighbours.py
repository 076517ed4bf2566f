"""Neighbours against sums written plainly, all orders of few samples, and simulated tables."""

import itertools

import numpy as np
import pytest

from riskrank.engine.sampling import autocorrelation
from riskrank.engine.sampling.autocorrelation import is_autocorrelated


def lag_sum(row, lag):
    return sum((1 - h / (lag + 1)) * sum(row[h:] * row[:-h]) for h in range(1, lag + 1)) / sum(row**2)


@pytest.mark.parametrize("lag", [1, 2, 4])
def test_lag_sums_match_all_permutations(lag):
    values = np.array([0.3, -1.2, 2.0, 0.1, -0.5, -1.0, 0.9])
    values -= values.mean()
    orders = np.array(list(itertools.permutations(values)))
    result = autocorrelation._lag_sums(orders, [lag])[0]
    assert result[:5] == pytest.approx([lag_sum(row, lag) for row in orders[:5]])
    mean, spread = autocorrelation._moments(values[None], lag)
    assert (mean[0], spread[0]) == pytest.approx((result.mean(), result.std()), rel=1e-9)


@pytest.mark.parametrize("k", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_independent_samples_are_rarely_flagged(k):
    """At most .011 of tables; 600 of them, ± 0.004."""
    rng = np.random.default_rng(k)
    assert np.mean([is_autocorrelated(rng.normal(size=(k, 60))) for _ in range(600)]) <= 0.02


@pytest.mark.parametrize("k", [2, 5])
def test_autocorrelation_is_detected(k):
    rng = np.random.default_rng(0)
    assert np.mean([is_autocorrelated(_autocorrelated(rng, k, 250)) for _ in range(40)]) > 0.95


def _autocorrelated(rng, k, n):
    noise = rng.normal(size=(k, n + 50))
    for at in range(1, n + 50):
        noise[:, at] += 0.6 * noise[:, at - 1]
    return noise[:, 50:]


def test_shared_difficulty_is_no_autocorrelation():
    rng = np.random.default_rng(1)
    difficulty = np.cumsum(rng.normal(size=200))
    assert not is_autocorrelated(difficulty + rng.normal(size=(3, 200)))
    assert not is_autocorrelated(np.tile(difficulty, (2, 1)))
    assert not is_autocorrelated(_autocorrelated(rng, 2, 20))


def test_consecutive_tasks_are_no_autocorrelation():
    """Means, spreads and skewness differ by task: rows that are ranked over all of them look alike."""
    rng, false = np.random.default_rng(2), 0
    task_of = np.repeat(np.arange(4), 60)
    for _ in range(40):
        scores = rng.exponential(size=(3, 240)) * (1 + task_of) + task_of * np.array([[0], [1], [3]])
        false += is_autocorrelated(scores, task_of)
    assert false <= 2
    assert is_autocorrelated(scores)
