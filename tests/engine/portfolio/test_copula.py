import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from riskrank.engine.portfolio.copula import (
    empirical_copula,
    independent_copula,
    pooled_cdf,
)
from riskrank.engine.portfolio.folding import portfolio

tables = st.tuples(st.integers(2, 30), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(-4, 4).map(float))
)


@given(tables)
def test_pooled_cdf_against_counting(table):
    expected = [[np.mean(table[:, m] <= x) for m, x in enumerate(row)] for row in table]
    np.testing.assert_allclose(pooled_cdf(table), expected, rtol=1e-15)


@given(tables, st.data())
def test_independent_copula_against_a_product_of_powers(table, data):
    m = table.shape[1]
    weights = np.array(data.draw(st.lists(st.integers(0, 5), min_size=m, max_size=m)), dtype=float)
    if weights.sum() == 0:
        weights[0] = 1
    expected = np.prod(pooled_cdf(table) ** (weights / weights.sum()), axis=1)
    np.testing.assert_allclose(independent_copula(table, weights), expected, rtol=1e-12)


@given(tables)
def test_independent_copula_invariance_under_increasing_transforms(table):
    moved = table.copy()
    moved[:, 0] = np.exp(table[:, 0])
    moved[:, -1] = table[:, -1] ** 3 + (np.exp(table[:, 0]) if table.shape[1] == 1 else 0)
    np.testing.assert_array_equal(independent_copula(moved), independent_copula(table))


@given(tables)
def test_equal_rows_get_equal_bits(table):
    doubled = np.concatenate([table, table[::-1]])
    scores = independent_copula(doubled)
    np.testing.assert_array_equal(scores[: len(table)], scores[len(table) :][::-1])


@given(tables)
def test_empirical_copula_against_a_double_loop(table):
    expected = [sum(all(other < row) for other in table) / len(table) for row in table]
    np.testing.assert_array_equal(empirical_copula(table), expected)


@given(tables, st.data())
def test_empirical_copula_within_models_against_a_double_loop(table, data):
    owner = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(table), max_size=len(table))))
    expected = [
        np.mean([all(other < row) for other in table[owner == model]])
        for row, model in zip(table, owner, strict=True)
    ]
    np.testing.assert_array_equal(empirical_copula(table, owner), expected)


def test_empirical_copula_across_blocks():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(5000, 3)) + rng.normal(size=(5000, 1))
    table[::7] = np.round(table[::7])
    chosen = rng.integers(0, 5000, 200)
    expected = [(table < table[row]).all(axis=1).mean() for row in chosen]
    np.testing.assert_array_equal(empirical_copula(table)[chosen], expected)


def test_a_single_metric_keeps_its_order():
    scores = np.array([[3.0], [1.0], [2.0]])
    assert np.argsort(independent_copula(scores)).tolist() == [1, 2, 0]
    assert np.argsort(empirical_copula(scores)).tolist() == [1, 2, 0]


def test_portfolio_pools_models_and_splits_them_again():
    rng = np.random.default_rng(1)
    models = [rng.normal(size=(n, 2)) for n in (4, 6)]
    split = portfolio(models)
    assert [len(part) for part in split] == [4, 6]
    np.testing.assert_array_equal(np.concatenate(split), independent_copula(np.concatenate(models)))
    alone = portfolio(models, copula="empirical", per_model=True)
    np.testing.assert_array_equal(alone[1], empirical_copula(models[1]))
