"""What a run will take: time, told by the pace of its first seconds, and memory, by the size of the work."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from riskrank.errors import NumericalError, option

if TYPE_CHECKING:
    from riskrank.studies.runtime import Move

# Seconds after which a pace is known, and those nobody needs to be told of.
_KNOWN, _LONG = 2.0, 60.0

# Bytes of memory for each byte of a file while it is read, measured on long tables of two million rows.
_READING = {".parquet": 9.0, ".gz": 18.0, ".zst": 18.0, ".jsonl": 2.4, ".ndjson": 2.4}
_READING_TEXT = 3.6

# Bytes that a resample keeps for each model until all are there, and those of other replicates.
_KEPT_BY_MODEL = {"mrm": 300, "rank": 80, "report": 80, "dominance": 100, "gate": 8, "copa": 100}
_KEPT_BY_SAMPLE = {"gsd": 8}
_KEPT = {("copa", "resample_models"): 10, ("power", "resamples"): 100, ("power", "simulations"): 80}


def paced(label: str, say: Callable[[str], None]) -> Move:
    """Return a function of the work done that says once what all of it takes, if that is long."""
    begun, first, said = time.monotonic(), (0.0, 0, 0), False

    def move(done: int, total: int, note: str = "") -> None:
        nonlocal first, said
        now = time.monotonic()
        if first[2] != total:  # the first part, which includes the start of processes, or other work
            first = (now, done, total)
        since, before, _ = first
        if said or now - since < _KNOWN or done <= before:
            return
        seconds = now - begun + (total - done) * (now - since) / (done - before)
        if seconds > _LONG:
            said = True
            spent = f"{seconds / 3600:,.0f} hours" if seconds > 7200 else f"{seconds / 60:,.0f} minutes"
            say(f"note: {label} takes about {spent}: {done:,} of {total:,} are done")

    return move


def reading_memory(scores: Collection[str]) -> float:
    """Return the bytes of memory that reading these files takes."""
    from riskrank.scores.files.paths import named_files

    files = [path for path in map(Path, named_files(scores)) if os.path.isfile(path)]  # noqa: PTH113 (any text)
    return sum(_READING.get(path.suffix.lower(), _READING_TEXT) * _stored(path.stat()) for path in files)


def _stored(status: os.stat_result) -> int:
    """Return the bytes that a file takes on its disk; one that is mostly holes is refused later."""
    return min(status.st_size, 512 * getattr(status, "st_blocks", status.st_size))


def replicates_memory(
    command: str, values: Mapping[str, object], models: int, samples: int
) -> Iterator[tuple[float, str]]:
    """Yield the bytes of memory of each number of resamples or simulations, and its option."""
    resample = _KEPT_BY_MODEL.get(command, 0) * models + _KEPT_BY_SAMPLE.get(command, 0) * samples
    for (name, number), kept in {(command, "resamples"): resample, **_KEPT}.items():
        count = str(values.get(number))
        if name == command and count.isdecimal():
            yield float(count) * kept, option(number, count)


def machine_memory() -> float:
    """Return the bytes of memory of the machine, or of the container in which this process runs."""
    memory = float("inf")
    with suppress(OSError, ValueError, AttributeError):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return memory


def require_memory(needed: float, most: float | None, what: str, hint: str) -> None:
    """Refuse what needs more memory than the machine has, or than it may need.

    Raises
    ------
    NumericalError
    """
    limit, where = (machine_memory(), "in this machine") if most is None else (most, "allowed")
    if needed > limit:
        raise NumericalError(
            f"{what} needs about {needed / 1e9:,.1f} GB of memory",
            found=f"{limit / 1e9:,.1f} GB {where}",
            hint=f"{hint}; {option('max_memory', 'inf')} tries it all the same",
        )
