"""Pairs of models on every task, against SciPy's tests and by hand."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.evidence.student import mean_difference
from riskrank.engine.sampling.cluster_means import cluster_means
from riskrank.engine.suites.task_differences import TaskScores, task_differences


def test_shares_are_tested_by_mcnemars_exact_test():
    rng = np.random.default_rng(0)
    task = np.repeat([0, 1, 2], [12, 40, 200])
    values = [(rng.random(task.size) < share).astype(float) for share in (0.5, 0.7, 0.95)]
    found = task_differences(TaskScores.build(values, [task] * 3))
    for t in range(3):
        for i, j in [(0, 1), (0, 2), (1, 2)]:
            gap = (values[i] - values[j])[task == t]
            wins, losses = int((gap > 0).sum()), int((gap < 0).sum())
            expected = stats.binomtest(wins, wins + losses).pvalue
            assert found.p_value[i, j, t] == pytest.approx(expected, rel=1e-10)
            assert found.p_value[j, i, t] == found.p_value[i, j, t]
            error = gap.std(ddof=1) / np.sqrt(gap.size)
            assert found.error[i, j, t] == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize("paired", [True, False])
def test_other_scores_are_tested_by_the_larger_of_students_and_johnsons_p_value(paired):
    values, task, _ = suite(sizes=(12, 10, 30))
    values = [np.exp(value) for value in values]
    found = task_differences(TaskScores.build(values, [task] * 3, paired=paired))
    for t in range(3):
        here = task == t
        n, (one, other) = here.sum(), (values[0][here], values[2][here])
        unit = np.arange(n)
        told = mean_difference((one, unit), (other, unit), paired=paired)
        johnson = [told.johnson_p_value(), told.mirrored().johnson_p_value()]
        ways = ("greater", "less")
        student = [
            stats.ttest_rel(one, other, alternative=way).pvalue
            if paired
            else stats.t.sf(sign * told.estimate / told.error, n - 1)
            for way, sign in zip(ways, (1, -1), strict=True)
        ]
        larger = [max(both) for both in zip(student, johnson, strict=True)]
        assert found.p_value[0, 2, t] == pytest.approx(min(1, 2 * min(larger)), rel=1e-9)
        assert found.error[0, 2, t] == pytest.approx(told.error, rel=1e-12)
        assert found.difference[0, 2, t] == pytest.approx(one.mean() - other.mean(), abs=1e-14)


def test_the_family_is_all_tasks_and_pairs():
    """Three pairs on two tasks; Holm by hand."""
    rng = np.random.default_rng(2)
    task = np.repeat([0, 1], 40)
    values = [rng.normal(size=80) + 0.4 * model for model in range(3)]
    found = task_differences(TaskScores.build(values, [task] * 2 + [task]))
    pairs = np.triu_indices(3, 1)
    p = found.p_value[pairs].ravel()
    order = np.argsort(p)
    expected = np.empty(6)
    expected[order] = np.minimum(np.maximum.accumulate(np.sort(p) * np.arange(6, 0, -1)), 1)
    np.testing.assert_allclose(found.p_adjusted[pairs].ravel(), expected, rtol=1e-14)


def test_few_samples_are_left_open_unless_the_test_is_exact():
    """Nine normal scores tell nothing anybody should believe; nine coins are nine coins."""
    task = np.repeat([0, 1], [9, 10])
    value, noise = np.random.default_rng(0).normal(size=(2, 19))
    shifted = task_differences(TaskScores.build([value + 9, value + 0.1 * noise], [task] * 2))
    assert shifted.p_value[0, 1, 0] == 1
    assert shifted.p_value[0, 1, 1] < 1e-6
    coins = task_differences(TaskScores.build([np.ones(19), np.zeros(19)], [task] * 2))
    assert coins.p_value[0, 1, 0] == pytest.approx(2 * 0.5**9)


def test_marks_of_a_pair_are_turned_around_with_it():
    values, task, _ = suite(sizes=(200, 50, 300))
    values[2] = values[2] + np.where(task == 0, 1.5, -1.5)
    marks = task_differences(TaskScores.build(values, [task] * 3)).marks
    assert marks[2, 0].tolist() == [1, -1, -1]
    np.testing.assert_array_equal(marks, -marks.swapaxes(0, 1))
    assert not marks[1, 1].any()


def test_models_that_never_differ_and_models_that_always_do():
    task = np.repeat([0, 1], 20)
    value = np.random.default_rng(0).normal(size=40)
    found = task_differences(TaskScores.build([value, value + 1e6, value], [task] * 3))
    assert found.p_value[0, 2].tolist() == [1, 1]
    assert found.marks[1, 0].tolist() == [1, 1]
    assert found.p_value[1, 0, 0] == pytest.approx(2 * 0.5**20)


def test_shares_in_two_draws_a_sample_are_no_coins():
    """Two draws of a sample agree: by McNemar's test of draws the same samples would count twice."""
    rng = np.random.default_rng(5)
    task, unit = np.repeat([0, 1], 60), np.repeat(np.arange(60), 2)
    values = [np.repeat((rng.random(60) < share).astype(float), 2) for share in (0.5, 0.8)]
    twice = task_differences(TaskScores.build(values, [task] * 2, units=[unit] * 2))
    once = TaskScores.build([value[::2] for value in values], [task[::2]] * 2)
    np.testing.assert_allclose(twice.error, task_differences(once).error, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_any_unit_gives_the_same_answer(scale):
    values, task, _ = suite(sizes=(20, 12))
    one = task_differences(TaskScores.build(values, [task] * 3))
    other = task_differences(TaskScores.build([scale * value for value in values], [task] * 3))
    np.testing.assert_allclose(one.p_value, other.p_value, rtol=1e-9)


def suite(sizes=(5, 9, 30), k=3, seed=0, draws=1):
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(len(sizes)), sizes)
    values = [rng.normal(size=task.size * draws) + 0.1 * model for model in range(k)]
    return values, np.repeat(task, draws), np.repeat(np.arange(task.size), draws)


