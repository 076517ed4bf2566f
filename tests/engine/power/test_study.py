"""Power of simulated tables compared with the closed form of the z-test, and monotone power curves."""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.power.planning import table_streams
from riskrank.engine.power.study import PowerCurve
from tests.engine.power.helpers import collect_verdicts

Z = NormalDist()


def z_test(size, stream):
    """Return a z-test of two normals with known unit variance, 0.3 apart; power is Φ(0.3 √(n/2) − z)."""
    first, second = np.random.default_rng(stream).normal([[0.3], [0.0]], 1.0, (2, size))
    statistic = (first.mean() - second.mean()) * sqrt(size / 2)
    return [statistic > Z.inv_cdf(0.95), statistic > Z.inv_cdf(0.99)]


def test_power_matches_the_closed_form():
    sizes = [20, 80, 200]
    curve = PowerCurve.from_verdicts(sizes, [collect_verdicts(z_test, size, 800, seed=1) for size in sizes])
    for row, size in enumerate(sizes):
        for claim, level in enumerate((0.95, 0.99)):
            expected = Z.cdf(0.3 * sqrt(size / 2) - Z.inv_cdf(level))
            assert abs(curve.power[row, claim] - expected) < 4 * curve.standard_error[row, claim]
    # The second claim implies the first.
    assert curve.power[:, -1] == pytest.approx(curve.power[:, 1])
    assert (curve.standard_error > 0).all()


def test_streams_depend_on_the_seed_only():
    alone = collect_verdicts(z_test, 50, 17, seed=3)
    assert [z_test(50, stream) for stream in table_streams(50, 12, 3)] == alone[:12].tolist()
    assert (collect_verdicts(z_test, 50, 17, seed=4) != alone).any()


def test_standard_error_is_largest_at_half_power():
    significant = np.array([[True, True, False]] * 50 + [[False, True, False]] * 50)
    plain, biased = (
        PowerCurve.from_verdicts([10], [significant]),
        PowerCurve.from_verdicts([10], [significant], bias=0.2),
    )
    assert plain.power.tolist() == biased.power.tolist() == [[0.5, 1.0, 0.0, 0.0]]
    expected = np.hypot(plain.standard_error[0, 1:], 4 * 0.8 * 0.2 * 0.2)
    assert biased.standard_error[0] == pytest.approx([np.hypot(0.05, 0.2), *expected])
    # Complete tests leave more uncertainty at a power of one half than at one tenth.
    divided = PowerCurve.from_verdicts([10], [significant], bias=0.02, variance=0.09)
    assert divided.standard_error[0, 0] == pytest.approx(np.hypot(0.05, 0.02 * 0.25 / 0.09))


def test_hardest_pairs_come_first():
    # Claim 1 is hardest at the largest size; 0 and 2 tie there, and 2 is harder before.
    power = np.array([[0.4, 0.5, 0.3, 0.2], [0.9, 0.8, 0.9, 0.7]])
    curve = PowerCurve(np.array([10, 20]), power, 0 * power, 100)
    assert curve.hardest_first.tolist() == [1, 2, 0]
