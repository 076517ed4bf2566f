"""Sums of sorted scores to a level, against fractions, also where rounding moves a level off its step."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.dominance.pair_curves import pair_curves, quantile_difference
from riskrank.engine.portfolio.mean_risk import mean_risk, mean_risk_of
from riskrank.engine.portfolio.mean_risk_intervals import study_mean_risk
from riskrank.engine.portfolio.quantiles import (
    integrated_quantile,
    quantile,
    sorted_scores,
    steps_to,
    tail_value_at_risk,
)
from riskrank.engine.portfolio.risks import risk_columns
from riskrank.engine.portfolio.summary import curves, summarise
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import blocks, chosen_many
from riskrank.engine.sampling.steps import StepMaker, Steps, units_of
from riskrank.engine.sampling.strata import TaskDesign


@pytest.mark.parametrize("n", [1, 7, 100, 10_000, 1_000_000])
@pytest.mark.parametrize("percent", [1, 5, 7, 14, 28, 29, 55, 57, 58, 70, 99, 100])
def test_a_level_of_whole_steps_is_on_its_step(percent, n):
    exact = Fraction(percent * n, 100)
    steps = steps_to(percent / 100, n)
    if exact.denominator == 1:
        assert steps == exact
        assert isinstance(steps, int)
    else:
        assert steps == pytest.approx(float(exact), rel=1e-15)
        assert steps != round(steps)


def test_rounding_grows_with_the_number_of_scores():
    assert 10_000 * 0.07 != 700
    assert steps_to(0.07, 10_000) == 700
    assert 100 * 0.07 != 7
    assert steps_to(0.07, 100) == 7


def test_a_level_that_is_off_its_step_by_more_than_rounding_stays_off():
    for n in (1, 100, 10_000):
        assert steps_to(0.5 + 1e-10, n) == pytest.approx(n * (0.5 + 1e-10), rel=1e-15)
        assert steps_to(0.5 + 1e-10, n) > n * 0.5
        assert steps_to(0.5 - 1e-10, n) < n * 0.5
        # Within a part in 10^12 of all scores it is on the step.
        assert steps_to(1 - 5e-13, n) == n
        assert steps_to(1 - 2e-12, n) < n


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=20),
    st.lists(st.integers(1, 40), min_size=1, max_size=4, unique=True),
)
def test_integrals_and_means_against_fractions(values, parts):
    values, levels = sorted(values), [part / 40 for part in sorted(parts)]
    found = sorted_scores(np.array([values, values], dtype=float), levels)
    n = len(values)
    for part, level in zip(sorted(parts), levels, strict=True):
        left, total = Fraction(n * part, 40), Fraction(0)
        for value in values:
            total += value * max(min(left, Fraction(1)), Fraction(0))
            left -= 1
        assert found.integrated[level] == pytest.approx([float(total / n)] * 2, abs=1e-12)
        assert found.worst_mean(level) == pytest.approx(
            [float(total / n / Fraction(part, 40))] * 2, abs=1e-12
        )
    assert found.mean == pytest.approx([sum(values) / n] * 2, abs=1e-12)
    assert found.away == pytest.approx(np.array([values, values]) - sum(values) / n, abs=1e-12)
    assert found.size == n


weighted = st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=2, max_size=12).filter(
    lambda sample: sum(weight > 0 for _, weight in sample) > 1
)
levels = np.array([0.01, 0.05, 0.25, 0.5, 0.75, 1.0])


def apart(sample):
    values, weights = (np.array(side, dtype=float) for side in zip(*sample, strict=True))
    return values, weights, np.repeat(values, weights.astype(int))


@given(weighted)
def test_quantiles_and_tails_of_repeated_scores(sample):
    values, weights, repeated = apart(sample)
    assert quantile(values, levels, weights).tolist() == quantile(repeated, levels).tolist()
    for found in (integrated_quantile, tail_value_at_risk):
        assert found(values, levels, weights) == pytest.approx(found(repeated, levels), abs=1e-12)


@given(weighted, weighted)
def test_risks_of_repeated_scores(first, second):
    both = [apart(first), apart(second)]
    found = mean_risk([one[0] for one in both], weights=[one[1] for one in both])
    plain = mean_risk([one[2] for one in both])
    assert found.mean == pytest.approx(plain.mean, abs=1e-12)
    assert found.risk == pytest.approx(plain.risk, abs=1e-12)


def test_values_that_no_resample_holds_are_nobodys_worst():
    maker = StepMaker.of(np.array([0.0, 1.0, 2.0, 3.0]), np.arange(4))
    shares = np.array([[0, 0.5, 0.5, 0], [0.25, 0, 0, 0.75]])
    steps = Steps(maker.values, maker.cumulated(units_of(shares)))
    held = steps.held()
    assert held.values.tolist() == [[1, 1, 2, 2], [0, 3, 3, 3]]
    value = [column.label for column in risk_columns()].index("-VaR(0.05)")
    _, risk = mean_risk_of(steps, risk_columns())
    assert risk[:, value].tolist() == [-1, 0]


def suite(k=2, seed=0):
    sizes = np.array([6, 10, 40])
    values = np.round(np.random.default_rng(seed).normal([[0.2 * i] for i in range(k)], size=(k, 56)), 1)
    return ClusteredScores.build(
        [*values], tasks=TaskDesign.build("abc", [np.repeat(np.arange(3), sizes)] * k)
    )


def repeated(scores):
    """The same with 20, 12 and 3 copies of each score: 120 a task."""
    copies = np.array([20, 12, 3])[scores.strata.of_cluster[0]]
    return [np.repeat(value, copies) for value in scores.values]


def test_summaries_and_curves_of_a_suite():
    scores = suite()
    copies = repeated(scores)
    found, plain = summarise(scores.values, levels, scores.weights), summarise(copies, levels)
    assert found.mean == pytest.approx(plain.mean)
    assert found.quantiles.tolist() == plain.quantiles.tolist()
    assert found.tail_values == pytest.approx(plain.tail_values)
    drawn, same = curves(scores.values, scores.weights), curves(copies)
    assert drawn.quantiles[:, -1].tolist() == same.quantiles[:, -1].tolist()
    assert drawn.tail_values[:, -1] == pytest.approx(plain.mean)
    pair = pair_curves(*scores.values, [0.1, 0.2], weights=scores.weights)
    assert pair.winner[0] == pytest.approx(quantile(copies[0], pair.levels - 1e-9))
    assert pair.loser[1] == pytest.approx(integrated_quantile(copies[1], pair.levels), abs=1e-9)


def test_mean_risk_intervals_against_plain_loops():
    scores, columns = suite(3), risk_columns()
    found = study_mean_risk(scores, columns, names="abc", resamples=50, seed=3)
    of_cluster, values = scores.strata.of_cluster[0], []
    for block in blocks(50, 3):
        (picks,) = chosen_many(scores, block.generator(), block.count)
        for chosen in picks:
            copies = np.array([20, 12, 3])[of_cluster[chosen]]
            plain = mean_risk([np.repeat(value[chosen], copies) for value in scores.values], columns)
            values.append(plain.value)
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    assert found.value_low == pytest.approx(low, abs=1e-10)
    assert found.value_high == pytest.approx(high, abs=1e-10)


def test_bands_of_a_suite_draw_within_tasks():
    scores = suite()
    found = quantile_difference(scores, 1, 0, [0.1, 0.5, 0.9], resamples=200)
    copies = repeated(scores)
    expected = quantile(copies[1], [0.1, 0.5, 0.9]) - quantile(copies[0], [0.1, 0.5, 0.9])
    assert found.estimate.tolist() == expected.tolist()
    assert found.low is not None
    assert found.high is not None
    assert (found.low <= found.estimate).all()
    assert (found.high >= found.estimate).all()
