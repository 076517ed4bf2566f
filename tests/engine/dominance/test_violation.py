import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from riskrank.engine.dominance import violation
from riskrank.engine.dominance.ranking import estimate_violation, weighted_violation_ratios
from riskrank.engine.dominance.violation import ViolationKernel, one_versus_all, violation_matrices
from riskrank.engine.numeric import CommonScale
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import make_blocks
from riskrank.engine.sampling.steps import StepMaker, to_weight_units
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from tests.engine.dominance.helpers import violation_matrix, violation_ratio

integer_samples = st.lists(st.integers(-6, 6), min_size=1, max_size=12)
float_samples = st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=1, max_size=15)


def brute_force_ratio(winner, loser, order):
    """Integrate exactly with fractions over the merged breakpoints (method §3)."""
    a, b = sorted(map(Fraction, winner)), sorted(map(Fraction, loser))
    points = sorted({Fraction(t, len(s)) for s in (a, b) for t in range(len(s) + 1)})

    def step(sample, p):  # quantile on the segment that begins at p
        return sample[int(p * len(sample))]

    def integrated(sample, p):
        full_steps = int(p * len(sample))
        total = sum(sample[:full_steps], Fraction(0)) / len(sample)
        remainder = p - Fraction(full_steps, len(sample))
        return total + (remainder * sample[full_steps] if remainder else 0)

    above = total = Fraction(0)
    for left, right in itertools.pairwise(points):
        width = right - left
        if order == 1:
            difference = step(b, left) - step(a, left)
            total += width * difference**2
            above += width * max(difference, Fraction(0)) ** 2
            continue
        d, e = (integrated(b, p) - integrated(a, p) for p in (left, right))
        piece = width * (d * d + d * e + e * e) / 3
        total += piece
        if d >= 0 and e >= 0:
            above += piece
        elif d > 0 > e:
            above += width * d**3 / (3 * (d - e))
        elif e > 0 > d:
            above += width * e**3 / (3 * (e - d))
    return float(above / total) if total else 0.5


@pytest.mark.parametrize("order", [1, 2])
@given(a=integer_samples, b=integer_samples)
def test_ratio_against_exact_fractions_with_ties(order, a, b):
    assert violation_ratio(a, b, order=order) == pytest.approx(brute_force_ratio(a, b, order), abs=1e-12)


@pytest.mark.parametrize("order", [1, 2])
@given(a=float_samples, b=float_samples)
def test_ratio_against_brute_force_on_unequal_sizes(order, a, b):
    expected = brute_force_ratio(a, b, order)
    # Sums of decimals that cancel exactly in fractions need not do so in floats: leave near-draws out.
    spread = abs(np.mean(a) - np.mean(b)) + max(abs(np.array([*a, *b])))
    if spread > 0 and not (order == 2 and sorted(a) != sorted(b) and abs(np.mean(a) - np.mean(b)) < 1e-9):
        assert violation_ratio(a, b, order=order) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("better", "worse", "first", "second"),
    [
        ((0.5, 2), (0, 1), 0.16771, 0.44473),
        ((1, 2), (0, 1), 0.037670, None),
        ((0.275, 1.5), (0.25, 1), 0.460189, None),
    ],
)
def test_normal_pairs_against_published_and_closed_form_values(better, worse, first, second):
    c = (better[0] - worse[0]) / (better[1] - worse[1])
    density = math.exp(-c * c / 2) / math.sqrt(2 * math.pi)
    assert ((1 + c * c) * ndtr(-c) - c * density) / (1 + c * c) == pytest.approx(first, abs=5e-6)
    # Evenly spread quantiles stand in for a sample: no sampling error, only that of the grid.
    from scipy.special import ndtri

    z = ndtri((np.arange(400_000) + 0.5) / 400_000)
    a, b = better[0] + better[1] * z, worse[0] + worse[1] * z
    assert violation_ratio(a, b, order=1) == pytest.approx(first, abs=1e-4)
    if second is not None:
        assert violation_ratio(a, b, order=2) == pytest.approx(second, abs=1e-4)


@pytest.mark.parametrize("order", [1, 2])
@given(a=integer_samples)
def test_identical_models_tie_for_any_sizes(order, a):
    assert violation_ratio(a, list(reversed(a)), order=order) == 0.5
    assert violation_ratio(a, a * 3, order=order) == 0.5


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "map_", [lambda x: 8 * x, lambda x: 3.7 * x + 11, lambda x: x * 1e-150, lambda x: x * 1e150]
)
def test_invariance_under_positive_affine_maps(order, map_):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=31), rng.normal(0.2, 2, size=31)
    plain = violation_ratio(a, b, order=order)
    assert violation_ratio(map_(a), map_(b), order=order) == pytest.approx(plain, rel=1e-9)


def test_matrix_against_pairs_for_equal_and_unequal_sizes():
    rng = np.random.default_rng(5)
    for sizes in ((20, 20, 20), (20, 13, 31)):
        samples = [np.round(rng.normal(size=n), 1) for n in sizes]
        for order in (1, 2):
            matrix = violation_matrix(samples, order=order)
            for i in range(3):
                for j in range(3):
                    assert matrix[i, j] == pytest.approx(
                        brute_force_ratio(samples[i], samples[j], order), abs=1e-12
                    )


