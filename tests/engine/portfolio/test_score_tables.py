import numpy as np
import pytest

from riskrank.engine.portfolio.score_tables import ScoreTables

HOME = np.array([0, 0, 1, 2, 2, 2])


@pytest.fixture
def tables():
    values = np.random.default_rng(0).normal(size=(3, 6, 2))
    return ScoreTables.from_arrays(list(values), [HOME] * 3, ["a", "b"], samples=[np.arange(6)] * 3)


@pytest.mark.parametrize("name", ["a", "P(IC)", "P(EC)"])
def test_a_column_keeps_samples_and_clusters(tables, name):
    scores = tables.clustered_column(name)
    assert scores.clusters[0].tolist() == HOME.tolist()
    assert scores.samples[2].tolist() == list(range(6))
    assert tables.samples == 3


def test_subsample_keeps_entire_clusters(tables):
    part = tables.subsample(2, np.random.default_rng(3))
    for model in range(3):
        chosen = np.unique(part.clusters[model])
        assert chosen.size == 2
        selected = np.isin(HOME, chosen)
        assert np.array_equal(part.values[model], tables.values[model][selected])
        assert np.array_equal(part.row_samples[model], np.flatnonzero(selected))
    assert part.clustered_column("a").has_nested_samples


def test_subsample_without_clusters_has_samples():
    values = np.random.default_rng(0).normal(size=(2, 5, 1))
    part = ScoreTables.from_arrays(list(values), [np.arange(5)] * 2, ["a"]).subsample(
        3, np.random.default_rng(1)
    )
    assert [len(value) for value in part.values] == [3, 3]
    assert part.row_samples is None
