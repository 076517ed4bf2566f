"""SciPy's special functions in a process of ours: the same ones, and the package for whoever wants more."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "riskrank"


def told(code):
    begin = "from riskrank.cli.special_functions import stand_in; stand_in(); import sys\n"
    return subprocess.run(
        [sys.executable, "-P", "-c", begin + code], capture_output=True, text=True, check=True
    ).stdout.split()


def test_all_we_use_is_found_without_the_package():
    lines = [
        re.findall(r"from scipy.special import (.*)", path.read_text()) for path in PACKAGE.rglob("*.py")
    ]
    used = sorted({name.strip() for found in lines for line in found for name in line.split(",")})
    assert {"ndtr", "stdtrit"} <= set(used)
    code = f"from scipy.special import {', '.join(used)}\nprint('scipy._lib._array_api' in sys.modules)"
    assert told(code) == ["False"]


@pytest.mark.parametrize(
    "code",
    [
        "from scipy.special import ndtr; from scipy.special import comb; import scipy.special as whole",
        "import scipy.stats; import scipy.special as whole; from scipy.special import ndtr",
        "from scipy.special import ndtr; import scipy.optimize; whole = scipy.special; whole.comb",
        "from scipy import special; ndtr = special.ndtr; special.comb; import scipy.special as whole",
    ],
)
def test_whoever_wants_more_gets_the_package_with_the_same_functions(code):
    more = "\nprint(sys.modules['scipy.special'].comb(5, 2), whole.ndtr is ndtr, float(ndtr(0)))"
    assert told(code + more) == ["10.0", "True", "0.5"]


def test_where_there_is_no_such_module_the_package_serves():
    code = """
from importlib import import_module
from riskrank.cli import special_functions
def without(name):
    if name.endswith("_ufuncs"):
        raise ImportError(name)
    return import_module(name)
special_functions.import_module = without
from scipy.special import ndtr
print(float(ndtr(0)), "scipy._lib._array_api" in sys.modules)"""
    assert told(code) == ["0.5", "True"]


def test_what_is_loaded_already_stays():
    assert told("import os; stand_in(); print(sys.modules['scipy.special'].ndtr(0.0) == 0.5)") == ["True"]
