"""Streams that take a part of what they are given, and streams that fail."""

import contextlib
import os
import select
from typing import BinaryIO, TextIO


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
            _wait(stream)
    while True:
        try:
            return stream.flush()
        except BlockingIOError:
            _wait(stream)


def _wait(stream: BinaryIO) -> None:
    select.select([], [stream], [])


def discard(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere, so that the interpreter does not fail on it at exit."""
    with contextlib.suppress(OSError, ValueError):  # a stream in memory has no descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
