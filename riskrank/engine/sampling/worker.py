"""A worker process: it answers what its parent asks, and ends when its parent does, however that ends.

Nothing but a pair of sockets joins the two, so the system itself clears up after both: no semaphore, no file
and no third process that could be left behind.
"""

import os
import pickle
import queue
import threading
import traceback
from multiprocessing.connection import Connection
from typing import Any


def serve(handle: int) -> None:
    """Answer requests on a connection until it ends.

    An empty message announces a function and the data that it needs for all tasks that follow. Any other
    message is a task.
    """
    connection = Connection(handle)
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, waiting), daemon=True).start()
    packed = b""
    call: tuple[Any, Any] = (None, None)
    while True:
        request = waiting.get()
        if not request:
            packed = waiting.get()  # unpacked with the first task, whose answer can report an error
            continue
        try:
            if packed:
                call, packed = pickle.loads(packed), b""
            function, shared = call
            answer = pickle.dumps((None, function(shared, pickle.loads(request))), protocol=5)
        except Exception as error:
            trace = "".join(traceback.format_exception(error))
            answer = pickle.dumps((_portable(error), f"in a worker process:\n{trace}"))
        connection.send_bytes(answer)


def _listen(connection: Connection, waiting: queue.SimpleQueue[bytes]) -> None:
    """Read ahead beside the work: a connection that ends is a parent that died, and ends this process."""
    try:
        while True:
            waiting.put(connection.recv_bytes())
    finally:
        os._exit(0)


def _portable(error: Exception) -> Exception:
    """Return an error that survives the journey."""
    try:
        if isinstance(pickle.loads(pickle.dumps(error)), Exception):
            return error
    except Exception:
        pass
    return RuntimeError(f"{type(error).__name__}: {error}")
