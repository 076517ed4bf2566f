"""The search for a size: against the closed form of the z-test, and step by step on powers made up."""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.power.distributions import parse_distribution
from riskrank.engine.power.required_size import _non_decreasing, size_for_power
from riskrank.engine.power.samplers import DistributionSampler, Draw
from riskrank.engine.power.simulation import PowerCurve, Simulation, estimate_power
from riskrank.engine.sampling.processes import run_tasks
from riskrank.errors import UsageError

Z = NormalDist()


def z_test(draw, seed):
    """Known unit variances: power is Φ(δ √(n/2) − z), exactly."""
    a, b = draw.samples
    statistic = (a.mean() - b.mean()) * sqrt(len(a) / 2)
    return [statistic > Z.inv_cdf(0.95), statistic > Z.inv_cdf(0.99)]


@pytest.fixture
def shifted():
    return DistributionSampler((parse_distribution("normal:0.3,1"), parse_distribution("normal")))


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


REPEATS = 100


class Told:
    """A simulation whose share of significant data sets is told for every size."""

    def __init__(self, shares):
        self.shares, self.tried = shares, []

    @property
    def simulation(self):
        return Simulation(lambda rng, size: Draw((np.zeros(size),), None), None)

    def run(self, function, shared, tasks):
        """Answer all tasks of a size with the share told, whatever is drawn."""
        size = tasks[0].size
        self.tried.append(size)
        hits = np.arange(REPEATS)[:, None] < REPEATS * self.shares(size)
        return np.split(hits, np.cumsum([task.count for task in tasks])[:-1])


def search(shares, **options):
    told = Told(shares)
    options = {"repeats": REPEATS, "target": 0.8} | options
    return size_for_power(told.simulation, run=told.run, **options), told.tried


def test_sizes_are_halved_until_the_target_is_bracketed():
    found, tried = search(lambda n: 1.0 if n > 40 else 0.0, start=100, smallest=10)
    assert tried[:3] == [100, 50, 25]
    assert all(25 < size < 50 for size in tried[3:])
    assert not found.confirmed


def test_halving_stops_at_the_smallest_size():
    found, tried = search(lambda n: 1.0, start=50, smallest=10)
    assert tried == [50, 25, 12, 10]
    assert (found.size, found.power, found.confirmed) == (10, 1.0, True)
    found, tried = search(lambda n: 1.0, start=10, smallest=10)
    assert (found.size, tried) == (10, [10])


def test_doubling_stops_at_the_limit():
    found, tried = search(lambda n: 0.0, start=50, limit=150)
    assert tried == [50, 100, 150]
    assert (found.size, found.power, found.confirmed) == (None, 0.0, False)
    found, tried = search(lambda n: 0.0, start=50, limit=50)
    assert (found.size, tried) == (None, [50])


def test_a_power_within_an_error_is_taken_at_once_and_none_beyond_it():
    # The error at 0.77 of 100 is about 0.042, at 0.75 about 0.043.
    found, tried = search(lambda n: 0.77, start=50)
    assert (found.size, found.confirmed, tried) == (50, True, [50])
    _, tried = search(lambda n: 0.75, start=50, limit=50)
    assert tried == [50]
    found, _ = search(lambda n: 0.75, start=50, limit=50)
    assert found.size is None
    found, tried = search(lambda n: 0.83, start=50)
    assert (found.size, tried) == (50, [50])
    _, tried = search(lambda n: 0.9, start=50, smallest=40)
    assert tried == [50, 40]


def test_a_power_between_one_and_two_errors_away_goes_on():
    # The error at 0.86 of 100 is about 0.035, at 0.74 about 0.044.
    found, tried = search(lambda n: 0.86, start=50, smallest=40)
    assert (found.size, found.confirmed, tried) == (40, True, [50, 40])
    found, tried = search(lambda n: 0.74, start=50, limit=60)
    assert (found.size, found.confirmed, tried) == (None, False, [50, 60])


def test_power_equal_to_the_target_is_enough():
    found, tried = search(lambda n: 0.8, start=50, smallest=10)
    assert (found.size, found.confirmed, tried) == (50, True, [50])


