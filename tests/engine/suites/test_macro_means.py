"""Macro means and their differences, compared with SciPy's t tests."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.dominance.ranking import estimate_violation
from riskrank.engine.evidence.mean_differences import MeanContrast
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.suites import (
    FIXED,
    RANDOM,
    TaskScores,
    effective_tasks,
    leaders_by_ratio,
    leave_one_out,
    macro_differences,
    performance_profile,
    profile_thresholds,
    task_differences,
    worst_tasks,
)
from tests.engine.suites.test_task_differences import suite


def test_two_tasks_match_welchs_test():
    """The macro mean of two tasks is half the difference of the first scores and the negated second ones."""
    values, task, _ = suite(sizes=(7, 40))
    scores = TaskScores.build(values, [task] * 3)
    welch = stats.ttest_ind(values[1][task == 0], -values[1][task == 1], equal_var=False)
    result = MeanContrast.from_mean(scores.clustered(), 1)
    error, df = result.error_and_df
    assert df == pytest.approx(welch.df, rel=1e-12)
    assert 2 * result.estimate == pytest.approx(values[1][task == 0].mean() + values[1][task == 1].mean())
    assert result.estimate / error == pytest.approx(welch.statistic, rel=1e-10)
    gap = values[2] - values[0]
    paired = stats.ttest_ind(gap[task == 0], -gap[task == 1], equal_var=False, alternative="greater")
    differences = macro_differences(scores, task_differences(scores))
    assert differences.p_above()[2, 0] == pytest.approx(paired.pvalue, rel=1e-10)


def task_p_value(first, second):
    """Return the larger of Student's and Johnson's p-values for "the first model is not better"."""
    differences = first - second
    n, error = differences.size, stats.sem(differences)
    t, kappa = (
        differences.mean() / error,
        ((differences - differences.mean()) ** 3).sum() / (differences.size**3 * error**3),
    )
    clipped = min(t, 1.5 / -kappa) if kappa < 0 else max(t, -1.5 / kappa) if kappa else t
    return max(stats.t.sf(x, n - 1) for x in (t, clipped + kappa * (1 + 2 * clipped**2) / 6))


def test_random_tasks_match_a_t_test_of_task_means():
    values, task, _ = suite(sizes=(5, 9, 30, 12, 8, 20, 6))
    scores = TaskScores.build(values, [task] * 3)
    mean = np.array([[value[task == t].mean() for t in range(7)] for value in values])
    result = macro_differences(scores, task_differences(scores), RANDOM)
    for i, j in [(0, 1), (2, 0), (2, 1)]:
        assert result.p_above()[i, j] == pytest.approx(task_p_value(mean[i], mean[j]), rel=1e-10)
        low, _ = result.interval(0.1)
        assert (low[i, j] > 0) == (task_p_value(mean[i], mean[j]) < 0.05)
        assert result.df[i, j] == pytest.approx(6)
    contrast = MeanContrast.from_mean(scores.clustered(random=True), 0)
    assert contrast.error_and_df == pytest.approx((stats.sem(mean[0]), 6), rel=1e-10)


def test_effective_tasks_match_kish_and_copies():
    """Compare with Kish's formula; splitting a task into copies with half the weight changes no variance."""
    assert effective_tasks(np.array([0.5, 0.25, 0.25])) == pytest.approx(1 / 0.375)
    assert effective_tasks(np.full(6, 1 / 6)) == pytest.approx(6)


def test_p_values_are_adjusted_over_all_pairs():
    values, task, _ = suite(sizes=(30, 30))
    scores = TaskScores.build([value + model for model, value in enumerate(values)], [task] * 3)
    result = macro_differences(scores, task_differences(scores))
    p, adjusted = result.p_above(), result.pair_p_values()
    off_diagonal = ~np.eye(3, dtype=bool)
    assert adjusted[off_diagonal].min() == pytest.approx(6 * p[off_diagonal].min())
    assert (np.diag(adjusted) == 1).all()


