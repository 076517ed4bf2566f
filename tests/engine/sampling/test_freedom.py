"""Degrees of freedom and expanded percentiles, compared with SciPy's t and plain sums."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.sampling.degrees_of_freedom import (
    Dof,
    expanded_interval,
    expanded_p_value,
    kish_size,
    minimum_df,
    satterthwaite,
    unexpanded_p_value,
)

SHARES = np.array([1e-9, 0.001, 0.03, 0.4, 0.9])


@pytest.mark.parametrize("n", [2, 7, 40.5, np.array([2, 3, 10, 50, 4000])])
def test_expanded_p_value_matches_students_t(n):
    expected = stats.t.cdf(np.sqrt((n - 1) / n) * stats.norm.ppf(SHARES), n - 1)
    dof = Dof(np.asarray(n) - 1.0, (np.asarray(n) - 1) / n)
    for degrees in (n, dof):
        result = expanded_p_value(SHARES, degrees)
        assert result == pytest.approx(expected, rel=1e-9)
        assert unexpanded_p_value(result, degrees) == pytest.approx(SHARES, rel=1e-6)
    assert expanded_p_value(1.0, n) == pytest.approx(1.0)


@pytest.mark.parametrize("n", [6, np.array([6, 15, 6]), Dof(np.array([5.0, 9.0, 5.0]), np.full(3, 0.8))])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_expanded_interval_is_a_wider_percentile_interval(n, level):
    replicates = np.random.default_rng(0).normal(size=(500, 3))
    for column, interval in enumerate(np.transpose(expanded_interval(replicates, n, level=level))):
        size = n if np.ndim(n) == 0 and not isinstance(n, Dof) else n[column]
        share = float(unexpanded_p_value((1 - level) / 2, size))
        assert share < (1 - level) / 2
        assert interval == pytest.approx(np.quantile(replicates[:, column], [share, 1 - share]))


def test_degrees_of_freedom_match_welch():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=8), 3 * rng.normal(size=21)
    counts = np.array([8, 21])
    variances = np.array([first.var(ddof=1) / 8, second.var(ddof=1) / 21])
    result = satterthwaite(variances[None], counts)
    assert result.df[0] == pytest.approx(stats.ttest_ind(first, second, equal_var=False).df)
    biased = first.var() / 8 + second.var() / 21
    assert result.variance_ratio[0] == pytest.approx(biased / variances.sum())
    none = satterthwaite(np.zeros((1, 2)), counts)
    assert none.df[0] == pytest.approx(satterthwaite(1 / counts[None], counts).df[0])
    # A stratum with one sample has no variance estimate, and contributes nothing.
    assert satterthwaite(np.array([2.0, 0.0]), np.array([9, 1])).df == pytest.approx(8)
    fewer = minimum_df(result, Dof(np.array([7.5]), np.array([0.5])))
    assert (fewer.df[0], fewer.variance_ratio[0]) == (
        (7.5, 0.5) if result.df[0] > 7.5 else (result.df[0], result.variance_ratio[0])
    )


def test_unequal_clusters_reduce_the_effective_size():
    assert kish_size(np.repeat(np.arange(5), 3)) == 5
    assert kish_size(np.repeat([0, 1, 2], [1, 2, 3])) == pytest.approx(36 / 14)
