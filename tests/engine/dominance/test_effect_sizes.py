import numpy as np
import pytest
from scipy.stats import norm, ttest_ind
from scipy.stats import t as student

from riskrank.engine.dominance.effect_sizes import (
    effect_sizes,
    equivalent_tails,
    pairwise_differences,
    samples_behind_tail,
)
from riskrank.engine.dominance.simultaneous import spread_of_differences
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


def plain_ends(estimate, drawn, leader, samples, confidence=0.95):
    """Method §4 written plainly: est ± c·se*, c from the largest of all pairs, widened as in rule 1."""
    k = len(estimate)
    pairs = [(i, j) for i in range(k) for j in range(i)]
    errors = {pair: np.std(drawn[:, pair[0]] - drawn[:, pair[1]], ddof=1) for pair in pairs}
    largest = [
        max(
            abs(row[i] - row[j] - (estimate[i] - estimate[j])) / errors[i, j]
            for i, j in pairs
            if errors[i, j] > 0
        )
        for row in drawn
    ]
    c = np.quantile(largest, confidence)
    ends = []
    for i in range(k):
        n = np.broadcast_to(samples, k)[i]
        half = student.isf(norm.sf(c), n - 1) * np.sqrt(n / (n - 1))
        half *= errors.get((max(i, leader), min(i, leader)), 0.0)
        ends.append((estimate[i] - estimate[leader] - half, estimate[i] - estimate[leader] + half))
    return np.array(ends).T


def test_intervals_against_their_definition(resampled):
    means, _ = resampled
    estimate = np.array([1.0, 3.0, 2.0, 0.0])
    found = effect_sizes(
        estimate,
        estimate,
        leader=1,
        level=0.05,
        samples=np.array([40.0, 40.0, 30.0, 12.0]),
        mean_spread=spread_of_differences(estimate, means, confidence=0.9),
    )
    low, high = plain_ends(estimate, means, 1, [40.0, 40.0, 30.0, 12.0], confidence=0.9)
    assert found.mean_difference.low == pytest.approx(low)
    assert found.mean_difference.high == pytest.approx(high)
    assert found.mean_difference.estimate.tolist() == [-2.0, 0.0, -1.0, -3.0]
    assert found.mean_difference.low[1] == found.mean_difference.high[1] == 0
    assert found.tail_difference.low is None
    huge = spread_of_differences(estimate * 1e300, means * 1e300)
    assert huge.errors / 1e300 == pytest.approx(spread_of_differences(estimate, means).errors)


def test_a_tail_interval_is_widened_for_the_tails_that_vary():
    rng = np.random.default_rng(2)
    tails = rng.normal(size=(4000, 3)) * [1.0, 1.0, 0.0]
    zero = np.zeros(3)
    spread = spread_of_differences(zero, tails)
    found = effect_sizes(zero, zero, leader=0, level=0.1, samples=100, tail_spread=spread).tail_difference
    for model, behind in ((1, 20), (2, 10)):
        low, high = plain_ends(zero, tails, 0, behind)
        assert (found.low[model], found.high[model]) == pytest.approx((low[model], high[model]), rel=1e-3)


def test_an_interval_of_a_mean_against_students_t():
    """One pair of normal means: the simultaneous interval is the t interval."""
    rng = np.random.default_rng(3)
    score = rng.normal(size=40)
    drawn = score[rng.integers(0, 40, (40_000, 40))].mean(axis=1)
    estimate = [0.0, score.mean()]
    spread = spread_of_differences(estimate, np.column_stack([np.zeros(40_000), drawn]))
    found = effect_sizes(estimate, [0.0, 0.0], leader=0, level=0.125, samples=40, mean_spread=spread)
    half = student.ppf(0.975, 39) * score.std(ddof=1) / np.sqrt(40)
    assert found.mean_difference.low[1] == pytest.approx(score.mean() - half, abs=0.03 * half)
    assert found.mean_difference.high[1] == pytest.approx(score.mean() + half, abs=0.03 * half)


def test_models_that_differ_by_a_constant_have_no_width_and_widen_nobody():
    rng = np.random.default_rng(4)
    one = rng.normal(size=(500, 1))
    drawn = np.hstack([one, one + 0.1, rng.normal(size=(500, 1))])
    spread = spread_of_differences([0.0, 0.1, 0.0], drawn)
    assert spread.errors[0, 1] == 0
    assert spread.wide < 4


def test_all_rows_of_a_ranking_are_covered_together():
    """Eight equal normals, n = 40, the leader chosen by the data: 150 tables."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(150):
        values = rng.normal(size=(8, 40))
        drawn = values[:, rng.integers(0, 40, (600, 40))].mean(axis=2).T
        means = values.mean(axis=1)
        leader = int(np.argmax(means))
        spread = spread_of_differences(means, drawn)
        found = effect_sizes(means, means, leader=leader, level=0.125, samples=40, mean_spread=spread)
        held += bool(np.all((found.mean_difference.low <= 0) & (found.mean_difference.high >= 0)))
    assert held >= 0.93 * 150 - 2


def test_a_pair_by_name_has_an_interval_of_its_own(resampled):
    means, _ = resampled
    estimate = np.array([1.0, 3.0, 2.0, 0.0])
    pairs = pairwise_differences(estimate, samples=50, replicates=means)
    for i in range(4):
        for j in range(4):
            both, two = [i, j], means[:, [i, j]]
            spread = spread_of_differences(estimate[both], two)
            alone = effect_sizes(
                *[estimate[both]] * 2, leader=1, level=0.1, samples=50, mean_spread=spread
            ).mean_difference
            ends = (alone.low[0], alone.high[0]) if i != j else (0, 0)
            assert (pairs.low[i, j], pairs.high[i, j]) == pytest.approx(ends, abs=1e-12)
            assert pairs.estimate[i, j] == estimate[i] - estimate[j]
    assert np.array_equal(pairs.low, -pairs.high.T)
    away = np.abs(means[:, 1] - means[:, 0] - 2.0)
    covered = np.mean(away <= (pairs.high[1, 0] - pairs.low[1, 0]) / 2)
    assert 0.95 <= covered <= 0.97  # a little wider than the resamples, as Student's t is
    untested = pairwise_differences(estimate, samples=50)
    assert untested.low is None
    assert untested.estimate[1, 0] == 2


def test_differences_beyond_the_largest_number_are_an_error():
    with pytest.raises(NumericalError, match="too large"):
        pairwise_differences([1.5e308, -1.5e308], samples=30)
    with pytest.raises(NumericalError, match="too large"):
        effect_sizes([1.5e308, -1.5e308], [0.0, 0.0], leader=0, level=0.05, samples=30)
