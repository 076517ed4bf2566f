"""Degrees of freedom of suites compared with the formulas of method §8."""

import numpy as np
import pytest
from scipy.stats import rankdata

from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.numeric import Pool, relative_mid_ranks
from riskrank.engine.sampling.degrees_of_freedom import (
    Dof,
    expanded_p_value,
    satterthwaite,
    unexpanded_p_value,
)
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign

SIZES, WEIGHTS = np.array([4, 15, 30, 7]), np.array([0.4, 0.3, 0.2, 0.1])
task_of = np.repeat(np.arange(4), SIZES)


def table(k=3, seed=0, decimals=1):
    return np.round(
        np.random.default_rng(seed).normal([[0.3 * i] for i in range(k)], size=(k, task_of.size)), decimals
    )


def suite(values, *, random=False, paired=True):
    design = TaskDesign.build("abcd", [task_of] * len(values), weights=WEIGHTS, random=random)
    return ClusteredScores.build([*values], tasks=design, paired=paired)


def shares_of(values):
    """Return weighted mid-rank shares: the weight below each score plus half the weight of equal scores."""
    weight = np.tile((WEIGHTS / SIZES)[task_of], len(values)) / len(values)
    pooled = values.ravel()
    below = [weight[pooled < x].sum() + weight[pooled == x].sum() / 2 for x in pooled]
    return np.reshape(below, values.shape)


def by_hand(d):
    """Return V, df and the factor of method §8."""
    parts = [WEIGHTS[t] ** 2 * d[task_of == t].var(ddof=1) / SIZES[t] for t in range(4)]
    total = sum(parts)
    df = total**2 / sum(part**2 / (n - 1) for part, n in zip(parts, SIZES, strict=True))
    factor = sum(part * (n - 1) / n for part, n in zip(parts, SIZES, strict=True)) / total
    return df, factor


def test_weighted_shares_equal_mid_ranks_for_equal_weights():
    values = table()
    scores = ClusteredScores.build([*values])
    shares = relative_mid_ranks(scores.values[1], [Pool.from_scores(scores, range(3))])
    assert shares == pytest.approx(((rankdata(values) - 0.5) / values.size).reshape(3, -1)[1])


def test_freedom_against_its_definition():
    values = table()
    scores = suite(values)
    freedom, direct = pair_samples(scores), pair_samples(scores, [(0, 2)])
    assert isinstance(freedom, Dof)
    assert isinstance(direct, Dof)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        shares = shares_of(values[[i, j]])
        df, factor = by_hand(shares[0] - shares[1])
        assert freedom.df[i, j] == freedom.df[j, i] == pytest.approx(df)
        assert freedom.variance_ratio[i, j] == pytest.approx(factor)
    assert direct.df[0, 2] == freedom.df[0, 2]


def test_single_effective_task_has_the_freedom_of_its_samples():
    freedom = satterthwaite(np.array([0.0, 2.0, 0.0]), np.array([5.0, 12.0, 9.0]))
    assert freedom.df == pytest.approx(11)
    assert freedom.variance_ratio == pytest.approx(11 / 12)
    share = np.array([0.001, 0.01, 0.2])
    assert expanded_p_value(share, freedom) == pytest.approx(expanded_p_value(share, 12))
    assert unexpanded_p_value(expanded_p_value(share, freedom), freedom) == pytest.approx(share)


def test_freedom_is_between_the_smallest_task_and_the_sum():
    rng = np.random.default_rng(5)
    for _ in range(50):
        counts = rng.integers(2, 50, 6).astype(float)
        freedom = satterthwaite(rng.exponential(size=6), counts)
        assert counts.min() - 1 <= freedom.df + 1e-9
        assert freedom.df <= (counts - 1).sum() + 1e-9
    scaled = satterthwaite(np.array([3e-200, 1e-200]), np.array([5.0, 9.0]))
    assert scaled.df == pytest.approx(satterthwaite(np.array([3.0, 1.0]), np.array([5.0, 9.0])).df)


def test_identical_models_have_positive_freedom():
    scores = suite(np.tile(table(1), (2, 1)))
    freedom = pair_samples(scores)
    assert isinstance(freedom, Dof)
    assert 1 < freedom.df[0, 1] < task_of.size
    assert np.isfinite(freedom.df[0, 1])


def test_unpaired_models_have_the_smaller_freedom():
    values = table(2)
    freedom = pair_samples(suite(values, paired=False))
    shares = shares_of(values)
    assert isinstance(freedom, Dof)
    assert freedom.df[0, 1] == pytest.approx(min(by_hand(share)[0] for share in shares))


def test_resampled_tasks_are_counted_by_their_weights():
    size = fewest_samples(pair_samples(suite(table(2), random=True)))
    assert size == pytest.approx(1 / (WEIGHTS**2).sum())
