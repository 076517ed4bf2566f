"""Suites of tasks: weights of scores, resampling within tasks, and refusals."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import stdtr
from scipy.stats import ttest_1samp

from riskrank.engine.dominance.bootstrap import Bootstrap, BootstrapColumn
from riskrank.engine.dominance.contrasts import contrasts
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.ranking import estimate_violation
from riskrank.engine.dominance.violation import ViolationKernel
from riskrank.engine.evidence.mean_differences import task_column_means
from riskrank.engine.family import Family
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.design import ClusteredScores, require_testable
from riskrank.engine.sampling.processes import Workers
from riskrank.engine.sampling.resamples import draw_resamples, make_blocks
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.sampling.variance_components import cluster_means, mean_intervals, proportion_intervals
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.errors import InputError


def suite(sizes, *, k=3, weights=None, random=False, seed=0, draws=1, decimals=None, paired=True):
    """Return scores of k models on tasks of the given sizes, in random order."""
    rng = np.random.default_rng(seed)
    tasks = np.repeat(np.arange(len(sizes)), np.multiply(sizes, draws))
    samples = np.repeat(np.arange(sum(sizes)), draws)
    order = rng.permutation(tasks.size)
    values = rng.normal(size=(k, tasks.size)) + 0.1 * tasks + 0.2 * np.arange(k)[:, None]
    if decimals is not None:
        values = np.round(values, decimals)
    names = [f"task {number}" for number in range(len(sizes))]
    design = TaskDesign.build(names, [tasks[order]] * k, weights=weights, random=random)
    scores = ClusteredScores.build([*values[:, order]], [samples[order]] * k, tasks=design, paired=paired)
    return scores, values, tasks


def test_scores_share_the_weight_of_their_task():
    scores, values, tasks = suite([5, 20, 3], weights=[1, 1, 2])
    assert not scores.unweighted
    assert [weights.sum() for weights in scores.weights] == pytest.approx([1, 1, 1])
    by_task = np.array([[weights[tasks == task].mean() for task in range(3)] for weights in values])
    macro = by_task @ [0.25, 0.25, 0.5]
    assert estimate_violation(scores).means == pytest.approx(macro, abs=1e-12)
    by_hand = [float(np.dot(*both)) for both in zip(scores.values, scores.weights, strict=True)]
    assert by_hand == pytest.approx(macro, abs=1e-12)


def test_tasks_of_equal_size_are_weighted_as_pooled_scores():
    scores, _, _ = suite([8, 8, 8])
    assert scores.unweighted
    assert scores.strata.has_several_tasks
    assert suite([8, 8, 8], weights=[1, 1, 2])[0].unweighted is False
    assert suite([4, 8], weights=[1, 2])[0].unweighted


def test_single_task_is_no_suite():
    assert suite([12])[0].strata.has_several_tasks is False


def test_tasks_are_resampled_at_their_size():
    scores, _, _ = suite([5, 20, 3])
    picks = draw_resamples(scores, np.random.default_rng(0), 200)
    assert len(picks) == 1
    cluster_tasks = scores.strata.cluster_tasks[0]
    sampled = cluster_tasks[picks[0]]
    assert np.array_equal(sampled, np.broadcast_to(cluster_tasks, sampled.shape))
    assert set(picks[0].ravel().tolist()) == set(range(28))
    unpaired = draw_resamples(suite([5, 20, 3], paired=False)[0], np.random.default_rng(0), 20)
    assert len(unpaired) == 3
    assert not np.array_equal(unpaired[0], unpaired[1])


@pytest.mark.parametrize("draws", [1, 3])
def test_replicates_of_means_and_tails_match_plain_loops(draws):
    scores, _, _ = suite([6, 30, 12], draws=draws, decimals=1)
    bootstrap = Bootstrap([BootstrapColumn(scores)], seed=5)
    result = bootstrap.extend({0: 30})[0]
    row = 0
    for block in make_blocks(30, 5):
        (picks,) = draw_resamples(scores, block.generator(), block.count)
        for chosen in picks:
            for model, (value, cluster) in enumerate(zip(scores.values, scores.clusters, strict=True)):
                rows = np.concatenate([np.flatnonzero(cluster == unit) for unit in chosen])
                task = scores.strata.cluster_tasks[model][cluster[rows]]
                weight = (1 / 3) / np.bincount(task)[task]
                order = np.argsort(value[rows], kind="stable")
                cumulated = np.cumsum(weight[order])
                inside = np.clip(result.tail_level - (cumulated - weight[order]), 0, weight[order])
                assert result.means[row, model] == pytest.approx(weight @ value[rows], abs=1e-12)
                tail = inside @ value[rows][order] / result.tail_level
                assert result.tails[row, model] == pytest.approx(tail, abs=1e-12)
            row += 1
    assert row == 30


def test_resamples_are_the_same_for_any_number_of_processes(monkeypatch):
    scores, _, _ = suite([6, 30, 12])
    both = []
    monkeypatch.setattr("riskrank.engine.dominance.bootstrap._PROCESS_THRESHOLD", 0)
    for jobs in (1, 2):
        with Workers(jobs) as workers:
            bootstrap = Bootstrap([BootstrapColumn(scores)], seed=5, workers=workers)
            both.append(bootstrap.extend({0: 100})[0])
    assert np.array_equal(both[0].means, both[1].means)
    assert np.array_equal(both[0].overall, both[1].overall)


def test_equal_weights_match_the_weighted_design():
    scores, _, _ = suite([16, 16, 16], decimals=1)
    bootstrap = Bootstrap([BootstrapColumn(scores)], seed=2)
    plain = bootstrap.extend({0: 50})[0]
    design = WeightedDesign(scores)
    kernel = ViolationKernel.for_models(3)
    parts = design.batches(make_blocks(50, 2), size=25)
    ratios = [kernel.ratios_of_steps(design.values, part, 48) for part in parts]
    overall = ((np.concatenate(ratios, axis=-1).sum(axis=2) - 0.5) / 2).transpose(2, 0, 1)
    assert overall == pytest.approx(plain.overall, abs=1e-12)


def test_random_tasks_are_units_with_all_their_samples():
    scores, values, tasks = suite([5, 20, 3, 4, 6, 9, 9], random=True)
    assert scores.cluster_counts == (7, 7, 7)
    assert scores.effective_sizes == pytest.approx(7)
    assert scores.unit_name == "tasks"
    design = WeightedDesign(scores)
    counts = np.array([[2, 0, 0, 1, 0, 3, 1]])
    cumulated = design.resample_weights([counts] * 3)
    widths = np.diff(cumulated[0][0], prepend=0) / cumulated[0][0][-1]
    mean = sum(count * values[0][tasks == task].mean() for task, count in enumerate(counts[0])) / 7
    assert widths @ design.values[0] == pytest.approx(mean, abs=1e-12)


def test_unequal_task_weights_reduce_the_effective_size():
    weights = np.array([3, 1, 1, 1, 1, 1])
    scores, _, _ = suite([5] * 6, random=True, weights=weights)
    assert scores.effective_sizes == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_untestable_suites_are_refused():
    with pytest.raises(InputError) as error:
        require_testable(suite([1, 20, 3])[0])
    assert "task 0" in str(error.value.found)
    with pytest.raises(InputError) as error:
        require_testable(suite([9] * 5, random=True)[0])
    assert "5 tasks" in str(error.value.found)
    require_testable(suite([9] * 6, random=True)[0])


def test_models_of_a_suite_can_be_chosen():
    scores, _, _ = suite([5, 20, 3])
    part = scores.select_models([2, 0])
    assert np.array_equal(part.values[0], scores.values[2])
    assert np.array_equal(part.weights[1], scores.weights[0])
    assert part.strata.names == scores.strata.names
    assert len(part.strata.cluster_tasks) == 2


def test_zero_weight_is_refused_for_random_tasks():
    with pytest.raises(InputError, match="positive task weights"):
        require_testable(suite([9] * 7, random=True, weights=[0, 1, 1, 1, 1, 1, 1])[0])
    require_testable(suite([9, 1, 9], weights=[1, 0, 1])[0])


def test_single_rows_have_the_textbook_error():
    values = np.random.default_rng(0).normal(3, 2, (50, 3))
    result = cluster_means(values, np.arange(50))
    assert result.mean == pytest.approx(values.mean(axis=0), rel=1e-12)
    assert result.error == pytest.approx(values.std(axis=0, ddof=1) / np.sqrt(50), rel=1e-12)


def test_duplicated_cluster_adds_no_information():
    values = np.random.default_rng(1).normal(size=(40, 2))
    once = cluster_means(values, np.arange(40))
    twice = cluster_means(np.repeat(values, 2, axis=0), np.repeat(np.arange(40), 2))
    assert twice.error == pytest.approx(once.error, rel=1e-12)


def test_unequal_clusters_match_the_plain_formula():
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 7, 30)
    clusters = np.repeat(np.arange(30), sizes)
    values = rng.normal(size=(len(clusters), 1)) + rng.normal(size=30)[clusters, None]
    mean = values.sum() / len(values)
    squares = sum(float((values[clusters == c] - mean).sum()) ** 2 for c in range(30))
    result = cluster_means(values, clusters)
    assert result.error[0] == pytest.approx(np.sqrt(30 / 29 * squares) / len(values), rel=1e-12)


def test_standard_error_matches_simulation():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(40), 5)
    tables = rng.normal(size=(2000, 40))[:, clusters] + rng.normal(size=(2000, 200))
    errors = [cluster_means(table[:, None], clusters).error[0] for table in tables[:200]]
    # Monte-Carlo error of a standard deviation of 2,000 means is 1.6 %, of the average error less.
    assert np.mean(errors) == pytest.approx(tables.mean(axis=1).std(), rel=0.08)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_means_of_huge_and_tiny_scores(factor):
    values = np.random.default_rng(4).normal(size=(20, 1))
    result, plain = cluster_means(values * factor, np.arange(20)), cluster_means(values, np.arange(20))
    assert result.mean / factor == pytest.approx(plain.mean)
    assert result.error / factor == pytest.approx(plain.error)


def test_single_cluster_has_no_error():
    assert np.isnan(cluster_means(np.ones((3, 1)), np.zeros(3, int)).error[0])


sizes, weights = np.array([5, 12, 40]), np.array([0.5, 0.3, 0.2])
task_of = np.repeat(np.arange(3), sizes)


def design(k=1, **options):
    return TaskDesign.build("abc", [task_of] * k, weights=weights, **options)


def test_means_and_errors_match_their_formulas():
    values = np.random.default_rng(0).normal(size=(task_of.size, 2))
    order = np.random.default_rng(1).permutation(task_of.size)
    tasks = TaskDesign.build("abc", [task_of[order]], weights=weights)
    result = task_column_means(values[order], np.arange(task_of.size), tasks, 0)
    by_task = [values[task_of == task] for task in range(3)]
    assert result.mean == pytest.approx(weights @ [part.mean(axis=0) for part in by_task], abs=1e-12)
    variance = sum(
        w**2 * part.var(axis=0, ddof=1) / len(part) for w, part in zip(weights, by_task, strict=True)
    )
    assert result.error == pytest.approx(np.sqrt(variance))


def test_equal_weights_give_the_plain_mean():
    values = np.random.default_rng(0).normal(size=(60, 1)) * 1e200
    tasks = TaskDesign.build("ab", [np.repeat([0, 1], 30)])
    clusters = np.repeat(np.arange(20), 3)
    assert task_column_means(values, clusters, tasks, 0).mean == pytest.approx(
        cluster_means(values, clusters).mean
    )
    single = TaskDesign.build("a", [np.zeros(60, dtype=int)])
    result, plain = task_column_means(values, clusters, single, 0), cluster_means(values, clusters)
    assert result.error == pytest.approx(plain.error)


def test_task_of_a_single_unit_has_no_error():
    tasks = TaskDesign.build("ab", [np.array([0, 1, 1])])
    assert np.isnan(task_column_means(np.ones((3, 1)), np.arange(3), tasks, 0).error).all()


def tables(values, **options):
    return ScoreTables.from_arrays(
        [*values],
        [np.arange(task_of.size)] * len(values),
        ["one", "two"],
        tasks=design(len(values), **options),
    )


def test_contrasts_of_a_suite():
    shift = np.array([[[0.8, 0.0]], [[0.0, 0.0]], [[0.3, 0.1]]])
    values = np.random.default_rng(3).normal(shift, size=(3, task_of.size, 2))
    result = contrasts(tables(values), 1, Inference(family=Family(correction="none")))
    for i in (0, 2):
        differences = values[i] - values[1]
        by_task = [differences[task_of == task] for task in range(3)]
        parts = np.array(
            [w**2 * part.var(axis=0, ddof=1) / len(part) for w, part in zip(weights, by_task, strict=True)]
        )
        assert result.difference[i] == pytest.approx(weights @ [part.mean(axis=0) for part in by_task])
        assert result.error[i] == pytest.approx(np.sqrt(parts.sum(axis=0)))
        df = parts.sum(axis=0) ** 2 / (parts**2 / (sizes - 1)[:, None]).sum(axis=0)
        student = 2 * stdtr(df, -np.abs(result.difference[i]) / result.error[i])
        assert (result.answers.p_adjusted[i] >= student - 1e-12).all()
        assert result.answers.p_adjusted[i] == pytest.approx(student, abs=0.1)


def test_contrasts_of_random_tasks_test_their_means():
    rng = np.random.default_rng(4)
    task_of = np.repeat(np.arange(8), 6)
    values = rng.normal(np.array([[[0.4]], [[0.0]]]), size=(2, 48, 1))
    suite = TaskDesign.build("abcdefgh", [task_of] * 2, random=True)
    result = contrasts(
        ScoreTables.from_arrays([*values], [np.arange(48)] * 2, ["one"], tasks=suite),
        1,
        Inference(family=Family(correction="none")),
    )
    means = np.array([(values[0] - values[1])[task_of == task].mean() for task in range(8)])
    student = ttest_1samp(means, 0.0)
    assert result.difference[0, 0] == pytest.approx(means.mean())
    assert result.error[0, 0] == pytest.approx(means.std(ddof=1) / np.sqrt(8))
    assert result.answers.p_adjusted[0, 0] >= student.pvalue - 1e-12
    assert result.answers.p_adjusted[0, 0] == pytest.approx(student.pvalue, abs=0.04)


def test_mean_interval_matches_students_t():
    scores = np.random.default_rng(0).normal(3, 2, size=(4, 17))
    error = scores.std(axis=1, ddof=1) / np.sqrt(17)
    result = mean_intervals(scores.mean(axis=1), error, np.full(4, 16.0))
    for model, (low, high) in enumerate(zip(*result, strict=True)):
        expected = stats.ttest_1samp(scores[model], 0).confidence_interval(0.95)
        assert (low, high) == pytest.approx(tuple(expected))


@pytest.mark.parametrize("right", [0, 1, 700, 1999, 2000])
def test_share_interval_matches_wilson(right):
    """With many samples, Student's t is within a thousandth of the normal distribution."""
    n = 2000
    share = np.array([right / n])
    error = np.sqrt(share * (1 - share) / (n - 1))
    low, high = proportion_intervals(share, error, np.array([n - 1.0]))
    expected = stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert (low[0], high[0]) == pytest.approx(tuple(expected), rel=3e-3, abs=3e-6)
    assert low[0] <= share[0] <= high[0]


def test_clusters_widen_the_interval_of_a_share():
    """Doubling the standard error corresponds to a quarter of the samples."""
    share, freedom = np.array([0.3]), np.array([1e9])
    low, high = proportion_intervals(share, 2 * np.sqrt(share * 0.7 / 400), freedom)
    expected = stats.binomtest(30, 100).proportion_ci(0.95, method="wilson")
    assert (low[0], high[0]) == pytest.approx(tuple(expected), rel=1e-6)


def test_single_cluster_has_no_interval():
    for intervals in (mean_intervals, proportion_intervals):
        low, high = intervals(np.array([0.5]), np.array([np.nan]), np.array([0.0]))
        assert np.isnan([low, high]).all()
