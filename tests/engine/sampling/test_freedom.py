"""Degrees of freedom and expanded percentiles, against SciPy's t and sums written plainly."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.sampling.degrees_of_freedom import (
    Freedom,
    expanded_interval,
    expanded_p_value,
    expanded_share,
    kish,
    satterthwaite,
    smallest,
)

SHARES = np.array([1e-9, 0.001, 0.03, 0.4, 0.9])


@pytest.mark.parametrize("n", [2, 7, 40.5, np.array([2, 3, 10, 50, 4000])])
def test_an_expanded_p_value_is_that_of_t_and_a_share_its_inverse(n):
    expected = stats.t.cdf(np.sqrt((n - 1) / n) * stats.norm.ppf(SHARES), n - 1)
    known = Freedom(np.asarray(n) - 1.0, (np.asarray(n) - 1) / n)
    for behind in (n, known):
        found = expanded_p_value(SHARES, behind)
        assert found == pytest.approx(expected, rel=1e-9)
        assert expanded_share(found, behind) == pytest.approx(SHARES, rel=1e-6)
    assert expanded_p_value(1.0, n) == pytest.approx(1.0)


@pytest.mark.parametrize("n", [6, np.array([6, 15, 6]), Freedom(np.array([5.0, 9.0, 5.0]), np.full(3, 0.8))])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_an_expanded_interval_is_a_wider_percentile_of_each_column(n, level):
    replicates = np.random.default_rng(0).normal(size=(500, 3))
    for column, ends in enumerate(np.transpose(expanded_interval(replicates, n, level=level))):
        own = n if np.ndim(n) == 0 and not isinstance(n, Freedom) else n[column]
        share = float(expanded_share((1 - level) / 2, own))
        assert share < (1 - level) / 2
        assert ends == pytest.approx(np.quantile(replicates[:, column], [share, 1 - share]))


def test_freedom_of_a_sum_is_that_of_welch():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=8), 3 * rng.normal(size=21)
    counts = np.array([8, 21])
    variances = np.array([first.var(ddof=1) / 8, second.var(ddof=1) / 21])
    found = satterthwaite(variances[None], counts)
    assert found.df[0] == pytest.approx(stats.ttest_ind(first, second, equal_var=False).df)
    biased = first.var() / 8 + second.var() / 21
    assert found.seen[0] == pytest.approx(biased / variances.sum())
    none = satterthwaite(np.zeros((1, 2)), counts)
    assert none.df[0] == pytest.approx(satterthwaite(1 / counts[None], counts).df[0])
    # A part of one sample has no variance, and takes nothing away.
    assert satterthwaite(np.array([2.0, 0.0]), np.array([9, 1])).df == pytest.approx(8)
    fewer = smallest(found, Freedom(np.array([7.5]), np.array([0.5])))
    assert (fewer.df[0], fewer.seen[0]) == ((7.5, 0.5) if found.df[0] > 7.5 else (found.df[0], found.seen[0]))


def test_clusters_of_unequal_size_tell_as_much_as_fewer_equal_ones():
    assert kish(np.repeat(np.arange(5), 3)) == 5
    assert kish(np.repeat([0, 1, 2], [1, 2, 3])) == pytest.approx(36 / 14)
