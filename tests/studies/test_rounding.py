"""Digits follow what is known of the numbers."""

from riskrank.studies.rounding import decimals_apart, decimals_of_range


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
