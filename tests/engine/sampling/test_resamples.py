"""Resamples: complete samples, shared by paired models, identical for any batch size."""

import numpy as np
import pytest

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK, Scratch, batches, draw_resamples, make_blocks
from riskrank.engine.sampling.weighted_resamples import WeightedDesign


def coded_scores(counts, draws, *, paired):
    """Return scores that encode model, sample and repeat: 100 000 model + 10 sample + repeat."""
    values, clusters = [], []
    for model, count in enumerate(counts):
        samples = np.repeat(np.arange(count), [draws(model, sample) for sample in range(count)])
        first = np.searchsorted(samples, samples)
        values.append(100_000.0 * model + 10 * samples + (np.arange(len(samples)) - first))
        clusters.append(samples)
    return ClusteredScores.build(values, clusters, paired=paired)


def collect_resamples(scores, count, seed, size):
    """Return all resamples, each as (drawn samples by model, sorted scores by model)."""
    parts = [draw_resamples(scores, block.generator(), block.count) for block in make_blocks(count, seed)]
    chosen = [np.concatenate(part) for part in zip(*parts, strict=True)]
    chosen *= scores.models if scores.paired else 1
    ordered = [
        [rows[b].copy() for rows in batch]
        for batch in batches(scores, make_blocks(count, seed), size=size)
        for b in range(len(batch[0]))
    ]
    return [([picks[at] for picks in chosen], rows) for at, rows in enumerate(ordered)]


DESIGNS = {
    "paired": (coded_scores([12, 12], lambda m, s: 1, paired=True), True),
    "paired draws": (coded_scores([12, 12], lambda m, s: 3, paired=True), True),
    "unpaired": (coded_scores([12, 12], lambda m, s: 1, paired=False), False),
    "unpaired sizes": (coded_scores([7, 12, 10], lambda m, s: 2, paired=False), False),
    "unpaired draws": (coded_scores([8, 8], lambda m, s: 1 + m, paired=False), False),
    "many": (coded_scores([300, 300], lambda m, s: 1, paired=True), True),
    "many, unpaired": (coded_scores([300, 300, 300], lambda m, s: 1, paired=False), False),
    "many, unpaired sizes": (coded_scores([300, 256, 310], lambda m, s: 1, paired=False), False),
    "many, the first with draws": (coded_scores([150, 300], lambda m, s: 2 - m, paired=False), False),
    "one sample": (coded_scores([1, 1], lambda m, s: 3, paired=False), None),
}
UNEVEN = {
    "paired, as many draws as it comes": coded_scores([9, 9], lambda m, s: 1 + (s + m) % 3, paired=True),
    "unpaired, everything varies": coded_scores([7, 11], lambda m, s: 1 + s % 2, paired=False),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_resample_keeps_entire_samples(name):
    scores, paired = DESIGNS[name]
    for chosen, ordered in collect_resamples(scores, 30, 1, size=8):
        for model, (picks, rows) in enumerate(zip(chosen, ordered, strict=True)):
            assert len(picks) == scores.cluster_counts[model]
            assert (np.diff(rows) >= 0).all()
            values, cluster = scores.values[model], scores.clusters[model]
            expected = np.sort(np.concatenate([values[cluster == sample] for sample in picks]))
            assert rows.tolist() == expected.tolist()
        same = all(np.array_equal(chosen[0], picks) for picks in chosen)
        assert paired is None or same == paired


@pytest.mark.parametrize("name", DESIGNS)
def test_resamples_are_invariant_to_batches_and_parts(name):
    scores, _ = DESIGNS[name]
    full = collect_resamples(scores, 2 * BLOCK + 3, 5, size=1)
    assert len(full) == 2 * BLOCK + 3
    for size in (2, BLOCK, 1000):
        for (_, first), (_, second) in zip(
            full, collect_resamples(scores, 2 * BLOCK + 3, 5, size=size), strict=True
        ):
            assert [rows.tolist() for rows in first] == [rows.tolist() for rows in second]
    parts = [
        [rows[b].copy() for rows in batch]
        for block in make_blocks(2 * BLOCK + 3, 5)
        for batch in batches(scores, [block], size=7)
        for b in range(len(batch[0]))
    ]
    assert [[rows.tolist() for rows in first] for _, first in full] == [
        [rows.tolist() for rows in first] for first in parts
    ]


def test_block_sizes():
    cuts = {
        count: [block.count for block in make_blocks(count, 0)] for count in (0, BLOCK - 1, BLOCK, BLOCK + 1)
    }
    assert cuts == {0: [], BLOCK - 1: [BLOCK - 1], BLOCK: [BLOCK], BLOCK + 1: [BLOCK, 1]}


def test_samples_are_resampled_uniformly():
    scores = coded_scores([5, 5], lambda m, s: 1, paired=False)
    counts = np.zeros((2, 5))
    for chosen, _ in collect_resamples(scores, 2000, 3, size=500):
        for model, picks in enumerate(chosen):
            counts[model] += np.bincount(picks, minlength=5)
    # 10 000 draws a model: a sample's count has a standard deviation of 40.
    assert counts == pytest.approx(2000, abs=5 * 40)
    assert not np.array_equal(counts[0], counts[1])


def test_tied_scores():
    """Drawing and sorting positions gives the same result as sorting the scores."""
    values = np.random.default_rng(2).normal(size=(3, 257)).round(1)
    for chosen, rows in collect_resamples(ClusteredScores.build(list(values)), BLOCK + 2, 4, size=10):
        for value, picks, row in zip(values, chosen, rows, strict=True):
            np.testing.assert_array_equal(row, np.sort(value[picks]))


@pytest.mark.parametrize("name", UNEVEN)
def test_units_of_unequal_size_are_weighted(name):
    """Each score of a unit is weighted by the number of times the unit is drawn."""
    scores, count = UNEVEN[name], BLOCK + 2
    assert not scores.balanced
    design, result = WeightedDesign(scores), []
    for part in design.batches(make_blocks(count, 3), size=8):
        result += [[model_rows[row] for model_rows in part] for row in range(len(part[0]))]
    picks = [
        [rows[b] for rows in model_rows]
        for block in make_blocks(count, 3)
        for model_rows in [draw_resamples(scores, block.generator(), block.count)]
        for b in range(block.count)
    ]
    for cumulated, chosen in zip(result, picks, strict=True):
        for model, bounds in enumerate(cumulated):
            unit_counts = np.bincount(chosen[0 if scores.paired else model])
            times = np.pad(unit_counts, (0, scores.cluster_counts[model] - len(unit_counts)))
            weights = times[scores.clusters[model]] / times[scores.clusters[model]].sum()
            order = np.argsort(scores.values[model])
            np.testing.assert_allclose(np.diff(bounds, prepend=0) / 2.0**61, weights[order], atol=1e-15)


def test_equal_sizes_give_a_matrix_and_unequal_a_list():
    for name in DESIGNS:
        scores, _ = DESIGNS[name]
        (batch,) = batches(scores, make_blocks(1, 0), size=1)
        draws = {tuple(np.bincount(cluster)) for cluster in scores.clusters}
        even = len(draws) == 1 and len(set(*draws)) == 1
        assert isinstance(batch, np.ndarray) == even
        assert len(batch) == scores.models


@pytest.mark.parametrize(("size", "parts"), [(1, [1] * 7), (3, [3, 3, 1]), (7, [7]), (8, [7])])
def test_batch_size_is_limited(size, parts):
    even = DESIGNS["paired draws"][0]
    assert [len(batch[0]) for batch in batches(even, make_blocks(7, 0), size=size)] == parts


@pytest.mark.parametrize("counts", [[4, 4], [4, 5]])
def test_draws_of_unpaired_models_are_independent(counts):
    """Two models draw the same first sample with the probability of independent draws."""
    scores = coded_scores(counts, lambda m, s: 1, paired=False)
    replicates = collect_resamples(scores, 4000, 6, size=500)
    for place in (0, 3):
        first = np.array([[picks[place] for picks in chosen] for chosen, _ in replicates])
        together = np.zeros(counts)
        np.add.at(together, tuple(first.T), 1)
        share = 1 / np.prod(counts)
        assert together / 4000 == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 4000))


