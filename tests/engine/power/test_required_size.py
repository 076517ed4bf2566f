"""The search for a size, step by step on powers made up, and the closed form of the z-test."""

from statistics import NormalDist

import pytest

from riskrank.engine.bisection import least_size
from riskrank.engine.power.required_size import check_search, find_size
from riskrank.errors import UsageError

Z = NormalDist()


@pytest.mark.parametrize("least", [1, 2, 7, 64, 99, 100])
def test_the_least_size_that_is_enough_in_few_steps(least):
    tried = []

    def enough(size):
        tried.append(size)
        return size >= least

    assert least_size(enough, 1, 100) == least
    assert len(tried) <= 8
    assert all(1 <= size <= 100 for size in tried)


def test_beyond_the_limit_there_is_none():
    assert least_size(lambda size: size > 100, 1, 100) is None
    assert least_size(lambda size: True, 10, 10) == 10


def z_test(size, height):
    """Of an effect of 0.2 at the level .05, where the test stands so many errors higher."""
    return Z.cdf(0.2 * size**0.5 - Z.inv_cdf(0.95) - height)


def search(true_height, *, agrees=0.0, **options):
    """Search where whole tests stand at a height, told when it is further off than that."""
    looks = []

    def look(size, height):
        looks.append((size, height))
        return height if abs(height - true_height) <= agrees else true_height

    ends = {"target": 0.8, "smallest": 10, "limit": 1000, "otherwise": 100} | options
    return find_size(z_test, look, **ends), looks


@pytest.mark.parametrize("height", [-0.5, 0.0, 0.5])
def test_the_size_of_a_test_that_stands_higher(height):
    (size, found, confirmed), looks = search(height)
    exact = ((Z.inv_cdf(0.95) + height + Z.inv_cdf(0.8)) / 0.2) ** 2
    assert exact <= size < exact + 1
    assert (found, confirmed) == (height, True)
    assert len(looks) == (1 if height == 0 else 2)


def test_what_agrees_is_left_as_it_is():
    (size, found, confirmed), looks = search(0.1, agrees=0.2)
    assert (found, confirmed) == (0.0, True)
    assert looks == [(size, 0.0)]


def test_where_the_limit_is_not_enough_another_size_is_looked_at():
    assert search(0.0, limit=50, otherwise=20) == ((None, 0.0, True), [(20, 0.0)])
    # Tables may say that it is enough all the same.
    (size, height, confirmed), looks = search(-1.0, limit=110, otherwise=20)
    assert (size, height, confirmed) == (56, -1.0, True)
    assert looks == [(20, 0.0), (56, -1.0)]


def test_tables_that_never_agree_end_it():
    heights = iter([0.3, -0.3, 0.6, -0.6])
    ends = {"target": 0.8, "smallest": 10, "limit": 1000, "otherwise": 100}
    size, height, confirmed = find_size(z_test, lambda *_: next(heights), **ends)
    assert (height, confirmed) == (0.6, False)
    assert z_test(size - 1, height) < 0.8 <= z_test(size, height)


def test_a_search_ends_at_its_limit_or_at_five_times_the_largest_size():
    assert check_search([10, 40], target=0.8, limit=None, smallest=10) == 200
    assert check_search([10, 40], target=0.8, limit=40, smallest=10) == 40
    for target in (0.0, 1.0):
        with pytest.raises(UsageError, match="between 0 and 1"):
            check_search([100], target=target, limit=None, smallest=10)
