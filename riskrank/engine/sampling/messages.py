"""Messages between a process and its workers: pickles over pipes, arrays beside them without a copy."""

from __future__ import annotations

import pickle
import struct
from typing import Any, Protocol

Parts = list[memoryview]
"""A pickle and, after it, the memory of the arrays it names."""

_COUNT = struct.Struct("<Q")


class Pipe(Protocol):
    """An unbuffered end of a pipe: buffered, a second message could hide from whoever waits for it."""

    def write(self, data: memoryview, /) -> int | None:
        """Write some of the data, and tell how much."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Read what is there into a buffer, and tell how much; nothing at the end."""


def pack(content: object) -> Parts:
    """Turn an object into what travels; the memory of its arrays is not copied."""
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(content, protocol=5, buffer_callback=arrays.append)
    return [memoryview(head), *(array.raw() for array in arrays)]


def unpack(parts: Parts) -> Any:
    """Turn what travelled into the object again."""
    return pickle.loads(parts[0], buffers=parts[1:])


def send(pipe: Pipe, parts: Parts) -> None:
    """Write a message.

    Raises
    ------
    BrokenPipeError
        If nobody is left to read it.
    """
    head = struct.pack(f"<{1 + len(parts)}Q", len(parts), *(part.nbytes for part in parts))
    for part in (memoryview(head), *parts):
        while part:
            part = part[pipe.write(part) or 0 :]


def receive(pipe: Pipe) -> Parts:
    """Wait for a message and read it.

    Raises
    ------
    EOFError
        If the other side is gone.
    """
    (count,) = _COUNT.unpack(_read(pipe, _COUNT.size))
    lengths = struct.unpack(f"<{count}Q", _read(pipe, count * _COUNT.size))
    return [_read(pipe, length) for length in lengths]


def _read(pipe: Pipe, length: int) -> memoryview:
    content = memoryview(bytearray(length))
    rest = content
    while rest:
        read = pipe.readinto(rest)
        if not read:
            raise EOFError
        rest = rest[read:]
    return content
