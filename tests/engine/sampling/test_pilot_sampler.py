"""Resampling from a pilot: pairing, unpaired models, and clusters as units."""

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.pilot_sampler import PilotSampler


def build_sampler(*scores, **design):
    return PilotSampler(ClusteredScores.build(*scores, **design))


def test_paired_pilot_resamples_rows_jointly():
    x = np.arange(7.0)
    sampler = build_sampler([x, 10 * x])
    table = sampler(np.random.default_rng(0), 500)
    assert table.cluster_counts == (500, 500)
    assert table.values[0].shape == (500,)
    assert (table.values[1] == 10 * table.values[0]).all()
    assert set(table.values[0]) == set(x)


def test_unpaired_pilot_resamples_models_separately():
    sampler = build_sampler([np.arange(50.0), np.arange(60.0)], paired=False)
    first, second = sampler(np.random.default_rng(0), 400).values
    assert not np.array_equal(first, second)
    assert second.max() > 49


def test_clusters_are_resampled_and_renumbered():
    # Samples of 1, 2 and 3 draws, in shuffled rows; the tens of a score name its sample.
    score = np.array([31.0, 20.0, 30.0, 10.0, 21.0, 32.0])
    samples = {1: [10], 2: [20, 21], 3: [30, 31, 32]}
    sampler = build_sampler([score, -score], [score // 10, score // 10])
    table = sampler(np.random.default_rng(1), 300)
    assert np.array_equal(table.clusters[0], table.clusters[1])
    assert np.unique(table.clusters[0]).tolist() == list(range(300))
    assert (table.values[1] == -table.values[0]).all()
    seen = set()
    for number in range(300):
        inside = sorted(table.values[0][table.clusters[0] == number].tolist())
        seen.add(int(inside[0] // 10))
        assert inside == samples[int(inside[0] // 10)]
    assert seen == {1, 2, 3}
