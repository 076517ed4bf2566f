"""A worker process: it answers what its parent asks, and ends when its parent does, however that ends.

Nothing but two pipes joins the two, so the system itself clears up after both: no semaphore, no file and no
third process that could be left behind.

Messages between a process and its workers: pickles over pipes, arrays beside them without a copy.
"""

import os
import pickle
import queue
import struct
import threading
import traceback
from io import FileIO, RawIOBase
from typing import Any

Parts = list[memoryview]
"""A pickle and, after it, the memory of the arrays it names."""

_COUNT = struct.Struct("<Q")


def pack(content: object) -> Parts:
    """Turn an object into what travels; the memory of its arrays is not copied."""
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(content, protocol=5, buffer_callback=arrays.append)
    return [memoryview(head), *(array.raw() for array in arrays)]


def unpack(parts: Parts) -> Any:
    """Turn what travelled into the object again."""
    return pickle.loads(parts[0], buffers=parts[1:])


def send(pipe: RawIOBase, parts: Parts) -> None:
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


def receive(pipe: RawIOBase) -> Parts:
    """Wait for a message and read it.

    Raises
    ------
    EOFError
        If the other side is gone.
    """
    (count,) = _COUNT.unpack(_read(pipe, _COUNT.size))
    lengths = struct.unpack(f"<{count}Q", _read(pipe, count * _COUNT.size))
    return [_read(pipe, length) for length in lengths]


def _read(pipe: RawIOBase, length: int) -> memoryview:
    content = memoryview(bytearray(length))
    rest = content
    while rest:
        read = pipe.readinto(rest)
        if not read:
            raise EOFError
        rest = rest[read:]
    return content


# The first part of a request: data for all tasks that follow, or a function and its task.
SHARE, CALL = memoryview(b"share"), memoryview(b"call")


def serve() -> None:
    """Answer requests from standard input on standard output until the input ends."""
    requests, answers = FileIO(os.dup(0), "rb"), FileIO(os.dup(1), "wb")
    # Solvers and users' readers print; that must not get between the answers.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nowhere, stream)
    waiting: queue.SimpleQueue[Parts] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, waiting), daemon=True).start()
    packed: Parts | None = None
    shared: object = None
    while True:
        kind, *parts = waiting.get()
        if kind == SHARE:
            shared, packed = None, parts  # unpacked with the first task, whose answer can tell if it fails
            continue
        try:
            if packed is not None:
                shared, packed = unpack(packed), None
            function, task = unpack(parts)
            answer = pack((None, function(shared, task)))
        except Exception as error:
            trace = "".join(traceback.format_exception(error))
            answer = pack((_portable(error), f"in a worker process:\n{trace}"))
        send(answers, answer)


def _listen(requests: FileIO, waiting: queue.SimpleQueue[Parts]) -> None:
    """Read ahead beside the work: an input that ends is a parent that died, and ends this process at once."""
    try:
        while True:
            waiting.put(receive(requests))
    finally:
        os._exit(0)


def _portable(error: Exception) -> Exception:
    """An error that survives the journey."""
    try:
        if isinstance(unpack(pack(error)), Exception):
            return error
    except Exception:
        pass
    return RuntimeError(f"{type(error).__name__}: {error}")
