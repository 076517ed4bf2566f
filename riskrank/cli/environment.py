"""The streams and switches a command sees; tests replace the whole of it."""

import io
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TextIO


def _nowhere() -> TextIO:
    """Stream for a caller that closed its own: what is written there is gone."""
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 (open as long as the process)


@dataclass(frozen=True)
class Environment:
    """Where a command reads and writes.

    Attributes
    ----------
    stdin : binary stream
        Score table named ``-``.
    stdout, stderr : text streams
        Data, and everything else.
    variables : mapping
        Environment variables.
    command : str
        Name of the command that runs.
    config : str or None
        Configuration file that gave some of its options.
    read : str or None
        Configuration file that was read, whatever it gave; nothing is written over it.
    """

    stdin: BinaryIO = field(default_factory=lambda: sys.stdin.buffer if sys.stdin else io.BytesIO())
    stdout: TextIO = field(default_factory=lambda: sys.stdout or _nowhere())
    stderr: TextIO = field(default_factory=lambda: sys.stderr or _nowhere())
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    command: str = ""
    config: str | None = None
    read: str | None = None

    def say(self, line: str, *, command: bool = False) -> None:
        """Write one line to stderr, whatever its encoding can hold.

        Only what is meant as a command to who runs a build is one.

        A line that nobody can be told, because the disk is full or the pipe closed, is given up: it must not
        cost the result or change the exit status.
        """
        from riskrank.errors import bounded
        from riskrank.shown.escapes import for_ci_log, for_log, in_a_build
        from riskrank.shown.staging import discard

        encoding = getattr(self.stderr, "encoding", None) or "utf-8"
        try:
            text = for_log("\n".join(map(bounded, line.split("\n"))), encoding)
            if in_a_build(self.variables) and not command:
                text = for_ci_log(text)
            self.stderr.write(text + "\n")
            self.stderr.flush()
        except (OSError, ValueError):  # Python calls writing to a closed stream a wrong value
            discard(self.stderr)


class _Closed(io.TextIOBase):
    """Standard output of a caller that closed it: what is written there would be lost without a word."""

    def write(self, text: str) -> int:
        """Refuse it."""
        from riskrank.errors import NumericalError, option

        raise NumericalError(
            "cannot write to standard output",
            found="whoever started riskrank has closed it",
            hint=f"leave it open, or name a file: {option('output', 'FILE')}",
        )


class _Patient(io.FileIO):
    """A stream that must not wait, waited for: what it has no room for would be lost."""

    def write(self, data: Any) -> int:
        """Write some bytes, as soon as there is room for any."""
        while (taken := super().write(data)) is None:
            import select

            select.select([], [self], [])
        return taken


def open_standard_streams() -> None:
    """Open what the caller closed of descriptors 0 to 2, or the next file opened would take its place.

    Standard output waits for its reader, also where it must not (``O_NONBLOCK``), and gets a buffer where
    ``PYTHONUNBUFFERED`` took it: text on a stream without one, as help, is lost beyond what the system takes
    at once, and nobody is told.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free descriptor is the one that was closed.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # NumPy 1.26 writes to it as soon as it is imported whole
        sys.stderr = _nowhere()
    if sys.stdout is None:
        sys.stdout = _Closed()
    raw = getattr(sys.stdout, "buffer", None)
    bare, waits = isinstance(raw, io.RawIOBase), os.get_blocking(1)
    if isinstance(sys.stdout, io.TextIOWrapper) and (bare or not waits):
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        raw = sys.stdout.detach()
        raw = raw if bare and waits else _Patient(1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), encoding=encoding, errors=errors, newline="\n", line_buffering=True
        )
