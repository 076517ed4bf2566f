import numpy as np
import pytest
from scipy.stats import norm, ttest_ind
from scipy.stats import t as student

from riskrank.engine.dominance.effect_sizes import (
    effect_sizes,
    equivalent_tails,
    mean_differences,
    tail_sample_size,
)
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.ranking import difference_spread
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import NumericalError


@pytest.fixture
def resampled():
    """Return joint replicates of means and tail means of four models."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(500, 1))
    return common + rng.normal(size=(500, 4)), common + rng.normal(size=(500, 4)) - 2


def test_tail_sample_size_is_at_most_the_sample_size():
    assert [tail_sample_size(n, min(1, max(0.05, 5 / n))) for n in (2, 5, 10, 30, 100, 300)] == [
        2,
        5,
        10,
        10,
        10,
        30,
    ]


def test_equivalent_tails_match_welch():
    # Welch's degrees of freedom with ten samples a tail, from SciPy: of equal and of one spread.
    assert equivalent_tails([1.0, 4.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0]).tolist() == pytest.approx(
        [2, 25 / 17, 2, 1]
    )
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=10), 3 * rng.normal(size=10)
    welch = ttest_ind(first, second, equal_var=False).df
    assert 9 * equivalent_tails(first.var(), second.var()) == pytest.approx(welch)
    assert equivalent_tails(1e300, 4e300) == pytest.approx(25 / 17)
    assert tail_sample_size(300, 0.05, [1.0, 1.5, 2.0]).tolist() == [15, 22, 30]


def plain_interval(estimate, resampled, leader, samples, confidence=0.95):
    """Compute est ± c·se* as in method §4; c is the maximum over all pairs, widened as in rule 1."""
    k = len(estimate)
    pairs = [(i, j) for i in range(k) for j in range(i)]
    errors = {pair: np.std(resampled[:, pair[0]] - resampled[:, pair[1]], ddof=1) for pair in pairs}
    largest = [
        max(
            abs(row[i] - row[j] - (estimate[i] - estimate[j])) / errors[i, j]
            for i, j in pairs
            if errors[i, j] > 0
        )
        for row in resampled
    ]
    c = np.quantile(largest, confidence)
    limits = []
    for i in range(k):
        n = np.broadcast_to(samples, k)[i]
        half = student.isf(norm.sf(c), n - 1) * np.sqrt(n / (n - 1))
        half *= errors.get((max(i, leader), min(i, leader)), 0.0)
        limits.append((estimate[i] - estimate[leader] - half, estimate[i] - estimate[leader] + half))
    return np.array(limits).T


def test_intervals_against_their_definition(resampled):
    means, _ = resampled
    estimate = np.array([1.0, 3.0, 2.0, 0.0])
    effects = effect_sizes(
        estimate,
        estimate,
        leader=1,
        tail_fraction=1.0,
        samples=np.array([40.0, 40.0, 30.0, 12.0]),
        tail_spread=difference_spread(estimate, means, confidence=0.9),
    )
    # The tails contain all samples, which count twice if both tails are equally variable.
    behind = tail_sample_size(
        np.array([40.0, 40.0, 30.0, 12.0]), 1.0, equivalent_tails(means.var(axis=0), means[:, 1].var())
    )
    low, high = plain_interval(estimate, means, 1, behind, confidence=0.9)
    assert effects.tail_difference.low == pytest.approx(low)
    assert effects.tail_difference.high == pytest.approx(high)
    assert effects.tail_difference.estimate.tolist() == [-2.0, 0.0, -1.0, -3.0]
    assert effects.tail_difference.low[1] == effects.tail_difference.high[1] == 0
    assert effects.mean_difference.low is None
    huge = difference_spread(estimate * 1e300, means * 1e300)
    assert huge.errors / 1e300 == pytest.approx(difference_spread(estimate, means).errors)


def test_a_tail_interval_is_widened_for_the_tails_that_vary():
    rng = np.random.default_rng(2)
    tails = rng.normal(size=(4000, 3)) * [1.0, 1.0, 0.0]
    zero = np.zeros(3)
    spread = difference_spread(zero, tails)
    interval = effect_sizes(
        zero, zero, leader=0, tail_fraction=0.1, samples=100, tail_spread=spread
    ).tail_difference
    for model, behind in ((1, 20), (2, 10)):
        low, high = plain_interval(zero, tails, 0, behind)
        assert (interval.low[model], interval.high[model]) == pytest.approx(
            (low[model], high[model]), rel=1e-3
        )


def test_constant_difference_has_an_interval_of_zero_width():
    rng = np.random.default_rng(4)
    shared = rng.normal(size=(500, 1))
    resampled = np.hstack([shared, shared + 0.1, rng.normal(size=(500, 1))])
    spread = difference_spread([0.0, 0.1, 0.0], resampled)
    assert spread.errors[0, 1] == 0
    assert spread.multiplier < 4


def test_pairs_have_the_intervals_of_all_pairs():
    scores = ClusteredScores.build(np.random.default_rng(5).normal(size=(4, 40)))
    pairs = mean_differences(scores, Inference())
    assert np.array_equal(pairs.low, -pairs.high.T)
    assert not pairs.estimate.diagonal().any()
    for leader in range(4):
        alone = mean_differences(scores, Inference(), [leader]).column(leader)
        for name in ("estimate", "low", "high"):
            assert np.array_equal(getattr(alone, name), getattr(pairs.column(leader), name))
    untested = mean_differences(scores, Inference(test=False))
    assert untested.low is None
    assert np.array_equal(untested.estimate, pairs.estimate)


def test_differences_beyond_the_largest_number_are_an_error():
    with pytest.raises(NumericalError, match="too large for floating-point"):
        mean_differences(ClusteredScores.build([[1.5e308], [-1.5e308]]), Inference())
    with pytest.raises(NumericalError, match="too large for floating-point"):
        effect_sizes([1.5e308, -1.5e308], [0.0, 0.0], leader=0, tail_fraction=0.05, samples=30)