def test_mean_ratio_against_all_rivals():
    ratios = np.array([[0.5, 0.1, 0.3], [0.9, 0.5, 0.6], [0.7, 0.4, 0.5]])
    assert one_versus_all(ratios) == pytest.approx([0.2, 0.75, 0.55])


@pytest.mark.parametrize(
    ("samples", "shift"),
    [
        ([[1e9 + 1, 1e9 + 5], [1e9, 1e9 + 2]], 1e9),
        ([[-1e9 - 1.0, -1e9 - 5], [-1e9, -1e9 - 2]], -1e9 - 5),
        ([[1.0, 2.0], [1.5, 2.0]], 1.0),
        ([[1.0, 2.1], [1.5, 2.0]], 0.0),
        ([[-2.0, -1.0]], -2.0),
        ([[-2.1, -1.0]], 0.0),
        ([[0.0, 1e-9]], 0.0),
        ([[-1.0, 1.0]], 0.0),
        ([[3.0, 3.0]], 3.0),
        ([[0.0]], 0.0),
    ],
)
def test_common_shift_requires_exact_subtraction(samples, shift):
    arrays = [np.array(sample) for sample in samples]
    scale = CommonScale.fit(arrays)
    assert scale.shift == shift
    for array in arrays:
        scaled = scale.apply(array)
        assert np.abs(scaled).max() <= 1
        assert [Fraction(x) * 2**scale.exponent + Fraction(shift) for x in scaled] == [
            Fraction(x) for x in array
        ]
        np.testing.assert_array_equal(scale.undo(scaled), array)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("offset", [1e9, -1e9, 2.0**52])
def test_offset_does_not_change_ratios(order, offset):
    """Without the common shift, the second-order ratio has an error of 11 % at 1e9."""
    rng = np.random.default_rng(2)
    n = 4000 if offset != 2.0**52 else 40
    grid = 64 if offset != 2.0**52 else 1
    samples = [np.round(grid * (rng.normal(gap, 1, size=n))) / grid for gap in (0.0, 0.002)]
    plain = violation_ratio(*samples, order=order)
    assert violation_ratio(*(sample + offset for sample in samples), order=order) == pytest.approx(
        plain, rel=1e-12
    )


@pytest.mark.parametrize("order", [1, 2])
def test_huge_score_does_not_make_models_equal(order):
    """Squares of differences near 1 underflow if the common scale is that of 1e200."""
    small, tall = [-1e200, 0.0, 1.0, 5.0], [-1e200, 1.0, 2.0, 3.0]
    ratio = violation_ratio(small, tall, order=order)
    if order == 1:
        assert ratio == pytest.approx(2 / 6)
    else:
        assert 0 <= ratio <= 1
    low = violation_ratio([-1e200, 1.0, 2.0], [-1e200, 0.0, 1.0], order=1)
    assert low == 0


@pytest.mark.parametrize("order", [1, 2])
def test_rows_do_not_depend_on_their_batch_or_the_cache(order, monkeypatch):
    rng = np.random.default_rng(0)
    quantiles = np.sort(np.round(rng.normal(size=(5, 9, 31)), 1), axis=2)
    plain = ViolationKernel.for_models(5, orders=(order,)).ratios(quantiles)
    for cache in (1, 40, 200, 5000):
        monkeypatch.setattr(violation, "_CACHE", cache)
        batched = ViolationKernel.for_models(5, orders=(order,)).ratios(quantiles)
        np.testing.assert_array_equal(batched, plain)
    monkeypatch.undo()
    for b in range(9):
        expected = violation_matrix(list(quantiles[:, b]), order=order)
        np.testing.assert_allclose(plain[0, ..., b], expected, atol=1e-13)


weighted = st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 5)), min_size=1, max_size=9)


def steps_of(sample):
    total = sum(weight for _, weight in sample)
    return [(Fraction(value), Fraction(weight, total)) for value, weight in sorted(sample)]


def at(steps, p):
    end = Fraction(0)
    for value, width in steps:
        end += width
        if p < end:
            return value
    raise AssertionError


def brute_force(winner, loser, order):
    """Integrate exactly with fractions, with the weights of method §8."""
    points = {Fraction(0)}
    for steps in (winner, loser):
        points |= set(itertools.accumulate(width for _, width in steps))
    total = above = left_integral = Fraction(0)
    for left, right in itertools.pairwise(sorted(points)):
        width, difference = right - left, at(loser, left) - at(winner, left)
        if order == 1:
            total += width * difference**2
            above += width * max(difference, 0) ** 2
            continue
        d, e = left_integral, left_integral + width * difference
        left_integral = e
        piece = width * (d * d + d * e + e * e) / 3
        total += piece
        if d >= 0 and e >= 0:
            above += piece
        elif d * e < 0:
            above += width * abs(max(d, e)) ** 3 / (3 * abs(d - e))
    return float(above / total) if total else 0.5


