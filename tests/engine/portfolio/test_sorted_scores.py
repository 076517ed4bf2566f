"""Sums of sorted scores to a level, against fractions, also where rounding moves a level off its step."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.portfolio.sorted_scores import sorted_scores, steps_to


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
