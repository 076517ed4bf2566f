"""Power against the closed form of the z-test."""

from functools import partial
from math import sqrt
from multiprocessing.pool import ThreadPool
from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.power.distributions import parse_distribution
from riskrank.engine.power.samplers import DistributionSampler, pilot_sampler
from riskrank.engine.power.simulation import PowerCurve, Simulation, estimate_power
from riskrank.errors import UsageError

Z = NormalDist()


def closed_form(n, delta, level=0.95):
    return Z.cdf(delta * sqrt(n / 2) - Z.inv_cdf(level))


def z_test(draw, seed):
    """Known unit variances: power is Φ(δ √(n/2) − z), exactly."""
    a, b = draw.samples
    statistic = (a.mean() - b.mean()) * sqrt(len(a) / 2)
    return [statistic > Z.inv_cdf(0.95), statistic > Z.inv_cdf(0.99)]


def in_threads(pool, function, shared, tasks):
    return pool.imap(partial(function, shared), tasks)


@pytest.fixture
def shifted():
    return DistributionSampler((parse_distribution("normal:0.3,1"), parse_distribution("normal")))


def test_against_closed_form(shifted):
    curve = estimate_power(Simulation(shifted, z_test), [200, 20, 80], repeats=800, seed=1)
    assert curve.sizes.tolist() == [20, 80, 200]
    for row, n in enumerate((20, 80, 200)):
        for claim, level in enumerate((0.95, 0.99)):
            expected = closed_form(n, 0.3, level)
            assert abs(curve.power[row, claim] - expected) < 4 * curve.standard_error[row, claim]
    # The second claim implies the first.
    assert curve.together == pytest.approx(curve.power[:, 1])
    assert (curve.together_error > 0).all()


def test_same_numbers_for_any_mapper_and_other_sizes(shifted):
    alone = estimate_power(Simulation(shifted, z_test), [50], repeats=90, seed=3)
    with ThreadPool(3) as pool:
        spread = estimate_power(
            Simulation(shifted, z_test), [50, 70], repeats=90, seed=3, run=partial(in_threads, pool)
        )
    assert spread.power[0].tolist() == alone.power[0].tolist()
    other = estimate_power(Simulation(shifted, z_test), [50], repeats=90, seed=4)
    assert other.power[0].tolist() != alone.power[0].tolist()


def test_power_of_a_pilot_grows_to_one():
    rng = np.random.default_rng(5)
    pilot = rng.normal(size=(2, 200)) + np.array([[0.4], [0.0]])
    curve = estimate_power(
        Simulation(pilot_sampler(list(pilot), paired=False), z_test), [10, 50, 400], repeats=200
    )
    assert (np.diff(curve.power[:, 0]) > 0).all()
    assert curve.power[-1, 0] > 0.95


def test_bad_input(shifted):
    with pytest.raises(UsageError, match="at least 1"):
        estimate_power(Simulation(shifted, z_test), [0])
    with pytest.raises(UsageError, match="at least 1"):
        estimate_power(Simulation(shifted, z_test), [10], repeats=0)


def test_what_a_page_asks_of_a_curve():
    # Claim 1 is hardest at the largest size; 0 and 2 tie there, and 2 is harder before.
    power = np.array([[0.4, 0.5, 0.3], [0.9, 0.8, 0.9]])
    error = np.array([[0.01, 0.04, 0.02], [0.03, 0.01, 0.01]])
    curve = PowerCurve(np.array([10, 20]), power, error, power.min(axis=1), error.max(axis=1), 100)
    assert curve.hardest_first.tolist() == [1, 2, 0]
    assert curve.largest_error == 0.04
    assert curve.least(np.array([0, 2])).tolist() == [0.3, 0.9]
