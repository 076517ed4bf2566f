"""Samples drawn again from a pilot: pairing, models of their own, clusters drawn whole."""

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.pilot_sampler import PilotSampler


def sampler_of(*scores, **design):
    return PilotSampler(ClusteredScores.build(*scores, **design))


def test_a_paired_pilot_keeps_rows_together():
    x = np.arange(7.0)
    sampler = sampler_of([x, 10 * x])
    table = sampler(np.random.default_rng(0), 500)
    assert table.cluster_counts == (500, 500)
    assert table.values[0].shape == (500,)
    assert (table.values[1] == 10 * table.values[0]).all()
    assert set(table.values[0]) == set(x)


def test_an_unpaired_pilot_draws_models_alone():
    sampler = sampler_of([np.arange(50.0), np.arange(60.0)], paired=False)
    first, second = sampler(np.random.default_rng(0), 400).values
    assert not np.array_equal(first, second)
    assert second.max() > 49


def test_clusters_are_drawn_whole_and_numbered_anew():
    # Samples of 1, 2 and 3 draws, in shuffled rows; the tens of a score name its sample.
    score = np.array([31.0, 20.0, 30.0, 10.0, 21.0, 32.0])
    whole = {1: [10], 2: [20, 21], 3: [30, 31, 32]}
    sampler = sampler_of([score, -score], [score // 10, score // 10])
    table = sampler(np.random.default_rng(1), 300)
    assert np.array_equal(table.clusters[0], table.clusters[1])
    assert np.unique(table.clusters[0]).tolist() == list(range(300))
    assert (table.values[1] == -table.values[0]).all()
    met = set()
    for number in range(300):
        inside = sorted(table.values[0][table.clusters[0] == number].tolist())
        met.add(int(inside[0] // 10))
        assert inside == whole[int(inside[0] // 10)]
    assert met == {1, 2, 3}
