"""Digits follow what is known of the numbers."""

import numpy as np
import pytest

from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.wording import (
    decimals_apart,
    decimals_of_exact,
    decimals_of_range,
    rounded,
    rounded_beside_zero,
    told_apart,
)


def test_digits_tell_neighbours_apart():
    assert decimals_apart([785.46, 777.2, 852.4]) == 0
    assert decimals_apart([0.9, 0.901, 0.8985, float("nan")]) == 4
    assert decimals_apart([3.0, 3.0]) == 3
    # One value far off does not hide that the others differ, nor do many near ones ask for six digits.
    assert decimals_apart([0.08, 0.3, 0.41, 0.47, 0.61, 1.9, 3.5, 13.0]) == 2
    assert decimals_apart([at / 1e6 for at in range(1000)] + [1000.0]) == 1


def test_a_mean_has_the_digits_its_range_leaves():
    assert decimals_of_range(0.0, 1.0, 10_000) == 3
    assert decimals_of_range(0.0, 10_000.0, 100) == 0


def test_an_end_of_an_interval_shows_its_side_of_zero():
    assert [rounded_beside_zero(value, 2) for value in (0.0, -0.002, 0.0049, 0.006)] == [
        "0.00",
        "−0.002",
        "0.005",
        "0.01",
    ]


def test_numbers_that_differ_are_not_shown_alike():
    assert told_apart(0.9216, 0.853, rounded, 3) == ("0.922", "0.853")
    assert told_apart(92.1642, 92.1575, rounded, 1) == ("92.164", "92.157")
    assert told_apart(-0.0001, 0.0, rounded, 2) == ("−0.0001", "0.0000")
    # What is the same, or differs by nothing that a reader could use, is shown as ever.
    assert told_apart(0.5, 0.5, rounded, 3) == ("0.500", "0.500")
    assert told_apart(0.5, 0.5 + 1e-12, rounded, 3) == ("0.500", "0.500")
    mean = MetricMeans("q", False, True, True, np.array([0.921642, 0.921575]), np.zeros(2), 1, np.zeros(2))
    assert mean.against(0, 1) == "92.164 % against 92.157 %"
    assert mean.of(0) == mean.of(1) == "92.2 %"


def test_differences_of_shares_are_points():
    none = np.zeros(2)
    share, other = (MetricMeans("q", False, True, kind, none, none, 1, none) for kind in (True, False))
    assert share.span(-0.05, 0.0625) == "−5.0 to 6.2 points"
    assert other.span(-0.04, 0.0625) == "−0.04 to 0.1"


@pytest.mark.parametrize(
    ("values", "wanted"), [([2.0, 5.0], 0), ([2, 2.05, 5.5], 2), ([0.0002, 1], 4), ([1 / 3], 3), ([1e-9], 6)]
)
def test_what_does_not_vary_is_shown_as_it_is(values, wanted):
    assert decimals_of_exact(values) == wanted
