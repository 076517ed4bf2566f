import numpy as np
import pytest

from riskrank.engine.dominance.column_ranking import is_best_on_sample, per_sample_win_rate
from riskrank.engine.dominance.influence import violation_influence
from riskrank.engine.sampling.design import ClusteredScores, require_testable
from riskrank.errors import InputError
from tests.engine.dominance.helpers import replicate


def test_scores_are_grouped_by_sample_and_samples_renumbered():
    scores = ClusteredScores.build([[5.0, 1.0, 3.0], [2.0, 4.0]], [[9, 4, 9], [4, 9]])
    assert scores.clusters[0].tolist() == [0, 1, 1]
    assert scores.values[0].tolist() == [1.0, 5.0, 3.0]
    assert scores.cluster_counts == (2, 2)
    assert scores.scores_per_unit() is None
    assert [mean.tolist() for mean in scores.sample_means()] == [[1.0, 4.0], [2.0, 4.0]]


def test_equal_draws_are_recognised():
    scores = ClusteredScores.build([[1.0, 2, 3, 4]] * 2, [[0, 0, 1, 1]] * 2)
    assert scores.scores_per_unit() == 2
    assert scores.min_effective_size == 2


def test_smallest_model_determines_the_effective_size():
    assert ClusteredScores.build([[1.0] * 5, [1.0] * 8], paired=False).min_effective_size == 5


def test_ten_samples_are_required():
    require_testable(ClusteredScores.build([np.arange(10.0)] * 2))
    with pytest.raises(InputError, match="at least 10 samples"):
        require_testable(ClusteredScores.build([np.arange(9.0)] * 2))
    draws = np.repeat(np.arange(9), 20)
    with pytest.raises(InputError, match="at least 10 samples"):
        require_testable(ClusteredScores.build([np.arange(180.0)] * 2, [draws] * 2))


def test_effective_size_of_unequal_clusters():
    """Kish's effective size: the mean has the variance σ²/n of n equal clusters that are constant within."""
    sizes = np.array([1] * 20 + [40])
    cluster = np.repeat(np.arange(21), sizes)
    scores = ClusteredScores.build([np.arange(60.0)] * 2, [cluster] * 2)
    share = sizes / sizes.sum()
    assert scores.effective_sizes == pytest.approx([1 / np.sum(share**2)] * 2)
    assert scores.has_dominant_clusters
    with pytest.raises(InputError, match="at least 10 samples") as caught:
        require_testable(scores)
    assert "effective sample size 2" in caught.value.lines(flags=True)[1]


def test_effective_size_of_equal_clusters():
    draws = ClusteredScores.build([np.arange(60.0)] * 2, [np.repeat(np.arange(20), 3)] * 2)
    assert draws.effective_sizes.tolist() == [20.0, 20.0]
    assert not draws.has_dominant_clusters


def nested(**other):
    """Return two models on samples 5, 1, 7 (with two repeats) in the clusters 2, 1, 2."""
    options = {
        "values": [[10.0, 20.0, 31.0, 30.0], [11.0, 21.0, 30.0, 32.0]],
        "clusters": [[2, 1, 2, 2]] * 2,
        "samples": [[5, 1, 7, 7]] * 2,
    }
    return ClusteredScores.build(**(options | other))


def test_rows_are_grouped_by_cluster_and_then_by_sample():
    scores = nested()
    assert scores.values[0].tolist() == [20.0, 10.0, 31.0, 30.0]
    assert scores.clusters[0].tolist() == [0, 1, 1, 1]
    assert scores.samples[0].tolist() == [0, 1, 2, 2]
    assert scores.cluster_counts == (2, 2)
    assert scores.effective_sizes.tolist() == [1.6, 1.6]  # (1 + 3)² / (1 + 9)
    assert scores.min_effective_size == 1
    assert [mean.tolist() for mean in scores.sample_means()] == [[20.0, 10.0, 30.5], [21.0, 11.0, 31.0]]


def test_design_is_invariant_to_row_order():
    order = np.array([3, 1, 0, 2])
    shuffled = nested(
        values=[np.array([10.0, 20.0, 31.0, 30.0])[order], [11.0, 21.0, 30.0, 32.0]],
        clusters=[np.array([2, 1, 2, 2])[order], [2, 1, 2, 2]],
        samples=[np.array([5, 1, 7, 7])[order], [5, 1, 7, 7]],
    )
    assert np.array_equal(shuffled.samples, nested().samples)
    assert np.array_equal(shuffled.clusters, nested().clusters)
    assert np.array_equal(shuffled.sample_means(), nested().sample_means())


def test_single_sample_clusters_match_the_usual_design():
    rng = np.random.default_rng(0)
    values, sample = rng.normal(size=(3, 12)), [np.repeat(np.arange(6), 2)] * 3
    plain = ClusteredScores.build(values, sample)
    explicit = ClusteredScores.build(values, sample, samples=sample)
    assert not explicit.has_nested_samples
    for ours, theirs in zip(explicit.values + explicit.clusters, plain.values + plain.clusters, strict=True):
        assert ours.tobytes() == theirs.tobytes()


