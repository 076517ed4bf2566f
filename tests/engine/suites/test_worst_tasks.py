"""The mean of the worst tasks, by hand."""

import numpy as np
import pytest

from riskrank.engine.suites.worst_tasks import worst_tasks


def test_a_tenth_and_at_least_one():
    mean = np.array([0.5, 0.1, 0.9, 0.2])
    assert worst_tasks(mean, np.full(4, 0.25)).tasks == (1,)
    many = np.arange(25.0)[::-1]
    found = worst_tasks(many, np.full(25, 0.04))
    assert (found.tasks, found.mean) == ((24, 23), 0.5)


def test_weights():
    many = np.arange(20.0)
    weights = np.ones(20)
    weights[0], weights[1] = 0.0, 3.0
    found = worst_tasks(np.append(many, 30.0), np.append(weights, 1.0) / 23)
    assert found.tasks == (1, 2)
    assert found.mean == pytest.approx((3 * 1 + 2) / 4)
