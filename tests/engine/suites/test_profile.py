"""Performance profiles, against rliable's formula and the closed form of the band."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.suites.profile import profile, thresholds
from riskrank.engine.suites.task_differences import TaskScores
from tests.engine.suites.test_task_differences import suite


def test_runs_by_tasks_are_rliables_profile():
    """Scores of 10 runs on 26 tasks: rliable's share of scores above τ is mean(scores > τ) of the matrix."""
    rng = np.random.default_rng(0)
    runs = [rng.lognormal(size=(10, 26)), rng.lognormal(0.3, 1.2, size=(10, 26))]
    tau = np.linspace(0, 8, 81)
    task = np.tile(np.arange(26), 10)
    found = profile(TaskScores.build([one.ravel() for one in runs], [task] * 2), tau)
    expected = [[np.mean(one > level) for level in tau] for one in runs]
    np.testing.assert_allclose(found.share, expected, rtol=0, atol=1e-12)


def test_unequal_tasks_weigh_as_asked():
    values, task, _ = suite()
    scores = TaskScores.build(values, [task] * 3, weights=[1.0, 2.0, 5.0])
    tau = thresholds(scores, 17)
    found = profile(scores, tau)
    each = np.array([[(value[task == t, None] > tau).mean(axis=0) for t in range(3)] for value in values])
    np.testing.assert_allclose(found.share, np.average(each, axis=1, weights=[1, 2, 5]), atol=1e-12)
    assert found.share[:, -1].tolist() == [0, 0, 0]
    assert (np.diff(found.share) <= 1e-15).all()
    assert ((found.low <= found.share) & (found.share <= found.high)).all()


def test_the_band_of_one_task_is_students_t():
    value = np.random.default_rng(4).normal(size=40)
    scores = TaskScores.build([value, -value], [np.zeros(40, dtype=int)] * 2)
    found = profile(scores, np.array([0.3]))
    expected = stats.ttest_1samp((value > 0.3).astype(float), 0).confidence_interval()
    assert (found.low[0, 0], found.high[0, 0]) == pytest.approx((expected.low, expected.high), rel=1e-10)


def test_draws_of_a_sample_are_one_unit():
    value = np.random.default_rng(4).normal(size=40)
    task, tau = np.repeat([0, 1], 20), np.array([-0.5, 0.0, 0.5])
    once = profile(TaskScores.build([value, -value], [task] * 2), tau)
    twice = profile(
        TaskScores.build(
            [np.repeat(value, 3), np.repeat(-value, 3)],
            [np.repeat(task, 3)] * 2,
            units=[np.repeat(np.arange(40), 3)] * 2,
        ),
        tau,
    )
    np.testing.assert_allclose(once.low, twice.low, atol=1e-12)


def test_few_values_are_all_thresholds():
    task = np.repeat([0, 1], 5)
    scores = TaskScores.build([np.arange(10.0) % 2, np.zeros(10)], [task] * 2)
    assert thresholds(scores).tolist() == [0, 1]