def test_unpaired_models_may_use_a_name_for_different_samples():
    scores = nested(clusters=[[2, 1, 2, 2], [2, 2, 2, 2]], paired=False)
    assert scores.cluster_counts == (2, 1)


def test_paired_models_need_the_same_samples_within_equal_clusters():
    with pytest.raises(InputError, match="same samples"):
        nested(samples=[[5, 1, 7, 7], [5, 1, 8, 8]])


def test_ten_clusters_are_required():
    cluster = np.repeat(np.arange(9), 20)
    scores = ClusteredScores.build([np.arange(180.0)] * 2, [cluster] * 2, samples=[np.arange(180)] * 2)
    with pytest.raises(InputError, match="10 clusters of samples"):
        require_testable(scores)


SIZES = np.array([1, 3, 2, 6, 1, 4, 2, 2, 5, 3, 1, 2, 4, 8, 2])
HOME = np.repeat(np.arange(SIZES.size), SIZES)


def win_statistics(design):
    """Return the best score and the share of beaten models per sample, shape (2, k, n)."""
    means = np.stack(design.sample_means())
    return np.stack([is_best_on_sample(means), per_sample_win_rate(means)])


def clustered(values, home=HOME, draws=1):
    sample = np.repeat(np.arange(home.size), draws)
    k = len(values)
    return ClusteredScores.build(list(values), [home[sample]] * k, samples=[sample] * k)


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(3, SIZES.size))[:, HOME] + 0.5 * rng.normal(size=(3, HOME.size))
    return clustered(z)


def test_clusters_of_copies_equal_their_sample():
    """Copies of a sample add no information: all statistics and resamples are those of the sample."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(4, 20))
    alone, copied = (
        ClusteredScores.build(list(scores)),
        clustered(np.repeat(scores, 5, axis=1), np.repeat(range(20), 5)),
    )
    assert copied.min_effective_size == alone.min_effective_size == 20
    result = [replicate(design, resamples=40, seed=3) for design in (alone, copied)]
    np.testing.assert_allclose(result[0].means, result[1].means)
    for order in (1, 2):
        errors = [violation_influence(design, order=order) for design in (alone, copied)]
        np.testing.assert_allclose(errors[0].ratio, errors[1].ratio, atol=1e-12)
        np.testing.assert_allclose(errors[0].ratio_error, errors[1].ratio_error, atol=1e-12)
        np.testing.assert_allclose(errors[0].relative_error, errors[1].relative_error, atol=1e-12)


def test_models_are_paired_by_sample_not_by_cluster(scores):
    by_sample = np.stack(scores.values)  # one draw a sample, in the order of the clusters
    assert np.array_equal(win_statistics(scores)[0], is_best_on_sample(by_sample))
    assert np.array_equal(win_statistics(scores)[1], per_sample_win_rate(by_sample))
    assert win_statistics(scores).shape == (2, 3, HOME.size)


def test_repeats_are_averaged_before_pairing():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(3, 2 * HOME.size))
    design = clustered(values, draws=2)
    by_sample = values.reshape(3, HOME.size, 2).mean(axis=2)
    np.testing.assert_allclose(np.stack(design.sample_means()), by_sample)
    assert np.array_equal(win_statistics(design)[0], is_best_on_sample(by_sample))


def spread(row_scores):
    """Return the standard error of a mean if clusters of rows are resampled as units, shape (...,)."""
    centred = row_scores - row_scores.mean(axis=-1, keepdims=True)
    totals = np.stack([centred[..., c == HOME].sum(axis=-1) for c in range(SIZES.size)], axis=-1)
    return np.sqrt((totals**2).sum(axis=-1)) / HOME.size


def test_resampled_means_have_the_variance_of_clusters(scores):
    result = replicate(scores, resamples=1500, seed=0).means
    # Means of ratios differ from their linearisation in second order only.
    row_scores = np.stack(scores.values)
    error = spread(row_scores)
    alone = row_scores.std(axis=-1) / np.sqrt(HOME.size)
    np.testing.assert_allclose(result.std(axis=0), error, rtol=0.15)
    np.testing.assert_allclose(result.mean(axis=0), row_scores.mean(axis=-1), atol=0.2 * error.max())
    assert np.mean(error / alone) > 1.3  # drawing samples one by one would claim less


def test_resamples_hold_entire_clusters():
    """Scores encode the number of their cluster, so means reveal the drawn clusters."""
    size = np.array([1, 2, 4])
    home = np.repeat(np.arange(3), size)
    value = np.array([1.0, 100.0, 10_000.0])[home]
    design = clustered([value, -value], home)
    result = replicate(design, resamples=60, seed=1)
    possible = set()
    for chosen in np.ndindex(3, 3, 3):
        rows = np.concatenate([value[c == home] for c in chosen])
        possible.add(round(float(rows.mean()), 6))
    assert {round(float(mean), 6) for mean in result.means[:, 0]} <= possible
    assert len({round(float(mean), 6) for mean in result.means[:, 0]}) > 5
