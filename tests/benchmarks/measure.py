"""Whole-process measurements: wall seconds and peak memory of a command with all its processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Measurement:
    """Fastest wall time of several runs in seconds, and the largest memory of any in bytes."""

    seconds: float
    memory: int


def riskrank(*arguments: str) -> list[str]:
    """Return a riskrank command in this environment."""
    return [sys.executable, "-m", "riskrank", *arguments]


def measure(command: Sequence[str], *, runs: int = 3) -> Measurement:
    """Run a command a few times; fails if it does."""
    seconds, memory = [], 0
    for _ in range(runs):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        watch = _Watch(process.pid)
        _, errors = process.communicate()
        seconds.append(time.perf_counter() - start)
        memory = max(memory, watch.stop())
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed:\n{errors.decode()}")
    return Measurement(min(seconds), memory)


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
        for task in Path(f"/proc/{member}/task").glob("*/children"):
            try:
                members += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return members


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0
