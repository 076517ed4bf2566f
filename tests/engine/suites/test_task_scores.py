"""Means by task and what units add to them, against NumPy and the variance of a ratio of sums."""

import numpy as np
import pytest

from riskrank.engine.sampling.cluster_means import cluster_means
from riskrank.engine.suites.task_scores import TaskScores


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
