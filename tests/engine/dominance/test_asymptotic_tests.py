"""P-values from standard errors: the logit scale by hand, and what is refused."""

from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.dominance.asymptotic_tests import logit_p_value


def test_logit_p_value_against_theory():
    z = (np.log(0.2 / 0.8) - np.log(0.3 / 0.7)) / (0.05 / (0.2 * 0.8))
    assert logit_p_value(0.2, 0.05, threshold=0.3, size=100) == pytest.approx(NormalDist().cdf(z))
    assert logit_p_value(0.3, 0.05, threshold=0.3, size=100) == pytest.approx(0.5)
    # A ratio of 0 has no error of its own, yet the p-value stays above 0 and shrinks with the sample.
    small, large = logit_p_value(np.zeros(2), np.zeros(2), threshold=0.25, size=np.array([20, 500]))
    assert 0 < large < small < 0.01


def test_a_logit_p_value_is_symmetric_and_grows_with_the_error():
    below, above = logit_p_value(np.array([0.2, 0.8]), np.array([0.05, 0.05]), threshold=0.5, size=100)
    assert below + above == pytest.approx(1)
    sure, unsure = logit_p_value(np.array([0.2, 0.2]), np.array([0.05, 0.2]), threshold=0.5, size=100)
    assert sure < unsure < 0.5
