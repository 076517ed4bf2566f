"""What surrounds a command: streams and switches, which tests replace whole, and what fails a library."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from riskrank.errors import UsageError

if TYPE_CHECKING:
    from riskrank.studies.runtime import Move


def _nowhere() -> TextIO:
    """Stream for a caller that closed its own: what is written there is gone."""
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 (open as long as the process)


@dataclass(frozen=True)
class Environment:
    """Where a command reads and writes.

    Attributes
    ----------
    stdin : binary stream
        Score table named ``-``.
    stdout, stderr : text streams
        Data, and everything else.
    variables : mapping
        Environment variables.
    command : str
        Name of the command that runs.
    config : str or None
        Configuration file that gave some of its options.
    read : str or None
        Configuration file that was read, whatever it gave; nothing is written over it.
    """

    stdin: BinaryIO = field(default_factory=lambda: sys.stdin.buffer if sys.stdin else io.BytesIO())
    stdout: TextIO = field(default_factory=lambda: sys.stdout or _nowhere())
    stderr: TextIO = field(default_factory=lambda: sys.stderr or _nowhere())
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    command: str = ""
    config: str | None = None
    read: str | None = None

    def say(self, line: str, *, command: bool = False) -> None:
        """Write one line to stderr, whatever its encoding can hold.

        Only what is meant as a command to who runs a build is one.

        A line that nobody can be told, because the disk is full or the pipe closed, is given up: it must not
        cost the result or change the exit status.
        """
        from riskrank.errors import bounded
        from riskrank.shown.escapes import for_ci_log, for_log, in_a_build
        from riskrank.shown.staging import discard

        encoding = getattr(self.stderr, "encoding", None) or "utf-8"
        try:
            text = for_log("\n".join(map(bounded, line.split("\n"))), encoding)
            if in_a_build(self.variables) and not command:
                text = for_ci_log(text)
            self.stderr.write(text + "\n")
            self.stderr.flush()
        except (OSError, ValueError):  # Python calls writing to a closed stream a wrong value
            discard(self.stderr)


class _Closed(io.TextIOBase):
    """Standard output of a caller that closed it: what is written there would be lost without a word."""

    def write(self, text: str) -> int:
        """Refuse it."""
        from riskrank.errors import option
        from riskrank.shown.staging import cannot_write

        closed = "whoever started riskrank has closed it"
        raise cannot_write(
            "standard output", closed, f"leave it open, or name a file: {option('output', 'FILE')}"
        )


class _Patient(io.FileIO):
    """A stream that must not wait, waited for: what it has no room for would be lost."""

    def write(self, data: Any) -> int:
        """Write some bytes, as soon as there is room for any."""
        while (taken := super().write(data)) is None:
            import select

            select.select([], [self], [])
        return taken


def open_standard_streams() -> None:
    """Open what the caller closed of descriptors 0 to 2, or the next file opened would take its place.

    Standard output waits for its reader, also where it must not (``O_NONBLOCK``), and gets a buffer where
    ``PYTHONUNBUFFERED`` took it: text on a stream without one, as help, is lost beyond what the system takes
    at once, and nobody is told.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free descriptor is the one that was closed.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # NumPy 1.26 writes to it as soon as it is imported whole
        sys.stderr = _nowhere()
    if sys.stdout is None:
        sys.stdout = _Closed()
    raw = getattr(sys.stdout, "buffer", None)
    bare, waits = isinstance(raw, io.RawIOBase), os.get_blocking(1)
    if isinstance(sys.stdout, io.TextIOWrapper) and (bare or not waits):
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        raw = sys.stdout.detach()
        raw = raw if bare and waits else _Patient(1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), encoding=encoding, errors=errors, newline="\n", line_buffering=True
        )


