"""Ctrl-C ends a run with one line and exit 130, whenever it comes and however often."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = "interrupted: nothing was written"
_EXIT = 130  # as in ExitStatus, whose module would take its time to import before the first answer

# Seconds a run has to tidy up. A solver may take longer before it lets Python say a word.
_PATIENCE = 2.0

_SHOW_CURSOR = b"\x1b[?25h"

_settled = threading.Event()


def answer_interrupts() -> None:
    """Make the first Ctrl-C end this process for certain, and let no second one disturb that.

    Does nothing where Ctrl-C is ignored, as it is for the background jobs of a script.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    heard, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    threading.Thread(target=_insist, args=(heard,), daemon=True).start()
    signal.signal(signal.SIGINT, _interrupt)


def settle_interrupts() -> None:
    """Let no Ctrl-C disturb the end of a run, when only its exit status is left to give."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _settled.set()


def leave() -> None:
    """Say that the run was interrupted, and end this process as it stands."""
    shown = _SHOW_CURSOR if os.isatty(2) else b""  # a progress bar may have hidden it
    try:
        os.write(2, shown + f"{INTERRUPTED}\n".encode())
    finally:
        os._exit(_EXIT)


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


def _interrupt(_: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while frame is not None:
        # Amid an import an exception may end in a callback, which prints and forgets it, or look like the
        # error of a module; and there is nothing to tidy up.
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            leave()
        frame = frame.f_back
    raise KeyboardInterrupt


def _insist(heard: int) -> None:
    """End the process if it does not do so itself soon after a Ctrl-C."""
    while os.read(heard, 1) != bytes([signal.SIGINT]):
        pass
    if not _settled.wait(_PATIENCE):
        leave()
    threading.Event().wait(_PATIENCE)
    os._exit(_EXIT)
