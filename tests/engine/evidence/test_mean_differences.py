"""The bootstrap-t of mean differences, compared with plain resampling, Student's t, and invariances."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from riskrank.engine.evidence.mean_differences import MeanContrast, SuccessCounts, mean_evidence
from riskrank.engine.evidence.unit_means import UnitMean, simultaneous_level
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign


def build(values, **design):
    return ClusteredScores.build([np.asarray(value, dtype=float) for value in values], **design)


def evidence(scores, boundary=0.0, pair=(0, 1), **options):
    return mean_evidence([MeanContrast.from_scores(scores, *pair)], boundary, **options)


def limits(result, level=0.05):
    return tuple(float(limit[0]) for limit in result.interval(level))


def plain_limits(difference, level, rng, resamples=20_000):
    """Compute the limits of method §4 for paired scores."""
    n, mean = difference.size, difference.mean()
    drawn = difference[rng.integers(0, n, (resamples, n))]
    t = (drawn.mean(axis=1) - mean) / (drawn.std(axis=1, ddof=1) / np.sqrt(n))
    error, student = difference.std(ddof=1) / np.sqrt(n), stats.t.isf(level / 2, n - 1)
    upper, lower = np.quantile(t, 1 - level / 2), np.quantile(-t, 1 - level / 2)
    return mean - max(upper, student) * error, mean + max(lower, student) * error


@pytest.mark.parametrize("sign", [1, -1])
def test_skewed_scores_match_plain_resampling(sign):
    rng = np.random.default_rng(1)
    new, old = sign * rng.lognormal(size=25), rng.normal(size=25)
    expected = plain_limits(new - old, 0.1, rng)
    half = (expected[1] - expected[0]) / 2
    assert limits(evidence(build([new, old])), 0.1) == pytest.approx(expected, abs=0.05 * half)


@pytest.mark.parametrize("n", [12, 60, 9000])
def test_normal_scores_have_students_interval(n):
    rng = np.random.default_rng(n)
    new, old = rng.normal(size=(2, n))
    low, high = limits(evidence(build([new, old])))
    student = stats.ttest_rel(new, old).confidence_interval(0.95)
    width = student.high - student.low
    assert student.low - 0.1 * width < low <= student.low + 1e-12
    assert student.high - 1e-12 <= high < student.high + 0.1 * width


def test_scaled_binary_scores_are_tested_like_their_differences():
    """A relative margin compares new with 0.9 old, whose difference has four values."""
    new, old = np.random.default_rng(5).random((2, 60)) < [[0.85], [0.8]]
    scaled = mean_evidence([MeanContrast.from_scores(build([new, old]), 0, 1, 0.9)])
    difference = mean_evidence([MeanContrast.from_mean(build([new - 0.9 * old]), 0)])
    assert scaled.p_above == pytest.approx(difference.p_above, rel=1e-9)
    assert limits(scaled) == pytest.approx(limits(difference), rel=1e-9)


@pytest.mark.parametrize("boundary", [0.0, -0.2, 0.4])
def test_few_paired_samples_use_all_sign_flips(boundary):
    new, old = np.random.default_rng(3).normal([[0.5], [0]], size=(2, 8))
    result = evidence(build([new, old]), boundary)
    differences = new - old - boundary
    flipped = np.array(list(product([1, -1], repeat=8))) @ differences
    assert result.p_above[0] == np.mean(flipped >= differences.sum() - 1e-9)
    assert result.p_below[0] == np.mean(flipped <= differences.sum() + 1e-9)


def test_few_unpaired_samples_use_all_labels():
    new, old = np.random.default_rng(4).normal([[1], [0]], size=(2, 7))
    result = evidence(build([new[:6], old], paired=False), 0.3)
    pooled = np.r_[new[:6] - 0.3, old]
    means = [
        pooled[list(chosen)].mean() - np.delete(pooled, chosen).mean()
        for chosen in combinations(range(13), 6)
    ]
    observed = new[:6].mean() - 0.3 - old.mean()
    assert result.p_above[0] == pytest.approx(np.mean(np.array(means) >= observed - 1e-9))


@pytest.mark.parametrize("boundary", [0.0, 0.01])
def test_intervals_of_few_samples_agree_with_the_exact_test(boundary):
    """Gains grow with the size of the job: Student's t cannot see that all of them are positive."""
    gains = np.array([0.02, 0.03, 0.05, 0.1, 0.3, 0.9, 3.0, 9.0])
    result = evidence(build([gains, np.zeros(8)]), boundary)
    assert stats.ttest_1samp(gains, boundary, alternative="greater").pvalue > 0.05
    assert result.p_above[0] == 2.0**-8
    assert limits(result)[0] == boundary
    assert limits(result, 0.005)[0] < boundary


