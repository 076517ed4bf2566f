"""Guards on files: a budget of bytes and cells for a run, and one place that catches what libraries raise.

Files come from elsewhere, and few bytes can ask for very much: a compressed file, an endless pipe, a view of
a database, a column of nulls. Every reader asks the budget before it makes room.
"""

import contextlib
import os
import re
import shutil
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import polars as pl

from riskrank.errors import InputError, RiskrankError, listing, option

# Bytes of a file, and of a pipe, whose length nobody knows before its end.
MOST_BYTES, MOST_PIPED = 1 << 34, 1 << 30
# Bytes that any file may unpack to, and times its packed bytes: tables and logs pack ten to fifty times.
_LEAST_BYTES, _TIMES_PACKED = 1 << 27, 200
# Cells of any file, and for each packed byte and each letter; an object takes what several numbers take.
_LEAST_CELLS, _CELLS_A_BYTE, _CELLS_A_LETTER, _OF_AN_OBJECT = 5_000_000, 16, 2, 8
# Cells of a table that is never too empty, and for each byte, which columns of numbers do not reach.
_FEW_CELLS, _CELLS_OF_A_TABLE = 10_000_000, 4
MOST_COLUMNS = 100_000
# Metrics and models of a comparison, and letters of a name, which stands in every table and picture.
_MOST_NAMES, LONGEST_NAME = {"metric": 5_000, "model": 10_000}, 10_000
# Bytes of a line or a field: no answer that is scored is longer.
LONGEST_FIELD = 1 << 24
COPY_AGAIN = "copy the file again (it may be cut short)"
_LONG = "write a long table, a row a score: model, sample, metric, score"
# What Polars and Python raise at a text they cannot parse.
PARSE_ERRORS = (pl.exceptions.PolarsError, OSError, ValueError, RecursionError)


class BeyondLimitError(InputError):
    """A file exceeds the budget; reading it again would end the same."""


class BrokenFileError(InputError):
    """A file is cut short or damaged; who reads several can leave it out."""


class Budget:
    """Bytes and cells that the files of a run may hold.

    Parameters
    ----------
    limit : int, optional
        Most bytes of a file or a pipe, as the user sets it.
    most : int
        Most bytes of a file otherwise.

    Attributes
    ----------
    limit, piped : int
        Most bytes of a file, and of a pipe.
    """

    def __init__(self, limit: int | None = None, *, most: int = MOST_BYTES) -> None:
        self.limit = most if limit is None else limit
        self.piped = min(most, MOST_PIPED) if limit is None else limit
        self._files: dict[str, tuple[int, int, int]] = {}
        self._sums = (0, 0, 0)

    def take(self, label: str, packed: int, size: int, cells: int = 0) -> None:
        """Take the bytes and cells of a file, as far as they are known; the largest claim of a file counts.

        Parameters
        ----------
        label : str
        packed : int
            Bytes on disk that unpack to the size.
        size, cells : int

        Raises
        ------
        InputError
            If they exceed the limit, or what the packed bytes of all files can sensibly hold.
        """
        before = self._files.get(label, (0, 0, 0))
        file = (max(packed, before[0]), max(size, before[1]), max(cells, before[2]))
        sums = [total - old + new for total, old, new in zip(self._sums, before, file, strict=True)]
        all_packed, all_bytes, all_cells = sums
        found = ""
        if all_bytes > max(_LEAST_BYTES, _TIMES_PACKED * all_packed):
            found = f"more than {all_bytes:,} bytes"
        elif all_cells > _LEAST_CELLS + min(_CELLS_A_BYTE * all_packed, _CELLS_A_LETTER * all_bytes):
            found = f"{all_cells:,} values, objects {_OF_AN_OBJECT}-fold,"
        if found:
            files = f", of {len(self._files | {label: file}):,} files" if self._files.keys() - {label} else ""
            raise InputError(
                f"{label}: packed more densely than results are",
                found=f"{found} in {all_packed:,} bytes{files}",
                hint="look what repeats in it; or write the results that count into a file of their own",
            )
        if size > self.limit:
            raise too_large(label, self.limit)
        self._files[label], self._sums = file, (all_packed, all_bytes, all_cells)

    def take_text(self, label: str, packed: int, text: bytes) -> None:
        """Take the lines and values of a text."""
        objects = sum(map(text.count, b"{["))
        self.take(label, packed, len(text), sum(map(text.count, b",;\t\n")) + _OF_AN_OBJECT * objects)


def too_large(label: str, limit: int) -> BeyondLimitError:
    """Return the error of a file or a member of an archive that exceeds the limit."""
    return BeyondLimitError(
        f"{label}: more than {limit:,} bytes once read",
        found="a file that large, or compressed data that unpacks to it",
        hint=f"if it is what you want, allow it: {option('max_bytes', 2 * limit)}",
    )