def test_scores_without_variance():
    task = np.repeat([0, 1], 10)
    scores = TaskScores.build([np.ones(20), np.zeros(20)], [task] * 2)
    result = macro_differences(scores, task_differences(scores))
    assert result.error[0, 1] == 0
    assert result.p_above()[0, 1] < 1e-4 < 1 == result.p_above()[1, 0]
    rnd = macro_differences(scores, task_differences(scores), RANDOM)
    assert rnd.p_above()[0, 1] == pytest.approx(0.25)


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [5, 12])
def test_type_i_error_of_both_scopes(tasks):
    """For identical models with random task effects, only the random scope keeps the level (method §8)."""
    rng = np.random.default_rng(8)
    task, tables = np.repeat(np.arange(tasks), 30), 150
    result = dict.fromkeys(("fixed", RANDOM), 0)
    for _ in range(tables):
        values = [rng.normal(size=task.size) + rng.normal(scale=0.3, size=tasks)[task] for _ in range(2)]
        scores = TaskScores.build(values, [task] * 2)
        for scope in result:
            p = macro_differences(scores, task_differences(scores), scope).pair_p_values()
            result[scope] += p.min() <= 0.05
    assert result[RANDOM] / tables <= 0.08
    assert result["fixed"] / tables >= 0.25


@pytest.mark.parametrize("scale", [1e-300, 1e-10, 1e250])
def test_results_are_invariant_to_scale(scale):
    values, task, _ = suite(sizes=(20, 12, 30, 15, 10, 11))
    first, second = (TaskScores.build([unit * value for value in values], [task] * 3) for unit in (1, scale))
    for scope in ("fixed", RANDOM):
        designs = (table.clustered(random=scope == RANDOM) for table in (first, second))
        (error, df), rescaled = (MeanContrast.from_mean(design, 0).error_and_df for design in designs)
        assert rescaled == pytest.approx((scale * error, df), rel=1e-10)
        p = [
            macro_differences(table, task_differences(table), scope).pair_p_values()
            for table in (first, second)
        ]
        np.testing.assert_allclose(*p, rtol=1e-8)


def test_worst_tenth_is_never_empty():
    mean = np.array([0.5, 0.1, 0.9, 0.2])
    assert worst_tasks(mean, np.full(4, 0.25)).tasks == (1,)
    many = np.arange(25.0)[::-1]
    result = worst_tasks(many, np.full(25, 0.04))
    assert (result.tasks, result.mean) == ((24, 23), 0.5)


def test_worst_tasks_respect_weights():
    many = np.arange(20.0)
    weights = np.ones(20)
    weights[0], weights[1] = 0.0, 3.0
    result = worst_tasks(np.append(many, 30.0), np.append(weights, 1.0) / 23)
    assert result.tasks == (1, 2)
    assert result.mean == pytest.approx((3 * 1 + 2) / 4)


def test_leave_one_out_matches_smaller_suites():
    values, task, _ = suite(sizes=(8, 9, 30, 12))
    weights = np.array([1.0, 2.0, 3.0, 0.5])
    scores = TaskScores.build(values, [task] * 3, weights=weights)
    for scope in (FIXED, RANDOM):
        result = leave_one_out(scores, task_differences(scores), 2, scope=scope)
        for t in range(4):
            selected = task != t
            remaining = TaskScores.build(
                [value[selected] for value in values],
                [np.unique(task[selected], return_inverse=True)[1]] * 3,
                weights=np.delete(weights, t),
            )
            np.testing.assert_allclose(
                result.leads[t], remaining.macro_means[2] - remaining.macro_means, rtol=0, atol=1e-12
            )
            ahead = macro_differences(remaining, task_differences(remaining), scope)
            np.testing.assert_allclose(result.p_adjusted[t], ahead.pair_p_values()[2], rtol=1e-9)
            assert result.leader[t] == remaining.macro_means.argmax()


def test_most_influential_task_comes_first():
    """Model 0 leads because of task 1, and slightly because of task 2."""
    task = np.repeat([0, 1, 2], 2)
    values = [
        np.array([0, 0, 9, 9, 1, 1.0]),
        np.array([1, 1, 1, 1, 0.0, 0]),
        np.array([2, 2, 3, 3, 4.5, 4.5]),
    ]
    scores = TaskScores.build(values, [task] * 3)
    result = leave_one_out(scores, task_differences(scores), 0)
    assert result.leader.tolist() == [0, 2, 0]
    assert result.decisive_tasks(0) == [1]
    np.testing.assert_allclose(result.leads[0], [0, 4.5, 1.25])