@pytest.mark.parametrize("weights", [None, [3.0, 1.0, 0.5]])
def test_macro_means_are_those_of_numpy(weights):
    values, task, unit = suite()
    found = TaskScores.build(values, [task] * 3, units=[unit] * 3, weights=weights)
    for model, value in enumerate(values):
        each = [value[task == t].mean() for t in range(3)]
        assert found.macro[model] == pytest.approx(np.average(each, weights=weights), abs=1e-12)


def test_the_order_of_rows_and_the_numbers_of_units_do_not_matter():
    values, task, unit = suite(draws=2)
    order = np.random.default_rng(3).permutation(task.size)
    one = TaskScores.build(values, [task] * 3, units=[unit] * 3)
    other = TaskScores.build(
        [value[order] for value in values], [task[order]] * 3, units=[1000 - 7 * unit[order]] * 3
    )
    np.testing.assert_allclose(one.mean, other.mean, rtol=0, atol=1e-15)
    for t in range(3):
        np.testing.assert_allclose(one.parts(t), np.array(other.parts(t))[:, ::-1], rtol=0, atol=1e-14)


@pytest.mark.parametrize("sizes", [(4, 4, 4, 4), (1, 2, 7, 9, 3)])
def test_parts_give_the_error_of_whole_clusters(sizes):
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    value = rng.normal(size=cluster.size) + rng.normal(size=len(sizes))[cluster]
    found = TaskScores.build([value, value], [np.zeros_like(cluster)] * 2, units=[cluster] * 2)
    part = found.parts(0)[0]
    assert part.sum() == pytest.approx(0, abs=1e-12)
    error = np.sqrt((part**2).sum() / (part.size * (part.size - 1)))
    assert error == pytest.approx(cluster_means(value[:, None], cluster).error[0], rel=1e-12)
    assert found.samples.tolist() == [len(sizes)]
    assert found.independent[0, 0] == pytest.approx(sum(sizes) ** 2 / np.square(sizes).sum())
