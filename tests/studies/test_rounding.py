"""Numbers of digits in verdicts and tables."""

import numpy as np
import pytest

from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.wording import (
    decimals_for_exact_values,
    decimals_for_gaps,
    decimals_from_range,
    distinct_pair,
    format_fixed,
    format_limit,
)


def test_digits_separate_neighbours():
    assert decimals_for_gaps([785.46, 777.2, 852.4]) == 0
    assert decimals_for_gaps([0.9, 0.901, 0.8985, float("nan")]) == 4
    assert decimals_for_gaps([3.0, 3.0]) == 3
    # An outlier does not hide smaller differences, and many close values do not need six digits.
    assert decimals_for_gaps([0.08, 0.3, 0.41, 0.47, 0.61, 1.9, 3.5, 13.0]) == 2
    assert decimals_for_gaps([at / 1e6 for at in range(1000)] + [1000.0]) == 1


def test_digits_of_a_mean_follow_its_range():
    assert decimals_from_range(0.0, 1.0, 10_000) == 3
    assert decimals_from_range(0.0, 10_000.0, 100) == 0


def test_interval_limit_keeps_its_sign():
    assert [format_limit(value, 2) for value in (0.0, -0.002, 0.0049, 0.006)] == [
        "0.00",
        "−0.002",
        "0.005",
        "0.01",
    ]


def test_different_numbers_are_printed_differently():
    assert distinct_pair(0.9216, 0.853, format_fixed, 3) == ("0.922", "0.853")
    assert distinct_pair(92.1642, 92.1575, format_fixed, 1) == ("92.164", "92.157")
    assert distinct_pair(-0.0001, 0.0, format_fixed, 2) == ("−0.0001", "0.0000")
    # Equal or nearly equal numbers keep the usual digits.
    assert distinct_pair(0.5, 0.5, format_fixed, 3) == ("0.500", "0.500")
    assert distinct_pair(0.5, 0.5 + 1e-12, format_fixed, 3) == ("0.500", "0.500")
    mean = MetricMeans("q", False, True, True, np.array([0.921642, 0.921575]), np.zeros(2), 1, np.zeros(2))
    assert mean.format_comparison(0, 1) == "92.164 % against 92.157 %"
    assert mean.format_mean(0) == mean.format_mean(1) == "92.2 %"


def test_differences_of_shares_are_points():
    none = np.zeros(2)
    share, other = (MetricMeans("q", False, True, kind, none, none, 1, none) for kind in (True, False))
    assert share.format_interval(-0.05, 0.0625) == "−5.0 to 6.2 points"
    assert other.format_interval(-0.04, 0.0625) == "−0.04 to 0.1"


@pytest.mark.parametrize(
    ("values", "expected"),
    [([2.0, 5.0], 0), ([2, 2.05, 5.5], 2), ([0.0002, 1], 4), ([1 / 3], 3), ([1e-9], 6)],
)
def test_exact_values_keep_their_decimals(values, expected):
    assert decimals_for_exact_values(values) == expected
