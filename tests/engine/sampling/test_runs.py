from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.variance_components import Passes, mean_interval, variance_components

COUNTS = np.array([1, 2, 5, 3, 1, 4])


def scores_with_runs(values, counts=COUNTS):
    sample = np.repeat(np.arange(len(counts)), counts)
    return ClusteredScores.build(list(values), [sample] * len(values))


def test_balanced_components_match_the_textbook():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(2, 8, 1)) + 0.5 * rng.normal(size=(2, 8, 3))
    result = variance_components(scores_with_runs(table.reshape(2, -1), np.full(8, 3)))
    within = table.var(axis=2, ddof=1).mean(axis=1)
    mean_variance = table.mean(axis=2).var(axis=1, ddof=1)
    assert result.within == pytest.approx(within)
    assert result.between == pytest.approx(mean_variance - within / 3)
    assert result.variance == pytest.approx(
        mean_variance / 8
    )  # the usual variance of a mean of cluster means
    assert result.more_samples == pytest.approx(mean_variance / 16)
    assert result.more_runs == pytest.approx((mean_variance - within / 6) / 8)
    assert result.within_share == pytest.approx(within / 24 / (mean_variance / 8))
    assert result.runs.tolist() == [3, 3]


def test_unequal_runs_against_the_expectations_of_their_sums_of_squares():
    """Sums of squares are quadratic forms y'Ay with expectation tr(AV) for covariance V."""
    sample = np.repeat(np.arange(len(COUNTS)), COUNTS)
    same = (sample[:, None] == sample) * 1.0
    total = len(sample)
    average = same / COUNTS[sample]
    all_ = np.full((total, total), 1 / total)
    for between, within in ((1.0, 0.0), (0.0, 1.0), (2.0, 0.7)):
        covariance = between * same + within * np.eye(total)
        # Drawing along the eigenvectors makes the average of the estimates exact.
        roots, vectors = np.linalg.eigh(covariance)
        draws = np.concatenate([vectors.T * np.sqrt(np.maximum(roots, 0) * total)[:, None]] * 2)
        result = variance_components(scores_with_runs(draws))
        assert result.within.mean() == pytest.approx(within, abs=1e-12)
        assert result.between.mean() == pytest.approx(between)
        assert all_[0] @ covariance @ all_[0] == pytest.approx(
            between * (COUNTS**2).sum() / total**2 + within / total
        )
        assert np.trace(average - all_) == pytest.approx(len(COUNTS) - 1)


def test_variance_of_the_mean_matches_simulation():
    rng = np.random.default_rng(1)
    counts = np.tile(COUNTS, 8)
    sample = np.repeat(np.arange(counts.size), counts)
    tables = 3000
    draws = 1.5 * rng.normal(size=(tables, counts.size))[:, sample] + rng.normal(size=(tables, sample.size))
    result = variance_components(scores_with_runs(draws, counts))
    error = 4 * np.sqrt(2 / tables)
    assert result.variance.mean() == pytest.approx(draws.mean(axis=1).var(), rel=error)
    repeated = np.repeat(np.arange(counts.size), 2 * counts)
    twice = 1.5 * rng.normal(size=(tables, counts.size))[:, repeated] + rng.normal(
        size=(tables, repeated.size)
    )
    assert result.more_runs.mean() == pytest.approx(twice.mean(axis=1).var(), rel=error)


def test_equal_samples_need_only_more_runs():
    values = [np.tile([0.0, 1.0], 6), np.tile([1.0, 0.0], 6)]
    result = variance_components(scores_with_runs(values, np.full(6, 2)))
    assert np.all(result.between < 0)
    assert result.within_share.tolist() == [1, 1]
    assert result.more_runs == pytest.approx(result.more_samples)


def test_single_run_has_a_variance_but_no_components():
    rng = np.random.default_rng(3)
    values = [rng.normal(size=5), rng.normal(size=10)]
    scores = ClusteredScores.build(values, [np.arange(5), np.repeat(np.arange(5), 2)])
    result = variance_components(scores)
    assert result.variance[0] == pytest.approx(values[0].var(ddof=1) / 5)
    assert np.isnan(result.between[0])
    assert result.within[1] > 0