SCORES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 20.0]), min_size=10, max_size=25)


@settings(deadline=None)
@given(SCORES, st.sampled_from([-0.5, 0.0, 0.3]), st.sampled_from([0.0002, 0.01, 0.05, 0.3]))
def test_intervals_agree_with_p_values(scores, boundary, level):
    result = evidence(build([scores, scores[::-1]]), boundary)
    low, high = limits(result, level)
    assert np.isfinite([low, high]).all()
    assert (low >= boundary) == (result.p_above[0] <= level / 2) or low == boundary
    assert (high <= boundary) == (result.p_below[0] <= level / 2) or high == boundary
    assert 0 <= result.mc_bounds.min() <= result.mc_bounds.max() <= 1


@settings(deadline=None)
@given(SCORES, st.booleans())
def test_directions_are_mirrored(scores, paired):
    both = build([scores, np.sort(scores)], paired=paired)
    forward, back = evidence(both, 0.25), evidence(both, -0.25, (1, 0))
    assert forward.estimate == -back.estimate
    assert forward.p_above == pytest.approx(back.p_below, rel=1e-9)
    assert limits(forward) == pytest.approx([-limit for limit in limits(back)][::-1], rel=1e-9, abs=1e-9)


def test_units_shifts_and_orders_do_not_matter():
    rng = np.random.default_rng(2)
    new, old = rng.exponential(size=(2, 30))
    low, high = limits(evidence(build([new, old])))
    for values, expected in (
        ([1024 * new, 1024 * old], (1024 * low, 1024 * high)),
        ([new + 3, old + 3], (low, high)),
        ([np.repeat(new, 4), np.repeat(old, 4)], (low, high)),
    ):
        units = np.repeat(np.arange(30), len(values[0]) // 30)
        assert limits(evidence(build(values, clusters=[units, units]))) == pytest.approx(expected)
    order = rng.permutation(30)
    moved = build([new[order], old[order]], clusters=[order, order])
    assert limits(evidence(moved)) == (low, high)
    other = build([new, old, rng.normal(size=30)])
    assert limits(evidence(other)) == (low, high)


def test_tasks_have_the_error_of_their_weighted_sum():
    task_of, shares = np.repeat(np.arange(3), [6, 20, 60]), np.array([0.5, 0.3, 0.2])
    values = np.random.default_rng(0).normal(size=(2, task_of.size)) - task_of
    tasks = TaskDesign.build("abc", [task_of] * 2, weights=shares)
    contrast = MeanContrast.from_scores(build(values, tasks=tasks), 0, 1)
    parts = [(values[0] - values[1])[task_of == task] for task in range(3)]
    variances = [share**2 * part.var(ddof=1) / part.size for share, part in zip(shares, parts, strict=True)]
    error, df = contrast.error_and_df
    assert contrast.estimate == pytest.approx(shares @ [part.mean() for part in parts])
    assert error == pytest.approx(np.sqrt(sum(variances)))
    squares = [v**2 / (part.size - 1) for v, part in zip(variances, parts, strict=True)]
    assert df == pytest.approx(sum(variances) ** 2 / sum(squares))


def test_random_tasks_are_the_sample():
    task_of = np.repeat(np.arange(8), [3, 5, 20, 4, 9, 2, 12, 6])
    values = np.random.default_rng(0).normal(size=(2, task_of.size)) - task_of
    tasks = TaskDesign.build("abcdefgh", [task_of] * 2, random=True)
    contrast = MeanContrast.from_scores(build(values, tasks=tasks), 0, 1)
    means = [(values[0] - values[1])[task_of == task].mean() for task in range(8)]
    assert contrast.estimate == pytest.approx(np.mean(means))
    assert contrast.error_and_df == pytest.approx((stats.sem(means), 7))


def test_unpaired_models_have_welchs_degrees_of_freedom():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=12), 3 * rng.normal(size=48)
    welch = stats.ttest_ind(first, second, equal_var=False)
    error, df = MeanContrast.from_scores(build([first, second], paired=False), 0, 1).error_and_df
    assert df == pytest.approx(welch.df)
    assert (first.mean() - second.mean()) / error == pytest.approx(welch.statistic)


