"""Partial sums of sorted scores up to a level, compared with fractions, also at rounded levels."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.dominance.influence import pair_curves, quantile_difference
from riskrank.engine.portfolio.mean_risk import mean_risk, means_and_risks, study_mean_risk
from riskrank.engine.portfolio.quantiles import (
    fractional_steps,
    integrated_quantile,
    quantile,
    sorted_scores,
    tail_value_at_risk,
)
from riskrank.engine.portfolio.risks import risk_columns
from riskrank.engine.portfolio.summary import summarise, summarise_curves
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import draw_resamples, make_blocks
from riskrank.engine.sampling.steps import StepMaker, Steps, to_weight_units
from riskrank.engine.sampling.strata import TaskDesign


@pytest.mark.parametrize("n", [1, 7, 100, 10_000, 1_000_000])
@pytest.mark.parametrize("percent", [1, 5, 7, 14, 28, 29, 55, 57, 58, 70, 99, 100])
def test_integer_step_levels_are_exact(percent, n):
    exact = Fraction(percent * n, 100)
    steps = fractional_steps(percent / 100, n)
    if exact.denominator == 1:
        assert steps == exact
        assert isinstance(steps, int)
    else:
        assert steps == pytest.approx(float(exact), rel=1e-15)
        assert steps != round(steps)


def test_rounding_grows_with_the_number_of_scores():
    assert 10_000 * 0.07 != 700
    assert fractional_steps(0.07, 10_000) == 700
    assert 100 * 0.07 != 7
    assert fractional_steps(0.07, 100) == 7


def test_level_off_a_step_is_not_rounded_to_it():
    for n in (1, 100, 10_000):
        assert fractional_steps(0.5 + 1e-10, n) == pytest.approx(n * (0.5 + 1e-10), rel=1e-15)
        assert fractional_steps(0.5 + 1e-10, n) > n * 0.5
        assert fractional_steps(0.5 - 1e-10, n) < n * 0.5
        # Levels within a relative distance of 10^-12 are on the step.
        assert fractional_steps(1 - 5e-13, n) == n
        assert fractional_steps(1 - 2e-12, n) < n


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=20),
    st.lists(st.integers(1, 40), min_size=1, max_size=4, unique=True),
)
def test_integrals_and_means_match_fractions(values, parts):
    values, levels = sorted(values), [part / 40 for part in sorted(parts)]
    result = sorted_scores(np.array([values, values], dtype=float), levels)
    n = len(values)
    for part, level in zip(sorted(parts), levels, strict=True):
        left, total = Fraction(n * part, 40), Fraction(0)
        for value in values:
            total += value * max(min(left, Fraction(1)), Fraction(0))
            left -= 1
        assert result.integrated[level] == pytest.approx([float(total / n)] * 2, abs=1e-12)
        assert result.worst_mean(level) == pytest.approx(
            [float(total / n / Fraction(part, 40))] * 2, abs=1e-12
        )
    assert result.mean == pytest.approx([sum(values) / n] * 2, abs=1e-12)
    assert result.deviations == pytest.approx(np.array([values, values]) - sum(values) / n, abs=1e-12)
    assert result.size == n


weighted = st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=2, max_size=12).filter(
    lambda sample: sum(weight > 0 for _, weight in sample) > 1
)
levels = np.array([0.01, 0.05, 0.25, 0.5, 0.75, 1.0])


def expand_weights(sample):
    values, weights = (np.array(side, dtype=float) for side in zip(*sample, strict=True))
    return values, weights, np.repeat(values, weights.astype(int))


@given(weighted)
def test_quantiles_and_tails_of_repeated_scores(sample):
    values, weights, repeated = expand_weights(sample)
    assert quantile(values, levels, weights).tolist() == quantile(repeated, levels).tolist()
    for result in (integrated_quantile, tail_value_at_risk):
        assert result(values, levels, weights) == pytest.approx(result(repeated, levels), abs=1e-12)


@given(weighted, weighted)
def test_risks_of_repeated_scores(first, second):
    both = [expand_weights(first), expand_weights(second)]
    result = mean_risk([pair[0] for pair in both], weights=[pair[1] for pair in both])
    plain = mean_risk([pair[2] for pair in both])
    assert result.mean == pytest.approx(plain.mean, abs=1e-12)
    assert result.risk == pytest.approx(plain.risk, abs=1e-12)


def test_values_without_weight_are_outside_the_support():
    maker = StepMaker.from_scores(np.array([0.0, 1.0, 2.0, 3.0]), np.arange(4))
    shares = np.array([[0, 0.5, 0.5, 0], [0.25, 0, 0, 0.75]])
    steps = Steps(maker.values, maker.cumulated(to_weight_units(shares)))
    support = steps.on_support()
    assert support.values.tolist() == [[1, 1, 2, 2], [0, 3, 3, 3]]
    value = [column.label for column in risk_columns()].index("-VaR(0.05)")
    _, risk = means_and_risks(steps, risk_columns())
    assert risk[:, value].tolist() == [-1, 0]


def suite(k=2, seed=0):
    sizes = np.array([6, 10, 40])
    values = np.round(np.random.default_rng(seed).normal([[0.2 * i] for i in range(k)], size=(k, 56)), 1)
    return ClusteredScores.build(
        [*values], tasks=TaskDesign.build("abc", [np.repeat(np.arange(3), sizes)] * k)
    )


def repeated(scores):
    """Repeat each score 20, 12 or 3 times, which gives 120 scores per task."""
    copies = np.array([20, 12, 3])[scores.strata.cluster_tasks[0]]
    return [np.repeat(value, copies) for value in scores.values]


def test_summaries_and_curves_of_a_suite():
    scores = suite()
    copies = repeated(scores)
    result, plain = summarise(scores.values, levels, scores.weights), summarise(copies, levels)
    assert result.mean == pytest.approx(plain.mean)
    assert result.quantiles.tolist() == plain.quantiles.tolist()
    assert result.tail_values == pytest.approx(plain.tail_values)
    curves, same = summarise_curves(scores.values, scores.weights), summarise_curves(copies)
    assert curves.quantiles[:, -1].tolist() == same.quantiles[:, -1].tolist()
    assert curves.tail_values[:, -1] == pytest.approx(plain.mean)
    pair = pair_curves(*scores.values, [0.1, 0.2], weights=scores.weights)
    assert pair.winner[0] == pytest.approx(quantile(copies[0], pair.levels - 1e-9))
    assert pair.loser[1] == pytest.approx(integrated_quantile(copies[1], pair.levels), abs=1e-9)


def test_mean_risk_intervals_match_plain_loops():
    scores, columns = suite(3), risk_columns()
    result = study_mean_risk(scores, columns, names="abc", resamples=50, seed=3)
    cluster_tasks, values = scores.strata.cluster_tasks[0], []
    for block in make_blocks(50, 3):
        (picks,) = draw_resamples(scores, block.generator(), block.count)
        for chosen in picks:
            copies = np.array([20, 12, 3])[cluster_tasks[chosen]]
            plain = mean_risk([np.repeat(value[chosen], copies) for value in scores.values], columns)
            values.append(plain.value)
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    assert result.value_low == pytest.approx(low, abs=1e-10)
    assert result.value_high == pytest.approx(high, abs=1e-10)


def test_bands_of_a_suite_draw_within_tasks():
    scores = suite()
    result = quantile_difference(scores, 1, 0, [0.1, 0.5, 0.9], resamples=200)
    copies = repeated(scores)
    expected = quantile(copies[1], [0.1, 0.5, 0.9]) - quantile(copies[0], [0.1, 0.5, 0.9])
    assert result.estimate.tolist() == expected.tolist()
    assert result.low is not None
    assert result.high is not None
    assert (result.low <= result.estimate).all()
    assert (result.high >= result.estimate).all()
