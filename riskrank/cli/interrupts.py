"""Ctrl-C handling: a run ends with one line and exit status 130.

Until this module is loaded, Python prints a traceback, so it imports almost nothing. Worker processes end
with their parent, and ``riskrank.render.files`` removes unfinished files.
"""

import os
import signal

INTERRUPTED = "interrupted: nothing was written"
_EXIT = 130  # equals ExitStatus.INTERRUPTED, whose module is too slow to import here
_CLEAR_BAR = b"\r\x1b[K\x1b[?25h"

_handled = False


def handle_interrupts() -> None:
    """Install the Ctrl-C handler, unless the signal is ignored, as in a script's background jobs."""
    global _handled
    _handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if _handled:
        signal.signal(signal.SIGINT, exit_interrupted)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C from this call on, so that output files are written completely."""
    if _handled:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def exit_interrupted(*_: object) -> None:
    """Report the interruption on stderr, and exit immediately."""
    try:
        os.write(2, (_CLEAR_BAR if os.isatty(2) else b"") + f"{INTERRUPTED}\n".encode())
    finally:
        os._exit(_EXIT)
