import numpy as np
import pytest

from riskrank.engine.dominance import bootstrap
from riskrank.engine.dominance.bootstrap import Bootstrap, BootstrapColumn
from riskrank.engine.dominance.ranking import tail_level
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK
from riskrank.engine.sampling.strata import TaskDesign
from tests.engine.dominance.helpers import replicate, violation_matrix


def test_cost_of_a_resample_by_hand():
    """The cost limits the number of resamples: pairs times scores per model, plus weighting if used."""
    values = [np.array([1.0, 1, 2, 2, 3, 4])] * 3
    plain = ClusteredScores.build(values)
    assert BootstrapColumn(plain).comparisons == 3 * 6
    assert BootstrapColumn(plain, pairs=((0, 1), (1, 0), (1, 2))).comparisons == 2 * 6
    tasks = TaskDesign.build("ab", [np.repeat([0, 1], 3)] * 3, weights=[2, 1])
    weighed = ClusteredScores.build(values, tasks=tasks)
    assert BootstrapColumn(weighed).comparisons == 4 * 3 * 4 + 4 * 18


def draws_of(seed, resamples):
    """Return the random streams of a bootstrap, one per block of replicates."""
    starts = range(0, resamples, BLOCK)
    for start, stream in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        rng = np.random.default_rng(stream)
        for _ in range(min(BLOCK, resamples - start)):
            yield rng


