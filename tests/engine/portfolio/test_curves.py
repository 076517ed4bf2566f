import numpy as np
import pytest

from riskrank.engine.portfolio.curves import curves


def test_every_step_of_few_samples():
    found = curves([np.array([3.0, 1.0, 2.0, 2.0]), np.array([5.0, 0.0, 0.0, 1.0])])
    assert found.levels.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert found.quantiles.tolist() == [[1, 2, 2, 3], [0, 0, 1, 5]]
    assert found.tail_values == pytest.approx(np.array([[1, 1.5, 5 / 3, 2], [0, 0, 1 / 3, 1.5]]))
    assert found.order.tolist() == [0, 1]


def test_a_grid_of_many_samples():
    scores = np.random.default_rng(4).normal(size=(3, 1000))
    found = curves(scores)
    assert found.levels == pytest.approx(np.linspace(0.005, 1, 200))
    assert np.array_equal(found.quantiles, np.sort(scores, axis=1)[:, 4::5])
    assert found.tail_values[:, -1] == pytest.approx(np.mean(scores, axis=1))


def test_samples_of_different_sizes():
    found = curves([np.arange(10.0), np.arange(7.0) + 5])
    assert found.quantiles[:, -1].tolist() == [9, 11]
    assert found.order.tolist() == [1, 0]
