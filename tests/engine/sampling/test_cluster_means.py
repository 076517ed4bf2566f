import numpy as np
import pytest

from riskrank.engine.sampling.cluster_means import cluster_means


def test_single_rows_have_the_textbook_error():
    values = np.random.default_rng(0).normal(3, 2, (50, 3))
    found = cluster_means(values, np.arange(50))
    assert found.mean == pytest.approx(values.mean(axis=0), rel=1e-12)
    assert found.error == pytest.approx(values.std(axis=0, ddof=1) / np.sqrt(50), rel=1e-12)


def test_a_cluster_counted_twice_is_no_more_knowledge():
    values = np.random.default_rng(1).normal(size=(40, 2))
    once = cluster_means(values, np.arange(40))
    twice = cluster_means(np.repeat(values, 2, axis=0), np.repeat(np.arange(40), 2))
    assert twice.error == pytest.approx(once.error, rel=1e-12)


def test_against_the_plain_formula_on_unequal_clusters():
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 7, 30)
    clusters = np.repeat(np.arange(30), sizes)
    values = rng.normal(size=(len(clusters), 1)) + rng.normal(size=30)[clusters, None]
    mean = values.sum() / len(values)
    squares = sum(float((values[clusters == c] - mean).sum()) ** 2 for c in range(30))
    found = cluster_means(values, clusters)
    assert found.error[0] == pytest.approx(np.sqrt(30 / 29 * squares) / len(values), rel=1e-12)


def test_the_error_is_that_of_repeated_tables():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(40), 5)
    tables = rng.normal(size=(2000, 40))[:, clusters] + rng.normal(size=(2000, 200))
    errors = [cluster_means(table[:, None], clusters).error[0] for table in tables[:200]]
    # Monte-Carlo error of a standard deviation of 2,000 means is 1.6 %, of the average error less.
    assert np.mean(errors) == pytest.approx(tables.mean(axis=1).std(), rel=0.08)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_scores_of_any_size(factor):
    values = np.random.default_rng(4).normal(size=(20, 1))
    found, plain = cluster_means(values * factor, np.arange(20)), cluster_means(values, np.arange(20))
    assert found.mean / factor == pytest.approx(plain.mean)
    assert found.error / factor == pytest.approx(plain.error)


def test_one_cluster_has_no_error():
    assert np.isnan(cluster_means(np.ones((3, 1)), np.zeros(3, int)).error[0])
