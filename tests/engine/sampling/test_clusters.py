"""Samples that belong together are drawn together by all that draws: bootstrap and influence functions."""

import numpy as np
import pytest

from riskrank.engine.dominance.column_ranking import beaten_on_sample, best_on_sample
from riskrank.engine.dominance.influence import influence_of_violation
from riskrank.engine.sampling.design import ClusteredScores
from tests.engine.dominance.helpers import replicate

SIZES = np.array([1, 3, 2, 6, 1, 4, 2, 2, 5, 3, 1, 2, 4, 8, 2])
HOME = np.repeat(np.arange(SIZES.size), SIZES)


def win_statistics(design):
    """Best of all and share of others beaten, per sample: shape (2, k, n)."""
    means = np.stack(design.sample_means())
    return np.stack([best_on_sample(means), beaten_on_sample(means)])


def clustered(values, home=HOME, draws=1):
    sample = np.repeat(np.arange(home.size), draws)
    k = len(values)
    return ClusteredScores.build(list(values), [home[sample]] * k, samples=[sample] * k)


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(3, SIZES.size))[:, HOME] + 0.5 * rng.normal(size=(3, HOME.size))
    return clustered(z)


def test_clusters_of_equal_samples_are_as_good_as_one_of_them():
    """Copies of a sample tell nothing new: every statistic and every resample is that of the sample alone."""
    rng = np.random.default_rng(1)
    one = rng.normal(size=(4, 20))
    alone, copied = (
        ClusteredScores.build(list(one)),
        clustered(np.repeat(one, 5, axis=1), np.repeat(range(20), 5)),
    )
    assert copied.effective_size == alone.effective_size == 20
    found = [replicate(design, resamples=40, seed=3) for design in (alone, copied)]
    np.testing.assert_allclose(found[0].means, found[1].means)
    for order in (1, 2):
        errors = [influence_of_violation(design, order=order) for design in (alone, copied)]
        np.testing.assert_allclose(errors[0].ratio, errors[1].ratio, atol=1e-12)
        np.testing.assert_allclose(errors[0].ratio_error, errors[1].ratio_error, atol=1e-12)
        np.testing.assert_allclose(errors[0].relative_error, errors[1].relative_error, atol=1e-12)


def test_models_meet_on_samples_not_on_clusters(scores):
    by_sample = np.stack(scores.values)  # one draw a sample, in the order of the clusters
    assert np.array_equal(win_statistics(scores)[0], best_on_sample(by_sample))
    assert np.array_equal(win_statistics(scores)[1], beaten_on_sample(by_sample))
    assert win_statistics(scores).shape == (2, 3, HOME.size)


def test_draws_of_a_sample_are_averaged_before_models_meet():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(3, 2 * HOME.size))
    design = clustered(values, draws=2)
    by_sample = values.reshape(3, HOME.size, 2).mean(axis=2)
    np.testing.assert_allclose(np.stack(design.sample_means()), by_sample)
    assert np.array_equal(win_statistics(design)[0], best_on_sample(by_sample))


def spread(per_row):
    """Standard error of a mean over the rows of clusters that are drawn whole, shape (...,)."""
    centred = per_row - per_row.mean(axis=-1, keepdims=True)
    totals = np.stack([centred[..., c == HOME].sum(axis=-1) for c in range(SIZES.size)], axis=-1)
    return np.sqrt((totals**2).sum(axis=-1)) / HOME.size


def test_resampled_means_spread_as_clusters_do(scores):
    found = replicate(scores, resamples=1500, seed=0).means
    # Means of ratios differ from their linear part in second order only.
    per_row = np.stack(scores.values)
    error = spread(per_row)
    alone = per_row.std(axis=-1) / np.sqrt(HOME.size)
    np.testing.assert_allclose(found.std(axis=0), error, rtol=0.15)
    np.testing.assert_allclose(found.mean(axis=0), per_row.mean(axis=-1), atol=0.2 * error.max())
    assert np.mean(error / alone) > 1.3  # drawing samples one by one would claim less


def test_every_resample_holds_whole_clusters():
    """The number of each cluster in its scores tells which clusters a mean was taken over."""
    size = np.array([1, 2, 4])
    home = np.repeat(np.arange(3), size)
    value = np.array([1.0, 100.0, 10_000.0])[home]
    design = clustered([value, -value], home)
    found = replicate(design, resamples=60, seed=1)
    possible = set()
    for chosen in np.ndindex(3, 3, 3):
        rows = np.concatenate([value[c == home] for c in chosen])
        possible.add(round(float(rows.mean()), 6))
    assert {round(float(mean), 6) for mean in found.means[:, 0]} <= possible
    assert len({round(float(mean), 6) for mean in found.means[:, 0]}) > 5
