"""Preference systems: cover relations compared with brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.engine.gsd.preference_system import covering_pairs, preference_system, quality_table
from riskrank.errors import InputError


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