def test_seed_changes_the_resamples():
    scores, _ = DESIGNS["paired"]
    first, second = (collect_resamples(scores, BLOCK, seed, size=BLOCK) for seed in (1, 2))
    assert not any(np.array_equal(a[0], b[0]) for (a, _), (b, _) in zip(first, second, strict=True))


@pytest.mark.parametrize("resamples", [1, 24, 25, 26, 1000, 1013])
def test_blocks_use_spawned_seed_sequences(resamples):
    result = make_blocks(resamples, 7)
    children = np.random.SeedSequence(7).spawn(len(result))
    for block, child in zip(result, children, strict=True):
        assert block.generator().random() == np.random.default_rng(child).random()
    assert sum(block.count for block in result) == resamples
    assert all(block.count == BLOCK for block in result[:-1])
    assert make_blocks(resamples + BLOCK, 7)[: len(result) - 1] == result[:-1]


def test_scratch_array_lasts_until_its_name_is_reused():
    scratch = Scratch()
    first, other = scratch.floats("a", 2, 3), scratch.floats("b", 6)
    first[:], other[:] = 1.0, 2.0
    assert np.array_equal(first, np.ones((2, 3)))
    assert np.shares_memory(scratch.floats("a", 5), first)
    assert scratch.floats("a", 4, 4).shape == (4, 4)
    assert np.array_equal(other, np.full(6, 2.0))


def test_scratch_arrays_have_their_dtype():
    scratch = Scratch()
    assert scratch.integers("a", 2).dtype == np.int64
    assert scratch.floats("b", 2).dtype == np.float64
    assert scratch.arange(3).tolist() == [0, 1, 2]
    assert scratch.arange(2).tolist() == [0, 1]