# Descriptors a run opens beside its streams: modules, pipes to workers, a file in and a file out.
_DESCRIPTORS = 8
# More than a machine of today has cores, and fewer than a limit on processes stops.
_MOST_THREADS = 1024
# Folders that are made where they are missing: where they are no absolute paths, in the working directory.
_FOLDERS = ("HOME", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")


def settle(variables: MutableMapping[str, str]) -> None:
    """Take away what is of no use to a program that draws into files, and fails or writes elsewhere.

    A window system for pictures may be misspelt, and their style, which changes none of ours, be endless; a
    home that is no absolute path would be made here.
    """
    for name in ("MPLBACKEND", "MATPLOTLIBRC"):
        variables.pop(name, None)
    for name in _FOLDERS:
        if not os.path.isabs(variables.get(name, "/")):  # noqa: PTH117
            variables.pop(name, None)


def hush() -> None:
    """Let Matplotlib not tell where it keeps its fonts instead: no picture looks different for it."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)


def import_matplotlib() -> None:
    """Import it from elsewhere: a ``matplotlibrc`` of the working directory may be broken or endless.

    No picture of ours looks different for it.
    """
    try:
        here = os.open(os.curdir, os.O_RDONLY)
    except OSError:  # a folder that may not be looked into, or Windows
        return
    try:
        os.chdir(os.sep)
        import matplotlib  # noqa: F401
    finally:
        os.fchdir(here)
        os.close(here)


def load_special_functions() -> None:
    """Load the compiled functions of ``scipy.special``, and the rest of it where that is asked for.

    The rest, of use to libraries other than NumPy, takes a sixth of a small run to import.
    """
    spec = find_spec("scipy.special")
    if spec is None or spec.loader is None or spec.name in sys.modules:
        return
    loader, package = spec.loader, module_from_spec(spec)

    def whole(name: str) -> Any:
        vars(package).pop("__getattr__", None)
        loader.exec_module(package)
        return getattr(package, name)

    sys.modules[spec.name] = package
    with suppress(ImportError, AttributeError):  # names of SciPy's own, which it may change
        functions = import_module("scipy.special._ufuncs")
        vars(package).update({name: getattr(functions, name) for name in functions.__all__})
        vars(package)["__getattr__"] = whole
        return
    del sys.modules[spec.name]


def require_descriptors() -> None:
    """Fail early, and as such, where hardly any file can be opened: everything else would fail somehow.

    Raises
    ------
    OSError
    """
    opened = []
    try:
        for _ in range(_DESCRIPTORS):
            opened.append(os.open(os.devnull, os.O_RDONLY))
    finally:
        for descriptor in opened:
            os.close(descriptor)


def too_many_open(error: BaseException) -> tuple[str, str, str] | None:
    """What to say where no more files can be opened; None of any other error."""
    if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
        return None
    limit = "none left"
    with suppress(ImportError, OSError):
        import resource

        limit = f"a limit of {resource.getrlimit(resource.RLIMIT_NOFILE)[0]:,} (ulimit -n)"
    return "no more files can be opened", limit, "raise the limit: ulimit -n 1024; or take fewer --jobs"


def require_threads(variables: Mapping[str, str]) -> None:
    """Refuse a number of threads at which Polars ends the process, with a page of its own.

    Raises
    ------
    UsageError
    """
    given = variables.get("POLARS_MAX_THREADS")
    if given is None:
        return
    if not (given.isascii() and given.isdecimal() and len(given) < 20 and 1 <= int(given) <= _MOST_THREADS):
        raise UsageError(
            "POLARS_MAX_THREADS is no number of threads",
            found=f"POLARS_MAX_THREADS={given}",
            hint=f"unset it, or set it to a number from 1 to {_MOST_THREADS}",
        )


@contextmanager
def progress_bar(label: str, stream: TextIO, *, shown: bool) -> Iterator[Move | None]:
    """Yield a function that moves a bar, or None where no bar is wanted."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(file=stream),
        transient=True,
    )

    def move(done: int, total: int, note: str = "") -> None:
        bar.update(task, completed=done, total=total, note=note, count=f"{done:,}/{total:,}")

    with bar:
        task = bar.add_task(label, total=None, note="", count="")
        yield move
