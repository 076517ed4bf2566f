"""Files that appear whole, all of them or none, also where a stream is slow or a signal ends the process."""

import contextlib
import os
import re
import secrets
import select
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import BinaryIO, TextIO

from riskrank.errors import UsageError


def write_whole(stream: BinaryIO, data: bytes) -> None:
    """Write all of some bytes.

    A stream without a buffer (``PYTHONUNBUFFERED``) takes what it has room for and calls that done, and one
    that must not wait says so when there is no room: writing goes on until nothing is left or it fails.
    """
    rest = memoryview(data)
    while rest:
        try:
            taken = stream.write(rest)
        except BlockingIOError as error:
            taken = error.characters_written
        rest = rest[taken or 0 :]
        if not taken:
            select.select([], [stream], [])
    while True:
        try:
            return stream.flush()
        except BlockingIOError:
            select.select([], [stream], [])


def discard(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere, so that the interpreter does not fail on it at exit."""
    with contextlib.suppress(OSError, ValueError):  # a stream in memory has no descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def send(data: bytes, stdout: TextIO) -> None:
    """Write to stdout; a closed pipe is no error, and nothing is left behind in it to fail at exit."""
    try:
        binary = getattr(stdout, "buffer", None)
        if binary is None:
            stdout.write(data.decode("utf-8"))
        else:
            stdout.flush()
            write_whole(binary, data)
        stdout.flush()
    except BrokenPipeError:
        discard(stdout)
    except OSError:
        discard(stdout)
        raise


# Signals that end no process, that none can answer, and that the machine sends for a fault of its program.
_OTHERS = "KILL STOP TSTP TTIN TTOU CONT CHLD URG WINCH INFO SEGV BUS FPE ILL"
_ENDINGS = signal.valid_signals() - {getattr(signal, f"SIG{name}", None) for name in _OTHERS.split()}


@contextmanager
def tidying_up() -> Iterator[Callable[[], None]]:
    """Let a signal that ends the process wait for what leaving the block does, as removing a file.

    The first one ends what the block does; none disturbs the tidying up.

    Yields
    ------
    finishing : callable
        To be called when the block is to come to its end whatever happens.
    """
    caught: list[int] = []
    undisturbed = False

    def finishing() -> None:
        nonlocal undisturbed
        undisturbed = True

    def unwind(number: int, _: FrameType | None) -> None:
        nonlocal undisturbed
        caught.append(number)
        if not undisturbed:
            undisturbed = True
            raise KeyboardInterrupt

    handled = []
    if threading.current_thread() is threading.main_thread():  # no other may handle signals
        handled = [number for number in _ENDINGS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in handled:
            signal.signal(number, unwind)
        yield finishing
    finally:
        undisturbed = True
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
        if caught:
            os.kill(os.getpid(), caught[0])


# What a file that is replaced passes on: who may read and write it, never the right to run as its owner.
_PERMISSIONS = stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO

_RUNS = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH

# No bytes are changed on their way, nothing is followed, and no other program gets the file.
_NEW = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}

# Names of files that are open: what is behind them is written into, wherever it lies.
_OPEN = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/(self|\d+)/fd/\d+")


@contextlib.contextmanager
def staged(path: Path, data: bytes) -> Iterator[tuple[Callable[[], object], Callable[[], object]]]:
    """Write a file whole under another name.

    Yields
    ------
    appear, vanish : callable
        Let it appear under its own name, and put back what was there before.
    """
    if is_device(path):
        with _opened(path) as device:  # a pipe waits for its reader here, while nothing else is there yet
            yield partial(write_whole, device, data), lambda: None  # what is written into it is written
        return
    target = path.parent.resolve() / path.name  # a link is replaced, and what it leads to is not touched
    # The name is known before there is a file: what ends a run in between leaves none.
    own = os.fsdecode(os.fsencode(target.name)[:200])  # as far as names may be long
    name = str(target.with_name(f".{own}.{secrets.token_hex(8)}"))
    before = Path(f"{name}.old")
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NEW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            _keep_rights(file.fileno(), target)
        if target.exists():
            with contextlib.suppress(OSError):  # no links there: what was cannot be put back
                before.hardlink_to(target)
        yield partial(Path(name).replace, target), partial(_put_back, target, before)
    finally:
        Path(name).unlink(missing_ok=True)
        before.unlink(missing_ok=True)


def cannot_write(place: str | Path, found: str, hint: str = "write elsewhere") -> UsageError:
    """What is said of a place where nothing can be written."""
    return UsageError(f"cannot write to {place}", found=found, hint=hint)


def refuse_foreign_links(path: Path) -> None:
    """Refuse a link out of its folder, a path through one that anybody made, as in /tmp, and our own files.

    Raises
    ------
    UsageError
    """
    is_open = _OPEN.fullmatch(str(path))
    number = _open_already(path)
    if number is not None and path.exists() and not os.get_inheritable(number):
        raise cannot_write(path, "this program opened it for itself", "name what was opened for it")
    if path.is_symlink() and not is_open and not path.resolve().is_relative_to(path.parent.resolve()):
        leads = "it is a link that leads out of its folder"
        raise cannot_write(path, leads, "name the file it leads to, or remove the link")
    for place in () if is_open else _links_on(path):
        folder = place.parent.stat()
        if folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH:
            link = f"{place} is a link in a folder where anybody may make one"
            raise cannot_write(path, link, "name the file it leads to, or write elsewhere")


def _links_on(path: Path, most: int = 40) -> Iterator[Path]:
    """Every link on the way to a file, those that a link leads through among them."""
    for place in (path, *path.parents):
        if most and place.is_symlink():
            yield place
            yield from _links_on(place.parent / place.readlink(), most - 1)


def is_device(path: Path) -> bool:
    """Whether a path is written into as it is: pipes, terminals, /dev/stdout wherever it leads."""
    return path.exists() and bool(_OPEN.fullmatch(str(path)) or not (path.is_file() or path.is_dir()))


def _keep_rights(descriptor: int, target: Path) -> None:
    """Give a new file the rights of a plain one it replaces, and its owner where that is allowed."""
    try:
        old = target.lstat()
    except FileNotFoundError:
        old = None
    if old is None or not stat.S_ISREG(old.st_mode) or old.st_mode & _RUNS:
        umask = os.umask(0)
        os.umask(umask)
        os.fchmod(descriptor, 0o666 & ~umask)
        return
    with contextlib.suppress(OSError):
        os.fchown(descriptor, -1, old.st_gid)
        os.fchown(descriptor, old.st_uid, -1)
    os.fchmod(descriptor, old.st_mode & _PERMISSIONS)


def _put_back(target: Path, before: Path) -> None:
    with contextlib.suppress(OSError):
        if before.exists():
            before.replace(target)
        else:
            target.unlink(missing_ok=True)


def _opened(device: Path) -> BinaryIO:
    number = _open_already(device)
    # A file opened anew has a place of its own to write at: what others write after would lie upon it.
    if number is None:
        return device.open("ab", buffering=0)
    return os.fdopen(os.dup(number), "wb", buffering=0)


def _open_already(device: Path) -> int | None:
    """Number of the open file that a path such as /dev/stdout names."""
    named = _STREAMS.get(str(device))
    if named is not None:
        return named
    of_this_process = str(device.parent) in ("/dev/fd", "/proc/self/fd") and device.name.isdecimal()
    return int(device.name) if of_this_process else None
