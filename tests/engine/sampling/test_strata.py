"""Suites of tasks: weights of scores, draws within tasks, and what is refused."""

import numpy as np
import pytest

from riskrank.engine.dominance.bootstrap import Bootstrap
from riskrank.engine.dominance.estimates import estimate
from riskrank.engine.dominance.replicates import BootstrapColumn
from riskrank.engine.dominance.violation import ViolationKernel
from riskrank.engine.sampling.design import ClusteredScores, require_testable
from riskrank.engine.sampling.resamples import blocks, chosen_many
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.errors import InputError


def suite(sizes, *, k=3, weights=None, random=False, seed=0, draws=1, decimals=None, paired=True):
    """Scores of k models on tasks of these sizes, in no order."""
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


def test_scores_weigh_their_task_over_its_size():
    scores, values, tasks = suite([5, 20, 3], weights=[1, 1, 2])
    assert not scores.plain
    assert [own.sum() for own in scores.weights] == pytest.approx([1, 1, 1])
    by_task = np.array([[own[tasks == task].mean() for task in range(3)] for own in values])
    macro = by_task @ [0.25, 0.25, 0.5]
    assert estimate(scores).means == pytest.approx(macro, abs=1e-12)
    by_hand = [float(np.dot(*both)) for both in zip(scores.values, scores.weights, strict=True)]
    assert by_hand == pytest.approx(macro, abs=1e-12)


def test_tasks_of_one_size_weigh_as_pooled_scores_do():
    scores, _, _ = suite([8, 8, 8])
    assert scores.plain
    assert scores.strata.several
    assert suite([8, 8, 8], weights=[1, 1, 2])[0].plain is False
    assert suite([4, 8], weights=[1, 2])[0].plain


def test_one_task_is_no_suite():
    assert suite([12])[0].strata.several is False


def test_each_task_draws_as_many_as_it_has():
    scores, _, _ = suite([5, 20, 3])
    picks = chosen_many(scores, np.random.default_rng(0), 200)
    assert len(picks) == 1
    of_cluster = scores.strata.of_cluster[0]
    drawn = of_cluster[picks[0]]
    assert np.array_equal(drawn, np.broadcast_to(of_cluster, drawn.shape))
    assert set(picks[0].ravel().tolist()) == set(range(28))
    unpaired = chosen_many(suite([5, 20, 3], paired=False)[0], np.random.default_rng(0), 20)
    assert len(unpaired) == 3
    assert not np.array_equal(unpaired[0], unpaired[1])


@pytest.mark.parametrize("draws", [1, 3])
def test_replicates_of_means_and_tails_against_plain_loops(draws):
    scores, _, _ = suite([6, 30, 12], draws=draws, decimals=1)
    with Bootstrap([BootstrapColumn(scores)], seed=5) as bootstrap:
        found = bootstrap.extend({0: 30})[0]
    row = 0
    for stream, count in blocks(30, 5):
        (picks,) = chosen_many(scores, np.random.default_rng(stream), count)
        for chosen in picks:
            for model, (value, cluster) in enumerate(zip(scores.values, scores.clusters, strict=True)):
                kept = np.concatenate([np.flatnonzero(cluster == unit) for unit in chosen])
                task = scores.strata.of_cluster[model][cluster[kept]]
                weight = (1 / 3) / np.bincount(task)[task]
                order = np.argsort(value[kept], kind="stable")
                ends = np.cumsum(weight[order])
                inside = np.clip(found.tail_level - (ends - weight[order]), 0, weight[order])
                assert found.means[row, model] == pytest.approx(weight @ value[kept], abs=1e-12)
                tail = inside @ value[kept][order] / found.tail_level
                assert found.tails[row, model] == pytest.approx(tail, abs=1e-12)
            row += 1
    assert row == 30


def test_resamples_are_the_same_for_any_number_of_processes():
    scores, _, _ = suite([6, 30, 12])
    both = []
    for jobs in (1, 2):
        with Bootstrap([BootstrapColumn(scores)], seed=5, jobs=jobs) as bootstrap:
            both.append(bootstrap.extend({0: 100})[0])
    assert np.array_equal(both[0].means, both[1].means)
    assert np.array_equal(both[0].overall, both[1].overall)


def test_equal_weights_by_either_way():
    scores, _, _ = suite([16, 16, 16], decimals=1)
    with Bootstrap([BootstrapColumn(scores)], seed=2) as bootstrap:
        plain = bootstrap.extend({0: 50})[0]
    design = WeightedDesign(scores)
    kernel = ViolationKernel.of(3)
    parts = design.batches(blocks(50, 2), size=25)
    ratios = [kernel.ratios_of_steps(design.values, part, 48) for part in parts]
    overall = ((np.concatenate(ratios, axis=-1).sum(axis=2) - 0.5) / 2).transpose(2, 0, 1)
    assert overall == pytest.approx(plain.overall, abs=1e-12)


def test_drawn_tasks_are_units_that_keep_their_samples():
    scores, values, tasks = suite([5, 20, 3, 4, 6, 9, 9], random=True)
    assert scores.cluster_counts == (7, 7, 7)
    assert scores.independent == pytest.approx(7)
    assert scores.unit == "tasks"
    design = WeightedDesign(scores)
    counts = np.array([[2, 0, 0, 1, 0, 3, 1]])
    cumulated = design.of_counts([counts] * 3)
    widths = np.diff(cumulated[0][0], prepend=0) / cumulated[0][0][-1]
    mean = sum(count * values[0][tasks == task].mean() for task, count in enumerate(counts[0])) / 7
    assert widths @ design.values[0] == pytest.approx(mean, abs=1e-12)


def test_unequal_weights_of_drawn_tasks_count_as_fewer():
    weights = np.array([3, 1, 1, 1, 1, 1])
    scores, _, _ = suite([5] * 6, random=True, weights=weights)
    assert scores.independent == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_what_is_refused():
    with pytest.raises(InputError) as error:
        require_testable(suite([1, 20, 3])[0])
    assert "task 0" in str(error.value.found)
    with pytest.raises(InputError) as error:
        require_testable(suite([9] * 5, random=True)[0])
    assert "5 tasks" in str(error.value.found)
    require_testable(suite([9] * 6, random=True)[0])


def test_models_of_a_suite_can_be_chosen():
    scores, _, _ = suite([5, 20, 3])
    part = scores.of_models([2, 0])
    assert np.array_equal(part.values[0], scores.values[2])
    assert np.array_equal(part.weights[1], scores.weights[0])
    assert part.strata.names == scores.strata.names
    assert len(part.strata.of_cluster) == 2


def test_a_task_of_no_weight_is_no_task_like_others():
    with pytest.raises(InputError, match="weight of 0"):
        require_testable(suite([9] * 7, random=True, weights=[0, 1, 1, 1, 1, 1, 1])[0])
    require_testable(suite([9, 1, 9], weights=[1, 0, 1])[0])
