"""The test of equal distributions: its size, and that many clusters may be described by some of them."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from riskrank.engine.dominance import equal_distributions
from riskrank.engine.dominance.equal_distributions import LEVELS, MOST_CLUSTERS, equal_p_values
from riskrank.engine.sampling.design import ClusteredScores
from tests.engine.dominance.helpers import influence_of


@pytest.mark.parametrize(("paired", "clustered"), [(True, True), (False, False)])
def test_equal_distributions_against_monte_carlo(paired, clustered):
    rng = np.random.default_rng(12)
    units, draws = 150, 3 if clustered else 1
    clusters = [np.repeat(np.arange(units), draws)] * 2
    p = []
    for _ in range(150):
        shared = rng.normal(size=units) if paired else 0
        samples = [np.repeat(shared + rng.normal(size=units), draws) for _ in range(2)]
        samples = [sample + 0.3 * rng.normal(size=sample.size) for sample in samples]
        result = influence_of(samples, order=1, clusters=clusters, paired=paired)
        p.append(result.equal_p_value[0, 1])
    # Uniform at the levels of tests, within four binomial errors.
    for level in (0.02, 0.05, 0.1):
        assert np.mean(np.array(p) <= level) == pytest.approx(level, abs=4 * sqrt(level * (1 - level) / 150))


def covariance(scores, clusters):
    """Covariance of a model's integrated quantiles, as the package describes it."""
    noise = equal_distributions._noise(ClusteredScores.build([scores] * 2, [clusters] * 2), 0)
    return equal_distributions._gram(noise, noise)


def plain_covariance(scores, clusters):
    """The same from its definition, cluster by cluster: the influence of x on level t is min(x, Q(t))."""
    n, count = len(scores), int(clusters.max()) + 1
    ordered = np.sort(scores)
    levels = [ordered[int((level + 0.5) / LEVELS * n)] for level in range(LEVELS)]
    effect = np.array([np.minimum(scores, q) - np.minimum(scores, q).mean() for q in levels])
    by_cluster = np.array([np.bincount(clusters, row, minlength=count) for row in effect]) / n
    return by_cluster @ by_cluster.T * count / (count - 1)


@pytest.mark.parametrize("clusters", [MOST_CLUSTERS - 1, MOST_CLUSTERS])
@pytest.mark.parametrize("draws", [1, 2])
def test_noise_of_all_clusters_is_its_definition(clusters, draws):
    scores = np.random.default_rng(1).normal(size=clusters * draws)
    unit = np.repeat(np.arange(clusters), draws)
    assert covariance(scores, unit) == pytest.approx(plain_covariance(scores, unit), rel=1e-9)


@pytest.mark.parametrize("clusters", [MOST_CLUSTERS + 1, 3 * MOST_CLUSTERS])
@pytest.mark.parametrize("draws", [1, 2])
def test_noise_of_some_clusters_stands_for_all(clusters, draws):
    rng = np.random.default_rng(2)
    unit = np.repeat(np.arange(clusters), draws)
    scores = rng.normal(size=clusters)[unit] + 0.3 * rng.normal(size=clusters * draws)
    found, expected = covariance(scores, unit), plain_covariance(scores, unit)
    assert not np.array_equal(found, expected)
    # A variance estimated on m normal values is off by a share of √(2/m); the influence on a low level is
    # zero but for a few scores, so those are left out.
    middle = slice(LEVELS // 4, None)
    tolerance = 5 * sqrt(2 / MOST_CLUSTERS)
    assert np.diag(found)[middle] == pytest.approx(np.diag(expected)[middle], rel=tolerance)


def test_paired_models_are_described_on_the_same_clusters():
    """A model and its shifted copy have no noise between them, so any distance is certain."""
    clusters = np.arange(2 * MOST_CLUSTERS + 7)
    scores = np.random.default_rng(3).normal(size=len(clusters))
    both = ClusteredScores.build([scores, scores + 1e-4], [clusters] * 2)
    paired, unpaired = (
        equal_p_values(one, np.full((2, 2), 1e-8 / 3)) for one in (both, replace(both, paired=False))
    )
    assert paired[0, 1] == paired[1, 0] < 1e-6
    assert unpaired[0, 1] > 0.5
    assert np.isnan(np.diag(paired)).all()


def test_p_values_beyond_the_cap_agree_with_those_of_all_clusters(monkeypatch):
    rng = np.random.default_rng(4)
    samples = list(rng.normal(size=(2, 4000)) + np.array([[0.0], [0.03]]))
    every = influence_of(samples, order=2, paired=False).equal_p_value[0, 1]
    monkeypatch.setattr(equal_distributions, "MOST_CLUSTERS", 1000)
    some = influence_of(samples, order=2, paired=False).equal_p_value[0, 1]
    assert some != every
    assert some == pytest.approx(every, rel=0.3)
    assert 0.001 < every < 0.9


@pytest.mark.parametrize("paired", [True, False])
def test_without_noise_any_difference_is_certain_and_none_is_none(paired):
    scores = ClusteredScores.build([np.zeros(6), np.zeros(6), np.ones(6)], paired=paired)
    distance = np.array([[0.0, 0.0, 1 / 3], [0.0, 0.0, 1 / 3], [1 / 3, 1 / 3, 0.0]])
    found = equal_p_values(scores, distance)
    assert (found[0, 1], found[1, 0]) == (1, 1)
    assert found[2, :2].tolist() == found[:2, 2].tolist() == [0, 0]