def unreadable(what: str, why: object, hint: str, how: str = "") -> InputError:
    """Return the error of something that cannot be read, and why: in words, or the error of the system."""
    found = getattr(why, "strerror", None) or str(why)
    return InputError(f"{what} cannot be read{how}", found=found, hint=hint)


def empty(label: str, found: str) -> BrokenFileError:
    """Return the error of a file that holds nothing."""
    hint = "check the program that wrote it; a score table needs at least one row of scores"
    return BrokenFileError(f"{label}: the file is empty", found=found, hint=hint)


def cut_short(what: str, found: str) -> BrokenFileError:
    """Return the error of a file that is damaged, and most likely not whole."""
    return BrokenFileError(what, found=found, hint=COPY_AGAIN)


def require_distinct(label: str, names: Sequence[str], where: str = "") -> None:
    """Refuse two columns of one name; several may have none.

    Raises
    ------
    InputError
    """
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        what = f"{label}: two columns{where} are called '{twice[0]}'"
        raise InputError(what, found=f"columns: {listing(names, 20)}", hint="rename one of them")


def require_columns(label: str, names: Sequence[str]) -> None:
    """Refuse more columns than a table of scores has.

    Raises
    ------
    InputError
    """
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"{label}: more than {MOST_COLUMNS:,} columns, which no table of scores has",
            found=f"{len(names):,} columns: {listing(names, 20)}",
            hint=_LONG,
        )


def require_filled(label: str, rows: int, columns: int, size: int) -> None:
    """Refuse a table with far more cells than the bytes of its file can fill.

    Raises
    ------
    InputError
    """
    if rows * columns > _FEW_CELLS + _CELLS_OF_A_TABLE * size:
        raise InputError(
            f"{label}: a table of {rows:,} rows and {columns:,} columns, nearly all of it empty",
            found=f"{rows * columns:,} cells in {size:,} bytes",
            hint=_LONG,
        )


def require_few(label: str, what: str, names: Sequence[str]) -> None:
    """Refuse more metrics or models than a comparison has.

    Raises
    ------
    InputError
    """
    if len(names) > _MOST_NAMES[what]:
        picked = option("metric", names[0]) if what == "metric" else option("models", ",".join(names[:2]))
        raise InputError(
            f"{label}: more than {_MOST_NAMES[what]:,} {what}s, which nobody compares at once",
            found=f"{len(names):,}: {listing(names)}",
            hint=f"pick those that count: {picked}",
        )


def require_short(label: str, what: str, names: Iterable[str]) -> None:
    """Refuse names as long as texts.

    Raises
    ------
    InputError
    """
    longest = max(names, key=len, default="")
    if len(longest) > LONGEST_NAME:
        raise InputError(
            f"{label}: a name of {len(longest):,} characters {what}; {LONGEST_NAME:,} are allowed",
            found=f"{longest[:60]}…",
            hint=f"is that the text that was scored? name the columns that count with {option('columns')}",
        )


def endless(data: bytes, *marks: bytes) -> int | None:
    """Return the start of a line or field that no mark ends in time; looked for in steps of the longest."""
    start = 0
    while len(data) - start > LONGEST_FIELD:
        end = max(data.rfind(mark, start, start + LONGEST_FIELD) for mark in marks)
        if end < 0:
            return start
        start = end + 1
    return None


def reason_of(error: BaseException) -> str:
    """Return the reason of an error of Python or a library, in one line and without their insides."""
    if isinstance(error, RecursionError):
        return "values nested too deeply"
    if isinstance(error, LookupError):
        return "it refers to a part that is not there"
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    if "integer string conversion" in text:
        return "a number of thousands of digits"
    if unknown := re.search(r"could not import from `(\w+)` type", text):
        return f"a column of type {unknown[1]}, which Polars cannot read"
    return "a value that Polars cannot decode" if "unwrap()" in text else text


