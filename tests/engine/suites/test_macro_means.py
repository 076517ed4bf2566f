"""Macro means and their differences, against SciPy's t tests."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.dominance.ranking import estimate
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.suites.macro_means import (
    FIXED,
    RANDOM,
    first_by_ratio,
    leave_one_out,
    macro_differences,
    macro_means,
    profile,
    task_number,
    thresholds,
    worst_tasks,
)
from riskrank.engine.suites.task_differences import TaskScores, task_differences
from tests.engine.suites.test_task_differences import suite


def test_two_tasks_are_welchs_two_samples():
    """The macro mean of two tasks is half the difference of one's scores and the other's negative."""
    values, task, _ = suite(sizes=(7, 40))
    scores = TaskScores.build(values, [task] * 3)
    welch = stats.ttest_ind(values[1][task == 0], -values[1][task == 1], equal_var=False)
    found = macro_means(scores)
    assert found.df[1] == pytest.approx(welch.df, rel=1e-12)
    assert 2 * found.value[1] == pytest.approx(values[1][task == 0].mean() + values[1][task == 1].mean())
    low, high = found.interval()
    expected = welch.confidence_interval()
    assert (2 * low[1], 2 * high[1]) == pytest.approx((expected.low, expected.high), rel=1e-10)
    gap = values[2] - values[0]
    paired = stats.ttest_ind(gap[task == 0], -gap[task == 1], equal_var=False, alternative="greater")
    differences = macro_differences(scores, task_differences(scores))
    assert differences.p_above()[2, 0] == pytest.approx(paired.pvalue, rel=1e-10)


def p_of_tasks(first, second):
    """The larger of Student's and Johnson's p-value of "the first is no better", written down plainly."""
    apart = first - second
    n, error = apart.size, stats.sem(apart)
    t, kappa = apart.mean() / error, ((apart - apart.mean()) ** 3).sum() / (apart.size**3 * error**3)
    held = min(t, 1.5 / -kappa) if kappa < 0 else max(t, -1.5 / kappa) if kappa else t
    return max(stats.t.sf(x, n - 1) for x in (t, held + kappa * (1 + 2 * held**2) / 6))


def test_tasks_like_these_are_a_t_test_of_task_means():
    values, task, _ = suite(sizes=(5, 9, 30, 12, 8, 20, 6))
    scores = TaskScores.build(values, [task] * 3)
    mean = np.array([[value[task == t].mean() for t in range(7)] for value in values])
    found = macro_differences(scores, task_differences(scores), RANDOM)
    for i, j in [(0, 1), (2, 0), (2, 1)]:
        assert found.p_above()[i, j] == pytest.approx(p_of_tasks(mean[i], mean[j]), rel=1e-10)
        low, _ = found.interval(0.1)
        assert (low[i, j] > 0) == (p_of_tasks(mean[i], mean[j]) < 0.05)
        assert found.df[i, j] == pytest.approx(6)
    expected = stats.ttest_1samp(mean[0], 0).confidence_interval()
    low, high = macro_means(scores, RANDOM).interval()
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), rel=1e-10)


def test_a_weight_of_two_tasks_is_worth_two_tasks():
    """Kish's number, and a variance that copies of a task with half its weight do not change."""
    assert task_number(np.array([0.5, 0.25, 0.25])) == pytest.approx(1 / 0.375)
    assert task_number(np.full(6, 1 / 6)) == pytest.approx(6)


def test_adjusted_over_all_pairs():
    values, task, _ = suite(sizes=(30, 30))
    scores = TaskScores.build([value + model for model, value in enumerate(values)], [task] * 3)
    found = macro_differences(scores, task_differences(scores))
    p, adjusted = found.p_above(), found.p_pairs()
    off = ~np.eye(3, dtype=bool)
    assert adjusted[off].min() == pytest.approx(6 * p[off].min())
    assert (np.diag(adjusted) == 1).all()


def test_without_any_spread():
    task = np.repeat([0, 1], 10)
    scores = TaskScores.build([np.ones(20), np.zeros(20)], [task] * 2)
    found = macro_differences(scores, task_differences(scores))
    assert found.error[0, 1] == 0
    assert found.p_above()[0, 1] < 1e-4 < 1 == found.p_above()[1, 0]
    rnd = macro_differences(scores, task_differences(scores), RANDOM)
    assert rnd.p_above()[0, 1] == pytest.approx(0.25)


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [5, 12])
def test_levels_of_both_scopes(tasks):
    """Identical models on tasks that differ between them: only tasks like these knows (method §8)."""
    rng = np.random.default_rng(8)
    task, tables = np.repeat(np.arange(tasks), 30), 150
    found = dict.fromkeys(("fixed", RANDOM), 0)
    for _ in range(tables):
        values = [rng.normal(size=task.size) + rng.normal(scale=0.3, size=tasks)[task] for _ in range(2)]
        scores = TaskScores.build(values, [task] * 2)
        for scope in found:
            p = macro_differences(scores, task_differences(scores), scope).p_pairs()
            found[scope] += p.min() <= 0.05
    assert found[RANDOM] / tables <= 0.08
    assert found["fixed"] / tables >= 0.25


@pytest.mark.parametrize("scale", [1e-300, 1e-10, 1e250])
def test_any_unit_gives_the_same_answer(scale):
    values, task, _ = suite(sizes=(20, 12, 30, 15, 10, 11))
    one, other = (TaskScores.build([unit * value for value in values], [task] * 3) for unit in (1, scale))
    for scope in ("fixed", RANDOM):
        means, others = macro_means(one, scope), macro_means(other, scope)
        np.testing.assert_allclose(scale * means.error, others.error, rtol=1e-10)
        np.testing.assert_allclose(means.df, others.df, rtol=1e-10)
        p = [macro_differences(found, task_differences(found), scope).p_pairs() for found in (one, other)]
        np.testing.assert_allclose(*p, rtol=1e-8)


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
            np.testing.assert_allclose(found.ahead[t], rest.macro[2] - rest.macro, rtol=0, atol=1e-12)
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


def test_runs_by_tasks_are_rliables_profile():
    """Scores of 10 runs on 26 tasks: rliable's share of scores above τ is mean(scores > τ) of the matrix."""
    rng = np.random.default_rng(0)
    runs = [rng.lognormal(size=(10, 26)), rng.lognormal(0.3, 1.2, size=(10, 26))]
    tau = np.linspace(0, 8, 81)
    task = np.tile(np.arange(26), 10)
    found = profile(TaskScores.build([one.ravel() for one in runs], [task] * 2), tau)
    expected = [[np.mean(one > level) for level in tau] for one in runs]
    np.testing.assert_allclose(found.share, expected, rtol=0, atol=1e-12)


def test_unequal_tasks_weigh_as_asked(monkeypatch):
    values, task, _ = suite()
    scores = TaskScores.build(values, [task] * 3, weights=[1.0, 2.0, 5.0])
    monkeypatch.setattr("riskrank.engine.suites.macro_means.MOST", 17)
    tau = thresholds(scores)
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
