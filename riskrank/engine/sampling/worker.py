"""A worker process: it answers what its parent asks, and ends when its parent does, however that ends.

Nothing but two pipes joins the two, so the system itself clears up after both: no semaphore, no file and no
third process that could be left behind.
"""

from __future__ import annotations

import os
import queue
import threading
import traceback
from io import FileIO

from riskrank.engine.sampling.messages import Parts, pack, receive, send, unpack

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
