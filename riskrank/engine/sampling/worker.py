"""Worker process that answers its parent's requests and exits when the parent ends for any reason.

The two processes are connected only by a pair of sockets, so no semaphore, file or third process can be left
behind.
"""

import os
import pickle
import queue
import threading
import traceback
from multiprocessing.connection import Connection
from typing import Any


def serve(handle: int) -> None:
    """Run tasks received on a connection, and send their results, until the connection closes.

    `handle` identifies the connection. An empty message announces that the next message contains a function
    and the shared data for all following tasks. Any other message is a task.
    """
    connection = Connection(handle)
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_queue_requests, args=(connection, waiting), daemon=True).start()
    packed = b""
    call: tuple[Any, Any] = (None, None)
    while True:
        request = waiting.get()
        if not request:
            packed = waiting.get()  # unpickled with the first task, which can report an error
            continue
        try:
            if packed:
                call, packed = pickle.loads(packed), b""
            function, shared = call
            answer = pickle.dumps((None, function(shared, pickle.loads(request))), protocol=5)
        except Exception as error:
            trace = "".join(traceback.format_exception(error))
            answer = pickle.dumps((_picklable_error(error), f"in a worker process:\n{trace}"))
        connection.send_bytes(answer)


def _queue_requests(connection: Connection, waiting: queue.SimpleQueue[bytes]) -> None:
    """Put all received requests into the queue `waiting`; exit the process if the parent disconnects."""
    try:
        while True:
            waiting.put(connection.recv_bytes())
    finally:
        os._exit(0)


def _picklable_error(error: Exception) -> Exception:
    """Return the error, or an equivalent one if it cannot be pickled."""
    try:
        if isinstance(pickle.loads(pickle.dumps(error)), Exception):
            return error
    except Exception:
        pass
    return RuntimeError(f"{type(error).__name__}: {error}")
