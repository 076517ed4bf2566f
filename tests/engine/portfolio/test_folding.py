"""Portfolios with either copula, compared with counts, also within tasks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from riskrank.engine.portfolio.score_tables import (
    EMPIRICAL,
    INDEPENDENT,
    ScoreTables,
    empirical_copula,
    independent_copula,
    pooled_cdf,
    portfolio,
    ranks_within_tasks,
)
from riskrank.engine.sampling.strata import TaskDesign

task_of = np.array([1, 0, 0, 2, 1, 1, 0, 2, 2, 2])
values = np.random.default_rng(0).normal(size=(3, 10, 2)) + 10 * task_of[:, None]
tasks = TaskDesign.build("abc", [task_of] * 3)


@pytest.mark.parametrize("copula", ["independent", "empirical"])
def test_tasks_are_folded_separately(copula):
    result = portfolio([*values], tasks, copula=copula)
    for task in range(3):
        alone = portfolio([model_values[task_of == task] for model_values in values], copula=copula)
        for model_values, part in zip(result, alone, strict=True):
            assert model_values[task_of == task].tolist() == part.tolist()


def test_table_without_tasks_is_a_single_task():
    for folded, plain in zip(portfolio([*values], None), portfolio([*values]), strict=True):
        assert folded.tolist() == plain.tolist()


def test_rescaling_a_single_task_changes_nothing():
    other = values.copy()
    other[:, task_of == 1] = 1000 * other[:, task_of == 1] - 7
    for find in (portfolio, ranks_within_tasks):
        for plain, same in zip(find([*values], tasks), find([*other], tasks), strict=True):
            assert plain.tolist() == same.tolist()


def test_ranks_are_mid_ranks_within_tasks():
    result = ranks_within_tasks([*np.round(values)], tasks)
    for task in range(3):
        pooled = np.round(values[:, task_of == task, 1])
        expected = ((rankdata(pooled) - 0.5) / pooled.size).reshape(pooled.shape)
        assert np.array([ranks[task_of == task, 1] for ranks in result]) == pytest.approx(expected)


def suite(sizes, random=False):
    row_tasks = np.repeat(np.arange(len(sizes)), sizes)
    count = row_tasks.size
    design = TaskDesign.build([str(task) for task in range(len(sizes))], [row_tasks] * 2, random=random)
    scores = np.random.default_rng(1).normal(size=(2, count, 2))
    return ScoreTables.from_arrays([*scores], [np.arange(count)] * 2, ["one", "two"], tasks=design), row_tasks


def test_columns_of_tables_are_folded_within_tasks():
    tables, row_tasks = suite([4, 9])
    for name, copula in ((INDEPENDENT, "independent"), (EMPIRICAL, "empirical")):
        result = tables.clustered_column(name)
        alone = portfolio([model_values[row_tasks == 1] for model_values in tables.values], copula=copula)
        assert result.values[0][4:].tolist() == alone[0].tolist()


@pytest.mark.parametrize("size", [6, 7, 20, 50, 71])
def test_subsample_of_a_suite_is_stratified_by_task(size):
    tables, _ = suite([3, 8, 60])
    assert tables.fewest_samples == 6
    part = tables.subsample(size, np.random.default_rng(2))
    assert part.samples == size
    assert part.tasks is not None
    counts = np.bincount(part.tasks.row_tasks[0])
    assert (counts >= 2).all()
    if size >= 50:
        assert counts == pytest.approx(np.array([3, 8, 60]) * size / 71, abs=1.5)
    assert np.array_equal(part.clusters[0], part.clusters[1])


def test_subsample_of_random_tasks_keeps_entire_tasks():
    tables, _ = suite([3, 8, 60, 5, 5, 5, 5], random=True)
    part = tables.subsample(4, np.random.default_rng(2))
    assert part.tasks is not None
    selected = np.unique(part.tasks.row_tasks[0])
    assert selected.size == part.samples == 4
    assert len(part.clusters[0]) == np.array([3, 8, 60, 5, 5, 5, 5])[selected].sum()
    assert part.clustered_column("one").strata.names == tuple(str(task) for task in selected)


tables = st.tuples(st.integers(2, 30), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(-4, 4).map(float))
)


@given(tables)
def test_pooled_cdf_matches_counting(table):
    expected = [[np.mean(table[:, m] <= x) for m, x in enumerate(row)] for row in table]
    np.testing.assert_allclose(pooled_cdf(table), expected, rtol=1e-15)


@given(tables, st.data())
def test_independent_copula_matches_a_product_of_powers(table, data):
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
def test_equal_rows_have_identical_values(table):
    doubled = np.concatenate([table, table[::-1]])
    scores = independent_copula(doubled)
    np.testing.assert_array_equal(scores[: len(table)], scores[len(table) :][::-1])


@given(tables)
def test_empirical_copula_matches_a_double_loop(table):
    expected = [sum(all(other < row) for other in table) / len(table) for row in table]
    np.testing.assert_array_equal(empirical_copula(table), expected)


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


def test_portfolio_pools_and_splits_models():
    rng = np.random.default_rng(1)
    models = [rng.normal(size=(n, 2)) for n in (4, 6)]
    split = portfolio(models)
    assert [len(part) for part in split] == [4, 6]
    np.testing.assert_array_equal(np.concatenate(split), independent_copula(np.concatenate(models)))
    empirical = portfolio(models, copula="empirical")
    np.testing.assert_array_equal(np.concatenate(empirical), empirical_copula(np.concatenate(models)))
