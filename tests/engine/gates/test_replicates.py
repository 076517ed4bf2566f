"""Replicates of differences compared with brute force, and the correction for few opposing samples."""

import numpy as np
import pytest

from riskrank.engine.evidence.bootstrap import ResampledDifference
from riskrank.engine.gates import (
    Comparison,
    SideScores,
    SideTasks,
    observed_difference,
    resampled_differences,
    tail_means,
)
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign


def compared(new, old, *, paired=True, level=0.3, clusters=None, lowest=None) -> Comparison:
    sides = []
    for at, values in enumerate((new, old)):
        values = np.asarray(values, dtype=float)
        units = np.arange(len(values)) if clusters is None else np.asarray(clusters[at])
        sides.append(SideScores(values, units))
    both = np.concatenate([side.values for side in sides])
    return Comparison(sides[0], sides[1], paired, level, both.min() if lowest is None else lowest)


@pytest.mark.parametrize("level", [0.05, 0.13, 0.5, 1.0])
def test_tail_means_match_brute_force(level):
    """A unit that is drawn twice counts as two units."""
    rng = np.random.default_rng(0)
    clusters = np.sort(rng.integers(0, 20, 60))
    clusters = np.unique(clusters, return_inverse=True)[1]
    side = SideScores(rng.integers(0, 9, 60).astype(float), clusters)
    weights = rng.integers(0, 4, (30, clusters.max() + 1)).astype(float)
    expected = [
        tail_value_at_risk(np.repeat(side.values, row[clusters].astype(int)), level) for row in weights
    ]
    np.testing.assert_allclose(tail_means(side, weights, level), expected, rtol=1e-12)


def test_tail_of_a_resample_may_be_long():
    """Resamples with few of the worst samples can have more than twice the usual tail length."""
    values = np.arange(1000.0)
    weights = np.zeros((1, 1000))
    weights[0, 990:] = 100
    side = SideScores(values, np.arange(1000))
    np.testing.assert_allclose(
        tail_means(side, weights, 0.05), tail_value_at_risk(np.arange(990.0, 1000), 0.05)
    )


@pytest.mark.parametrize(("level", "paired"), [(1.0, False), (0.1, True)])
def test_replicates_match_a_plain_bootstrap(level, paired):
    rng = np.random.default_rng(1)
    common = rng.normal(size=80)
    new, old = common + rng.normal(size=80), common + 0.5 * rng.normal(size=80)
    result = resampled_differences([compared(new, old, paired=paired, level=level)], resamples=1000, seed=3)[
        0
    ]

    def statistic(values):
        return tail_value_at_risk(values, level)

    expected = []
    for _ in range(1000):
        first = rng.integers(0, 80, 80)
        second = first if paired else rng.integers(0, 80, 80)
        expected.append(statistic(new[first]) - statistic(old[second]))
    # The standard error of a standard deviation is about sd/√(2B).
    assert result.std() == pytest.approx(np.std(expected), rel=0.08)
    assert result.mean() == pytest.approx(np.mean(expected), abs=5 * np.std(expected) / np.sqrt(500))


def test_clusters_are_resampled_as_units():
    """Scores that are constant within each cluster are equivalent to one score per cluster."""
    rng = np.random.default_rng(2)
    new, old = rng.normal(size=(2, 40))
    clusters = np.repeat(np.arange(40), 5)
    clustered = compared(np.repeat(new, 5), np.repeat(old, 5), clusters=[clusters, clusters])
    alone = compared(new, old)
    np.testing.assert_allclose(*resampled_differences([clustered, alone], resamples=100, seed=0), atol=1e-12)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("level", [0.05, 0.2])
def test_directions_are_mirrored(paired, level):
    rng = np.random.default_rng(4)
    new, old = rng.normal(size=(2, 60))
    forward = compared(new, old, paired=paired, level=level)
    back = compared(old, new, paired=paired, level=level)
    assert observed_difference(forward) == -observed_difference(back)
    if paired:  # unpaired models have streams of their own
        first, second = resampled_differences(
            [forward.with_adverse_sample(), back.with_favourable_sample()], resamples=200, seed=0
        )
        np.testing.assert_allclose(first, -second, atol=1e-12)


