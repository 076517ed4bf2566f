"""Streams of a command, which tests replace as a whole, and its progress bar."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, TextIO

if TYPE_CHECKING:
    from riskrank.studies.runtime import Move


def _nowhere() -> TextIO:
    """Return a stream for a caller that closed its own."""
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
        """Write a line to stderr in its encoding; only a `command` is one to who runs a build.

        A line that cannot be written, because the disk is full or the pipe closed, is given up: it must not
        cost the result or change the exit status.
        """
        from riskrank.errors import bounded
        from riskrank.render.escapes import escape_for_ci_log, escape_for_log, in_ci
        from riskrank.render.staging import discard_buffered

        encoding = getattr(self.stderr, "encoding", None) or "utf-8"
        try:
            text = escape_for_log("\n".join(map(bounded, line.split("\n"))), encoding)
            if in_ci(self.variables) and not command:
                text = escape_for_ci_log(text)
            self.stderr.write(text + "\n")
            self.stderr.flush()
        except (OSError, ValueError):  # Python calls writing to a closed stream a wrong value
            discard_buffered(self.stderr)


class _Closed(io.TextIOBase):
    """Standard output of a caller that closed it: what is written there would be lost without a word."""

    def write(self, text: str) -> int:
        """Refuse it."""
        from riskrank.errors import option
        from riskrank.render.staging import write_error

        hint = f"leave it open, or name a file: {option('output', 'FILE')}"
        raise write_error("standard output", "whoever started riskrank has closed it", hint)


def open_standard_streams() -> None:
    """Open what the caller closed of descriptors 0 to 2, and let standard output wait for its reader."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # the next file that is opened would take its place
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = sys.stderr or _nowhere()
    sys.stdout = sys.stdout or _Closed()
    with suppress(OSError, AttributeError):  # Windows
        os.set_blocking(1, True)


@contextmanager
def progress_bar(label: str, stream: TextIO) -> Iterator[Move]:
    """Yield a function that moves a bar."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    count, note = TextColumn("{task.fields[count]}"), TextColumn("{task.fields[note]}")
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn(), note)
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task(label, total=None, note="", count="")

        def move(done: int, total: int, note: str = "") -> None:
            bar.update(task, completed=done, total=total, note=note, count=f"{done:,}/{total:,}")

        yield move
