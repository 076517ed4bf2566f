"""Power against the closed form of the z-test, on pilots whose resampling is known, and on its search."""

from functools import partial
from math import sqrt
from multiprocessing.pool import ThreadPool
from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.power.distributions import parse_distribution
from riskrank.engine.power.simulation import (
    DistributionSampler,
    Simulation,
    _non_decreasing,
    estimate_power,
    pilot_sampler,
    size_for_power,
)
from riskrank.engine.sampling.processes import run_tasks
from riskrank.errors import InputError, UsageError

Z = NormalDist()


def z_test(draw, seed):
    """Known unit variances: power is Φ(δ √(n/2) − z), exactly."""
    a, b = draw.samples
    statistic = (a.mean() - b.mean()) * sqrt(len(a) / 2)
    return [statistic > Z.inv_cdf(0.95), statistic > Z.inv_cdf(0.99)]


def in_threads(pool, function, shared, tasks):
    return pool.imap(partial(function, shared), tasks)


def closed_form(n, delta, level=0.95):
    return Z.cdf(delta * sqrt(n / 2) - Z.inv_cdf(level))


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


@pytest.mark.parametrize("delta", [0.3, 0.1])
def test_required_size_against_closed_form(delta):
    sampler = DistributionSampler((parse_distribution(f"normal:{delta},1"), parse_distribution("normal")))
    exact = 2 * ((Z.inv_cdf(0.95) + Z.inv_cdf(0.8)) / delta) ** 2
    found = size_for_power(Simulation(sampler, z_test), claim=0, start=20, repeats=800, seed=2)
    assert found.confirmed
    # Two errors of 1.3 % in power are 9 % in size at this slope.
    assert found.size == pytest.approx(exact, rel=0.12)
    assert abs(found.power - 0.8) <= 2 * found.standard_error
    assert len(found.sizes) == len(found.powers)
    assert found.size in found.sizes


def test_required_size_at_the_ends(shifted):
    at_once = size_for_power(Simulation(shifted, z_test), claim=0, start=2000, smallest=2000, repeats=50)
    assert (at_once.size, at_once.confirmed) == (2000, True)
    halved = size_for_power(Simulation(shifted, z_test), claim=0, start=2000, repeats=200)
    assert halved.size == pytest.approx(2 * ((Z.inv_cdf(0.95) + Z.inv_cdf(0.8)) / 0.3) ** 2, rel=0.25)
    never = size_for_power(Simulation(shifted, z_test), claim=0, start=10, limit=25, repeats=100)
    assert never.size is None
    assert not never.confirmed
    assert never.power < 0.8
    assert never.sizes.tolist() == [10, 20, 25]


def test_known_powers_are_not_simulated_again(shifted):
    simulation = Simulation(shifted, z_test)
    curve = estimate_power(simulation, [20, 500], repeats=200, seed=2)
    tried = []

    def watching(function, shared, tasks):
        tried.append(tasks[0].size)
        return run_tasks(function, shared, tasks)

    found = size_for_power(simulation, claim=0, start=20, known=curve, repeats=200, seed=2, run=watching)
    assert found.size in tried
    assert not {20, 500} & set(tried)
    assert {20, 500} <= set(found.sizes.tolist())
    again = estimate_power(simulation, [found.size], repeats=200, seed=2)
    assert found.power == again.power[0, 0]


def test_same_numbers_for_any_mapper_and_other_sizes(shifted):
    alone = estimate_power(Simulation(shifted, z_test), [50], repeats=90, seed=3)
    with ThreadPool(3) as pool:
        spread = estimate_power(
            Simulation(shifted, z_test), [50, 70], repeats=90, seed=3, run=partial(in_threads, pool)
        )
    assert spread.power[0].tolist() == alone.power[0].tolist()
    other = estimate_power(Simulation(shifted, z_test), [50], repeats=90, seed=4)
    assert other.power[0].tolist() != alone.power[0].tolist()


def test_a_paired_pilot_keeps_rows_together():
    x = np.arange(7.0)
    sampler = pilot_sampler([x, 10 * x])
    draw = sampler(np.random.default_rng(0), 500)
    assert draw.clusters is None
    assert draw.samples[0].shape == (500,)
    assert (draw.samples[1] == 10 * draw.samples[0]).all()
    assert set(draw.samples[0]) == set(x)


def test_an_unpaired_pilot_draws_models_alone():
    sampler = pilot_sampler([np.arange(50.0), np.arange(60.0)], paired=False)
    first, second = sampler(np.random.default_rng(0), 400).samples
    assert not np.array_equal(first, second)
    assert second.max() > 49


def test_clusters_are_drawn_whole_and_numbered_anew():
    # Samples of 1, 2 and 3 draws, in shuffled rows; the tens of a score name its sample.
    score = np.array([31.0, 20.0, 30.0, 10.0, 21.0, 32.0])
    whole = {1: [10], 2: [20, 21], 3: [30, 31, 32]}
    sampler = pilot_sampler([score, -score], clusters=[score // 10, score // 10])
    draw = sampler(np.random.default_rng(1), 300)
    assert np.array_equal(draw.clusters[0], draw.clusters[1])
    assert np.unique(draw.clusters[0]).tolist() == list(range(300))
    assert (draw.samples[1] == -draw.samples[0]).all()
    met = set()
    for number in range(300):
        inside = sorted(draw.samples[0][draw.clusters[0] == number].tolist())
        met.add(int(inside[0] // 10))
        assert inside == whole[int(inside[0] // 10)]
    assert met == {1, 2, 3}


def test_power_of_a_pilot_grows_to_one():
    rng = np.random.default_rng(5)
    pilot = rng.normal(size=(2, 200)) + np.array([[0.4], [0.0]])
    curve = estimate_power(
        Simulation(pilot_sampler(list(pilot), paired=False), z_test), [10, 50, 400], repeats=200
    )
    assert (np.diff(curve.power[:, 0]) > 0).all()
    assert curve.power[-1, 0] > 0.95


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([3, 2, 1], [2, 2, 2]),
        ([1, 3, 2, 4], [1, 2.5, 2.5, 4]),
        ([2, 4, 1, 0, 5], [1.75, 1.75, 1.75, 1.75, 5]),
    ],
)
def test_non_decreasing_by_hand(values, expected):
    assert _non_decreasing(values) == pytest.approx(expected)


def test_bad_input(shifted):
    with pytest.raises(UsageError, match="at least 1"):
        estimate_power(Simulation(shifted, z_test), [0])
    with pytest.raises(UsageError, match="at least 1"):
        estimate_power(Simulation(shifted, z_test), [10], repeats=0)
    with pytest.raises(UsageError, match="inside"):
        size_for_power(Simulation(shifted, z_test), target=1.0)
    with pytest.raises(UsageError, match="in order"):
        size_for_power(Simulation(shifted, z_test), start=100, limit=50)
    with pytest.raises(InputError, match="same samples"):
        pilot_sampler([np.zeros(3), np.zeros(4)])
    with pytest.raises(InputError, match="each with its sample"):
        pilot_sampler([np.zeros(3), np.zeros(3)], clusters=[np.zeros(3)])
    with pytest.raises(InputError, match="each with its sample"):
        pilot_sampler([])