def test_more_comparisons_change_no_replicate():
    rng = np.random.default_rng(5)
    first, second = compared(*rng.normal(size=(2, 50))), compared(*rng.normal(size=(2, 50)))
    alone = resampled_differences([second], resamples=60, seed=7)[0]
    np.testing.assert_allclose(
        resampled_differences([first, second], resamples=60, seed=7)[1], alone, rtol=1e-12
    )


sizes, shares = np.array([6, 20, 60]), np.array([0.5, 0.3, 0.2])
task_of = np.repeat(np.arange(3), sizes)


def suite(seed=0, random=False, weights=shares, shift=0.0):
    values = np.random.default_rng(seed).normal([[shift], [0.0]], size=(2, task_of.size)) - task_of
    tasks = TaskDesign.build("abc", [task_of] * 2, weights=weights, random=random)
    return ClusteredScores.build([*values], tasks=tasks), values


def comparison(scores, level=1.0):
    sides = [SideScores.from_scores(scores, model) for model in (0, 1)]
    return Comparison(*sides, True, level, -9.0)


def macro(values):
    return shares @ [values[task_of == task].mean() for task in range(3)]


@pytest.mark.parametrize("random", [False, True])
def test_differences_of_the_sample(random):
    scores, values = suite(random=random)
    assert observed_difference(comparison(scores)) == pytest.approx(macro(values[0]) - macro(values[1]))
    weights = (shares / sizes)[task_of]
    tails = [tail_value_at_risk(value, 0.1, weights) for value in values]
    assert observed_difference(comparison(scores, 0.1)) == pytest.approx(tails[0] - tails[1])


def test_replicates_have_the_standard_error():
    scores, values = suite()
    (resampled,) = resampled_differences([comparison(scores)], resamples=20000, seed=1)
    differences = values[0] - values[1]
    # Exponential weights of n scores spread their mean by the standard deviation over √(n + 1).
    parts = [shares[t] ** 2 * differences[task_of == t].var() / (sizes[t] + 1) for t in range(3)]
    assert resampled.std() == pytest.approx(np.sqrt(sum(parts)), rel=0.03)
    assert resampled.mean() == pytest.approx(macro(values[0]) - macro(values[1]), abs=0.01)


def test_replicates_of_random_tasks_vary_between_tasks():
    scores, values = suite(random=True, weights=np.ones(3))
    (resampled,) = resampled_differences([comparison(scores)], resamples=20000, seed=1)
    means = np.array([(values[0] - values[1])[task_of == task].mean() for task in range(3)])
    assert resampled.std() == pytest.approx(means.std() / 2, rel=0.03)


def test_task_of_zero_weight_changes_nothing():
    values = np.random.default_rng(0).normal(size=(2, 30))
    tasks = SideTasks(np.repeat([0, 1], [30, 3]), np.array([1.0, 0.0]))
    units = np.arange(30)
    with_task = Comparison(
        *(SideScores(np.append(value, np.zeros(3)), np.arange(33), tasks) for value in values),
        *(True, 0.5, -9.0),
    )
    plain = Comparison(*(SideScores(value, units) for value in values), True, 0.5, -9.0)
    assert observed_difference(with_task) == pytest.approx(observed_difference(plain))


def test_added_sample_joins_the_heaviest_task():
    scores, _ = suite()
    base = comparison(scores, 0.2)
    for sign, variant in ((-1, base.with_adverse_sample()), (1, base.with_favourable_sample())):
        assert variant.new.tasks.unit_tasks[-1] == 0
        assert len(variant.new.values) == task_of.size + 1
        assert sign * (observed_difference(variant) - observed_difference(base)) > 0


def test_clear_loss_is_contradicted_and_gain_significant():
    for shift in (-2.5, 2.5):
        scores, _ = suite(shift=shift)
        base = comparison(scores)
        resampled = resampled_differences(
            [base, base.with_adverse_sample(), base.with_favourable_sample()], resamples=2000, seed=1
        )
        result = ResampledDifference(observed_difference(base), 0.0, 86, effective_size=20).with_replicates(
            *resampled
        )
        assert (result.p_above < 0.05) == (shift > 0)
        assert (result.p_below < 0.05) == (shift < 0)


def test_random_tasks_need_no_added_sample():
    base = comparison(suite(random=True)[0])
    assert base.with_adverse_sample() is base
    assert base.with_favourable_sample().new is base.new
