import numpy as np
import pytest

from riskrank.engine.dominance.bootstrap import replicate
from riskrank.engine.dominance.violation import violation_matrix
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK


def draws_of(seed, resamples):
    """Streams of a bootstrap, written out: one a block of replicates."""
    starts = range(0, resamples, BLOCK)
    for start, stream in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        rng = np.random.default_rng(stream)
        for _ in range(min(BLOCK, resamples - start)):
            yield rng


def brute_force(scores, *, resamples, seed, per_sample=None):
    """Resample plainly, model by model and sample by sample, and recompute everything."""
    ratios, means, rates = [], [], []
    for rng in draws_of(seed, resamples):
        counts = scores.cluster_counts
        shared = rng.integers(0, counts[0], counts[0]) if scores.paired else None
        models, chosen = [], []
        for value, cluster, count in zip(scores.values, scores.clusters, counts, strict=True):
            picks = shared if scores.paired else rng.integers(0, count, count)
            models.append(np.concatenate([value[cluster == pick] for pick in picks]))
            chosen.append(picks)
        ratios.append([violation_matrix(models, order=order) for order in (1, 2)])
        means.append([model.mean() for model in models])
        if per_sample is not None:
            rates.append(per_sample[:, :, chosen[0]].mean(axis=2))
    return np.array(ratios), np.array(means), np.array(rates)


def designs():
    rng = np.random.default_rng(0)
    table = np.round(rng.normal(size=(3, 20)), 1)
    yield "paired", ClusteredScores.build(list(table))
    yield "unpaired, equal sizes", ClusteredScores.build(list(table), paired=False)
    yield (
        "unpaired, unequal sizes",
        ClusteredScores.build([table[0], table[1][:13], table[2][:17]], paired=False),
    )
    yield (
        "equal draws",
        ClusteredScores.build(list(np.round(rng.normal(size=(3, 20)), 1)), [np.repeat(range(10), 2)] * 3),
    )
    uneven = [np.sort(np.r_[np.arange(8), rng.integers(0, 8, 12)]) for _ in range(3)]
    yield "uneven draws", ClusteredScores.build(list(table), uneven)


@pytest.mark.parametrize(("name", "scores"), list(designs()), ids=[name for name, _ in designs()])
def test_replicates_against_plain_resampling(name, scores):
    per_sample = None
    if scores.paired:
        per_sample = np.random.default_rng(1).random((2, 3, scores.cluster_counts[0]))
    found = replicate(scores, resamples=30, seed=7, per_sample=per_sample)
    ratios, means, rates = brute_force(scores, resamples=30, seed=7, per_sample=per_sample)
    np.testing.assert_allclose(found.ratios, ratios, atol=1e-11)
    np.testing.assert_allclose(found.means, means, atol=1e-12)
    if per_sample is not None:
        np.testing.assert_allclose(found.rates, rates, atol=1e-12)


def test_results_do_not_depend_on_the_number_of_processes(monkeypatch):
    monkeypatch.setattr("riskrank.engine.dominance.bootstrap._WORTH_A_PROCESS", 0)
    scores = ClusteredScores.build(list(np.random.default_rng(0).normal(size=(3, 40))))
    one = replicate(scores, resamples=60, seed=3, jobs=1)
    two = replicate(scores, resamples=60, seed=3, jobs=2)
    np.testing.assert_array_equal(one.ratios, two.ratios)
    np.testing.assert_array_equal(one.means, two.means)


def test_more_resamples_continue_the_same_blocks():
    scores = ClusteredScores.build(list(np.random.default_rng(0).normal(size=(2, 30))))
    few, many = (replicate(scores, resamples=count, seed=3) for count in (BLOCK, 3 * BLOCK))
    np.testing.assert_array_equal(few.ratios, many.ratios[:BLOCK])


def test_seeds_differ_and_repeat():
    scores = ClusteredScores.build(list(np.random.default_rng(0).normal(size=(2, 30))))
    first, again, other = (replicate(scores, resamples=5, seed=seed).means for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_spread_of_a_mean_agrees_with_its_standard_error():
    scores = ClusteredScores.build(list(np.random.default_rng(5).normal(size=(2, 400))))
    means = replicate(scores, resamples=800, seed=0).means
    expected = [value.std() / np.sqrt(400) for value in scores.values]
    np.testing.assert_allclose(means.std(axis=0), expected, rtol=0.1)


def test_resampling_whole_clusters_widens_the_spread():
    rng = np.random.default_rng(2)
    level = rng.normal(size=(2, 50, 1)) + 0.1 * rng.normal(size=(2, 50, 8))
    cluster = np.repeat(np.arange(50), 8)
    scores = ClusteredScores.build([model.ravel() for model in level], [cluster] * 2)
    spread = replicate(scores, resamples=400, seed=0).means.std(axis=0)
    np.testing.assert_allclose(spread, level.mean(axis=2).std(axis=1) / np.sqrt(50), rtol=0.15)


def test_progress_ends_at_the_total():
    seen = []
    scores = ClusteredScores.build(list(np.random.default_rng(0).normal(size=(2, 20))))
    replicate(scores, resamples=60, seed=0, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(25, 60), (50, 60), (60, 60)]
