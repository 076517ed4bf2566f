"""Weighted means over tasks, their standard errors and contrasts against formulas written plainly."""

import numpy as np
import pytest
from scipy.special import stdtr
from scipy.stats import ttest_1samp

from riskrank.engine.dominance.contrasts import contrasts
from riskrank.engine.family import Family
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.cluster_means import cluster_means
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.sampling.task_parts import TaskParts, task_column_means

sizes, weights = np.array([5, 12, 40]), np.array([0.5, 0.3, 0.2])
task_of = np.repeat(np.arange(3), sizes)


def design(k=1, **rest):
    return TaskDesign.build("abc", [task_of] * k, weights=weights, **rest)


def test_means_and_errors_against_their_formulas():
    values = np.random.default_rng(0).normal(size=(task_of.size, 2))
    order = np.random.default_rng(1).permutation(task_of.size)
    tasks = TaskDesign.build("abc", [task_of[order]], weights=weights)
    found = task_column_means(values[order], np.arange(task_of.size), tasks, 0)
    by_task = [values[task_of == task] for task in range(3)]
    assert found.mean == pytest.approx(weights @ [own.mean(axis=0) for own in by_task], abs=1e-12)
    variance = sum(w**2 * own.var(axis=0, ddof=1) / len(own) for w, own in zip(weights, by_task, strict=True))
    assert found.error == pytest.approx(np.sqrt(variance))


def test_one_weight_for_all_is_the_plain_mean():
    values = np.random.default_rng(0).normal(size=(60, 1)) * 1e200
    tasks = TaskDesign.build("ab", [np.repeat([0, 1], 30)])
    clusters = np.repeat(np.arange(20), 3)
    assert task_column_means(values, clusters, tasks, 0).mean == pytest.approx(
        cluster_means(values, clusters).mean
    )
    one = TaskDesign.build("a", [np.zeros(60, dtype=int)])
    found, plain = task_column_means(values, clusters, one, 0), cluster_means(values, clusters)
    assert found.error == pytest.approx(plain.error)


def test_a_task_of_one_unit_has_no_error():
    tasks = TaskDesign.build("ab", [np.array([0, 1, 1])])
    assert np.isnan(task_column_means(np.ones((3, 1)), np.arange(3), tasks, 0).error).all()


def test_parts_sum_to_nothing_and_shares_to_the_mean():
    values = np.random.default_rng(2).normal(size=(task_of.size, 2))
    for random in (False, True):
        found = TaskParts.of(values, np.arange(task_of.size) // 2, design(random=random), 0)
        assert found.parts.sum(axis=0) == pytest.approx(0, abs=1e-12)
        assert found.shares.sum(axis=0) == pytest.approx(found.mean)


def tables(values, **rest):
    return ScoreTables.build(
        [*values], [np.arange(task_of.size)] * len(values), ["one", "two"], tasks=design(len(values), **rest)
    )


def test_contrasts_of_a_suite():
    shift = np.array([[[0.8, 0.0]], [[0.0, 0.0]], [[0.3, 0.1]]])
    values = np.random.default_rng(3).normal(shift, size=(3, task_of.size, 2))
    found = contrasts(tables(values), 1, Family(correction="none"))
    for i in (0, 2):
        away = values[i] - values[1]
        by_task = [away[task_of == task] for task in range(3)]
        parts = np.array(
            [w**2 * own.var(axis=0, ddof=1) / len(own) for w, own in zip(weights, by_task, strict=True)]
        )
        assert found.difference[i] == pytest.approx(weights @ [own.mean(axis=0) for own in by_task])
        assert found.error[i] == pytest.approx(np.sqrt(parts.sum(axis=0)))
        df = parts.sum(axis=0) ** 2 / (parts**2 / (sizes - 1)[:, None]).sum(axis=0)
        student = stdtr(df, -found.difference[i] / found.error[i])
        # The larger of Student's and Johnson's.
        assert (found.answers.p_adjusted[i] >= student - 1e-12).all()
        assert found.answers.p_adjusted[i] == pytest.approx(student, abs=0.05)


def test_contrasts_of_drawn_tasks_are_tests_of_their_means():
    rng = np.random.default_rng(4)
    of = np.repeat(np.arange(8), 6)
    values = rng.normal(np.array([[[0.4]], [[0.0]]]), size=(2, 48, 1))
    suite = TaskDesign.build("abcdefgh", [of] * 2, random=True)
    found = contrasts(
        ScoreTables.build([*values], [np.arange(48)] * 2, ["one"], tasks=suite), 1, Family(correction="none")
    )
    means = np.array([(values[0] - values[1])[of == task].mean() for task in range(8)])
    student = ttest_1samp(means, 0.0, alternative="greater")
    assert found.difference[0, 0] == pytest.approx(means.mean())
    assert found.error[0, 0] == pytest.approx(means.std(ddof=1) / np.sqrt(8))
    assert found.answers.p_adjusted[0, 0] >= student.pvalue - 1e-12
    assert found.answers.p_adjusted[0, 0] == pytest.approx(student.pvalue, abs=0.02)