@pytest.mark.parametrize("order", [1, 2])
def test_leader_by_ratio_matches_smaller_suites(order):
    values, task, _ = suite(sizes=(8, 9, 30, 12), k=4)
    weights = np.array([1.0, 2.0, 3.0, 0.5])
    result = leaders_by_ratio(TaskScores.build(values, [task] * 4, weights=weights), order)
    for t in range(4):
        selected = task != t
        # Every score as often as its weight says, in whole numbers, and no weights at all.
        repeats = (
            np.array([2, 4, 6, 1])[task[selected]] * 2 * 3 * 4 * 5 * 3 // np.bincount(task)[task[selected]]
        )
        ratios = estimate_violation(
            ClusteredScores.build([np.repeat(value[selected], repeats) for value in values])
        ).ratios
        assert result[t] == ratios[order - 1].sum(axis=1).argmin()


def test_slow_ratio_search_is_skipped():
    task = np.repeat(np.arange(60), 200)
    scores = TaskScores.build([np.zeros(task.size)] * 20, [task] * 20)
    assert leaders_by_ratio(scores, 2) is None


def test_task_with_all_the_weight_is_not_excluded():
    values, task, _ = suite()
    scores = TaskScores.build(values, [task] * 3, weights=[1.0, 0.0, 0.0])
    assert leave_one_out(scores, task_differences(scores), 0) is None


def test_profile_matches_rliable():
    """Scores are 10 runs on 26 tasks; rliable's profile is mean(scores > τ) of the matrix."""
    rng = np.random.default_rng(0)
    runs = [rng.lognormal(size=(10, 26)), rng.lognormal(0.3, 1.2, size=(10, 26))]
    tau = np.linspace(0, 8, 81)
    task = np.tile(np.arange(26), 10)
    result = performance_profile(
        TaskScores.build([model_runs.ravel() for model_runs in runs], [task] * 2), tau
    )
    expected = [[np.mean(model_runs > level) for level in tau] for model_runs in runs]
    np.testing.assert_allclose(result.share, expected, rtol=0, atol=1e-12)


def test_unequal_task_weights_are_respected(monkeypatch):
    values, task, _ = suite()
    scores = TaskScores.build(values, [task] * 3, weights=[1.0, 2.0, 5.0])
    monkeypatch.setattr("riskrank.engine.suites.MAX_THRESHOLDS", 17)
    tau = profile_thresholds(scores)
    result = performance_profile(scores, tau)
    task_shares = np.array(
        [[(value[task == t, None] > tau).mean(axis=0) for t in range(3)] for value in values]
    )
    np.testing.assert_allclose(result.share, np.average(task_shares, axis=1, weights=[1, 2, 5]), atol=1e-12)
    assert result.share[:, -1].tolist() == [0, 0, 0]
    assert (np.diff(result.share) <= 1e-15).all()
    assert ((result.low <= result.share) & (result.share <= result.high)).all()


def test_band_of_a_single_task_is_students_t():
    value = np.random.default_rng(4).normal(size=40)
    scores = TaskScores.build([value, -value], [np.zeros(40, dtype=int)] * 2)
    result = performance_profile(scores, np.array([0.3]))
    expected = stats.ttest_1samp((value > 0.3).astype(float), 0).confidence_interval()
    assert (result.low[0, 0], result.high[0, 0]) == pytest.approx((expected.low, expected.high), rel=1e-10)


def test_repeats_of_a_sample_count_as_a_unit():
    value = np.random.default_rng(4).normal(size=40)
    task, tau = np.repeat([0, 1], 20), np.array([-0.5, 0.0, 0.5])
    once = performance_profile(TaskScores.build([value, -value], [task] * 2), tau)
    twice = performance_profile(
        TaskScores.build(
            [np.repeat(value, 3), np.repeat(-value, 3)],
            [np.repeat(task, 3)] * 2,
            units=[np.repeat(np.arange(40), 3)] * 2,
        ),
        tau,
    )
    np.testing.assert_allclose(once.low, twice.low, atol=1e-12)


def test_all_of_few_values_are_thresholds():
    task = np.repeat([0, 1], 5)
    scores = TaskScores.build([np.arange(10.0) % 2, np.zeros(10)], [task] * 2)
    assert profile_thresholds(scores).tolist() == [0, 1]