def test_unequal_clusters_count_by_their_effective_number():
    clusters = np.r_[np.arange(60), np.full(100, 60)]
    values = np.random.default_rng(0).normal(size=(2, 160))
    scores = build(values, clusters=[clusters] * 2)
    assert UnitMean.from_scores(scores, 0).side.counts[0] == pytest.approx(160**2 / (60 + 100**2))


def test_small_levels_extend_students_quantile():
    values = np.random.default_rng(4).lognormal(size=(2, 30))
    result = evidence(build(values))
    critical = [
        (result.estimate[0] - limits(result, level)[0]) / result.error[0] / stats.t.isf(level / 2, 29)
        for level in (1e-6, 1e-4)
    ]
    assert critical[0] == pytest.approx(critical[1])
    far = evidence(build([values[0] + 50, values[1]]))
    assert 0 < far.p_above[0] < 1e-9


def test_constant_differences_are_tested_by_their_signs():
    scores = build([np.arange(12.0) + 1, np.arange(12.0)])
    result = evidence(scores)
    assert result.error[0] == 0
    assert result.p_above[0] == pytest.approx(0.5**12)
    assert limits(result) == (1.0, 1.0)
    assert limits(result, 1e-5) == (0.0, 1.0)
    same = evidence(build([np.arange(12.0)] * 2))
    assert same.p_value[0] == 1
    assert limits(same) == (0.0, 0.0)


def test_few_differing_samples_are_bounded_by_their_signs():
    new = np.zeros(100)
    new[:4] = [3.0, 3.1, 2.9, 3.0]
    result = evidence(build([new + np.arange(100), np.arange(100.0)]))
    assert result.p_above[0] >= 0.5**4
    assert limits(result)[0] == 0


def test_binary_scores_use_score_tests():
    rng = np.random.default_rng(5)
    new, old = (rng.random((2, 40)) < 0.8).astype(float)
    counts = SuccessCounts(np.sum(new > old), np.sum(new < old), (40, 40), True)
    for low, width in ((0.0, 1.0), (20.0, 60.0), (-1.0, 1.0)):
        result = evidence(build([low + width * new, low + width * old]), -0.1 * width)
        assert result.p_above[0] == counts.p_value(-0.1)
        assert limits(result) == pytest.approx([width * limit for limit in counts.interval(0.05)])
    unpaired = evidence(build([new, old[:25]], paired=False))
    counts = SuccessCounts(new.sum(), old[:25].sum(), (40, 25), False)
    assert limits(unpaired) == counts.interval(0.05)
    perfect = evidence(build([np.ones(30)] * 2), -0.05)
    assert perfect.p_above[0] == SuccessCounts(0, 0, (30, 30), True).p_value(-0.05) > 0.05


def test_levels_of_all_pairs_hold_their_share_of_resamples():
    scores = build(np.random.default_rng(6).normal(size=(5, 30)))
    level = simultaneous_level(scores, 0.05)
    assert 0.05 / 20 < level < 0.05 / 2
    assert simultaneous_level(build(scores.values[:2]), 0.05) == 0.025
    twins = build([scores.values[0], scores.values[1], scores.values[1]])
    assert simultaneous_level(twins, 0.05) == pytest.approx(0.025, rel=0.01)
    means = np.array(scores.values)[:, np.random.default_rng(7).integers(0, 30, (20_000, 30))].mean(axis=2)
    pairs = [means[i] - means[j] for i in range(5) for j in range(5) if i != j]
    beyond = [pair > np.quantile(pair, 1 - level) for pair in pairs]
    assert np.mean(np.any(beyond, axis=0)) == pytest.approx(0.05, abs=0.006)
