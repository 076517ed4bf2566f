"""Files that appear whole, all of them or none, also where a signal ends the process."""

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

_ENDINGS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_STREAMS = {"/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2, "/dev/fd/2": 2}


def write_whole(stream: BinaryIO, data: bytes) -> None:
    """Write all of some bytes, also to a stream without a buffer, which takes a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]
    stream.flush()


def discard(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere, so that the interpreter does not fail on it at exit."""
    with contextlib.suppress(OSError, ValueError):  # a stream in memory has no descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def send(data: bytes, stdout: TextIO) -> None:
    """Write to stdout; a closed pipe is no error, as its reader has seen enough."""
    try:
        binary = getattr(stdout, "buffer", None)
        if binary is None:
            stdout.write(data.decode("utf-8"))
            stdout.flush()
        else:
            stdout.flush()
            write_whole(binary, data)
    except OSError as error:
        discard(stdout)
        if not isinstance(error, BrokenPipeError):
            raise


@contextmanager
def tidying_up() -> Iterator[Callable[[], None]]:
    """Let a signal that ends the process wait until the block has removed its files.

    Yields
    ------
    finishing : callable
        To be called when the block is to come to its end before such a signal counts.
    """
    caught: list[int | None] = []

    def unwind(number: int, _: FrameType | None) -> None:
        caught.append(number)
        if len(caught) == 1:
            raise KeyboardInterrupt

    before = dict[int, Any]()
    try:
        if threading.current_thread() is threading.main_thread():  # no other may handle signals
            for number in _ENDINGS:
                if signal.getsignal(number) not in (None, signal.SIG_IGN):
                    before[number] = signal.getsignal(number)
                    signal.signal(number, unwind)
        yield partial(caught.append, None)
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is unwind:
                signal.signal(number, handler)
        for ending in filter(None, caught):
            os.kill(os.getpid(), ending)


@contextmanager
def staged(path: Path, data: bytes) -> Iterator[tuple[Callable[[], object], Callable[[], object]]]:
    """Write a file whole under another name.

    Yields
    ------
    appear, vanish : callable
        Let it appear under its own name, and put back what was there before.
    """
    target = path.parent.resolve() / path.name  # a link is replaced, and what it leads to is not touched
    hidden = target.with_name(f".riskrank-{secrets.token_hex(8)}")
    before = hidden.with_suffix(".old")
    try:
        with hidden.open("xb") as file:
            write_whole(file, data)
            os.fsync(file.fileno())
        if target.exists():
            hidden.chmod(target.stat().st_mode & 0o666)
            with contextlib.suppress(OSError):  # without links of this kind it cannot be put back
                before.hardlink_to(target)
        yield partial(hidden.replace, target), partial(_put_back, target, before)
    finally:
        hidden.unlink(missing_ok=True)
        before.unlink(missing_ok=True)


def _put_back(target: Path, before: Path) -> None:
    if before.exists():
        before.replace(target)
    else:
        target.unlink(missing_ok=True)


def is_device(path: Path) -> bool:
    """Return whether a path is written into as it is: a pipe, a device, or the name of an open file."""
    return str(path).startswith(("/dev/std", "/dev/fd/", "/proc/")) or not (
        path.is_file() or path.is_dir() or not path.exists()
    )


def open_device(path: Path) -> BinaryIO:
    """Open a pipe or a device; standard streams are not opened again, as they have their place in a file."""
    number = _STREAMS.get(str(path))
    return path.open("ab", buffering=0) if number is None else os.fdopen(os.dup(number), "wb", buffering=0)


def cannot_write(place: str | Path, found: str, hint: str = "write elsewhere") -> UsageError:
    """Return the error of a place where nothing can be written."""
    return UsageError(f"cannot write to {place}", found=found, hint=hint)
