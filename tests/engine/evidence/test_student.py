"""Student's t of any estimate compared with SciPy's t tests, and smallest detectable differences."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import t

from riskrank.engine.evidence.student import (
    Student,
    independent_sum,
    johnson_t,
    mean_difference,
    p_above,
    weighted_mean,
)
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores


def test_weighted_mean_matches_a_t_test():
    x = np.random.default_rng(0).normal(0.3, 1, 25)
    result = weighted_mean(x, np.full(25, 1 / 25))
    plain = Student(result.value, result.error, result.df)
    expected = stats.ttest_1samp(x, 0.1, alternative="greater")
    assert plain.p_above(0.1) == pytest.approx(expected.pvalue, rel=1e-10)
    interval = stats.ttest_1samp(x, 0).confidence_interval(0.9)
    assert np.array(plain.interval(0.1)).ravel() == pytest.approx([interval.low, interval.high], rel=1e-10)


@pytest.mark.parametrize("boundary", [-0.2, 0.0, 0.4])
def test_interval_excludes_the_boundary_of_decided_claims(boundary):
    rng = np.random.default_rng(1)
    result = weighted_mean(rng.exponential(size=(200, 12)) - 1, np.full(12, 1 / 12))
    answers = Family(0.1, "none").answer(result.evidence(boundary, 12))
    np.testing.assert_array_equal(answers.significant, answers.low > boundary)
    np.testing.assert_array_equal(answers.contradicted, answers.high < boundary)
    assert answers.significant.any() or answers.contradicted.any()


def test_independent_sums_match_welch():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=8), rng.normal(0.5, 3, 15)
    means, errors = np.array([x.mean(), -y.mean()]), np.array([stats.sem(x), stats.sem(y)])
    result = independent_sum(means, errors, np.array([7.0, 14.0]), 1.0)
    expected = stats.ttest_ind(x, y, equal_var=False)
    assert 2 * min(result.p_above(), result.mirrored.p_above()) == pytest.approx(expected.pvalue, rel=1e-10)
    assert independent_sum(means, 0 * errors, np.array([7.0, 14.0]), 3.0).df == 3.0


def test_detectable_difference_has_the_nominal_power():
    """Power is simulated in 4,000 tables with this true difference, ± 0.006."""
    rng = np.random.default_rng(3)
    noise, level = rng.normal(size=(4000, 20)), 0.01
    spread = Student(np.zeros(1), np.array([1 / np.sqrt(20)]), np.array([19.0]))
    result = weighted_mean(noise + spread.detectable_difference(level), np.full(20, 1 / 20))
    significant = Student(result.value, result.error, result.df).p_above() <= level / 2
    assert 0.77 <= significant.mean() <= 0.83


def sample_mean(x):
    n = len(x)
    return mean_difference((x, np.arange(n)), (np.zeros(n), np.arange(n)), paired=True)


def model_difference(scores, first, second):
    sides = [(scores.values[i], scores.clusters[i]) for i in (first, second)]
    return mean_difference(*sides, paired=scores.paired)


def johnson_by_hand(x, boundary):
    """Compute Johnson's t of method §4 in its own notation."""
    n, m, s = len(x), np.mean(x) - boundary, np.std(x, ddof=1)
    third = np.mean((x - np.mean(x)) ** 3)
    g = third / s**3
    m = min(m, 1.5 * s / abs(g)) if g < 0 else max(m, -1.5 * s / abs(g))
    return (m + third / (6 * s**2 * n) + third * m**2 / (3 * s**4)) * np.sqrt(n) / s


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("boundary", [-3.0, -0.4, 0.0, 0.5, 3.0])
def test_johnson_p_value_matches_the_formula(sign, boundary):
    x = sign * np.random.default_rng(0).lognormal(size=30)
    result = sample_mean(x)
    student = (x.mean() - boundary) / x.std(ddof=1) * np.sqrt(30)
    expected = t.sf(min(johnson_by_hand(x, boundary), student), 29)
    assert float(result.p_above(boundary)) == pytest.approx(expected, rel=1e-9)


def test_clusters_are_units():
    """Clusters with three copies of a score are equivalent to a single score."""
    rng = np.random.default_rng(2)
    table = rng.normal(size=(2, 20))
    once = model_difference(ClusteredScores.build(list(table)), 0, 1)
    thrice = model_difference(
        ClusteredScores.build(list(np.repeat(table, 3, axis=1)), [np.repeat(np.arange(20), 3)] * 2), 0, 1
    )
    for name in ("value", "error", "skewness", "df"):
        assert getattr(thrice, name) == pytest.approx(getattr(once, name))


def test_unequal_clusters_match_resampled_ratios():
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 9, 80)
    cluster = np.repeat(np.arange(80), sizes)
    values = rng.normal(size=80)[cluster] + rng.normal(size=cluster.size)
    result = mean_difference((values, cluster), (np.zeros(cluster.size), cluster), paired=True)
    sums = np.bincount(cluster, values)
    picks = rng.integers(0, 80, (20_000, 80))
    resampled = sums[picks].sum(axis=1) / sizes[picks].sum(axis=1)
    assert result.error == pytest.approx(resampled.std() * np.sqrt(80 / 79), rel=0.05)
    assert result.df == pytest.approx(sizes.sum() ** 2 / np.sum(sizes**2) - 1)
    mixed = rng.permutation(cluster.size)
    repeated = mean_difference(
        (values[mixed], cluster[mixed]), (np.zeros(mixed.size), cluster[mixed]), paired=True
    )
    assert repeated.error == pytest.approx(result.error)
    assert repeated.skewness == pytest.approx(result.skewness)


@pytest.mark.parametrize("skewness", [-2.0, -0.3, 0.0, 0.3, 2.0])
def test_johnson_t_is_monotone(skewness):
    z = np.linspace(-60, 60, 4001)
    assert np.all(np.diff(johnson_t(z, skewness)) >= 0)
    np.testing.assert_allclose(johnson_t(-z, -skewness), -johnson_t(z, skewness))


def test_constant_differences_have_the_p_value_of_all_signs():
    rng = np.random.default_rng(5)
    b = rng.normal(size=12)
    constant = model_difference(ClusteredScores.build([b + 0.1, b]), 0, 1)
    assert constant.error == 0
    assert constant.p_above() == 0.5**12
    assert constant.mirrored.p_above() == 1


def test_p_value_is_invariant_to_scale():
    x = np.random.default_rng(6).lognormal(size=20)
    plain, huge = sample_mean(x), sample_mean(x * 2.0**600)
    assert huge.p_above() == plain.p_above()
    assert huge.value == plain.value * 2.0**600


@pytest.mark.parametrize(("sigma", "n", "most"), [(1.0, 50, 0.07), (1.5, 200, 0.10)])
def test_losses_with_a_heavy_tail_at_the_boundary(sigma, n, most):
    """Scores are −lognormal as in method §4: error rates are .05 and .08 instead of .10 and .13, at .025."""
    rng = np.random.default_rng(7)
    boundary = -np.exp(sigma**2 / 2)
    result = [sample_mean(-rng.lognormal(0, sigma, n)).p_above(boundary) <= 0.025 for _ in range(1500)]
    assert np.mean(result) <= most + 2 * np.sqrt(most * (1 - most) / 1500)


def test_zero_skewness_matches_students_t():
    t = np.array([-1.0, 0.0, 2.5])
    assert p_above(t, np.zeros(3), 9) == pytest.approx(stats.t.sf(t, 9), rel=1e-12)
