"""Streams that fail: what they still hold goes nowhere."""

from __future__ import annotations

import contextlib
import os
from typing import TextIO


def discard(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere, so that the interpreter does not fail on it at exit."""
    with contextlib.suppress(OSError, ValueError):  # a stream in memory has no descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
