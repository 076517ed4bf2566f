"""Ctrl-C ends a run with one line and exit 130, whenever it comes and however often.

Until this file is imported Python itself answers, with a traceback, so it imports next to nothing.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # as in typing, which takes its time
if TYPE_CHECKING:
    import threading
    from types import FrameType

INTERRUPTED = "interrupted: nothing was written"
_EXIT = 130  # as in ExitStatus, whose module would take its time to import before the first answer

# Seconds a run has to tidy up. A solver may take longer before it lets Python say a word.
_PATIENCE = 2.0

_SHOW_CURSOR = b"\x1b[?25h"

_settled: threading.Event | None = None
_heard = False
_writing = False


def answer_interrupts() -> None:
    """Make the first Ctrl-C end this process for certain, and let no second one disturb that.

    Does nothing where Ctrl-C is ignored, as it is for the background jobs of a script.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = _forget_interrupts
    import threading

    global _settled
    _settled = threading.Event()
    heard, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    threading.Thread(target=_insist, args=(heard, _settled), daemon=True).start()


def begin_writing() -> None:
    """Write no result after a Ctrl-C that was heard and then lost, as in a callback of a library.

    To be called when all is ready to appear; from here on a result that is there whole is not taken back.
    """
    global _writing
    if _heard:
        raise KeyboardInterrupt
    _writing = True


def interrupted() -> bool:
    """Whether a Ctrl-C was heard before the result was written, whatever became of its exception."""
    return _heard and not _writing


def settle_interrupts() -> None:
    """Let no Ctrl-C disturb the end of a run, when only its exit status is left to give."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _settled is not None:
        _settled.set()


def leave() -> None:
    """Say that the run was interrupted, and end this process as it stands."""
    shown = _SHOW_CURSOR if os.isatty(2) else b""  # a progress bar may have hidden it
    try:
        os.write(2, shown + f"{INTERRUPTED}\n".encode())
    finally:
        os._exit(_EXIT)


def _interrupt(_: int, frame: FrameType | None) -> None:
    global _heard
    _heard = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while frame is not None:
        # Amid an import an exception may end in a callback, which prints and forgets it, or look like the
        # error of a module; and there is nothing to tidy up.
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            leave()
        frame = frame.f_back
    raise KeyboardInterrupt


def _forget_interrupts(lost: sys.UnraisableHookArgs) -> None:
    """Print no traceback of a Ctrl-C that fell into a callback: it was heard, and the run ends without it."""
    if not (_heard and lost.exc_type is KeyboardInterrupt):
        sys.__unraisablehook__(lost)


def _insist(heard: int, settled: threading.Event) -> None:
    """End the process if it does not do so itself soon after a Ctrl-C."""
    import time

    while os.read(heard, 1) != bytes([signal.SIGINT]):
        pass
    if not settled.wait(_PATIENCE):
        leave()
    time.sleep(_PATIENCE)
    os._exit(_EXIT)
