"""Search for the required size, step by step, and the sizes it refuses."""

import pytest

from riskrank.engine.bisection import smallest_size
from riskrank.engine.power.required_size import check_search
from riskrank.errors import UsageError


@pytest.mark.parametrize("least", [1, 2, 7, 64, 99, 100])
def test_smallest_sufficient_size_is_reached_in_few_steps(least):
    tried = []

    def enough(size):
        tried.append(size)
        return size >= least

    assert smallest_size(enough, 1, 100) == least
    assert len(tried) <= 8
    assert all(1 <= size <= 100 for size in tried)


def test_size_beyond_the_limit_is_none():
    assert smallest_size(lambda size: size > 100, 1, 100) is None
    assert smallest_size(lambda size: True, 10, 10) == 10


def test_search_limit_defaults_to_five_times_the_largest_size():
    assert check_search([10, 40], limit=None, smallest=10) == 200
    assert check_search([10, 40], limit=40, smallest=10) == 40
    with pytest.raises(UsageError, match="below the largest of"):
        check_search([10, 40], limit=30, smallest=10)
    with pytest.raises(UsageError, match="at least 10"):
        check_search([5], limit=None, smallest=10)
