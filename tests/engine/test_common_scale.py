"""The common scale of samples, compared with exact fractions, for ratios far from zero."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.engine.dominance.ranking import estimate_violation
from riskrank.engine.dominance.violation import violation_matrices
from riskrank.engine.numeric import CommonScale
from riskrank.engine.sampling.design import ClusteredScores
from tests.engine.dominance.helpers import influence_of, replicate

# The range of exponents is limited, so the smallest numbers remain normal on the common scale.
sizes = st.floats(1e-5, 1e300)
numbers = st.just(0.0) | sizes | sizes.map(lambda size: -size)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(numbers, min_size=1, max_size=5), min_size=1, max_size=3), st.booleans())
def test_scaling_loses_no_digits(samples, shift):
    arrays = [np.array(sample) for sample in samples]
    scale = CommonScale.fit(arrays, shift=shift)
    for array in arrays:
        scaled = scale.apply(array)
        assert (np.abs(scaled) <= 1).all()
        for scaled_score, score in zip(scaled.tolist(), array.tolist(), strict=True):
            exact = (Fraction(score) - Fraction(scale.shift)) / Fraction(2) ** scale.exponent
            assert Fraction(scaled_score) == exact
        np.testing.assert_array_equal(scale.undo(scaled), array)


@settings(max_examples=100, deadline=None)
@given(st.floats(1, 1e6), st.lists(st.floats(1, 2), min_size=1, max_size=6), st.sampled_from([1, -1]))
def test_scores_within_a_factor_of_two_are_shifted_and_not_rounded(low, factors, sign):
    array = sign * low * np.array([1, *(factor for factor in factors if low * factor <= 2 * low)])
    scale = CommonScale.fit([array])
    # The smallest score; among negative scores it has the largest absolute value.
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
def test_scores_are_shifted_by_their_range(scores, shift):
    for samples in ([np.array(scores)], [np.array(scores[:1]), np.array(scores[1:])]):
        assert CommonScale.fit(samples).shift == shift
        assert CommonScale.fit(samples, shift=False).shift == 0


@pytest.mark.parametrize(
    ("scores", "exponent"),
    [([0.0, 0.75], 0), ([0.0, 1.0], 1), ([0.0, -3.0], 2), ([0.0, 4.0], 3), ([0.0, 0.0], 0), ([5.0, 5.0], 0)],
)
def test_scaled_maximum_is_between_a_quarter_and_1(scores, exponent):
    scale = CommonScale.fit([np.array(scores)])
    assert scale.exponent == exponent
    largest = np.abs(scale.apply(np.array(scores))).max()
    assert largest == 0 or 0.25 < largest <= 1


def test_unrepresentable_values_are_infinite():
    assert CommonScale(0.0, 1024).undo(np.array([1.0, -1.0, 0.25])).tolist() == [np.inf, -np.inf, 2.0**1022]


def exact_ratio(first, second, order):
    """Return ε of samples of equal size as a fraction; for order 2, d is linear on each step."""
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
def shifted_scores(request):
    """Return samples with exact floating-point differences, near zero and with a large offset."""
    rng = np.random.default_rng(9)
    scores = rng.integers(0, 900, size=(3, 60)) / (8 if abs(request.param) < 1e15 else 1)
    return scores + np.array([[0.0], [4.0], [-2.0]]) + request.param


@pytest.mark.parametrize("order", [1, 2])
def test_ratios_far_from_zero_match_fractions(shifted_scores, order):
    exact = [
        [0.5 if i == j else float(exact_ratio(shifted_scores[i], shifted_scores[j], order)) for j in range(3)]
        for i in range(3)
    ]
    scores = ClusteredScores.build(list(shifted_scores))
    ratios = violation_matrices([np.sort(row) for row in shifted_scores], orders=(order,))[0]
    assert ratios == pytest.approx(np.array(exact), rel=1e-9)
    assert estimate_violation(scores).ratios[order - 1] == pytest.approx(np.array(exact), rel=1e-9)
    asymptotic = influence_of(list(shifted_scores), order=order)
    off_diagonal = ~np.eye(3, dtype=bool)
    assert asymptotic.ratio[off_diagonal] == pytest.approx(np.array(exact)[off_diagonal], rel=1e-9)
    centred = influence_of(list(shifted_scores - shifted_scores.min()), order=order)
    assert asymptotic.ratio_error[off_diagonal] == pytest.approx(centred.ratio_error[off_diagonal], rel=1e-9)


def test_resamples_are_invariant_to_an_offset(shifted_scores):
    centred, shifted = (
        replicate(ClusteredScores.build(list(rows)), resamples=25, seed=3)
        for rows in (shifted_scores - shifted_scores.min(), shifted_scores)
    )
    for order in (1, 2):
        assert shifted.one_versus_all(order) == pytest.approx(centred.one_versus_all(order), rel=1e-9)
    np.testing.assert_array_equal(shifted.crossings, centred.crossings)
    offset = shifted_scores.min()
    assert shifted.means - offset == pytest.approx(centred.means, abs=max(abs(offset) * 1e-15, 1e-9))