@contextlib.contextmanager
def decoding(what: str, kind: str, hint: str) -> Iterator[None]:
    """Turn the errors and panics of a library that decodes a file into one of three lines.

    Raises
    ------
    InputError
    """
    try:
        with panics_unsaid():
            yield
    except (RiskrankError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # a panic is no Exception
        raise unreadable(what, reason_of(error), hint, f" as {kind}") from None


# Standard error is one for the whole process.
_ALONE = threading.RLock()


@contextlib.contextmanager
def panics_unsaid() -> Iterator[None]:
    """Leave out what a panic of Polars writes; anything else that goes to standard error comes after."""
    with contextlib.ExitStack() as ending, _ALONE:
        try:
            held: IO[bytes] = ending.enter_context(tempfile.TemporaryFile())
            kept = os.dup(2)
        except OSError:  # no standard error, or no space for another file
            yield
            return
        os.dup2(held.fileno(), 2)
        try:
            yield
        except pl.exceptions.PanicException:
            held.truncate(0)
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            held.seek(0)
            with contextlib.suppress(OSError), open(2, "wb", closefd=False) as stream:
                shutil.copyfileobj(held, stream)


# Bytes that the answer of a database may have, and times those of its file: columns of one value pack well.
_LEAST_ANSWER, _TIMES_FILE = 1 << 26, 300
# Seconds of a query, and bytes of the file and rows for each further one.
_SECONDS, _BYTES_A_SECOND, _ROWS_A_SECOND = 5.0, 3e5, 1e6
# Seconds between two looks at the clock.
_LOOK = 0.01
# Bytes that a database may take for its own work, and those of its libraries, which it does not count.
_LEAST_WORK, _UNCOUNTED = 1 << 29, 1 << 28
_LIMITING = threading.Lock()


class Watch:
    """Time and memory of queries over a database: none of them need end.

    Parameters
    ----------
    label : str
        The file.
    size : int
        Its bytes.
    budget : Budget
    """

    def __init__(self, label: str, size: int, budget: Budget) -> None:
        self._label, self._limit = label, budget.limit
        self._most = min(self._limit, _LEAST_ANSWER + _TIMES_FILE * size)
        self.work = max(self._most, _LEAST_WORK)
        self._seconds = _SECONDS + size / _BYTES_A_SECOND
        self._start = time.monotonic(), time.process_time()
        self._rows = self._bytes = 0
        self._late: InputError | None = None

    def count(self, rows: int, size: int) -> None:
        """Take rows and bytes of the answer.

        Raises
        ------
        InputError
            If the answer is too large.
        """
        self._rows += rows
        self._bytes += size
        if self._bytes > self._most:
            raise (
                too_large(self._label, self._limit)
                if self._most == self._limit
                else self.over(f"{self._most:,} bytes")
            )

    def late(self) -> InputError | None:
        """Return the error of queries that take too long; once they did, they stay interrupted."""
        spent = max(time.monotonic() - self._start[0], time.process_time() - self._start[1])
        seconds = self._seconds + self._rows / _ROWS_A_SECOND
        if spent > seconds:
            self._late = self._late or self.over(f"{seconds:,.0f} seconds")
        return self._late

    def over(self, what: str) -> InputError:
        """Return the error of a query that takes too much."""
        return BeyondLimitError(
            f"{self._label}: the database answers with no end within {what}",
            found="a view or a query over very much, or over itself",
            hint=f"ask for less with {option('sql')}, or export what counts with the database's own program",
        )

    @contextlib.contextmanager
    def interrupting(self, interrupt: Callable[[], object]) -> Iterator[None]:
        """Interrupt queries that take too long before they give a row."""
        done = threading.Event()

        def watch() -> None:
            while not done.wait(_LOOK):
                if self.late():
                    interrupt()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()

    @contextlib.contextmanager
    def walled(self) -> Iterator[None]:
        """Let the system refuse memory beyond the work of a query, of which databases count only a part."""
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:  # not Linux
            yield
            return
        import resource

        with _LIMITING:
            soft, hard = resource.getrlimit(resource.RLIMIT_AS)
            allowed = [
                most for most in (soft, hard, used + self.work + _UNCOUNTED) if most != resource.RLIM_INFINITY
            ]
            resource.setrlimit(resource.RLIMIT_AS, (min(allowed), hard))
            try:
                yield
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


# Steps down into tables that a TOML text may ask for: dots of its longest line for every line and dot.
_MOST_STEPS = 5_000_000


def parsed_toml(content: bytes) -> dict[str, Any]:
    """Parse a TOML document.

    Raises
    ------
    ValueError
        If it is not TOML or not UTF-8, nests too deeply, or holds a number of thousands of digits, which
        could not be shown in a message.
    """
    text = content.decode("utf-8-sig")
    # A name with dots costs the square of them, and a table with dots in its name that of every line below.
    dots = [line.count(".") for line in text.split("\n") if not line.lstrip().startswith("#")]
    if max(dots, default=0) * (len(dots) + sum(dots)) > _MOST_STEPS:
        raise ValueError(f"a line with {max(dots):,} dots")
    try:
        document = tomllib.loads(text)
        repr(document)
    except (ValueError, RecursionError) as error:
        raise ValueError(reason_of(error)) from None
    return document
