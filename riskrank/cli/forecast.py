"""What a run will take, told before: time by the pace of its first seconds, memory by its size.

Where memory is limited (``ulimit -v``), the libraries that hold a table end the process when they get no
more, without a word a caller could understand.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from riskrank.errors import NumericalError, option, spell

if TYPE_CHECKING:
    from riskrank.studies.runtime import Move


# Address space of a run on a small table, most of it never touched: libraries, and stacks of their threads.
_BASE = 1_420_000_000
_THREAD = 20_000_000
_MOST_THREADS = 16

# Address space per byte of a file, measured on long tables of two million rows, and rounded up.
_FACTORS = {".parquet": 15, ".gz": 30, ".zst": 30, ".jsonl": 4, ".ndjson": 4}
_FACTOR = 6
# Part of it that is ever touched: 4 of 6 for CSV, 9 of 15 for Parquet, 13 of 30 for gzip.
_RESIDENT = 0.6


def require_memory(scores: Collection[str]) -> None:
    """Refuse a run whose files need more than a limit on memory leaves it.

    Raises
    ------
    NumericalError
    """
    allowed = _allowed()
    if allowed is None:
        return
    needed = needed_memory(())
    if needed <= allowed:
        needed = needed_memory(scores)
    if needed > allowed:
        raise NumericalError(
            f"this run needs about {needed / 1e9:.1f} GB of memory",
            found=f"a limit of {allowed / 1e9:.1f} GB (ulimit -v)",
            hint="raise the limit, or select the rows and columns that count into a smaller file",
        )


def address_space_left() -> float:
    """Bytes a limit on memory leaves to the work of a run, if there is one."""
    allowed = _allowed()
    return math.inf if allowed is None else max(allowed - needed_memory(()), 0)


def _allowed() -> int | None:
    try:
        import resource
    except ImportError:  # no system of that kind
        return None
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if allowed == resource.RLIM_INFINITY else allowed


def needed_memory(scores: Collection[str]) -> int:
    """Bytes of address space a run on these files needs, as far as their sizes tell."""
    threads = min(os.cpu_count() or 1, _MOST_THREADS)
    return _BASE + _THREAD * threads + (_held(scores) if scores else 0)


def resident_memory(scores: Collection[str]) -> float:
    """Bytes of memory the table in these files takes at most while it is read."""
    return _RESIDENT * _held(scores)


def _held(scores: Collection[str]) -> int:
    from riskrank.scores.files.paths import named_files

    files = [path for path in map(Path, named_files(scores)) if os.path.isfile(path)]  # noqa: PTH113 (any text)
    return sum(_FACTORS.get(path.suffix.lower(), _FACTOR) * path.stat().st_size for path in files)


# Seconds of work after which its pace is known, and those nobody needs to be told of.
_KNOWN = 2.0
_LONG = 60.0
# Parts that differ so much that what is left may take this share more or less tell nothing yet.
_UNSURE = 0.3
# Seconds without a part of the work done after which it is said that nothing is known.
_SILENT = 10.0
# Bytes that a resample leaves behind for each model until all are there, measured and rounded down; those
# of a relabelling for each sample; and those of one replicate of other kinds.
_KEPT = {"mrm": 300, "rank": 80, "report": 80, "dominance": 100, "gate": 8, "copa": 100}
_SIGN = 8
_KEPT_AT_ALL = {("power", "resamples"): 100, ("power", "simulations"): 80, ("copa", "resample_models"): 10}


def machine_memory() -> int:
    """Bytes of memory this run may have: those of the machine, or of the container it runs in."""
    found = 1 << 60
    with suppress(OSError, ValueError, AttributeError):
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        found = min(found, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return found


def require_room(needed: float, what: str, hint: str, say: Callable[[str], None], *, insist: bool) -> None:
    """Refuse what needs all memory of the machine, unless somebody insists; say what needs half of it.

    Raises
    ------
    NumericalError
    """
    there, place = machine_memory(), "in this machine"
    left = address_space_left()
    if left < there:
        there, place = int(left), "left by a limit (ulimit -v)"
    if needed > there and not insist:
        raise NumericalError(
            f"{what} needs about {needed / 1e9:,.1f} GB of memory",
            found=f"{there / 1e9:,.1f} GB {place}",
            hint=f"{hint}; {option('yes', True)} tries it all the same",
        )
    if needed > there / 2:
        what = spell(what, flags=True)
        say(f"note: {what} needs about {needed / 1e9:,.1f} of {there / 1e9:,.1f} GB of memory")


def replicates(
    command: str, values: Mapping[str, object], models: int, samples: int
) -> Iterator[tuple[float, str]]:
    """What numbers of resamples or simulations that were asked for take, and their names in messages."""
    for name in ("resamples", "simulations", "resample_models"):
        if not str(values.get(name)).isdecimal():
            continue
        count = int(str(values[name]))
        what, needed = option(name, count), min(count, 1e300) * _KEPT_AT_ALL.get((command, name), 0)
        if name == "resamples" and command == "gsd" and not values.get("no_test"):
            what += f" with {samples} samples"
            needed = min(count, 2.0 ** min(samples, 64)) * samples * _SIGN
        elif name == "resamples" and command in _KEPT:
            what += f" with {models} models"
            needed = min(count, 1e300) * models * _KEPT[command]
        yield needed, what


def paced(label: str, say: Callable[[str], None]) -> Move:
    """Watch how far the work is, and say what all of it takes, if that is long or twice what was said."""
    begun = time.monotonic()
    told, first, since, before, of = 0.0, begun, begun, 0, 0
    last, steps = (begun, 0), [0.0] * 4

    def move(done: int, total: int, note: str = "") -> None:
        nonlocal told, first, since, before, of, last, steps
        now = time.monotonic()
        if total != of:
            first, of = now, total
        took, parts, last = now - last[0], done - last[1], (now, done)
        steps = [steps[0] + took * took, steps[1] + took * parts, steps[2] + parts * parts, steps[3] + 1]
        # The first parts are those of all processes, and each has started for a time of its own.
        if now - first <= _KNOWN / 8:
            since, before, steps = now, done, [0.0] * 4
        if now - since < _KNOWN or done <= before:
            return
        # Seconds of each step beside what so many parts take at this pace: standard error of a ratio.
        each = (now - since) / (done - before)
        squares = steps[0] - 2 * each * steps[1] + each**2 * steps[2]
        error = (max(squares, 0.0) * steps[3] / max(steps[3] - 1, 1)) ** 0.5 / (now - since)
        if not told and (steps[3] < 2 or error * (1 - done / total) > _UNSURE):
            return
        spent = now - begun
        whole = spent + (total - done) * each
        if whole > max(_LONG, 2 * told):
            told = whole
            share = f"{done:,} of {total:,} are done after {spent:.0f} s"
            say(f"note: {label} takes about {spelled(whole)}: {share}{spell(_cheaper(label), flags=True)}")

    return move


def _cheaper(label: str) -> str:
    """What takes less, where it is not only to ask for fewer resamples."""
    ways = {
        "testing the pilot": f"{option('pair', 'BETTER:WORSE')} or {option('variance', 'clt')} takes less",
        "testing the pilot's tasks": f"{option('pair', 'BETTER:WORSE')} takes less",
        "resampling tables": f"fewer {option('simulations')}, {option('variance', 'clt')} or, of several "
        f"pairs, {option('pair', 'BETTER:WORSE')} takes less",
        "comparing": f"fewer {option('models')} or {option('no_test', True)} takes less",
    }
    drawn = ("resampling tasks", "testing tables")
    ways |= dict.fromkeys(drawn, f"fewer {option('simulations')} take less")
    way = ways.get(label.partition(" at ")[0])
    return f"; {way}" if way else ""


@contextmanager
def watched(label: str, say: Callable[[str], None]) -> Iterator[Move]:
    """The same; and say once where for a while no part of the work gets done, by which to tell its pace."""
    told, over, moved = False, threading.Event(), time.monotonic()

    def tell(line: str) -> None:
        nonlocal told
        told = True
        say(line)

    def watch() -> None:
        while not told:
            left = moved + _SILENT - time.monotonic()
            if left <= 0:
                tell(f"note: {label} has not moved for {_SILENT:.0f} s: how long it takes cannot be told yet")
            elif over.wait(left):
                return

    pace = paced(label, tell)

    def move(done: int, total: int, note: str = "") -> None:
        nonlocal moved
        moved = time.monotonic()
        pace(done, total, note)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield move
    finally:
        over.set()
        watcher.join()


def spelled(seconds: float) -> str:
    """A time in the unit a person would take."""
    for size, unit in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.0f} seconds"
