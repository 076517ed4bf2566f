"""What has to be tidied up is, also when a signal ends the process."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# Signals that end a process unless it says otherwise, but for SIGKILL and those that the machine sends.
_NAMES = "TERM HUP QUIT USR1 USR2 ALRM VTALRM PROF XCPU ABRT TRAP SYS IO PWR STKFLT"
_ENDINGS = tuple(number for name in _NAMES.split() if (number := getattr(signal, f"SIG{name}", None)))


@contextmanager
def tidying_up() -> Iterator[Callable[[], None]]:
    """Let a signal that ends the process wait for what leaving the block does, as removing a file.

    The first one ends what the block does; none disturbs the tidying up.

    Yields
    ------
    finishing : callable
        To be called when the block is to come to its end whatever happens.
    """
    caught: list[int] = []
    undisturbed = False

    def finishing() -> None:
        nonlocal undisturbed
        undisturbed = True

    def unwind(number: int, _: FrameType | None) -> None:
        nonlocal undisturbed
        caught.append(number)
        if not undisturbed:
            undisturbed = True
            raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():  # no other may handle signals
        before = {number: signal.getsignal(number) for number in _ENDINGS}
    try:
        for number, handler in before.items():
            if handler is signal.SIG_DFL:
                signal.signal(number, unwind)
        yield finishing
    finally:
        undisturbed = True
        for number, handler in before.items():
            if handler is signal.SIG_DFL:
                signal.signal(number, handler)
        if caught:
            os.kill(os.getpid(), caught[0])
