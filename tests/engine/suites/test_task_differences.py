"""Pairs of models on every task, compared with SciPy's tests and manual results."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.evidence.mean_differences import MeanContrast, SuccessCounts, mean_evidence
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.variance_components import cluster_means
from riskrank.engine.suites import TaskScores, task_differences


def test_binary_scores_use_the_test_of_two_rates():
    rng = np.random.default_rng(0)
    task = np.repeat([0, 1, 2], [12, 40, 200])
    values = [(rng.random(task.size) < share).astype(float) for share in (0.5, 0.7, 0.95)]
    result = task_differences(TaskScores.build(values, [task] * 3))
    for t in range(3):
        for i, j in [(0, 1), (0, 2), (1, 2)]:
            gap = (values[i] - values[j])[task == t]
            wins, losses = int((gap > 0).sum()), int((gap < 0).sum())
            expected = SuccessCounts(wins, losses, (gap.size, gap.size), True).two_sided_p_value
            assert result.p_value[i, j, t] == pytest.approx(expected, rel=1e-10)
            assert result.p_value[j, i, t] == result.p_value[i, j, t]
            error = gap.std(ddof=1) / np.sqrt(gap.size)
            assert result.error[i, j, t] == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize("paired", [True, False])
def test_numeric_scores_use_students_t_and_the_test_of_a_gate(paired):
    values, task, _ = suite(sizes=(12, 10, 30))
    values = [np.exp(value) + shift for value, shift in zip(values, (0, 0, 9), strict=True)]
    result = task_differences(TaskScores.build(values, [task] * 3, paired=paired))
    for t in range(3):
        first, second, third = (value[task == t] for value in values)
        error, df = stats.sem(first - second), first.size - 1
        if not paired:
            error = np.hypot(stats.sem(first), stats.sem(second))
        student = 2 * stats.t.sf(abs(first.mean() - second.mean()) / error, df)
        assert result.p_value[0, 1, t] == pytest.approx(student, rel=1e-9)
        assert result.error[0, 1, t] == pytest.approx(error, rel=1e-12)
        assert result.difference[0, 1, t] == pytest.approx(first.mean() - second.mean(), abs=1e-14)
        design = ClusteredScores.build([first, second, third], paired=paired)
        evidence = mean_evidence([MeanContrast.from_scores(design, 0, 2)])
        assert result.p_value[0, 2, t] == evidence.p_value[0] < 0.01
        assert result.marks[2, 0, t] == 1


def test_family_includes_all_tasks_and_pairs():
    """Three pairs on two tasks, with a manual Holm adjustment."""
    rng = np.random.default_rng(2)
    task = np.repeat([0, 1], 40)
    values = [rng.normal(size=80) + 0.4 * model for model in range(3)]
    result = task_differences(TaskScores.build(values, [task] * 2 + [task]))
    pairs = np.triu_indices(3, 1)
    p = result.p_value[pairs].ravel()
    order = np.argsort(p)
    expected = np.empty(6)
    expected[order] = np.minimum(np.maximum.accumulate(np.sort(p) * np.arange(6, 0, -1)), 1)
    np.testing.assert_allclose(result.p_adjusted[pairs].ravel(), expected, rtol=1e-14)


def test_few_numeric_samples_are_undecided():
    task = np.repeat([0, 1], [9, 10])
    value, noise = np.random.default_rng(0).normal(size=(2, 19))
    shifted = task_differences(TaskScores.build([value + 9, value + 0.1 * noise], [task] * 2))
    assert shifted.p_value[0, 1, 0] == 1
    assert shifted.p_value[0, 1, 1] == 2 * 0.5**10


def test_marks_are_mirrored_for_the_reversed_pair():
    values, task, _ = suite(sizes=(200, 50, 300))
    values[2] = values[2] + np.where(task == 0, 1.5, -1.5)
    marks = task_differences(TaskScores.build(values, [task] * 3)).marks
    assert marks[2, 0].tolist() == [1, -1, -1]
    np.testing.assert_array_equal(marks, -marks.swapaxes(0, 1))
    assert not marks[1, 1].any()


def test_constant_differences():
    task = np.repeat([0, 1], 20)
    value = np.random.default_rng(0).normal(size=40)
    result = task_differences(TaskScores.build([value, value + 1e6, value], [task] * 3))
    assert result.p_value[0, 2].tolist() == [1, 1]
    assert result.marks[1, 0].tolist() == [1, 1]
    assert result.p_value[1, 0, 0] == pytest.approx(2 * 0.5**20)


def test_repeated_binary_scores_use_no_exact_test():
    """Two repeats of each sample are equal; McNemar's test of all repeats would count samples twice."""
    rng = np.random.default_rng(5)
    task, unit = np.repeat([0, 1], 60), np.repeat(np.arange(60), 2)
    values = [np.repeat((rng.random(60) < share).astype(float), 2) for share in (0.5, 0.8)]
    twice = task_differences(TaskScores.build(values, [task] * 2, units=[unit] * 2))
    once = TaskScores.build([value[::2] for value in values], [task[::2]] * 2)
    np.testing.assert_allclose(twice.error, task_differences(once).error, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_results_are_invariant_to_scale(scale):
    values, task, _ = suite(sizes=(20, 12))
    original = task_differences(TaskScores.build(values, [task] * 3))
    rescaled = task_differences(TaskScores.build([scale * value for value in values], [task] * 3))
    np.testing.assert_allclose(original.p_value, rescaled.p_value, rtol=1e-9)


def suite(sizes=(5, 9, 30), k=3, seed=0, draws=1):
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(len(sizes)), sizes)
    values = [rng.normal(size=task.size * draws) + 0.1 * model for model in range(k)]
    return values, np.repeat(task, draws), np.repeat(np.arange(task.size), draws)


