"""What lies at a path or comes through a stream: all of it, and never more than allowed."""

import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

from riskrank.errors import InputError, did_you_mean
from riskrank.scores.files.limits import FROM_HARNESS, too_large, unreadable
from riskrank.scores.files.object_stores import read_url
from riskrank.scores.files.source import is_url

# Bytes of a stream of unknown length that are asked for at a time.
_PIECE = 1 << 20


def read_bytes(path: str, limit: int) -> bytes:
    """The bytes of a file, a pipe or an address; an error says what keeps them away.

    Raises
    ------
    InputError
        If there is nothing, or nothing that ends, or more than `limit` bytes.
    """
    if is_url(path):
        return read_url(path, lambda stream: read_stream(stream, path, limit), limit)
    try:
        with Path(path).open("rb") as file:
            return read_stream(file, path, limit)
    except FileNotFoundError:
        folder = Path(path).parent
        there = [str(folder / entry.name) for entry in folder.iterdir()] if folder.is_dir() else []
        raise InputError(
            f"{path}: no such file",
            found=f"nothing at that path, in directory {_resolved(folder)}",
            hint=did_you_mean(path, there, otherwise="check the path"),
        ) from None
    except IsADirectoryError:
        hint = f"name the files in it, for example '{path.rstrip('/')}/*.csv'; {FROM_HARNESS}"
        raise InputError(f"{path}: this is a directory, not a file", found="a directory", hint=hint) from None
    except (OSError, ValueError) as error:  # a name with a null character is a wrong value to Python
        raise unreadable(f"{path}: the file", error, "check its name and its permissions") from None


def require_file(path: str) -> None:
    """Say what keeps a file away, without reading it."""
    try:
        with Path(path).open("rb"):
            return
    except OSError:
        read_bytes(path, 0)


def read_stream(stream: BinaryIO, label: str, limit: int) -> bytes:
    """All bytes of a stream, asked for in pieces: what is allowed is no reason to make room for it.

    Raises
    ------
    InputError
        If there are more than `limit`, or the stream is a device that never ends.
    """
    size = _size(stream, label)
    if size > limit:
        raise too_large(label, limit)
    whole = stream.read(max(size + 1, _PIECE))  # a file is here whole, and once
    more = stream.read(_PIECE)
    if more:
        held = io.BytesIO()
        held.write(whole)
        while more and held.tell() <= limit:
            held.write(more)
            more = stream.read(_PIECE)
        whole = held.getvalue()
    if len(whole) > limit:
        raise too_large(label, limit)
    return whole


def _size(stream: BinaryIO, label: str) -> int:
    """Bytes of a file; 0 of what has no length."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError, AttributeError):  # a stream in memory
        return 0
    status = os.fstat(descriptor)
    device = stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not stream.isatty())
    if device and stream.read(1):  # /dev/null is empty, and said to be
        raise InputError(
            f"{label}: this is a device, not a file",
            found="bytes of the machine itself, without an end such as a table has",
            hint="name a file, or what comes through a pipe",
        )
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _resolved(folder: Path) -> str:
    try:
        return str(folder.resolve())
    except FileNotFoundError:
        return "one that is gone: change to another"
