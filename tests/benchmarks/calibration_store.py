"""Store of simulation results: outcomes are appended to a file, and missing tables are simulated."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from riskrank.engine.sampling.processes import run_tasks

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Job:
    """Simulation of one case.

    Attributes
    ----------
    part, key : str
        The measured quantity and the case.
    function : callable
        ``function(case, seeds)`` returns a list of numbers per seed; it must be importable by name.
    case : object
    tables : int
        Number of tables to simulate.
    chunk : int
        Number of tables per task.
    """

    part: str
    key: str
    function: Callable[[Any, Sequence[int]], list]
    case: Any
    tables: int
    chunk: int = 10


# Packages whose code determines the outcomes.
MEASURED = ("riskrank/engine", "riskrank/studies/gate", "riskrank/studies/rank")


def code_version() -> str:
    """Return a hash of the measured source code."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in MEASURED for path in (ROOT / folder).rglob("*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


class Store:
    """Outcomes in a JSON Lines file, one line per task, so that an interrupted run can be resumed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[tuple[str, str], dict[int, list]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError:
                    continue  # the last line of a run that was killed
                self._keep(entry)

    def _keep(self, entry: dict) -> None:
        rows = self._found.setdefault((entry["part"], entry["key"]), {})
        rows.update(zip(entry["seeds"], entry["outcomes"], strict=True))

    def outcomes(self, part: str, key: str) -> np.ndarray:
        """Return the outcomes of all simulated tables, one row per table, ordered by seed."""
        rows = self._found.get((part, key), {})
        return np.array([rows[seed] for seed in sorted(rows)], dtype=float)

    def run(self, jobs: Iterable[Job], *, processes: int, pause: int = 50) -> None:
        """Simulate the missing tables, alternating between the cases so that all of them progress."""
        tasks = []
        for job in jobs:
            done = self._found.get((job.part, job.key), {})
            for start in range(0, job.tables, job.chunk):
                seeds = [s for s in range(start, min(start + job.chunk, job.tables)) if s not in done]
                if seeds:
                    tasks.append((start // max(pause, job.chunk), job, seeds))
        tasks.sort(key=lambda task: task[0])
        calls = [(job.function, job.case, seeds) for _, job, seeds in tasks]
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        torn = text and not text.endswith("\n")  # a run was killed while writing
        with self.path.open("a", encoding="utf-8") as file:
            if torn:
                file.write("\n")
            for (_, job, seeds), outcomes in zip(
                tasks, run_tasks(call, None, calls, jobs=processes), strict=True
            ):
                entry = {"part": job.part, "key": job.key, "seeds": seeds, "outcomes": outcomes}
                self._keep(entry)
                file.write(json.dumps(entry) + "\n")
                file.flush()


def call(shared, task):
    """Run one task in a worker: call a function with its arguments."""
    function, case, seeds = task
    return function(case, seeds)
