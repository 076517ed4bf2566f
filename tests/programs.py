"""Programs that tests run, with the files of this tree."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RISKRANK = (sys.executable, "-m", "riskrank")


def run_program(*words, variables=None, **options) -> subprocess.CompletedProcess:
    """A program that has ended, and what it said, as text unless asked otherwise."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | (variables or {})
    defaults = {"env": environment, "capture_output": True, "text": True, "check": False}
    return subprocess.run([*map(str, words)], **defaults | options)
