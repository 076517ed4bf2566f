"""Autocorrelation test compared with plain sums, random orders, and simulated tables."""

import numpy as np
import pytest
from scipy.special import gammaincc

from riskrank.engine.sampling import dependence
from riskrank.engine.sampling.dependence import is_autocorrelated


@pytest.mark.parametrize(("lag", "n"), [(1, 40), (4, 40), (16, 200)])
def test_p_values_are_shares_of_random_orders(lag, n):
    rng = np.random.default_rng(1)
    values = rng.exponential(size=n)
    values -= values.mean()
    orders = np.array([rng.permutation(values) for _ in range(4000)])
    weights = [1 - h / (lag + 1) for h in range(1, lag + 1)]
    products = np.array([(orders[:, h:] * orders[:, :-h]).sum(axis=1) for h in range(1, lag + 1)])
    sums = weights @ products
    p_values = dependence._lag_p_values(products.T / (values**2).sum(), n)
    for level in (0.2, 0.05, 0.01):
        assert level / 3 <= np.mean(p_values < level) <= 1.3 * level
    assert sums.argmax() == p_values.argmin()


@pytest.mark.parametrize(("lag", "n"), [(1, 8), (4, 40), (25, 200)])
def test_tails_have_the_moments_of_the_quadratic_form(lag, n):
    distances = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    distances = np.minimum(distances, n - distances)
    form = np.where((distances > 0) & (distances <= lag), 1 - distances / (lag + 1), 0) / 2
    values = np.linalg.eigvalsh(
        form - form.mean() - (np.eye(n) - 1 / n) * np.trace(form - form.mean()) / (n - 1)
    )
    shape = (values**2).sum() ** 3 / (2 * (values**3).sum() ** 2)
    lags = np.arange(1, lag + 1)
    weights = 1 - lags / (lag + 1)
    z = (weights * (n - lags)).sum() / (n * (n - 1)) / (np.sqrt((weights**2 * (n - lags)).sum()) / n)
    expected = gammaincc(shape, shape + z * np.sqrt(shape))
    assert dependence._lag_p_values(np.zeros((1, lag)), n) == pytest.approx(expected)


@pytest.mark.parametrize("k", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_independent_samples_are_rarely_flagged(k):
    """At most .011 of 600 tables, ± 0.004."""
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
    """Means, spreads and skewness differ by task, so ranks over all tasks would seem autocorrelated."""
    rng, false = np.random.default_rng(2), 0
    task_of = np.repeat(np.arange(4), 60)
    for _ in range(40):
        scores = rng.exponential(size=(3, 240)) * (1 + task_of) + task_of * np.array([[0], [1], [3]])
        false += is_autocorrelated(scores, task_of)
    assert false <= 2
    assert is_autocorrelated(scores)
