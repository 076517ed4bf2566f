"""How long databases and queries may think, and how much they may answer: none of them need end."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from riskrank.errors import InputError, option
from riskrank.scores.files.json_objects import column
from riskrank.scores.files.limits import BeyondLimitError, too_large

# Seconds a query may take, all its rows included; of a small file no more than without another row.
MOST_SECONDS = 300.0
MOST_SILENT = 60.0
_BYTES_A_SECOND = 1e6
# Rows an answer may have: more than any table that fits into a machine.
MOST_ROWS = 200_000_000
# Bytes a database may take for its own work, whatever its answer may have.
_LEAST_ROOM = 1 << 29
# What its libraries may take beside, uncounted; and who may change the limit of all of this process.
_UNCOUNTED = 1 << 28
_LIMITING = threading.Lock()
_LEAST_VALUE, _MOST_VALUE = 1 << 20, 1 << 24
# Bytes an answer may have whatever the file, and times those of the file: columns of one value pack well.
_LEAST_ANSWER, _TIMES_FILE = 1 << 26, 300
_CELL = 8
# Bytes a query of tables may take, and times theirs; rows that are a reason to take as long again.
_LEAST_QUERY, _TIMES, _MANY_ROWS = 1 << 28, 8, 10_000_000
# Seconds after which is looked how a query is doing.
_LOOK = 0.02

_PLAIN: dict[type | None, Any] = {float: pl.Float64, str: pl.String, int: pl.Int64}

T = TypeVar("T")
Piece = pl.Series | tuple[object, ...]


class Budget:
    """What one query has left.

    Parameters
    ----------
    label : str
        The file, for messages.
    limit : int
        Most bytes of the answer, and of what the database holds for it, if that is more than a little; and no
        more than its files are a reason for.
    """

    def __init__(self, label: str, limit: int) -> None:
        self._label = label
        self._limit = limit
        beside = [label + ending for ending in ("", "-wal", ".wal")]
        here = sum(os.path.getsize(one) for one in beside if os.path.isfile(one))  # noqa: PTH113, PTH202 (of any text)
        self._reason = _LEAST_ANSWER + _TIMES_FILE * here
        self._seconds = min(MOST_SECONDS, MOST_SILENT + here / _BYTES_A_SECOND)
        now = time.monotonic()
        self._end, self._silent = now + self._seconds, now + MOST_SILENT
        self._before = _resident()
        self._rows = 0
        self._bytes = 0
        self._problem: InputError | None = None

    @property
    def used_up(self) -> bool:
        """Whether something is used up, as far as anybody looked."""
        return self._problem is not None

    def end_within(self, seconds: float) -> None:
        """Leave no more than so many seconds to what follows."""
        self._end = min(self._end, time.monotonic() + seconds)

    def exceeded(self) -> InputError | None:
        """What the query has used up, if anything; what it once had too much of stays too much."""
        self._problem = self._problem or self._found()
        return self._problem

    def count(self, rows: int, size: int) -> None:
        """Take an amount of rows and bytes.

        Raises
        ------
        InputError
            If that is more than is left.
        """
        self._rows += rows
        self._bytes += size
        self._silent = time.monotonic() + MOST_SILENT
        problem = self.exceeded()
        if problem is not None:
            raise problem

    def room(self) -> int:
        """Bytes of memory the database may hold for its own work: what is allowed, if the machine has it."""
        return min(max(min(self._limit, self._reason), _LEAST_ROOM), _physical() * 3 // 4)

    @contextmanager
    def walled(self) -> Iterator[None]:
        """Let the system refuse memory beyond the room: databases count only a part of what they take."""
        used = _pages(0)
        if used is None:
            yield
            return
        import resource

        with _LIMITING:
            soft, hard = resource.getrlimit(resource.RLIMIT_AS)
            most = used + self.room() + _UNCOUNTED
            allowed = [one for one in (soft, hard, most) if one != resource.RLIM_INFINITY]
            resource.setrlimit(resource.RLIMIT_AS, (min(allowed), hard))
            try:
                yield
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

    def no_memory(self) -> InputError:
        """What to say where the system, or the database, refused memory."""
        return self._over(f"{self.room():,} bytes of memory")

    def longest(self) -> int:
        """Bytes one value may have; the text of a view, which is one too, at least some."""
        return min(max(self._limit, _LEAST_VALUE), _MOST_VALUE)

    def too_long(self) -> InputError:
        """What to say where a value is longer."""
        if self.longest() < _MOST_VALUE:
            return too_large(self._label, self._limit)
        return BeyondLimitError(
            f"{self._label}: a value of more than {_MOST_VALUE:,} bytes",
            found="a text or a blob longer than any answer that is scored",
            hint=f"name the columns that count, without it: {option('sql', 'SELECT model, ... FROM ...')}",
        )

    def _found(self) -> InputError | None:
        now = time.monotonic()
        if now > self._silent:
            return self._over(f"{MOST_SILENT:,.0f} seconds without another row")
        if now > self._end:
            return self._over(f"{self._seconds:,.0f} seconds")
        if self._rows > MOST_ROWS:
            return self._over(f"{MOST_ROWS:,} rows")
        most = min(self._limit, self._reason)
        if self._bytes > most or _resident() - self._before > self.room():
            return too_large(self._label, most) if most == self._limit else self._over(f"{most:,} bytes")
        return None

    def _over(self, what: str) -> BeyondLimitError:
        return BeyondLimitError(
            f"{self._label}: the database answers with no end within {what}",
            found="a view or a query over very much, or over itself",
            hint=f"ask for less with {option('sql')}, or export what counts with the database's own program",
        )


def in_proportion(label: str, tables: Iterable[pl.DataFrame], work: Callable[[], T]) -> T:
    """What a query of tables gives, if it takes no more time and memory than so many rows are a reason for.

    Raises
    ------
    BeyondLimitError
    """
    rows, size = map(sum, zip(*((one.height, int(one.estimated_size())) for one in tables), strict=True))
    room, seconds = _LEAST_QUERY + _TIMES * size, MOST_SILENT * (1 + rows / _MANY_ROWS)
    try:
        return ended(work, seconds, room)
    except TimeoutError:
        took = f"{seconds:,.0f} seconds"
    except MemoryError:
        took = f"{room / 1e9:,.1f} GB of memory"
    raise BeyondLimitError(
        f"{label} takes more than it may",
        found=f"more than {took} for {rows:,} rows",
        hint="leave out what makes texts longer, as rpad and concat do, and joins without a condition",
    )


def ended(work: Callable[[], T], seconds: float, room: float) -> T:
    """What a piece of work gives that need not end; where it does not, it goes on by itself.

    Raises
    ------
    TimeoutError
    MemoryError
        If it takes more than so many bytes.
    """
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # a panic of Polars is no Exception
            failed.append(error)

    end, before = time.monotonic() + seconds, _resident()
    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(_LOOK)
        if time.monotonic() > end:
            raise TimeoutError
        if _resident() - before > room:
            raise MemoryError
    if failed:
        raise failed[0]
    return found[0]


class Answer:
    """Rows as they come, held as columns: far smaller than what Python makes of them.

    Attributes
    ----------
    names : list of str
    pieces : list of list
        The pieces of each column.
    rows : int
    """

    def __init__(self, names: Sequence[str], budget: Budget) -> None:
        self.names = list(names)
        self.pieces: list[list[Piece]] = [[] for _ in names]
        self.rows = 0
        self._budget = budget

    def add(self, rows: Sequence[tuple[object, ...]]) -> int:
        """Take some more rows; returns their bytes.

        Raises
        ------
        InputError
            If they are more than is allowed.
        """
        self._budget.count(len(rows), 0)  # here they are, however long it takes to hold them
        size = 0
        for pieces, values in zip(self.pieces, zip(*rows, strict=True), strict=True):
            piece = _compact(values)
            pieces.append(piece)
            size += sum(map(_size, values)) if isinstance(piece, tuple) else int(piece.estimated_size())
        self.rows += len(rows)
        self._budget.count(0, size)
        return size


def whole_column(name: str, pieces: Sequence[Piece]) -> pl.Series:
    """Pieces of a column as `json_objects.column` makes one of all their values."""
    series = [piece for piece in pieces if isinstance(piece, pl.Series)]
    if len(series) == len(pieces) and len({piece.dtype for piece in series}) == 1:
        return pl.concat(series).alias(name)
    return column(name, list(chain.from_iterable(pieces)))


def _compact(values: tuple[object, ...]) -> Piece:
    """Values of one plain kind as a series, from which they come back as they are; others stay."""
    kinds = set(map(type, values)) - {type(None)}
    one = kinds.pop() if len(kinds) == 1 else None
    if one not in _PLAIN:
        return values
    with suppress(OverflowError, TypeError):
        return pl.Series(values, dtype=_PLAIN[one])
    return values


def _size(value: object) -> int:
    return _CELL + len(value) if isinstance(value, str | bytes) else _CELL


def _resident() -> int:
    """Bytes of memory this process holds now, where the system tells; else the most it ever held."""
    held = _pages(1)
    if held is not None:
        return held
    with suppress(ImportError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # of macOS, which counts bytes
    return 0


def _pages(which: int) -> int | None:
    """Bytes of address space (0) and of memory (1) this process has; None where the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[which]) * os.sysconf("SC_PAGE_SIZE")
    return None


def _physical() -> int:
    """Bytes of memory of this machine; more than any has where the system does not tell."""
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 1 << 50
