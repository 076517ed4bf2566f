import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from riskrank.engine.portfolio.quantiles import (
    integrated_quantile,
    quantile,
    sorted_tail_value_at_risk,
    tail_value_at_risk,
)
from riskrank.engine.portfolio.summary import DEFAULT_LEVELS, summarise, summarise_curves
from riskrank.errors import InputError


def test_summary_matches_plain_formulas():
    scores = [np.array([4.0, 1.0, 3.0, 2.0]), np.array([5.0])]
    result = summarise(scores, (0.5, 1.0))
    assert result.size.tolist() == [4, 1]
    assert result.mean.tolist() == [2.5, 5.0]
    assert result.sd == pytest.approx([np.std([1, 2, 3, 4], ddof=1), 0.0])
    assert result.quantiles.tolist() == [[2.0, 4.0], [5.0, 5.0]]
    assert result.tail_values.tolist() == [[1.5, 2.5], [5.0, 5.0]]


def test_quantiles_at_the_steps_of_a_sample():
    """Q jumps just after t/n; TVaR is continuous there."""
    scores = [np.array([1.0, 2.0, 3.0, 4.0])]
    levels = (np.nextafter(0, 1), 0.25, np.nextafter(0.25, 1) + 1e-9, 0.75, 0.75 + 1e-9, 1.0)
    result = summarise(scores, levels)
    assert result.quantiles[0].tolist() == [1, 1, 2, 3, 4, 4]
    assert result.tail_values[0] == pytest.approx([1, 1, 1, 2, 2, 2.5], abs=1e-6)


def test_equal_means_keep_the_order_of_the_models():
    scores = [np.array([1.0, 3.0]), np.array([5.0]), np.array([2.0]), np.array([5.0])]
    assert summarise(scores, (0.5,)).best_mean_first.tolist() == [1, 3, 0, 2]


def test_single_score_has_no_spread():
    result = summarise([np.array([1.0, 3.0]), np.array([7.0]), np.array([2.0, 2.0])], DEFAULT_LEVELS)
    assert result.sd == pytest.approx([np.sqrt(2), 0, 0])
    assert result.levels == (0.01, 0.05, 0.1, 0.25, 0.5, 0.75)
    assert result.quantiles[0].tolist() == [1, 1, 1, 1, 1, 3]


def test_every_step_of_few_samples():
    result = summarise_curves([np.array([3.0, 1.0, 2.0, 2.0]), np.array([5.0, 0.0, 0.0, 1.0])])
    assert result.levels == (0.25, 0.5, 0.75, 1.0)
    assert result.quantiles.tolist() == [[1, 2, 2, 3], [0, 0, 1, 5]]
    assert result.tail_values == pytest.approx(np.array([[1, 1.5, 5 / 3, 2], [0, 0, 1 / 3, 1.5]]))
    assert result.best_mean_first.tolist() == [0, 1]


def test_a_grid_of_many_samples():
    scores = np.random.default_rng(4).normal(size=(3, 1000))
    result = summarise_curves(scores)
    assert result.levels == pytest.approx(np.linspace(0.005, 1, 200))
    assert np.array_equal(result.quantiles, np.sort(scores, axis=1)[:, 4::5])
    assert result.tail_values[:, -1] == pytest.approx(np.mean(scores, axis=1))


def test_samples_of_different_sizes():
    result = summarise_curves([np.arange(10.0), np.arange(7.0) + 5])
    assert result.quantiles[:, -1].tolist() == [9, 11]
    assert result.best_mean_first.tolist() == [1, 0]


samples = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)
levels = st.floats(0.001, 1.0)


@given(samples, levels)
def test_quantile_matches_its_definition(sample, level):
    result = quantile(sample, level)
    reaching = [x for x in sample if sum(y <= x for y in sample) / len(sample) >= level - 1e-12]
    assert result == min(reaching)


def test_quantile_treats_levels_as_decimals():
    assert quantile(np.arange(1, 101), 0.07) == 7
    assert quantile(np.arange(1, 11), [0.1, 0.3, 0.7, 1.0]).tolist() == [1, 3, 7, 10]


@given(samples, levels)
def test_integrated_quantile_matches_a_sum_over_steps(sample, level):
    ordered, n, total = sorted(sample), len(sample), 0.0
    for t in range(n):
        total += ordered[t] * max(0.0, min(level, (t + 1) / n) - t / n)
    assert integrated_quantile(sample, level) == pytest.approx(total, abs=1e-7)


@given(samples)
def test_integrated_quantile_at_1_is_the_mean(sample):
    assert integrated_quantile(sample, 1.0) == pytest.approx(np.mean(sample), abs=1e-8)


def test_tail_value_at_risk_matches_the_normal_closed_form():
    sample = np.random.default_rng(0).normal(size=200_000)
    for level in (0.05, 0.5):
        expected = -np.exp(-(ndtri(level) ** 2) / 2) / np.sqrt(2 * np.pi) / level
        assert tail_value_at_risk(sample, level) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("level", [0, -0.1, 1.5, float("nan")])
def test_levels_outside_the_unit_interval_are_refused(level):
    with pytest.raises(InputError, match="level"):
        quantile([1.0, 2.0], level)


@given(samples, levels)
def test_tail_means_match_the_integrated_quantile(sample, level):
    rows = np.stack([np.sort(sample), np.sort(sample) - 3.0])
    result = sorted_tail_value_at_risk(rows, level)
    assert result.shape == (2,)
    assert result == pytest.approx([tail_value_at_risk(row, level) for row in rows], abs=1e-7)


def test_tail_mean_uses_only_the_worst_scores():
    rows = np.sort(np.random.default_rng(0).normal(size=(3, 100)))
    cut = rows.copy()
    cut[:, 7:] = 1e9
    assert np.array_equal(sorted_tail_value_at_risk(rows, 0.07), sorted_tail_value_at_risk(cut, 0.07))
    assert sorted_tail_value_at_risk(rows, 0.07) == pytest.approx(rows[:, :7].mean(axis=1))