@pytest.mark.parametrize("weights", [None, [3.0, 1.0, 0.5]])
def test_macro_means_match_numpy(weights):
    values, task, unit = suite()
    result = TaskScores.build(values, [task] * 3, units=[unit] * 3, weights=weights)
    for model, value in enumerate(values):
        task_means = [value[task == t].mean() for t in range(3)]
        assert result.macro_means[model] == pytest.approx(np.average(task_means, weights=weights), abs=1e-12)


def test_results_are_invariant_to_row_order_and_unit_ids():
    values, task, unit = suite(draws=2)
    order = np.random.default_rng(3).permutation(task.size)
    original = TaskScores.build(values, [task] * 3, units=[unit] * 3)
    shuffled = TaskScores.build(
        [value[order] for value in values], [task[order]] * 3, units=[1000 - 7 * unit[order]] * 3
    )
    np.testing.assert_allclose(original.mean, shuffled.mean, rtol=0, atol=1e-15)
    for t in range(3):
        np.testing.assert_allclose(
            original.parts(t), np.array(shuffled.parts(t))[:, ::-1], rtol=0, atol=1e-14
        )


@pytest.mark.parametrize("sizes", [(4, 4, 4, 4), (1, 2, 7, 9, 3)])
def test_parts_give_the_cluster_robust_error(sizes):
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    value = rng.normal(size=cluster.size) + rng.normal(size=len(sizes))[cluster]
    result = TaskScores.build([value, value], [np.zeros_like(cluster)] * 2, units=[cluster] * 2)
    part = result.parts(0)[0]
    assert part.sum() == pytest.approx(0, abs=1e-12)
    error = np.sqrt((part**2).sum() / (part.size * (part.size - 1)))
    assert error == pytest.approx(cluster_means(value[:, None], cluster).error[0], rel=1e-12)
    assert result.samples.tolist() == [len(sizes)]
    assert result.effective_sizes[0, 0] == pytest.approx(sum(sizes) ** 2 / np.square(sizes).sum())
