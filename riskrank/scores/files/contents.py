"""What lies at a path or comes through a stream: its beginning, or all of it, and never more than allowed."""

import io
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from riskrank.errors import InputError, did_you_mean
from riskrank.scores.files.compression import decompress_beginning
from riskrank.scores.files.folders import FROM_HARNESS
from riskrank.scores.files.guards import Budget, too_large, unreadable
from riskrank.scores.files.json_objects import json_object
from riskrank.scores.files.object_stores import read_url
from riskrank.scores.files.source import is_url

# Bytes of a stream of unknown length that are asked for at a time.
_PIECE = 1 << 20
# Enough of a file to tell who wrote it; one record of a judge may hold several answers in full.
_BEGINNING = 1 << 18


def read_bytes(path: str, budget: Budget) -> bytes:
    """Return the bytes of a file, a pipe or a URL; an error says what keeps them away.

    Raises
    ------
    InputError
        If there is nothing, or nothing that ends, or more than the budget.
    """
    if is_url(path):
        return read_url(path, lambda stream: read_stream(stream, path, budget), budget.limit)
    try:
        with Path(path).open("rb") as file:
            return read_stream(file, path, budget)
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
        read_bytes(path, Budget())


def read_stream(stream: BinaryIO, label: str, budget: Budget) -> bytes:
    """Return all bytes of a stream, asked for in pieces: what is allowed is no reason to make room for it.

    Raises
    ------
    InputError
        If there are more than the budget allows, or the stream is a device that never ends.
    """
    size = _size(stream, label, budget)
    limit = budget.limit if size else budget.piped
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


def _size(stream: BinaryIO, label: str, budget: Budget) -> int:
    """Return the bytes of a file; 0 of what has no length."""
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
    if not stat.S_ISREG(status.st_mode):
        return 0
    with suppress(OSError, AttributeError):  # no holes on this system
        here = os.lseek(descriptor, 0, os.SEEK_CUR)
        hole = os.lseek(descriptor, here, os.SEEK_HOLE)
        os.lseek(descriptor, here, os.SEEK_SET)
        if hole < status.st_size:
            budget.take(label, 512 * status.st_blocks, status.st_size)
    return status.st_size


def _resolved(folder: Path) -> str:
    try:
        return str(folder.resolve())
    except FileNotFoundError:
        return "one that is gone: change to another"


def first_bytes(path: Path) -> bytes:
    """Return the beginning of a file, without compression, mark and blanks; nothing of what is no file."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            head = decompress_beginning(file.read(_BEGINNING), _BEGINNING)
        return head.removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return b""


def first_record(path: Path) -> dict[str, Any]:
    """Return the object in the first line of a file; an empty one if there is none."""
    return json_object(first_bytes(path).partition(b"\n")[0]) or {}


def holds(path: Path, *keys: str) -> bool:
    """Return whether the beginning of a JSON file has all these keys."""
    head = first_bytes(path)
    return head[:1] in (b"{", b"[") and all(f'"{key}"'.encode() in head for key in keys)


def holding(*keys: str) -> Callable[[Path], bool]:
    """Return what recognises JSON files whose beginning has all these keys."""
    return lambda path: holds(path, *keys)
