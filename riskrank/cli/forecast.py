"""Estimates of the time and memory required by a run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from riskrank.errors import NumericalError, counted, option

if TYPE_CHECKING:
    from riskrank.studies.runtime import ProgressCallback

# Threads that libraries start: one per processor, and some more.
_THREADS = (os.cpu_count() or 1) + 14
# Seconds after which the pace is measured, and the shortest total time worth a note.
_PACE_AFTER, _NOTE_AFTER = 2.0, 60.0

# Bytes of memory per byte of a file while it is read, measured on long tables of two million rows.
_FACTORS = {".parquet": 9.0, ".gz": 18.0, ".zst": 18.0, ".jsonl": 2.4, ".ndjson": 2.4}
_TEXT_FACTOR = 3.6

# Bytes that a resample occupies per model or sample, and bytes of other replicates.
_BYTES_PER_MODEL = {"mrm": 300, "rank": 80, "report": 80, "dominance": 100, "gate": 8, "copa": 100}
_BYTES_PER_SAMPLE = {"gsd": 8}
_BYTES = {("copa", "resample_models"): 10, ("power", "resamples"): 100, ("power", "simulations"): 80}


def slow_run_note(label: str, log: Callable[[str], None]) -> ProgressCallback:
    """Return a progress callback that logs the estimated total time of a long run once."""
    begun, first, reported = time.monotonic(), (0.0, 0, 0), False

    def move(done: int, total: int, note: str = "") -> None:
        nonlocal first, reported
        now = time.monotonic()
        if first[2] != total:  # first part, which includes process start-up, or new work
            first = (now, done, total)
        since, before, _ = first
        if reported or now - since < _PACE_AFTER or done <= before:
            return
        seconds = now - begun + (total - done) * (now - since) / (done - before)
        if seconds > _NOTE_AFTER:
            reported = True
            hours, minutes = round(seconds / 3600), round(seconds / 60)
            spent = counted(hours, "hour") if seconds > 7200 else counted(minutes, "minute")
            log(f"note: {label} takes about {spent}: {done:,} of {total:,} are done")

    return move


def reading_memory(scores: Collection[str]) -> float:
    """Return the memory required to read the files, in bytes."""
    from riskrank.scores.files.paths import candidate_files

    files = [path for path in map(Path, candidate_files(scores)) if os.path.isfile(path)]  # noqa: PTH113 (any text)
    return sum(_FACTORS.get(path.suffix.lower(), _TEXT_FACTOR) * _stored(path.stat()) for path in files)


def _stored(status: os.stat_result) -> int:
    """Return the number of bytes that a file occupies on disk.

    Sparse files are rejected later.
    """
    return min(status.st_size, 512 * getattr(status, "st_blocks", status.st_size))


def replicates_memory(
    command: str, values: Mapping[str, object], models: int, samples: int
) -> Iterator[tuple[float, str]]:
    """Yield the memory for resamples or simulations, in bytes, with the option that sets their number."""
    resample = _BYTES_PER_MODEL.get(command, 0) * models + _BYTES_PER_SAMPLE.get(command, 0) * samples
    for (name, number), size in {(command, "resamples"): resample, **_BYTES}.items():
        count = str(values.get(number))
        if name == command and count.isdecimal():
            yield float(count) * size, option(number, count)


def machine_memory() -> float:
    """Return the memory of the machine, or of the container of this process, in bytes."""
    memory = float("inf")
    with suppress(OSError, ValueError, AttributeError):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return memory


def require_threads() -> None:
    """Raise NumericalError if the system allows too few threads, with which Polars would hang or crash."""
    end, threads = Event(), list[Thread]()
    try:
        while len(threads) < _THREADS:
            threads.append(Thread(target=end.wait, daemon=True))
            threads[-1].start()
    except RuntimeError:
        raise NumericalError(
            f"riskrank needs {_THREADS} threads",
            found=f"only {len(threads) - 1} can be started",
            hint="raise the limit of processes: ulimit -u, or the limit of the container (pids)",
        ) from None
    finally:
        end.set()


def require_memory(needed: float, allowed: float | None, task: str, hint: str) -> None:
    """Raise NumericalError if a task requires more memory than available or allowed.

    Parameters
    ----------
    needed : float
        Required memory, in bytes.
    allowed : float or None
        Allowed memory, in bytes, or None for all memory of the machine.
    task : str
        Description of the task, as the start of the error message.
    hint : str

    Raises
    ------
    NumericalError
        If the memory is insufficient.
    """
    limit, scope = (machine_memory(), "on this machine") if allowed is None else (allowed, "allowed")
    if needed > limit:
        raise NumericalError(
            f"{task} needs about {needed / 1e9:,.1f} GB of memory",
            found=f"{limit / 1e9:,.1f} GB {scope}",
            hint=f"{hint}; {option('max_memory', 'inf')} disables this check",
        )
