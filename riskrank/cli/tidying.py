"""What has to be tidied up is, also when a signal ends the process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def tidying_up() -> Iterator[None]:
    """Let a signal that ends the process wait for what leaving the block does, as removing a file."""
    caught = []

    def unwind(number: int, _: FrameType | None) -> None:
        caught.append(number)
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():  # no other may handle signals
        endings = (signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.getsignal(number) for number in endings}
    try:
        for number, handler in before.items():
            if handler is signal.SIG_DFL:
                signal.signal(number, unwind)
        yield
    finally:
        for number, handler in before.items():
            if handler is signal.SIG_DFL:
                signal.signal(number, handler)
        if caught:
            os.kill(os.getpid(), caught[0])
