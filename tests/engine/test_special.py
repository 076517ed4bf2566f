"""The functions of scipy.special are SciPy's own, and SciPy works as usual afterwards."""

import sys

import pytest
import scipy.special

from riskrank.engine import special
from tests.programs import run_program


def test_functions_are_those_of_scipy():
    names = "bdtrc betainc betaincinv betaln chdtrc expit gammaincc logit ndtr ndtri stdtr stdtrit"
    for name in names.split():
        assert getattr(special, name) is getattr(scipy.special, name), name


@pytest.mark.slow
def test_scipy_is_complete_after_its_functions_were_imported():
    code = """
import sys
from riskrank.engine.special import ndtr
assert "scipy.special" not in sys.modules
import scipy.stats, scipy.optimize, scipy.special
assert scipy.special.ndtr is ndtr and scipy.special._ufuncs.ndtr is ndtr
print(scipy.stats.norm.cdf(0), scipy.special.factorial(3))
"""
    assert run_program(sys.executable, "-c", code).stdout.split() == ["0.5", "6.0"]