def test_constant_model_has_no_variance():
    result = variance_components(scores_with_runs([np.ones(16), np.arange(16.0)]))
    assert (result.variance[0], result.within_share[0]) == (0, 0)


@pytest.mark.parametrize(("factor", "shift"), [(2.0**400, 0), (2.0**-400, 0), (1.0, 1e6)])
def test_components_scale_with_the_scores(factor, shift):
    values = np.random.default_rng(4).normal(size=(2, 16))
    plain, scaled = (variance_components(scores_with_runs(v)) for v in (values, values * factor + shift))
    assert scaled.within / factor / factor == pytest.approx(plain.within)
    assert scaled.between / factor / factor == pytest.approx(plain.between, rel=1e-6)
    assert scaled.within_share == pytest.approx(plain.within_share, rel=1e-6)


@pytest.mark.parametrize(
    "scores",
    [
        ClusteredScores.build([[1.0, 2.0], [2.0, 3.0]]),
        ClusteredScores.build([[1.0, 2.0], [2.0, 3.0]], [[0, 0]] * 2),
        ClusteredScores.build([[1.0, 2.0, 3.0], [2.0, 3.0, 5.0]], [[0, 0, 1]] * 2, samples=[[0, 1, 2]] * 2),
        scores_with_runs(np.random.default_rng(4).normal(size=(2, 16)) * 1e200),
    ],
    ids=["a run a sample", "one sample", "clusters of samples", "beyond the largest number"],
)
def test_inseparable_components_give_none(scores):
    assert variance_components(scores) is None


RUNS = st.lists(st.booleans(), min_size=3, max_size=7)


def passes(*samples):
    numbers = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    return Passes.from_runs(np.concatenate([np.asarray(sample, dtype=bool) for sample in samples]), numbers)


@given(st.lists(RUNS, min_size=1, max_size=4), st.integers(1, 3))
def test_pass_rates_match_all_subsets_of_runs(samples, k):
    result = passes(*samples)
    subsets = [list(combinations(runs, k)) for runs in samples]
    assert result.all_pass(k) == pytest.approx([np.mean([all(part) for part in parts]) for parts in subsets])
    assert result.any_pass(k) == pytest.approx([np.mean([any(part) for part in parts]) for parts in subsets])


@pytest.mark.parametrize("runs", [4, 7, 10])
def test_pass_rates_are_unbiased(runs):
    rng = np.random.default_rng(runs)
    shares = rng.beta(0.7, 0.7, 4000)
    result = passes(*(rng.random((4000, runs)) < shares[:, None]))
    for k in (1, 3):
        # The standard error of a mean of 4,000 shares is below .008.
        assert result.all_pass(k).mean() == pytest.approx(np.mean(shares**k), abs=0.02)
        assert result.any_pass(k).mean() == pytest.approx(np.mean(1 - (1 - shares) ** k), abs=0.02)


def test_only_the_worst_run_depends_on_the_run_count():
    rng = np.random.default_rng(0)
    few, many = (passes(*(rng.random((3000, runs)) < 0.8)) for runs in (3, 9))
    assert abs(few.all_pass(3).mean() - many.all_pass(3).mean()) < 0.03
    assert np.mean(few.passed == few.runs) - np.mean(many.passed == many.runs) > 0.3


def test_flaky_samples_pass_in_some_runs():
    assert passes([1, 1], [0, 0], [1, 0]).n_flaky == 1


def test_too_few_runs_are_refused():
    with pytest.raises(ValueError, match="a sample has 2"):
        passes([1, 1], [1, 0, 1]).all_pass(3)


def test_interval_has_a_width_if_all_samples_pass():
    mean, low, high = mean_interval(np.ones(20))
    assert (mean, high) == (1.0, 1.0)
    assert 0.8 < low < 0.9


def test_intervals_have_nominal_coverage():
    rng, inside = np.random.default_rng(3), 0
    for _ in range(400):
        shares = rng.beta(2, 1, 40)
        result = passes(*(rng.random((40, 5)) < shares[:, None])).all_pass(3)
        _, low, high = mean_interval(result)
        inside += low <= 2 / (2 + 3) <= high
    # E p³ of Beta(2, 1) is 2/5; of 400 intervals 380 are expected to hold, give or take 9.
    assert inside >= 362
