"""Displayed numbers are rounded, but never to a value that would change a claim."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.sampling.monte_carlo import UpperBound
from riskrank.render import numbers

# Formatted text of each value, by function.
FORMATTED = {
    numbers.format_ratio: [
        *(
            (0, "0.000"),
            (1, "1.000"),
            (1e-9, "<0.001"),
            (1 - 1e-9, ">0.999"),
            (0.0005, "0.001"),
            (0.25, "0.250"),
        )
    ],
    numbers.format_p_value: [
        *((1, "1.000"), (0.0414, "0.041"), (0.001, "0.001"), (0.0009, "<0.001"), (9.96e-5, "<0.001")),
        *((1e-300, "<0.001"), (UpperBound(0.0033), "≤0.004"), (UpperBound(0.002), "≤0.002")),
        (UpperBound(0.0009), "<0.001"),
    ],
    numbers.format_ratio_interval: [
        *((0, 0, "0.000"), (0.3, 0.3, "0.300"), (0.2, 0.7, "0.200–0.700"), (1e-9, 0.4441, "0.001–0.444")),
        (0.9999, 1, "1.000"),
    ],
    numbers.format_rank_interval: [(2, 2, "2"), (1, 3, "1–3")],
    numbers.format_score: [
        *((0, "0"), (1, "1.000"), (-0.123456, "−0.1235"), (61.609, "61.61"), (12345.6, "12,346")),
        *((-1234567.8, "−1,234,568"), (12345678.9, "1.235e+07"), (1e-5, "1.000e-05")),
    ],
    numbers.format_single_score: [
        *((0, "0"), (1, "1"), (-0.5, "−0.5"), (1055, "1,055"), (1200, "1,200"), (0.12346, "0.1235")),
        *((1e9, "1.000e+09"), (1.7e-5, "0.000017"), (-5e-4, "−0.0005"), (1.23456e-6, "0.000001235")),
        (1.7e-7, "1.700e-07"),
    ],
}


@pytest.mark.parametrize(
    ("write", "case"), [(write, case) for write, cases in FORMATTED.items() for case in cases]
)
def test_formatted_numbers(write, case):
    *arguments, expected = case
    assert write(*arguments) == expected


@given(st.floats(0, 1))
def test_ratio_is_0_or_1_only_if_it_is(value):
    assert (numbers.format_ratio(value) == "0.000") == (value == 0)
    assert (numbers.format_ratio(value) == "1.000") == (value == 1)


@given(st.floats(1e-320, 1))
def test_a_p_value_lies_below_its_printed_bound(value):
    text = numbers.format_p_value(value)
    if text.startswith("<"):
        assert value < float(text[1:])
    else:
        assert abs(value - float(text)) <= 0.0005 + 1e-12


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_printed_interval_lies_in_the_interval(a, b):
    low, high = sorted((a, b))
    limits = [float(end) for end in numbers.format_ratio_interval(low, high).split("–")]
    assert limits == sorted(limits)
    assert limits[-1] - limits[0] >= high - low - 0.0021
    if high - low > 1e-5:
        # Limits are rounded to 1e-9 first, since a solver's last digits must not change a printed one.
        assert low - 1e-9 <= limits[0] <= limits[-1] <= high + 1e-9
    else:
        assert abs(limits[0] - low) <= 0.001


def test_a_bound_of_a_weight_is_rounded_inwards():
    assert numbers.format_ratio_interval(1 / 11, 2 / 3) == "0.091–0.666"
    assert numbers.format_ratio_interval(0.1171, 0.14289, certain=1 / 7) == "0.118–0.143"


@given(st.floats(-1e300, 1e300))
def test_score_keeps_four_digits(value):
    assert math.isclose(
        float(numbers.format_score(value).replace("−", "-").replace(",", "")), value, rel_tol=5.1e-4
    )