def test_within_a_bracket_the_crossing_is_tried():
    # On a logarithmic scale the line from (20, 0) to (80, 1) reaches 0.8 at 20 * 4 ** 0.8.
    curve = PowerCurve(
        np.array([20, 80]),
        np.array([[0.0], [1.0]]),
        np.array([[0.01], [0.01]]),
        np.array([0.0, 1.0]),
        np.array([0.01, 0.01]),
        REPEATS,
    )
    found, tried = search(lambda n: 0.8, start=20, known=curve)
    assert tried == [round(20 * 4**0.8)]
    assert (found.size, found.confirmed) == (tried[0], True)
    assert found.sizes.tolist() == [20, tried[0], 80]


def known(sizes, powers, error=0.01):
    """Powers at some sizes, all with one error."""
    share, errors = np.array(powers), np.full(len(powers), error)
    return PowerCurve(np.array(sizes), share[:, None], errors[:, None], share, errors, REPEATS)


def test_a_curve_that_only_pools_to_the_target_is_not_below_it():
    """Powers of 0.9 and 0.7 make a level curve at 0.8: smaller sizes are asked for, and no larger ones."""
    told, tried = search(
        lambda n: 0.0, start=20, known=known([20, 40], [0.875, 0.625]), target=0.75, rounds=1
    )
    assert tried[0] == 10
    assert max(tried) < 40
    assert told.target == 0.75


def test_in_a_bracket_one_error_is_taken_at_once_and_two_after_a_trial():
    # 0.86 lies between one and two of its errors, of 0.04 or of 0.035, above the target.
    bracket = known([20, 80], [0.0, 0.86], error=0.04)
    found, tried = search(lambda n: 0.8, start=20, known=bracket)
    assert (len(tried), found.size, found.confirmed) == (1, tried[0], True)
    assert 20 < tried[0] < 80
    found, tried = search(lambda n: 0.8, start=20, known=known([20, 80], [0.0, 0.83], error=0.04))
    assert (found.size, found.confirmed, tried) == (80, True, [])
    found, tried = search(lambda n: 0.86, start=20, known=known([20, 80], [0.0, 1.0]))
    assert (len(tried), found.size, found.confirmed) == (1, tried[0], True)
    found, tried = search(lambda n: 0.0, start=20, known=bracket, rounds=0)
    assert (found.size, found.confirmed, tried) == (80, True, [])
    found, tried = search(lambda n: 0.0, start=20, known=known([20, 80], [0.0, 0.9], error=0.04), rounds=0)
    assert (found.size, found.confirmed, tried) == (80, False, [])


def test_a_power_exactly_an_error_away_agrees():
    for power in (0.75, 0.25):
        found, tried = search(lambda n: 0.0, target=0.5, start=20, known=known([20], [power], error=0.25))
        assert (found.size, found.confirmed, tried) == (20, True, [])


def test_eight_sizes_are_tried_in_a_bracket():
    _, tried = search(lambda n: 1.0 if n >= 60_000 else 0.0, start=40_960)
    assert len(tried) == 2 + 8


def test_where_sizes_begin_and_end_unless_told_otherwise():
    _, tried = search(lambda n: 1.0)
    assert tried == [50, 25, 12, 10]
    found, tried = search(lambda n: 0.0, start=60_000)
    assert (found.size, tried) == (None, [60_000, 100_000])


def test_the_smallest_size_may_be_one():
    found, tried = search(lambda n: 1.0, start=2, smallest=1)
    assert (found.size, tried) == (1, [2, 1])


def test_a_search_that_cannot_agree_ends_after_its_rounds():
    found, tried = search(lambda n: 1.0 if n >= 6000 else 0.0, start=4096, rounds=3)
    assert len(tried) == 2 + 3
    assert not found.confirmed
    assert found.power == found.powers[found.sizes.tolist().index(found.size)] == 1.0


def test_neighbouring_sizes_leave_nothing_to_try():
    found, tried = search(lambda n: 1.0 if n >= 12 else 0.0, start=11, limit=12, smallest=11)
    assert tried == [11, 12]
    assert (found.size, found.confirmed) == (12, False)


def test_bad_input():
    for options in ({"target": 1.0}, {"target": 0.0}):
        with pytest.raises(UsageError, match="inside"):
            search(lambda n: 1.0, **options)
    for options in ({"start": 100, "limit": 50}, {"start": 5, "smallest": 10}, {"smallest": 0}):
        with pytest.raises(UsageError, match="in order"):
            search(lambda n: 1.0, **options)
    assert search(lambda n: 1.0, start=10, smallest=10, limit=10)[0].size == 10
