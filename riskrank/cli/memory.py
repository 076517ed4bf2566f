"""Tell beforehand what would not fit into the memory a run may use.

Where memory is limited (``ulimit -v``), the libraries that hold a table end the process when they get no
more, without a word a caller could understand.
"""

import math
import os
from collections.abc import Collection
from pathlib import Path

from riskrank.errors import NumericalError

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

    return sum(map(_needed_by, map(Path, named_files(scores))))


def _needed_by(path: Path) -> int:
    size = os.path.getsize(path) if os.path.isfile(path) else 0  # noqa: PTH113, PTH202 (of any text)
    return _FACTORS.get(path.suffix.lower(), _FACTOR) * size
