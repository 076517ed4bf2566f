"""Polars ends in a panic where it forgot a case, and writes pages of its insides to standard error."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Iterator
from typing import IO

from polars.exceptions import PanicException

# Standard error is one for the whole process.
_ALONE = threading.RLock()


@contextlib.contextmanager
def panics_unsaid() -> Iterator[None]:
    """Leave out what a panic writes; anything else that goes to standard error comes after."""
    with contextlib.ExitStack() as ending, _ALONE:
        try:
            held: IO[bytes] = ending.enter_context(tempfile.TemporaryFile())
            kept = os.dup(2)
        except OSError:  # no standard error, or no room for another file
            yield
            return
        os.dup2(held.fileno(), 2)
        try:
            yield
        except PanicException:
            held.truncate(0)
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            _write(held)


def _write(held: IO[bytes]) -> None:
    held.seek(0)
    with contextlib.suppress(OSError):
        while piece := held.read(1 << 16):
            os.write(2, piece)
