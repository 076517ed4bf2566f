"""Atomic writing of output files: either all files are complete or none exists, even after a signal."""

import contextlib
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, TextIO

from riskrank.errors import UsageError

_TERMINATION_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_STREAMS = {"/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2, "/dev/fd/2": 2}


def write_fully(stream: BinaryIO, data: bytes) -> None:
    """Write all bytes to a stream, even if it accepts only part of them per call."""
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[stream.write(remaining) :]
    stream.flush()


def discard_buffered(stream: TextIO) -> None:
    """Redirect a stream to the null device, so that flushing it at exit does not fail."""
    with contextlib.suppress(OSError, ValueError):  # a stream in memory has no descriptor
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, stream.fileno())
        os.close(null_device)


def write_stdout(data: bytes, stdout: TextIO) -> None:
    """Write bytes to standard output.

    A closed pipe is ignored, because its reader stopped on purpose.

    Raises
    ------
    OSError
        If writing fails for any other reason.
    """
    try:
        binary = getattr(stdout, "buffer", None)
        if binary is None:
            stdout.write(data.decode("utf-8"))
            stdout.flush()
        else:
            stdout.flush()
            write_fully(binary, data)
    except OSError as error:
        discard_buffered(stdout)
        if not isinstance(error, BrokenPipeError):
            raise


@contextmanager
def deferred_signals() -> Iterator[Callable[[], None]]:
    """Defer termination signals until the block has removed its temporary files.

    Yields
    ------
    finishing : callable
        To be called when the block is about to end; later signals do not interrupt the block.
    """
    received: list[int | None] = []

    def unwind(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) == 1:
            raise KeyboardInterrupt

    handlers = dict[int, Any]()
    try:
        if threading.current_thread() is threading.main_thread():  # other threads cannot set signal handlers
            for number in _TERMINATION_SIGNALS:
                if signal.getsignal(number) not in (None, signal.SIG_IGN):
                    handlers[number] = signal.getsignal(number)
                    signal.signal(number, unwind)
        yield partial(received.append, None)
    finally:
        for number, handler in handlers.items():
            if signal.getsignal(number) is unwind:
                signal.signal(number, handler)
        for received_signal in filter(None, received):
            os.kill(os.getpid(), received_signal)


@contextmanager
def staged_file(path: Path, data: bytes) -> Iterator[tuple[Callable[[], object], Callable[[], object]]]:
    """Write a file under a temporary name in the target folder.

    Yields
    ------
    appear, vanish : callable
        `appear` renames the file to its final name. `vanish` restores the previous state of `path`.
    """
    target = path.parent.resolve() / path.name  # a symbolic link is replaced, its target is not touched
    temporary = target.with_name(f".riskrank-{secrets.token_hex(8)}")
    backup = temporary.with_suffix(".old")
    try:
        with temporary.open("xb") as file:
            write_fully(file, data)
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o666)
            with contextlib.suppress(OSError):  # file systems without hard links cannot restore it
                backup.hardlink_to(target)
        yield partial(temporary.replace, target), partial(_restore, target, backup)
    finally:
        temporary.unlink(missing_ok=True)
        backup.unlink(missing_ok=True)


def _restore(target: Path, backup: Path) -> None:
    """Restore a file from its backup, or delete it if there is none."""
    if backup.exists():
        backup.replace(target)
    else:
        target.unlink(missing_ok=True)


def is_device(path: Path) -> bool:
    """Return True if a path must be written in place: a pipe, a device, or an open file descriptor."""
    return str(path).startswith(("/dev/std", "/dev/fd/", "/proc/")) or not (
        path.is_file() or path.is_dir() or not path.exists()
    )


def open_device(path: Path) -> BinaryIO:
    """Open a pipe or a device for writing.

    Standard streams are duplicated instead of reopened, to keep their file position.
    """
    number = _STREAMS.get(str(path))
    return path.open("ab", buffering=0) if number is None else os.fdopen(os.dup(number), "wb", buffering=0)


def write_error(target: str | Path, reason: str, hint: str = "write elsewhere") -> UsageError:
    """Create the error for a path that cannot be written."""
    return UsageError(f"cannot write to {target}", found=reason, hint=hint)
