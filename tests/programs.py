"""Run programs with the source files of this tree."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RISKRANK = (sys.executable, "-m", "riskrank")


def run_program(*words, variables=None, **options) -> subprocess.CompletedProcess:
    """Run a program and return the completed process; its output is text by default."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | (variables or {})
    defaults = {"env": environment, "capture_output": True, "text": True, "check": False}
    return subprocess.run([*map(str, words)], **defaults | options)
