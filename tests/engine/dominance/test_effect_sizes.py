import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_ind

from riskrank.engine.dominance.effect_sizes import (
    effect_sizes,
    equivalent_tails,
    pairwise_differences,
    samples_behind_tail,
)
from riskrank.engine.sampling.expanded_percentile import expanded_interval
from riskrank.errors import NumericalError


@pytest.fixture
def resampled():
    """Replicates of four models: means and tails that belong together."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(500, 1))
    return common + rng.normal(size=(500, 4)), common + rng.normal(size=(500, 4)) - 2


def test_samples_behind_a_tail_never_exceed_those_there_are():
    assert [samples_behind_tail(n, min(1, max(0.05, 5 / n))) for n in (2, 5, 10, 30, 100, 300)] == [
        2,
        5,
        10,
        10,
        10,
        30,
    ]


def test_a_tail_that_varies_alone_is_behind_the_difference_alone():
    # Welch's degrees of freedom with ten samples a tail, from SciPy: of equal and of one spread.
    assert equivalent_tails([1.0, 4.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0]).tolist() == pytest.approx(
        [2, 25 / 17, 2, 1]
    )
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=10), 3 * rng.normal(size=10)
    welch = ttest_ind(first, second, equal_var=False).df
    assert 9 * equivalent_tails(first.var(), second.var()) == pytest.approx(welch)
    assert equivalent_tails(1e300, 4e300) == pytest.approx(25 / 17)
    assert samples_behind_tail(300, 0.05, [1.0, 1.5, 2.0]).tolist() == [15, 22, 30]


def test_a_tail_interval_is_expanded_for_the_tails_that_vary():
    rng = np.random.default_rng(2)
    tails = rng.normal(size=(4000, 3)) * [1.0, 1.0, 0.0]
    found = effect_sizes(
        [0.0] * 3, [0.0] * 3, leader=0, level=0.1, samples=100, mean_replicates=tails, tail_replicates=tails
    ).tail_difference
    for model, behind in ((1, 20), (2, 10)):
        low, high = expanded_interval(tails[:, model] - tails[:, 0], behind)
        assert (found.low[model], found.high[model]) == pytest.approx((low, high))
    huge = effect_sizes(
        [0.0] * 3,
        [0.0] * 3,
        leader=0,
        level=0.1,
        samples=100,
        mean_replicates=tails,
        tail_replicates=tails * 1e300,
    ).tail_difference
    assert huge.low / 1e300 == pytest.approx(found.low)


def test_differences_to_the_leader_are_those_of_each_resample(resampled):
    means, tails = resampled
    found = effect_sizes(
        [1.0, 3.0, 2.0, 0.0],
        [-1.0, -4.0, 0.0, 0.0],
        leader=1,
        level=0.05,
        samples=400,
        mean_replicates=means,
        tail_replicates=tails,
        confidence=0.9,
    )
    assert found.mean_difference.estimate.tolist() == [-2.0, 0.0, -1.0, -3.0]
    assert found.tail_difference.estimate.tolist() == [3.0, 0.0, 4.0, 4.0]
    assert found.mean_difference.low[1] == found.mean_difference.high[1] == 0
    # At 400 samples the expanded level differs from the plain one by little.
    drawn = means - means[:, [1]]
    assert found.mean_difference.low == pytest.approx(np.quantile(drawn, 0.05, axis=0), abs=0.1)
    assert found.mean_difference.high == pytest.approx(np.quantile(drawn, 0.95, axis=0), abs=0.1)
    assert np.all(found.mean_difference.low <= np.quantile(drawn, 0.05, axis=0))
    drawn = tails - tails[:, [1]]
    assert np.all(found.tail_difference.low[[0, 2, 3]] < np.quantile(drawn, 0.05, axis=0)[[0, 2, 3]])


def test_an_interval_of_a_mean_against_students_t():
    rng = np.random.default_rng(3)
    score = rng.normal(size=40)
    drawn = score[rng.integers(0, 40, (40_000, 40))].mean(axis=1)
    found = effect_sizes(
        [0.0, score.mean()],
        [0.0, 0.0],
        leader=0,
        level=0.125,
        samples=40,
        mean_replicates=np.column_stack([np.zeros(40_000), drawn]),
    )
    half = student.ppf(0.975, 39) * score.std(ddof=1) / np.sqrt(40)
    assert found.mean_difference.low[1] == pytest.approx(score.mean() - half, abs=0.03 * half)
    assert found.mean_difference.high[1] == pytest.approx(score.mean() + half, abs=0.03 * half)
    assert found.tail_difference.low is None


def test_all_pairs_are_the_differences_to_every_leader(resampled):
    means, _ = resampled
    estimate = np.array([1.0, 3.0, 2.0, 0.0])
    pairs = pairwise_differences(estimate, samples=50, replicates=means)
    for leader in range(4):
        found = effect_sizes(
            estimate, estimate, leader=leader, level=0.1, samples=50, mean_replicates=means
        ).mean_difference
        assert pairs.estimate[:, leader].tolist() == found.estimate.tolist()
        assert pairs.low[:, leader] == pytest.approx(found.low)
        assert pairs.high[:, leader] == pytest.approx(found.high)
    assert np.array_equal(pairs.low, -pairs.high.T)
    untested = pairwise_differences(estimate, samples=50)
    assert untested.low is None
    assert untested.estimate[1, 0] == 2


def test_differences_beyond_the_largest_number_are_an_error():
    with pytest.raises(NumericalError, match="too large"):
        pairwise_differences([1.5e308, -1.5e308], samples=30)
    with pytest.raises(NumericalError, match="too large"):
        effect_sizes([1.5e308, -1.5e308], [0.0, 0.0], leader=0, level=0.05, samples=30)
