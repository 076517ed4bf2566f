"""Ctrl-C ends a run with one line and exit status 130, whatever the run is at.

Until this file is imported Python itself answers, with a traceback, so it imports next to nothing. Worker
processes end with their parent, and files that are being written are removed by ``riskrank.render.staging``.
"""

import os
import signal

INTERRUPTED = "interrupted: nothing was written"
_EXIT = 130  # as in ExitStatus, whose module would take its time to import before the first answer
_CLEAR_BAR = b"\r\x1b[K\x1b[?25h"

_answered = False


def answer_interrupts() -> None:
    """Answer Ctrl-C, except where it is ignored, as it is for the background jobs of a script."""
    global _answered
    _answered = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if _answered:
        signal.signal(signal.SIGINT, leave)


def settle_interrupts() -> None:
    """Ignore Ctrl-C from now on: results are about to appear, and only the exit status is left to give."""
    if _answered:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def leave(*_: object) -> None:
    """Say that the run was interrupted, and end this process as it stands."""
    try:
        os.write(2, (_CLEAR_BAR if os.isatty(2) else b"") + f"{INTERRUPTED}\n".encode())
    finally:
        os._exit(_EXIT)
