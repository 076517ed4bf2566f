"""Limits on input files, and translation of library errors.

Files are untrusted, and a few bytes can request huge amounts of memory, as compressed files, endless pipes,
database views and columns of nulls do. Every reader checks the budget before it allocates memory.
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

from riskrank.errors import InputError, RiskrankError, counted, listing, option, shell_quote

# Default maximum bytes of a file and of a pipe, whose length is unknown.
MAX_BYTES, MAX_PIPED = 1 << 34, 1 << 30
# Bytes to which any file may expand, and maximum compression ratio. Tables and logs reach 10 to 50.
_MIN_BYTES, _MAX_RATIO = 1 << 27, 200
# Cells allowed in any file, per compressed byte and per character. An object counts as several cells.
_MIN_CELLS, _CELLS_PER_BYTE, _CELLS_PER_CHAR, _CELLS_PER_OBJECT = 5_000_000, 16, 2, 8
# Cells allowed in any table, and per byte. Columns of numbers stay below this limit.
_MIN_TABLE_CELLS, _TABLE_CELLS_PER_BYTE = 10_000_000, 4
MAX_COLUMNS = 100_000
# Maximum metrics and models of a comparison, and maximum length of a name, which all output repeats.
_MAX_NAMES, MAX_NAME = {"metric": 5_000, "model": 10_000}, 10_000
# Maximum bytes of a line or field; scored answers are shorter.
MAX_FIELD = 1 << 24
# Bytes of a line without values, the number of lines above which other bytes are counted, and the number of
# bytes in which UTF-16 is recognised by its zero bytes.
_SEPARATING, _MAX_LINES, _MARK_SIZE = b' \t\r\n,;|:"', 10_000_000, 64
# Beginning of a file that holds no data yet: a bracket, space, and comments, which have no separators.
_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?+[\[{]?+(?:\s++|#[^\n,;|\t]*+)*+")
# Hint for a folder that is not a table.
HARNESS_HINT = f"for the output of a harness, add {option('from', 'auto')}"
COPY_HINT = "copy the file again, as it may be incomplete"
_LONG_TABLE_HINT = "write a long table with one row per score: model, sample, metric, score"
# Exceptions of Polars and Python for text that they cannot parse.
PARSE_ERRORS = (pl.exceptions.PolarsError, OSError, ValueError, RecursionError)


class BeyondLimitError(InputError):
    """Error for a file that exceeds the budget; another attempt to read it would also fail."""


class BrokenFileError(InputError):
    """Error for a truncated or damaged file; readers of several files may skip the file."""


class Budget:
    """Limits on the bytes and cells of all input files of a command.

    Parameters
    ----------
    limit : int, optional
        Maximum size of a file or pipe in bytes, as set by the user.
    maximum : int
        Default maximum size of a file in bytes.

    Attributes
    ----------
    limit, piped : int
        Maximum size of a file and of a pipe in bytes.
    """

    def __init__(self, limit: int | None = None, *, maximum: int = MAX_BYTES) -> None:
        """Set the limits; nothing has been counted yet."""
        self.limit = maximum if limit is None else limit
        self.piped = min(maximum, MAX_PIPED) if limit is None else limit
        self._files: dict[str, tuple[int, int, int]] = {}
        self._sums = (0, 0, 0)

    def charge(self, label: str, compressed: int, size: int, cells: int = 0) -> None:
        """Add the bytes and cells of a file to the totals, and check the limits.

        Repeated calls for the same file keep the largest values.

        Parameters
        ----------
        label : str
            Name of the file in messages.
        compressed : int
            Size on disk in bytes.
        size, cells : int
            Number of bytes and cells after decompression.

        Raises
        ------
        InputError
            If a limit is exceeded, or the compression ratio is implausibly high.
        """
        previous = self._files.get(label, (0, 0, 0))
        file = (max(compressed, previous[0]), max(size, previous[1]), max(cells, previous[2]))
        sums = [total - old + new for total, old, new in zip(self._sums, previous, file, strict=True)]
        total_packed, total_bytes, total_cells = sums
        excess = ""
        if total_bytes > max(_MIN_BYTES, _MAX_RATIO * total_packed):
            excess = f"more than {total_bytes:,} bytes"
        elif total_cells > _MIN_CELLS + min(_CELLS_PER_BYTE * total_packed, _CELLS_PER_CHAR * total_bytes):
            excess = f"{total_cells:,} values, each object counted {_CELLS_PER_OBJECT} times,"
        if excess:
            files = f", of {len(self._files | {label: file}):,} files" if self._files.keys() - {label} else ""
            problem = f"{label}: the compression ratio is too high for a table of results"
            hint = "look for repeated data, or write the results to a separate file"
            raise InputError(problem, found=f"{excess} in {total_packed:,} bytes{files}", hint=hint)
        if size > self.limit:
            raise too_large_error(label, self.limit)
        self._files[label], self._sums = file, (total_packed, total_bytes, total_cells)

    def charge_text(self, label: str, compressed: int, text: bytes) -> None:
        """Add the bytes and cells of a text file to the totals, and check the limits.

        `compressed` is its size on disk. The number of cells is estimated from separators and brackets.
        """
        objects = sum(map(text.count, b"{["))
        cells = sum(map(text.count, b",;\t\n")) + _CELLS_PER_OBJECT * objects
        self.charge(label, compressed, len(text), cells)


def too_large_error(label: str, limit: int) -> BeyondLimitError:
    """Return the error for a file or archive member that exceeds the size limit in bytes."""
    detail = "a very large file, or data that decompress to this size"
    hint = f"if the size is intended, allow it: {option('max_bytes', 2 * limit)}"
    return BeyondLimitError(f"{label}: more than {limit:,} bytes when read", found=detail, hint=hint)


def unreadable_error(subject: str, reason: object, hint: str, suffix: str = "") -> InputError:
    """Return the error for an input that cannot be read.

    Parameters
    ----------
    subject : str
        Input as named in the message.
    reason : object
        Text or exception.
    hint : str
    suffix : str
        Addition to the message, as in " as CSV".
    """
    detail = getattr(reason, "strerror", None) or str(reason)
    return InputError(f"{subject} cannot be read{suffix}", found=detail, hint=hint)


def empty_error(label: str, detail: str) -> BrokenFileError:
    """Return the error for an empty file. `detail` says what was found instead of rows."""
    hint = "check the program that wrote it; a score table needs at least one row of scores"
    return BrokenFileError(f"{label}: the file is empty", found=detail, hint=hint)


def broken_file_error(subject: str, detail: str) -> BrokenFileError:
    """Return the error for a damaged, probably truncated file.

    `subject` is the message, and `detail` the reason.
    """
    return BrokenFileError(subject, found=detail, hint=COPY_HINT)


def require_distinct(label: str, names: Sequence[str], location: str = "") -> None:
    """Raise InputError if two columns have the same name, unless the name is empty.

    `location` is an addition to the message, as in " of sheet Results".
    """
    repeated = [name for name, count in Counter(names).items() if name and count > 1]
    if repeated:
        subject = f"{label}: two columns{location} are named '{repeated[0]}'"
        raise InputError(subject, found=f"columns: {listing(names, 20)}", hint="rename one of them")


def require_columns(label: str, names: Sequence[str]) -> None:
    """Raise InputError if a table has more columns than a score table may have."""
    if len(names) > MAX_COLUMNS:
        problem = f"{label}: more than {MAX_COLUMNS:,} columns, too many for a table of scores"
        raise InputError(problem, found=f"columns: {', '.join(names[:20])}, …", hint=_LONG_TABLE_HINT)


def require_plausible_size(label: str, rows: int, columns: int, size: int) -> None:
    """Raise InputError if a table has far more cells than its file, of `size` bytes, can contain."""
    if rows * columns > _MIN_TABLE_CELLS + _TABLE_CELLS_PER_BYTE * size:
        problem = f"{label}: a table of {rows:,} rows and {counted(columns, 'column')}, almost all empty"
        raise InputError(problem, found=f"{rows * columns:,} cells in {size:,} bytes", hint=_LONG_TABLE_HINT)


def require_content(label: str, data: bytes) -> None:
    """Raise InputError for a large file that begins with nothing but space and comments."""
    if len(data) > MAX_FIELD and _BLANK.fullmatch(data, 0, MAX_FIELD):
        raise empty_error(label, f"only space and comments in the first {MAX_FIELD:,} bytes")


def require_text(label: str, data: bytes) -> None:
    """Raise InputError for UTF-16 without a byte order mark, and for a large text of blank lines."""
    even, odd = data[:_MARK_SIZE:2], data[1:_MARK_SIZE:2]
    for code, zeros, letters in (("UTF-16LE", odd, even), ("UTF-16BE", even, odd)):
        if b"\0" not in letters and zeros and not zeros.strip(b"\0"):
            hint = f"convert it: iconv -f {code} -t UTF-8 {shell_quote(label)} > utf-8{Path(label).suffix}"
            raise InputError(f"{label}: the text is not UTF-8", found=f"{code} without a mark", hint=hint)
    lines = data.count(b"\n") or data.count(b"\r")
    size = len(data.translate(None, _SEPARATING)) if lines > _MAX_LINES else lines
    if size < lines // 4:
        raise empty_error(label, f"{lines:,} lines with {size:,} characters besides separators")


def reject_too_many(label: str, kind: str, names: Sequence[str]) -> None:
    """Raise InputError if there are too many names for one comparison. `kind` is ``metric`` or ``model``."""
    if len(names) > _MAX_NAMES[kind]:
        flag = option("metric", names[0]) if kind == "metric" else option("models", ",".join(names[:2]))
        problem = f"{label}: more than {_MAX_NAMES[kind]:,} {kind}s, too many to compare at once"
        detail = f"{len(names):,}: {listing(names)}"
        raise InputError(problem, found=detail, hint=f"select some of them: {flag}")


def require_short(label: str, location: str, names: Iterable[str]) -> None:
    """Raise InputError if a name is longer than `MAX_NAME`.

    `location` says where the names are, as in "in column model".
    """
    longest = max(names, key=len, default="")
    if len(longest) > MAX_NAME:
        problem = f"{label}: a name of {len(longest):,} characters {location}; the maximum is {MAX_NAME:,}"
        hint = f"this may be an answer instead of a name: name the columns with {option('columns')}"
        raise InputError(problem, found=f"{longest[:60]}…", hint=hint)


def find_overlong(data: bytes) -> int | None:
    """Return the position of the first line longer than `MAX_FIELD` in a text, or None."""
    start = 0
    while len(data) - start > MAX_FIELD:
        if (end := data.rfind(b"\n", start, start + MAX_FIELD)) < 0:
            return start
        start = end + 1
    return None


def error_reason(error: BaseException) -> str:
    """Return an exception's message in one line, without internal details of the library."""
    if isinstance(error, RecursionError):
        return "values nested too deeply"
    if isinstance(error, LookupError):
        return "it refers to a missing part"
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    if "integer string conversion" in text:
        return "a number with thousands of digits"
    if unknown := re.search(r"could not import from `(\w+)` type", text):
        return f"a column of type {unknown[1]}, which Polars cannot read"
    return "a value that Polars cannot decode" if "unwrap()" in text else text


