"""What has to be tidied up is, also when a signal ends the process."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Signals that end no process, that none can answer, and that the machine sends for a fault of its program.
_OTHERS = "KILL STOP TSTP TTIN TTOU CONT CHLD URG WINCH INFO SEGV BUS FPE ILL"
_ENDINGS = signal.valid_signals() - {getattr(signal, f"SIG{name}", None) for name in _OTHERS.split()}


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

    before = dict[int, Any]()
    if threading.current_thread() is threading.main_thread():  # no other may handle signals
        before = {int(number): signal.getsignal(number) for number in _ENDINGS}
    before = {number: one for number, one in before.items() if one is signal.SIG_DFL or _is_of_a_block(one)}
    try:
        for number in before:
            signal.signal(number, unwind)
        yield finishing
    finally:
        undisturbed = True
        for number, handler in before.items():
            signal.signal(number, handler)
        if caught:
            os.kill(os.getpid(), caught[0])


def _is_of_a_block(handler: Any) -> bool:
    """Whether a handler is that of a block around this one, which comes to its end after it."""
    return getattr(handler, "__module__", "") == __name__
