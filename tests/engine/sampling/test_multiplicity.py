import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from riskrank.engine.sampling.multiplicity import METHODS, adjust
from riskrank.errors import UsageError

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p_values, st.floats(0.001, 0.5))
def test_holm_against_the_step_down_procedure(p, alpha):
    rejected = np.zeros(len(p), dtype=bool)
    for step, index in enumerate(np.argsort(p, kind="stable")):
        if p[index] * (len(p) - step) > alpha:
            break
        rejected[index] = True
    np.testing.assert_array_equal(adjust(p, "holm") <= alpha, rejected)


@given(p_values)
def test_benjamini_hochberg_against_scipy(p):
    np.testing.assert_allclose(adjust(p, "bh"), stats.false_discovery_control(p), rtol=1e-12)


@given(p_values)
def test_bonferroni_multiplies_and_none_keeps(p):
    np.testing.assert_allclose(adjust(p, "bonferroni"), np.minimum(np.array(p) * len(p), 1))
    np.testing.assert_array_equal(adjust(p, "none"), p)


@pytest.mark.parametrize("method", METHODS)
@given(p=p_values)
def test_adjusting_keeps_the_order_and_never_helps(method, p):
    adjusted = adjust(p, method)
    assert np.all(adjusted >= np.array(p) - 1e-15)
    assert np.all(np.diff(adjusted[np.argsort(p, kind="stable")]) >= -1e-15)


def test_an_unknown_method_is_refused():
    with pytest.raises(UsageError, match="correction"):
        adjust([0.1], "sidak")