@contextlib.contextmanager
def translate_errors(subject: str, kind: str, hint: str) -> Iterator[None]:
    """Convert exceptions and panics of a decoding library to InputError in a ``with`` block.

    Parameters
    ----------
    subject : str
        Subject of the message.
    kind : str
        Expected format; empty if the subject states it.
    hint : str

    Raises
    ------
    InputError
        If the body of the ``with`` statement fails.
    """
    try:
        with suppress_panics():
            yield
    except (RiskrankError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # panics do not derive from Exception
        raise unreadable_error(subject, error_reason(error), hint, f" as {kind}" if kind else "") from None


# Standard error is shared by all threads.
_STDERR_LOCK = threading.RLock()


@contextlib.contextmanager
def suppress_panics() -> Iterator[None]:
    """Suppress the panic output of Polars, and delay other output to standard error."""
    with contextlib.ExitStack() as stack, _STDERR_LOCK:
        try:
            buffer: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            stderr = os.dup(2)
        except OSError:  # no standard error, or no space for a temporary file
            yield
            return
        os.dup2(buffer.fileno(), 2)
        try:
            yield
        except pl.exceptions.PanicException:
            buffer.truncate(0)
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            buffer.seek(0)
            with contextlib.suppress(OSError), open(2, "wb", closefd=False) as stream:
                shutil.copyfileobj(buffer, stream)


# Bytes allowed in a query result, and their ratio to the file size. Constant columns compress well.
_MIN_RESULT, _MAX_RESULT_RATIO = 1 << 26, 300
# Time limit of a query in seconds, and the bytes and rows that extend it by one second.
_SECONDS, _BYTES_PER_SECOND, _ROWS_PER_SECOND = 5.0, 3e5, 1e6
# Seconds between checks of the time limit.
_POLL_SECONDS = 0.01
# Memory for query processing, and memory for libraries, which databases do not count.
_MIN_MEMORY, _LIBRARY_MEMORY = 1 << 29, 1 << 28
_LIMIT_LOCK = threading.Lock()


class QueryLimits:
    """Time and memory limits for queries on a database.

    Parameters
    ----------
    label : str
        Database file.
    size : int
        Size of the file in bytes.
    budget : Budget
    """

    def __init__(self, label: str, size: int, budget: Budget) -> None:
        """Set the limits, which grow with the size of the file, and start the clock."""
        self._label, self._limit = label, budget.limit
        self._most = min(self._limit, _MIN_RESULT + _MAX_RESULT_RATIO * size)
        self.work = max(self._most, _MIN_MEMORY)
        self._seconds = _SECONDS + size / _BYTES_PER_SECOND
        self._start = time.monotonic(), time.process_time()
        self._rows = self._bytes = 0
        self._late: InputError | None = None

    def count(self, rows: int, size: int) -> None:
        """Add a number of rows and of bytes to those of the query result, and check the limits.

        Raises
        ------
        InputError
            If the result is too large.
        """
        self._rows += rows
        self._bytes += size
        if self._bytes > self._most == self._limit:
            raise too_large_error(self._label, self._limit)
        if self._bytes > self._most:
            raise self.limit_error(f"{self._most:,} bytes")

    def timeout(self) -> InputError | None:
        """Return the error for an exceeded time limit, or None if time remains.

        Once the limit is exceeded, every later call returns the error.
        """
        elapsed = max(time.monotonic() - self._start[0], time.process_time() - self._start[1])
        seconds = self._seconds + self._rows / _ROWS_PER_SECOND
        if elapsed > seconds:
            self._late = self._late or self.limit_error(f"{seconds:,.0f} seconds")
        return self._late

    def limit_error(self, limit: str) -> InputError:
        """Return the error for a query that exceeds a limit such as "5 seconds"."""
        problem = f"{self._label}: the database did not finish within {limit}"
        detail = "a view or a query over too much data, or a recursive one"
        hint = f"select fewer rows with {option('sql')}, or export the data with the program of the database"
        return BeyondLimitError(problem, found=detail, hint=hint)

    @contextlib.contextmanager
    def interrupt_late(self, interrupt: Callable[[], object]) -> Iterator[None]:
        """Run a ``with`` block in which queries that exceed the time limit are interrupted.

        A background thread calls `interrupt`.
        """
        done = threading.Event()

        def watch() -> None:
            """Wait for the time limit, then interrupt the query."""
            while not done.wait(_POLL_SECONDS):
                if self.timeout():
                    interrupt()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()

    @contextlib.contextmanager
    def limit_memory(self) -> Iterator[None]:
        """Limit the address space of the process within a ``with`` block.

        Databases account for only part of their memory.
        """
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:  # not Linux
            yield
            return
        import resource

        with _LIMIT_LOCK:
            soft, hard = resource.getrlimit(resource.RLIMIT_AS)
            caps = (soft, hard, used + self.work + _LIBRARY_MEMORY)
            cap = min(cap for cap in caps if cap != resource.RLIM_INFINITY)
            resource.setrlimit(resource.RLIMIT_AS, (cap, hard))
            try:
                yield
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


# Maximum nesting steps of a TOML text: dots of its longest line times all lines and dots.
_MAX_STEPS = 5_000_000


def parse_toml(content: bytes) -> dict[str, Any]:
    """Parse the content of a TOML document.

    Raises
    ------
    ValueError
        If it is not valid TOML or UTF-8, is nested too deeply, or contains an integer with thousands of
        digits.
    """
    text = content.decode("utf-8-sig")
    # Dotted names take quadratic time, and a dotted table name costs as much for every line below.
    dots = [line.count(".") for line in text.split("\n") if not line.lstrip().startswith("#")]
    if max(dots, default=0) * (len(dots) + sum(dots)) > _MAX_STEPS:
        raise ValueError(f"a line with {max(dots):,} dots")
    try:
        document = tomllib.loads(text)
        repr(document)
    except (ValueError, RecursionError) as error:
        raise ValueError(error_reason(error)) from None
    return document
