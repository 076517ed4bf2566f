"""Quality vectors are exact integers, and cover relations agree with brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.engine.gsd.preference_system import (
    covering_pairs,
    preference_system,
    quality_table,
    suspicious_ordinal_criteria,
)
from riskrank.errors import InputError


def test_decimals_become_exact_integers():
    scores = np.array([[[0.3], [0.1]], [[0.2], [0.0]]])
    table = quality_table(scores, ordinal=[False])
    np.testing.assert_array_equal(table.vectors[:, 0], [0, 1, 2, 3])
    np.testing.assert_array_equal(table.decode(table.vectors)[:, 0], [0.0, 0.1, 0.2, 0.3])
    # Three equal steps tie with each other in R2, though 0.3 - 0.2 != 0.2 - 0.1 in floats.
    system = preference_system(table)
    assert len(system.ties) == 3


def test_recurring_decimals_keep_twelve_digits():
    third = np.array([[[1 / 3], [2 / 3]], [[2 / 3 + 1e-16], [1e-5 / 3]]])
    table = quality_table(third, ordinal=[False])
    np.testing.assert_array_equal(table.vectors[:, 0], [3333333, 333333333333, 666666666667])
    huge = quality_table(third * 1e20, ordinal=[False])
    np.testing.assert_allclose(huge.decode(huge.vectors)[:, 0], np.unique(third.round(14)) * 1e20, rtol=1e-5)


@pytest.mark.parametrize(
    "options", [{"digits": 1}, {"tolerance": 0.1}, {"digits": [1]}, {"tolerance": [0.1]}]
)
def test_rounding_merges_scores(options):
    scores = np.array([[[0.31], [0.12]], [[0.29], [0.08]]])
    table = quality_table(scores, ordinal=[False], **options)
    np.testing.assert_array_equal(table.vectors[:, 0], [1, 3])
    np.testing.assert_allclose(table.decode(table.vectors)[:, 0], [0.1, 0.3])


def test_warnings_about_ordinal_criteria():
    rng = np.random.default_rng(0)
    measured = rng.normal(size=(2, 40))
    levels = rng.integers(0, 5, size=(2, 40))
    copy = rng.permutation(levels.ravel()).reshape(2, 40)
    table = quality_table(np.stack([measured, levels, copy, levels], axis=2), ordinal=[True] * 4)
    assert suspicious_ordinal_criteria(table) == ([(0, 80)], [(1, 2), (2, 3)])


def test_invalid_scores_are_refused():
    good = np.arange(4.0).reshape(2, 2, 1)
    with pytest.raises(InputError, match=r"2 scores lie outside[\s\S]*2 .* for model 2 on sample 1"):
        quality_table(good, ordinal=[False], bounds=[[0, 1]])
    with pytest.raises(InputError, match="too many digits"):
        quality_table(good * 1e12, ordinal=[False], digits=9)
    tiny = good * 1e-308
    assert quality_table(tiny, ordinal=[False], digits=308).models == 2
    with pytest.raises(InputError, match="too small"):
        quality_table(tiny, ordinal=[False], digits=309)


@pytest.mark.parametrize(
    ("score", "digits"), [(0.5, 1), (0.123456789012345, 15), (0.1234567890123456, 12), (3.0, 0)]
)
def test_digits_match_the_scores_up_to_fifteen(score, digits):
    scores = np.array([[[score], [2 * score]], [[0.0], [score]]])
    assert quality_table(scores, ordinal=[False]).scales[0].digits == digits


def at_least(a, b):
    return all(x >= y for x, y in zip(a, b, strict=True))


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=14, unique=True))
def test_covering_pairs_match_brute_force(rows):
    keys = np.array(sorted(rows))
    expected = {
        (p, q)
        for p, q in itertools.permutations(range(len(keys)), 2)
        if at_least(keys[q], keys[p])
        and not any(
            r not in (p, q) and at_least(keys[q], keys[r]) and at_least(keys[r], keys[p])
            for r in range(len(keys))
        )
    }
    lower, upper = covering_pairs(keys)
    assert len(lower) == len(expected)
    assert set(zip(lower.tolist(), upper.tolist(), strict=True)) == expected


def test_covering_pairs_across_blocks():
    # A chain longer than one block of comparisons.
    keys = np.arange(700)[:, None]
    lower, upper = covering_pairs(keys)
    np.testing.assert_array_equal(np.sort(lower), np.arange(699))
    np.testing.assert_array_equal(upper - lower, 1)


def test_extremes_are_declared_or_observed_bounds():
    scores = np.array([[[0.5, 1.0]], [[0.7, 3.0]], [[0.1, 9.0]]])
    table = quality_table(scores, ordinal=[False, True], bounds=[[0.0, 1.0], [np.nan, np.nan]])
    system = preference_system(table, [0, 1])
    values = table.decode(system.vectors)
    np.testing.assert_allclose(values[0], [0.0, 1.0])
    np.testing.assert_allclose(values[-1], [1.0, 3.0])
    np.testing.assert_array_equal(system.table_rows >= 0, [False, True, True, False])


def test_attained_extremes_are_not_doubled():
    table = quality_table(np.array([[[1.0, 1.0]], [[2.0, 2.0]]]), ordinal=[False, False])
    system = preference_system(table)
    assert system.size == 2
    np.testing.assert_array_equal(system.table_rows, [0, 1])


def test_ordinal_criteria_add_no_exchanges():
    scores = np.random.default_rng(0).integers(0, 4, size=(2, 10, 2))
    system = preference_system(quality_table(scores, ordinal=[True, True]))
    assert len(system.exchanges) == len(system.ties) == 0


def test_too_many_exchanges_are_refused(monkeypatch):
    monkeypatch.setattr("riskrank.engine.gsd.preference_system.MOST_EXCHANGES", 5)
    table = quality_table(np.arange(6.0).reshape(2, 3, 1), ordinal=[False])
    with pytest.raises(InputError, match="too many comparable pairs"):
        preference_system(table)
