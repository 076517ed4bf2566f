"""Measure CPU time and peak memory of commands, including their child processes."""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

ROOT = Path(__file__).resolve().parents[2]
# Runs longer than this many seconds are not repeated.
LONG = 10.0
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Measurement:
    """Least CPU seconds (user and system) and largest memory in bytes over several runs."""

    cpu: float
    memory: int


def measure(words: Sequence[str], *, runs: int = 3, tree: Path = ROOT) -> Measurement:
    """Run a riskrank command several times, with the files of a given tree; exit if it fails."""
    command = [sys.executable, "-P", "-m", "riskrank", *words]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(tree)
    spent: list[float] = []
    memory = 0
    while len(spent) < runs and sum(spent) < LONG:
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
        ) as process:
            watch = _Watch(process.pid)
            assert process.stderr is not None
            errors = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            # A process starts with the peak memory of its parent, which is meaningless here.
            peak = used.ru_maxrss if used.ru_maxrss > getrusage(RUSAGE_SELF).ru_maxrss else 0
            memory = max(memory, watch.stop(), peak * 1024)
            process.returncode = os.waitstatus_to_exitcode(status)
        spent.append(used.ru_utime + used.ru_stime)
        # A gate that fails or is inconclusive is a successful run.
        if process.returncode not in (0, 1, 4):
            raise SystemExit(f"{' '.join(command)} failed:\n{errors.decode()}")
    return Measurement(min(spent), memory)


class _Watch(threading.Thread):
    """Sample the resident memory of a process and its descendants (Linux)."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid, self._peak, self._done = pid, 0, threading.Event()
        self.start()

    def run(self) -> None:
        while not self._done.wait(0.02):
            self._peak = max(self._peak, sum(map(_resident, _family(self._pid))))

    def stop(self) -> int:
        self._done.set()
        self.join()
        return self._peak


def _family(pid: int) -> list[int]:
    members = [pid]
    for member in members:
        # A process may end while it is looked at.
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{member}/task").glob("*/children"):
                members += [int(child) for child in task.read_text().split()]
    return members


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0
