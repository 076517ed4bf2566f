"""Resamples: whole samples, shared where paired, the same numbers however they are cut."""

import numpy as np
import pytest

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK, Scratch, batches, blocks, chosen_many
from riskrank.engine.sampling.weighted_resamples import WeightedDesign


def coded(counts, draws, *, paired):
    """Scores that tell model, sample and draw: 100 000 model + 10 sample + draw; ``draws`` by sample."""
    values, clusters = [], []
    for model, count in enumerate(counts):
        samples = np.repeat(np.arange(count), [draws(model, sample) for sample in range(count)])
        first = np.searchsorted(samples, samples)
        values.append(100_000.0 * model + 10 * samples + (np.arange(len(samples)) - first))
        clusters.append(samples)
    return ClusteredScores.build(values, clusters, paired=paired)


def drawn(scores, count, seed, size):
    """All resamples, each as (chosen by model, sorted scores by model)."""
    parts = [chosen_many(scores, block.generator(), block.count) for block in blocks(count, seed)]
    chosen = [np.concatenate(part) for part in zip(*parts, strict=True)]
    chosen *= scores.models if scores.paired else 1
    ordered = [
        [rows[b].copy() for rows in batch]
        for batch in batches(scores, blocks(count, seed), size=size)
        for b in range(len(batch[0]))
    ]
    return [([own[at] for own in chosen], rows) for at, rows in enumerate(ordered)]


DESIGNS = {
    "paired": (coded([12, 12], lambda m, s: 1, paired=True), True),
    "paired draws": (coded([12, 12], lambda m, s: 3, paired=True), True),
    "unpaired": (coded([12, 12], lambda m, s: 1, paired=False), False),
    "unpaired sizes": (coded([7, 12, 10], lambda m, s: 2, paired=False), False),
    "unpaired draws": (coded([8, 8], lambda m, s: 1 + m, paired=False), False),
    "many": (coded([300, 300], lambda m, s: 1, paired=True), True),
    "many, unpaired": (coded([300, 300, 300], lambda m, s: 1, paired=False), False),
    "many, unpaired sizes": (coded([300, 256, 310], lambda m, s: 1, paired=False), False),
    "many, the first with draws": (coded([150, 300], lambda m, s: 2 - m, paired=False), False),
    "one sample": (coded([1, 1], lambda m, s: 3, paired=False), None),
}
UNEVEN = {
    "paired, as many draws as it comes": coded([9, 9], lambda m, s: 1 + (s + m) % 3, paired=True),
    "unpaired, everything varies": coded([7, 11], lambda m, s: 1 + s % 2, paired=False),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_resample_holds_whole_samples(name):
    scores, paired = DESIGNS[name]
    for chosen, ordered in drawn(scores, 30, 1, size=8):
        for model, (picks, rows) in enumerate(zip(chosen, ordered, strict=True)):
            assert len(picks) == scores.cluster_counts[model]
            assert (np.diff(rows) >= 0).all()
            own, cluster = scores.values[model], scores.clusters[model]
            expected = np.sort(np.concatenate([own[cluster == sample] for sample in picks]))
            assert rows.tolist() == expected.tolist()
        same = all(np.array_equal(chosen[0], picks) for picks in chosen)
        assert paired is None or same == paired


@pytest.mark.parametrize("name", DESIGNS)
def test_numbers_depend_neither_on_the_batch_nor_on_the_parts(name):
    scores, _ = DESIGNS[name]
    whole = drawn(scores, 2 * BLOCK + 3, 5, size=1)
    assert len(whole) == 2 * BLOCK + 3
    for size in (2, BLOCK, 1000):
        for (_, one), (_, other) in zip(whole, drawn(scores, 2 * BLOCK + 3, 5, size=size), strict=True):
            assert [rows.tolist() for rows in one] == [rows.tolist() for rows in other]
    parts = [
        [rows[b].copy() for rows in batch]
        for block in blocks(2 * BLOCK + 3, 5)
        for batch in batches(scores, [block], size=7)
        for b in range(len(batch[0]))
    ]
    assert [[rows.tolist() for rows in one] for _, one in whole] == [
        [rows.tolist() for rows in one] for one in parts
    ]


def test_blocks_at_their_bounds():
    cuts = {count: [block.count for block in blocks(count, 0)] for count in (0, BLOCK - 1, BLOCK, BLOCK + 1)}
    assert cuts == {0: [], BLOCK - 1: [BLOCK - 1], BLOCK: [BLOCK], BLOCK + 1: [BLOCK, 1]}


def test_samples_are_drawn_evenly():
    scores = coded([5, 5], lambda m, s: 1, paired=False)
    counts = np.zeros((2, 5))
    for chosen, _ in drawn(scores, 2000, 3, size=500):
        for model, picks in enumerate(chosen):
            counts[model] += np.bincount(picks, minlength=5)
    # 10 000 draws a model: a sample's count has a standard deviation of 40.
    assert counts == pytest.approx(2000, abs=5 * 40)
    assert not np.array_equal(counts[0], counts[1])


def test_scores_that_tie():
    """Places of sorted scores are drawn and sorted: what sorting the scores gives."""
    values = np.random.default_rng(2).normal(size=(3, 257)).round(1)
    for chosen, rows in drawn(ClusteredScores.build(list(values)), BLOCK + 2, 4, size=10):
        for value, picks, row in zip(values, chosen, rows, strict=True):
            np.testing.assert_array_equal(row, np.sort(value[picks]))


@pytest.mark.parametrize("name", UNEVEN)
def test_units_of_several_sizes_are_weighed(name):
    """Each score of a unit weighs as often as that is drawn, of all scores drawn."""
    scores, count = UNEVEN[name], BLOCK + 2
    assert not scores.even
    design, found = WeightedDesign(scores), []
    for part in design.batches(blocks(count, 3), size=8):
        found += [[own[row] for own in part] for row in range(len(part[0]))]
    picks = [
        [rows[b] for rows in own]
        for block in blocks(count, 3)
        for own in [chosen_many(scores, block.generator(), block.count)]
        for b in range(block.count)
    ]
    for cumulated, chosen in zip(found, picks, strict=True):
        for model, ends in enumerate(cumulated):
            drawn_units = np.bincount(chosen[0 if scores.paired else model])
            times = np.pad(drawn_units, (0, scores.cluster_counts[model] - len(drawn_units)))
            weights = times[scores.clusters[model]] / times[scores.clusters[model]].sum()
            order = np.argsort(scores.values[model])
            np.testing.assert_allclose(np.diff(ends, prepend=0) / 2.0**61, weights[order], atol=1e-15)


def test_a_matrix_where_models_have_as_many_samples_and_draws_and_a_list_where_not():
    for name in DESIGNS:
        scores, _ = DESIGNS[name]
        (batch,) = batches(scores, blocks(1, 0), size=1)
        draws = {tuple(np.bincount(cluster)) for cluster in scores.clusters}
        even = len(draws) == 1 and len(set(*draws)) == 1
        assert isinstance(batch, np.ndarray) == even
        assert len(batch) == scores.models


@pytest.mark.parametrize(("size", "parts"), [(1, [1] * 7), (3, [3, 3, 1]), (7, [7]), (8, [7])])
def test_a_batch_holds_at_most_what_it_may(size, parts):
    even = DESIGNS["paired draws"][0]
    assert [len(batch[0]) for batch in batches(even, blocks(7, 0), size=size)] == parts


@pytest.mark.parametrize("counts", [[4, 4], [4, 5]])
def test_draws_of_unpaired_models_are_independent(counts):
    """The chance that two models draw the same sample first is that of two dice."""
    scores = coded(counts, lambda m, s: 1, paired=False)
    replicates = drawn(scores, 4000, 6, size=500)
    for place in (0, 3):
        first = np.array([[picks[place] for picks in chosen] for chosen, _ in replicates])
        together = np.zeros(counts)
        np.add.at(together, tuple(first.T), 1)
        share = 1 / np.prod(counts)
        assert together / 4000 == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 4000))


