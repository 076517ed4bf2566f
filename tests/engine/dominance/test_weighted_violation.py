"""Ratios of weighted steps against fractions, equal weights, and under changes that change nothing."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.dominance.estimates import estimate, weighted_matrices
from riskrank.engine.dominance.violation import ViolationKernel, violation_matrices
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import blocks
from riskrank.engine.sampling.steps import StepMaker, units_of
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.sampling.weighted_resamples import WeightedDesign

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
    """Plain integration in exact fractions, method §3 with the steps of §8."""
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
        maker = StepMaker.of(values, np.arange(values.size))
        makers.append(maker)
        cumulated.append(maker.cumulated(units_of(weights / weights.sum())[None]))
    kernel, values = ViolationKernel.of(len(makers), orders=orders), [maker.values for maker in makers]
    return kernel.ratios_of_steps(values, cumulated, max(map(len, samples)))[..., 0]


@given(weighted, weighted, st.sampled_from([1, 2]))
def test_against_fractions(first, second, order):
    found = ratios([first, second], (order,))[0]
    exact = brute_force(steps_of(first), steps_of(second), order)
    assert found[0, 1] == pytest.approx(exact, abs=1e-12)
    assert found[1, 0] == 1 - found[0, 1]


@given(weighted, st.integers(2, 5))
def test_weights_that_are_split_change_nothing(sample, parts):
    split = [(value, weight) for value, weight in sample for _ in range(parts)]
    other = [(1, 1), (2, 3)]
    assert ratios([sample, split]).ravel() == pytest.approx(0.5, abs=0)
    assert ratios([split, other]) == pytest.approx(ratios([sample, other]), abs=1e-12)


@pytest.mark.parametrize("exponent", [-600, -300, 300, 500])
def test_units_of_any_size(exponent):
    rng = np.random.default_rng(3)
    scores = rng.normal(np.array([[0.0], [0.3], [0.6]]), size=(3, 40))
    tasks = TaskDesign.build("ab", [np.repeat([0, 1], [10, 30])] * 3)
    plain = weighted_matrices(ClusteredScores.build([*scores], tasks=tasks))
    there = weighted_matrices(ClusteredScores.build([*np.ldexp(scores, exponent)], tasks=tasks))
    assert there == pytest.approx(plain, abs=1e-12)


def test_equal_weights_are_the_equal_kernel():
    rng = np.random.default_rng(1)
    for values in (rng.normal(size=(4, 300)), rng.integers(0, 5, (4, 300)).astype(float)):
        scores = ClusteredScores.build([*values])
        plain = violation_matrices([np.sort(value) for value in values])
        assert weighted_matrices(scores) == pytest.approx(plain, abs=1e-12)


def test_repeated_scores_weigh_as_much_as_their_number():
    rng = np.random.default_rng(2)
    values, tasks = rng.normal(size=(3, 30)), np.repeat([0, 1], [6, 24])
    design = TaskDesign.build("ab", [tasks] * 3)
    found = estimate(ClusteredScores.build([*values], tasks=design))
    repeated = [np.repeat(value, np.where(tasks == 0, 4, 1)) for value in values]
    plain = estimate(ClusteredScores.build(repeated))
    assert found.ratios == pytest.approx(plain.ratios, abs=1e-12)
    assert found.means == pytest.approx([0.5 * value[:6].mean() + 0.5 * value[6:].mean() for value in values])
    assert found.means == pytest.approx(plain.means, abs=1e-13)


def test_a_resample_does_not_depend_on_its_batch():
    rng = np.random.default_rng(4)
    for size in (60, 6000):
        tasks = TaskDesign.build("abc", [np.repeat([0, 1, 2], [size // 6, size // 3, size // 2])] * 3)
        design = WeightedDesign(ClusteredScores.build([*rng.normal(size=(3, size))], tasks=tasks))
        kernel = ViolationKernel.of(3)
        together, alone = (
            [
                kernel.ratios_of_steps(design.values, one, size)
                for one in design.batches(blocks(50, 7), size=step)
            ]
            for step in (25, 4)
        )
        assert np.array_equal(np.concatenate(together, axis=-1), np.concatenate(alone, axis=-1))


def test_models_that_exchange_scores_within_equal_tasks_are_identical():
    a = [np.array([0, 1, 1, 0, 0, 1.0]), np.array([1, 0, 1, 0, 1, 0.0])]
    # One of two at ½/2, one of four at ½/4: the same mixture from other tasks.
    tasks = TaskDesign.build("ab", [np.array([0, 0, 1, 1, 1, 1])] * 2)
    found = estimate(ClusteredScores.build(a, tasks=tasks))
    assert found.ratios == pytest.approx(0.5, abs=0)
    assert found.identical[0, 1]


def test_a_ratio_of_a_half_alone_does_not_make_models_identical():
    # What either gains at one end it loses at the other.
    tasks = TaskDesign.build("ab", [np.array([0, 1, 1])] * 2)
    found = estimate(ClusteredScores.build([np.array([3, 0, 0.0]), np.array([2, 1, 1.0])], tasks=tasks))
    assert found.ratios[0, 0, 1] == pytest.approx(0.5, abs=1e-12)
    assert not found.identical[0, 1]
