"""The common scale of samples: exact against fractions, and what ratios far from zero need it for."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.ranking import estimate
from riskrank.engine.dominance.violation import violation_matrices
from riskrank.engine.sampling.design import ClusteredScores
from tests.engine.dominance.helpers import influence_of, replicate

# No further apart than normal numbers are from 1: the smallest of them have their place on a common scale.
sizes = st.floats(1e-5, 1e300)
numbers = st.just(0.0) | sizes | sizes.map(lambda size: -size)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(numbers, min_size=1, max_size=5), min_size=1, max_size=3), st.booleans())
def test_not_a_digit_of_a_score_is_lost(samples, shift):
    arrays = [np.array(sample) for sample in samples]
    scale = CommonScale.of(arrays, shift=shift)
    for array in arrays:
        scaled = scale.apply(array)
        assert (np.abs(scaled) <= 1).all()
        for found, score in zip(scaled.tolist(), array.tolist(), strict=True):
            exact = (Fraction(score) - Fraction(scale.shift)) / Fraction(2) ** scale.exponent
            assert Fraction(found) == exact
        np.testing.assert_array_equal(scale.undo(scaled), array)


@settings(max_examples=100, deadline=None)
@given(st.floats(1, 1e6), st.lists(st.floats(1, 2), min_size=1, max_size=6), st.sampled_from([1, -1]))
def test_scores_within_a_factor_of_two_are_shifted_and_not_rounded(low, factors, sign):
    array = sign * low * np.array([1, *(factor for factor in factors if low * factor <= 2 * low)])
    scale = CommonScale.of([array])
    # The smallest score, which of negative ones is the largest in size.
    assert scale.shift == array.min()
    assert scale.apply(array).tolist() == [
        float((Fraction(score) - Fraction(scale.shift)) / Fraction(2) ** scale.exponent)
        for score in array.tolist()
    ]
    np.testing.assert_array_equal(scale.undo(scale.apply(array)), array)


@pytest.mark.parametrize(
    ("scores", "shift"),
    [
        ([1.0, 2.0], 1.0),
        ([1.0, np.nextafter(2, 3)], 0.0),
        ([3.0, 5.0, 6.0], 3.0),
        ([-1.0, -2.0], -2.0),
        ([-1.0, -np.nextafter(2, 3)], 0.0),
        ([0.0, 1.0], 0.0),
        ([-1.0, 0.0], 0.0),
        ([-1.0, 1.0], 0.0),
        ([0.0, 0.0], 0.0),
        ([4.0, 4.0], 4.0),
        ([1e9, 1e9 + 1], 1e9),
        ([-1e9, -1e9 + 1], -1e9),
    ],
)
def test_when_scores_are_shifted(scores, shift):
    for samples in ([np.array(scores)], [np.array(scores[:1]), np.array(scores[1:])]):
        assert CommonScale.of(samples).shift == shift
        assert CommonScale.of(samples, shift=False).shift == 0


@pytest.mark.parametrize(
    ("scores", "exponent"),
    [([0.0, 0.75], 0), ([0.0, 1.0], 1), ([0.0, -3.0], 2), ([0.0, 4.0], 3), ([0.0, 0.0], 0), ([5.0, 5.0], 0)],
)
def test_the_largest_score_is_at_most_one_and_more_than_a_quarter(scores, exponent):
    scale = CommonScale.of([np.array(scores)])
    assert scale.exponent == exponent
    largest = np.abs(scale.apply(np.array(scores))).max()
    assert largest == 0 or 0.25 < largest <= 1


def test_what_no_number_holds_is_infinite():
    assert CommonScale(0.0, 1024).undo(np.array([1.0, -1.0, 0.25])).tolist() == [np.inf, -np.inf, 2.0**1022]


def exact_ratio(first, second, order):
    """ε of equally large samples in fractions, step by step; for order 2, d is linear on each step."""
    n = len(first)
    steps = [Fraction(x) - Fraction(y) for x, y in zip(sorted(first), sorted(second), strict=True)]
    if order == 1:
        squares = [step * step for step in steps]
        return sum(sq for sq, step in zip(squares, steps, strict=True) if step < 0) / sum(squares)
    total = below = at = Fraction(0)
    for step in steps:
        end = at + step / n
        total += (at * at + at * end + end * end) / 3
        if at <= 0 and end <= 0:
            below += (at * at + at * end + end * end) / 3
        elif at < 0 or end < 0:  # crosses zero: a triangle on the side below
            lowest = min(at, end)
            below += lowest * lowest / 3 * (-lowest / (max(at, end) - lowest))
        at = end
    return below / total


@pytest.fixture(params=[0.0, 1e9, -1e9, 1e15])
def far_off(request):
    """Samples whose differences are exact in floating point, near zero and far away from it."""
    rng = np.random.default_rng(9)
    scores = rng.integers(0, 900, size=(3, 60)) / (8 if abs(request.param) < 1e15 else 1)
    return scores + np.array([[0.0], [4.0], [-2.0]]) + request.param


@pytest.mark.parametrize("order", [1, 2])
def test_ratios_far_from_zero_against_fractions(far_off, order):
    exact = [
        [0.5 if i == j else float(exact_ratio(far_off[i], far_off[j], order)) for j in range(3)]
        for i in range(3)
    ]
    scores = ClusteredScores.build(list(far_off))
    ratios = violation_matrices([np.sort(row) for row in far_off], orders=(order,))[0]
    assert ratios == pytest.approx(np.array(exact), rel=1e-9)
    assert estimate(scores).ratios[order - 1] == pytest.approx(np.array(exact), rel=1e-9)
    asymptotic = influence_of(list(far_off), order=order)
    apart = ~np.eye(3, dtype=bool)
    assert asymptotic.ratio[apart] == pytest.approx(np.array(exact)[apart], rel=1e-9)
    near = influence_of(list(far_off - far_off.min()), order=order)
    assert asymptotic.ratio_error[apart] == pytest.approx(near.ratio_error[apart], rel=1e-9)


def test_resamples_far_from_zero_are_those_near_it(far_off):
    near, far = (
        replicate(ClusteredScores.build(list(rows)), resamples=25, seed=3)
        for rows in (far_off - far_off.min(), far_off)
    )
    for order in (1, 2):
        assert far.one_versus_all(order) == pytest.approx(near.one_versus_all(order), rel=1e-9)
    np.testing.assert_array_equal(far.crossings, near.crossings)
    offset = far_off.min()
    assert far.means - offset == pytest.approx(near.means, abs=max(abs(offset) * 1e-15, 1e-9))