def test_another_seed_draws_others():
    scores, _ = DESIGNS["paired"]
    one, other = (drawn(scores, BLOCK, seed, size=BLOCK) for seed in (1, 2))
    assert not any(np.array_equal(a[0], b[0]) for (a, _), (b, _) in zip(one, other, strict=True))


@pytest.mark.parametrize("resamples", [1, 24, 25, 26, 1000, 1013])
def test_blocks_are_the_children_numpy_spawns(resamples):
    found = blocks(resamples, 7)
    children = np.random.SeedSequence(7).spawn(len(found))
    for block, child in zip(found, children, strict=True):
        assert block.generator().random() == np.random.default_rng(child).random()
    assert sum(block.count for block in found) == resamples
    assert all(block.count == BLOCK for block in found[:-1])
    assert blocks(resamples + BLOCK, 7)[: len(found) - 1] == found[:-1]


def test_an_array_lasts_until_its_name_is_asked_for_again():
    scratch = Scratch()
    first, other = scratch.floats("a", 2, 3), scratch.floats("b", 6)
    first[:], other[:] = 1.0, 2.0
    assert np.array_equal(first, np.ones((2, 3)))
    assert np.shares_memory(scratch.floats("a", 5), first)
    assert scratch.floats("a", 4, 4).shape == (4, 4)
    assert np.array_equal(other, np.full(6, 2.0))


def test_kinds_of_numbers_do_not_mix():
    scratch = Scratch()
    assert scratch.integers("a", 2).dtype == np.int64
    assert scratch.floats("b", 2).dtype == np.float64
    assert scratch.numbers(3).tolist() == [0, 1, 2]
    assert scratch.numbers(2).tolist() == [0, 1]
