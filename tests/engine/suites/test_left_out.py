"""Every task left out, against a suite that never had it."""

import numpy as np
import pytest

from riskrank.engine.dominance.estimates import estimate
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.suites.left_out import first_by_ratio, leave_one_out
from riskrank.engine.suites.macro_means import FIXED, RANDOM, macro_differences
from riskrank.engine.suites.task_differences import task_differences
from riskrank.engine.suites.task_scores import TaskScores
from tests.engine.suites.test_task_scores import suite


def test_against_suites_without_the_task():
    values, task, _ = suite(sizes=(8, 9, 30, 12))
    weights = np.array([1.0, 2.0, 3.0, 0.5])
    scores = TaskScores.build(values, [task] * 3, weights=weights)
    for scope in (FIXED, RANDOM):
        found = leave_one_out(scores, task_differences(scores), 2, scope=scope)
        for t in range(4):
            kept = task != t
            rest = TaskScores.build(
                [value[kept] for value in values],
                [np.unique(task[kept], return_inverse=True)[1]] * 3,
                weights=np.delete(weights, t),
            )
            np.testing.assert_allclose(found.macro[t], rest.macro, rtol=0, atol=1e-12)
            ahead = macro_differences(rest, task_differences(rest), scope)
            np.testing.assert_allclose(found.p_adjusted[t], ahead.p_pairs()[2], rtol=1e-9)
            assert found.leader[t] == rest.macro.argmax()


def test_the_task_that_decides_comes_first():
    """Model 0 leads by task 1 alone, and hangs on task 2 a little."""
    task = np.repeat([0, 1, 2], 2)
    values = [
        np.array([0, 0, 9, 9, 1, 1.0]),
        np.array([1, 1, 1, 1, 0.0, 0]),
        np.array([2, 2, 3, 3, 4.5, 4.5]),
    ]
    scores = TaskScores.build(values, [task] * 3)
    found = leave_one_out(scores, task_differences(scores), 0)
    assert found.leader.tolist() == [0, 2, 0]
    assert found.changes(0) == [1]
    np.testing.assert_allclose(found.ahead[0], [0, 4.5, 1.25])


@pytest.mark.parametrize("order", [1, 2])
def test_the_first_by_ratio_is_that_of_a_suite_without_the_task(order):
    values, task, _ = suite(sizes=(8, 9, 30, 12), k=4)
    weights = np.array([1.0, 2.0, 3.0, 0.5])
    found = first_by_ratio(TaskScores.build(values, [task] * 4, weights=weights), order)
    for t in range(4):
        kept = task != t
        # Every score as often as its weight says, in whole numbers, and no weights at all.
        often = np.array([2, 4, 6, 1])[task[kept]] * 2 * 3 * 4 * 5 * 3 // np.bincount(task)[task[kept]]
        ratios = estimate(ClusteredScores.build([np.repeat(value[kept], often) for value in values])).ratios
        assert found[t] == ratios[order - 1].sum(axis=1).argmin()


def test_what_takes_too_long_is_not_asked():
    task = np.repeat(np.arange(60), 200)
    scores = TaskScores.build([np.zeros(task.size)] * 20, [task] * 20)
    assert first_by_ratio(scores, 2) is None


def test_one_task_that_weighs_is_not_left_out():
    values, task, _ = suite()
    scores = TaskScores.build(values, [task] * 3, weights=[1.0, 0.0, 0.0])
    assert leave_one_out(scores, task_differences(scores), 0) is None
