import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.dominance.tail import FEWEST_IN_TAIL, relative_tail


def by_hand(replicates):
    """Rule 3 written plainly for one pair."""
    s = sorted(np.arcsin(np.sqrt((1 + value) / 2)) for value in replicates)
    q = np.quantile(s, 0.95)
    above = [value for value in s if value > q]
    if len(set(above)) < 20:
        return None
    excess = np.mean([value - q for value in above])
    return 0.05 * np.exp(-(np.arcsin(np.sqrt(0.5)) - q) / excess)


@pytest.mark.parametrize("count", [400, 1000, 1001, 2640])
def test_the_tail_against_its_definition(count):
    rng = np.random.default_rng(count)
    replicates = -rng.beta(8, 3, size=(count, 5))
    found = relative_tail(replicates)
    np.testing.assert_allclose(found, [by_hand(column) for column in replicates.T], rtol=1e-9)


def test_no_tail_from_fewer_than_twenty_values():
    rng = np.random.default_rng(0)
    few = -rng.beta(8, 3, size=(380, 1))  # 19 values lie above the 95 % quantile
    assert np.isnan(relative_tail(few)).all()
    enough = -rng.beta(8, 3, size=(400, 1))
    assert np.isfinite(relative_tail(enough)).all()
    lumps = np.round(-rng.beta(8, 3, size=(1000, 1)), 2)
    assert len(np.unique(lumps[lumps > np.quantile(lumps, 0.95)])) < FEWEST_IN_TAIL
    assert np.isnan(relative_tail(lumps)).all()


def test_a_point_mass_has_no_tail():
    assert np.isnan(relative_tail(np.full((1000, 2), -0.75))).all()


@given(st.integers(0, 2**32 - 1))
def test_farther_replicates_have_smaller_tails(seed):
    near = -0.5 * np.random.default_rng(seed).beta(8, 3, size=(500, 1))
    assert relative_tail(near - 0.4)[0] < relative_tail(near)[0] <= 0.05


def test_a_far_tail_stays_above_zero():
    replicates = -1 + 1e-12 * np.random.default_rng(0).random((1000, 1))
    assert relative_tail(replicates)[0] > 0