def ratios(samples, orders=(1, 2)):
    makers, cumulated = [], []
    for sample in samples:
        values, weights = (np.array(side, dtype=float) for side in zip(*sample, strict=True))
        maker = StepMaker.from_scores(values, np.arange(values.size))
        makers.append(maker)
        cumulated.append(maker.cumulated(to_weight_units(weights / weights.sum())[None]))
    kernel, values = (
        ViolationKernel.for_models(len(makers), orders=orders),
        [maker.values for maker in makers],
    )
    return kernel.ratios_of_steps(values, cumulated, max(map(len, samples)))[..., 0]


@given(weighted, weighted, st.sampled_from([1, 2]))
def test_against_fractions(first, second, order):
    ratio = ratios([first, second], (order,))[0]
    exact = brute_force(steps_of(first), steps_of(second), order)
    assert ratio[0, 1] == pytest.approx(exact, abs=1e-12)
    assert ratio[1, 0] == 1 - ratio[0, 1]


@given(weighted, st.integers(2, 5))
def test_splitting_weights_changes_nothing(sample, parts):
    split = [(value, weight) for value, weight in sample for _ in range(parts)]
    other = [(1, 1), (2, 3)]
    assert ratios([sample, split]).ravel() == pytest.approx(0.5, abs=0)
    assert ratios([split, other]) == pytest.approx(ratios([sample, other]), abs=1e-12)


@pytest.mark.parametrize("exponent", [-600, -300, 300, 500])
def test_units_of_any_size(exponent):
    rng = np.random.default_rng(3)
    scores = rng.normal(np.array([[0.0], [0.3], [0.6]]), size=(3, 40))
    tasks = TaskDesign.build("ab", [np.repeat([0, 1], [10, 30])] * 3)
    plain = weighted_violation_ratios(ClusteredScores.build([*scores], tasks=tasks))
    there = weighted_violation_ratios(ClusteredScores.build([*np.ldexp(scores, exponent)], tasks=tasks))
    assert there == pytest.approx(plain, abs=1e-12)


def test_equal_weights_are_the_equal_kernel():
    rng = np.random.default_rng(1)
    for values in (rng.normal(size=(4, 300)), rng.integers(0, 5, (4, 300)).astype(float)):
        scores = ClusteredScores.build([*values])
        plain = violation_matrices([np.sort(value) for value in values])
        assert weighted_violation_ratios(scores) == pytest.approx(plain, abs=1e-12)


def test_task_weights_equal_repeated_scores():
    rng = np.random.default_rng(2)
    values, tasks = rng.normal(size=(3, 30)), np.repeat([0, 1], [6, 24])
    design = TaskDesign.build("ab", [tasks] * 3)
    weighted = estimate_violation(ClusteredScores.build([*values], tasks=design))
    repeated = [np.repeat(value, np.where(tasks == 0, 4, 1)) for value in values]
    plain = estimate_violation(ClusteredScores.build(repeated))
    assert weighted.ratios == pytest.approx(plain.ratios, abs=1e-12)
    assert weighted.means == pytest.approx(
        [0.5 * value[:6].mean() + 0.5 * value[6:].mean() for value in values]
    )
    assert weighted.means == pytest.approx(plain.means, abs=1e-13)


def test_a_resample_does_not_depend_on_its_batch():
    rng = np.random.default_rng(4)
    for size in (60, 6000):
        tasks = TaskDesign.build("abc", [np.repeat([0, 1, 2], [size // 6, size // 3, size // 2])] * 3)
        design = WeightedDesign(ClusteredScores.build([*rng.normal(size=(3, size))], tasks=tasks))
        kernel = ViolationKernel.for_models(3)
        together, alone = (
            [
                kernel.ratios_of_steps(design.values, batch, size)
                for batch in design.batches(make_blocks(50, 7), size=step)
            ]
            for step in (25, 4)
        )
        assert np.array_equal(np.concatenate(together, axis=-1), np.concatenate(alone, axis=-1))


def test_equal_mixtures_over_tasks_are_identical():
    a = [np.array([0, 1, 1, 0, 0, 1.0]), np.array([1, 0, 1, 0, 1, 0.0])]
    # One of two at ½/2, one of four at ½/4: the same mixture from other tasks.
    tasks = TaskDesign.build("ab", [np.array([0, 0, 1, 1, 1, 1])] * 2)
    result = estimate_violation(ClusteredScores.build(a, tasks=tasks))
    assert result.ratios == pytest.approx(0.5, abs=0)
    assert result.identical[0, 1]


def test_a_ratio_of_a_half_alone_does_not_make_models_identical():
    # The gains at one end equal the losses at the other.
    tasks = TaskDesign.build("ab", [np.array([0, 1, 1])] * 2)
    result = estimate_violation(
        ClusteredScores.build([np.array([3, 0, 0.0]), np.array([2, 1, 1.0])], tasks=tasks)
    )
    assert result.ratios[0, 0, 1] == pytest.approx(0.5, abs=1e-12)
    assert not result.identical[0, 1]
