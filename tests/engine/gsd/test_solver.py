"""The solver prints nothing in any version."""

import subprocess
import sys

import pytest

from riskrank.engine.gsd.relation import Solver


def test_solver_prints_nothing():
    """HiGHS prints its licence once per process, bypassing ``sys.stdout``, so this needs a new process."""
    script = "from riskrank.engine.gsd.relation import Solver; Solver().run()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout + done.stderr == b""


def test_unknown_setting_is_refused():
    with pytest.raises(ValueError, match="walls"):
        Solver(walls=3)