def brute_force(scores, *, resamples, seed):
    """Resample by loops over models and samples, and recompute all statistics."""
    ratios, means, tails = [], [], []
    for rng in draws_of(seed, resamples):
        counts = scores.cluster_counts
        shared = rng.integers(0, counts[0], counts[0]) if scores.paired else None
        models = []
        for value, cluster, count in zip(scores.values, scores.clusters, counts, strict=True):
            picks = shared if scores.paired else rng.integers(0, count, count)
            models.append(np.concatenate([value[cluster == pick] for pick in picks]))
        ratios.append([violation_matrix(models, order=order) for order in (1, 2)])
        means.append([model.mean() for model in models])
        level = max(0.05, 5 / min(counts))
        tails.append([tail_value_at_risk(model, level) for model in models])
    return np.array(ratios), np.array(means), np.array(tails)


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
    questions = np.arange(20)
    yield (
        "samples within clusters",
        ClusteredScores.build(list(table), [questions // 3] * 3, samples=[questions] * 3),
    )
    yield (
        "unpaired, equal draws of unequal numbers of samples",
        ClusteredScores.build(
            [table[0], table[1][:14]], [np.arange(20) // 2, np.arange(14) // 2], paired=False
        ),
    )


BATCHES = [(at, 60) for at in range(7)] + [(0, 1), (6, 1), (4, 1 << 16)]


@pytest.mark.parametrize(("at", "batch"), BATCHES)
def test_replicates_against_plain_resampling(at, batch, monkeypatch):
    scores = [scores for _, scores in designs()][at]
    monkeypatch.setattr(bootstrap, "_BATCH", batch)
    thresholds = (0.2, 0.5, 0.7)
    replicates = replicate(scores, resamples=30, seed=7, thresholds=thresholds)
    ratios, means, tails = brute_force(scores, resamples=30, seed=7)
    np.testing.assert_allclose(replicates.overall, one_versus_all(ratios), atol=1e-11)
    np.testing.assert_allclose(replicates.means, means, atol=1e-12)
    np.testing.assert_allclose(replicates.tails, tails, atol=1e-12)
    assert replicates.tail_level == tail_level(scores)
    np.testing.assert_allclose(replicates.ratio_error, ratios.std(axis=0, ddof=1), atol=1e-10)
    for t, threshold in enumerate(thresholds):
        # Ratios equal to the threshold up to rounding may be on either side of it.
        least, most = ((ratios >= threshold + side).sum(axis=0) for side in (1e-12, -1e-12))
        assert (least <= replicates.crossings[t]).all()
        assert (replicates.crossings[t] <= most).all()
        np.testing.assert_array_equal(replicates.crossing_counts(1, threshold), replicates.crossings[t, 0])


def test_selected_pairs_and_order_match_the_full_result():
    scores = ClusteredScores.build(list(np.random.default_rng(0).normal(size=(6, 40))))
    full = replicate(scores, resamples=50, seed=1, thresholds=(0.4,))
    pairs = ((4, 1), (0, 5), (0, 2), (1, 4))
    resampling = Bootstrap([BootstrapColumn(scores, (2,), (0.4,), pairs)], seed=1)
    part = resampling.extend({0: 50})[0]
    for i, j in pairs:
        assert part.crossing_counts(2, 0.4)[i, j] == full.crossing_counts(2, 0.4)[i, j]
        assert part.crossing_counts(2, 0.4)[j, i] == full.crossing_counts(2, 0.4)[j, i]
        assert part.ratio_error[0, i, j] == full.ratio_error[1, i, j]
    np.testing.assert_array_equal(part.means, full.means)
    assert part.overall is None


def equal(result, expected, first=None):
    for name in ("overall", "means", "tails"):
        np.testing.assert_array_equal(getattr(result, name), getattr(expected, name)[:first], err_msg=name)
    if first is None:
        np.testing.assert_array_equal(result.crossings, expected.crossings)
        np.testing.assert_array_equal(result.ratio_error, expected.ratio_error)


@pytest.mark.parametrize("size", [400, *(pytest.param(size, marks=pytest.mark.slow) for size in (12, 40))])
def test_results_do_not_depend_on_the_number_of_processes(monkeypatch, size):
    monkeypatch.setattr(bootstrap, "_PROCESS_THRESHOLD", 0)
    monkeypatch.setattr(bootstrap, "_TASK", 3000)
    scores = ClusteredScores.build(list(np.random.default_rng(0).normal(size=(3, size))))
    equal(*(replicate(scores, resamples=110, seed=3, jobs=jobs) for jobs in (1, 2)))


@pytest.mark.parametrize(("name", "scores"), list(designs()), ids=[name for name, _ in designs()])
def test_a_later_round_continues_the_first(name, scores):
    """The replicates are identical bytes for any batch size."""
    resampling = Bootstrap([BootstrapColumn(scores)], seed=3)
    first = resampling.extend({0: 2 * BLOCK})[0]
    second = resampling.extend({0: 5 * BLOCK + 7})[0]
    equal(first, second, 2 * BLOCK)
    alone = replicate(scores, resamples=5 * BLOCK + 7, seed=3)
    equal(second, alone, 5 * BLOCK + 7)
    np.testing.assert_array_equal(second.crossings, alone.crossings)
    np.testing.assert_allclose(second.ratio_error, alone.ratio_error, rtol=1e-12)
    equal(replicate(scores, resamples=2 * BLOCK, seed=3), first)


def test_long_samples_continue_byte_for_byte_too():
    scores = ClusteredScores.build(list(np.random.default_rng(0).normal(size=(3, 9001))))
    equal(replicate(scores, resamples=3, seed=0), replicate(scores, resamples=7, seed=0), 3)


def test_columns_of_different_totals_share_the_streams():
    rng = np.random.default_rng(0)
    scores_1, scores_2 = (ClusteredScores.build(list(rng.normal(size=(3, 20)))) for _ in range(2))
    resampling = Bootstrap([BootstrapColumn(scores_1), BootstrapColumn(scores_2)], seed=5)
    resampling.extend({0: 50, 1: 50})
    replicates = resampling.extend({1: 100})
    assert list(replicates) == [1]
    equal(replicate(scores_2, resamples=50, seed=5), replicates[1], 50)
    assert replicates[1].count == 100


def test_seeds_differ_and_repeat():
    scores = ClusteredScores.build(list(np.random.default_rng(0).normal(size=(2, 30))))
    first, repeated, other = (replicate(scores, resamples=5, seed=seed).means for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, repeated)
    assert not np.array_equal(first, other)


def test_the_spread_of_a_mean_agrees_with_its_standard_error():
    scores = ClusteredScores.build(list(np.random.default_rng(5).normal(size=(2, 400))))
    means = replicate(scores, resamples=800, seed=0).means
    expected = [value.std() / np.sqrt(400) for value in scores.values]
    np.testing.assert_allclose(means.std(axis=0), expected, rtol=0.1)


def test_resampling_clusters_widens_the_spread():
    rng = np.random.default_rng(2)
    level = rng.normal(size=(2, 50, 1)) + 0.1 * rng.normal(size=(2, 50, 8))
    cluster = np.repeat(np.arange(50), 8)
    scores = ClusteredScores.build([model.ravel() for model in level], [cluster] * 2)
    spread = replicate(scores, resamples=400, seed=0).means.std(axis=0)
    np.testing.assert_allclose(spread, level.mean(axis=2).std(axis=1) / np.sqrt(50), rtol=0.15)


def test_progress_reaches_the_total(monkeypatch):
    seen = []
    scores = ClusteredScores.build(list(np.random.default_rng(0).normal(size=(2, 20))))
    replicate(scores, resamples=60, seed=0, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(60, 60)]
    monkeypatch.setattr(bootstrap, "_TASK", 1)
    seen.clear()
    resampling = Bootstrap(
        [BootstrapColumn(scores)], seed=0, progress=lambda done, total: seen.append((done, total))
    )
    resampling.extend({0: 50})
    resampling.extend({0: 100})
    assert seen == [(25, 50), (50, 50), (75, 100), (100, 100)]
