"""Standard streams and environment of a command, which tests can replace, and its progress bar."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, TextIO

if TYPE_CHECKING:
    from riskrank.studies.runtime import ProgressCallback


def _null_stream() -> TextIO:
    """Return a text stream that discards everything."""
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 (open until the process ends)


@dataclass(frozen=True)
class Environment:
    """Standard streams, environment variables and configuration of a command.

    Attributes
    ----------
    stdin : binary stream
        Input stream for the score table named ``-``.
    stdout, stderr : text streams
        Output streams for results and for messages.
    variables : mapping
        Environment variables.
    command : str
        Name of the running command.
    config : str or None
        Configuration file that set at least one option.
    loaded_config : str or None
        Configuration file that was read, which must not be overwritten.
    settings : dict
        Values of ``--set`` keys as text, filled in when the command line is parsed.
    """

    stdin: BinaryIO = field(default_factory=lambda: sys.stdin.buffer if sys.stdin else io.BytesIO())
    stdout: TextIO = field(default_factory=lambda: sys.stdout or _null_stream())
    stderr: TextIO = field(default_factory=lambda: sys.stderr or _null_stream())
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    command: str = ""
    config: str | None = None
    loaded_config: str | None = None
    settings: dict[str, str] = field(default_factory=dict)

    def log(self, line: str, *, command: bool = False) -> None:
        """Write a line to stderr, with unsafe characters escaped.

        With `command`, the line is a workflow command for a CI server and is not escaped. A failed write is
        ignored, because it must not affect the result or the exit status.
        """
        from riskrank.errors import shorten
        from riskrank.render.escapes import escape_for_ci_log, escape_for_log, in_ci
        from riskrank.render.files import discard_buffered

        encoding = getattr(self.stderr, "encoding", None) or "utf-8"
        try:
            text = escape_for_log("\n".join(map(shorten, line.split("\n"))), encoding)
            if in_ci(self.variables) and not command:
                text = escape_for_ci_log(text)
            self.stderr.write(text + "\n")
            self.stderr.flush()
        except (OSError, ValueError):  # writing to a closed stream raises ValueError
            discard_buffered(self.stderr)


class _ClosedStream(io.TextIOBase):
    """Stand-in for a closed standard output; writing to it raises an error."""

    def write(self, text: str) -> int:
        """Raise an error, because standard output is closed."""
        from riskrank.errors import option
        from riskrank.render.files import write_error

        hint = f"keep it open, or write to a file: {option('output', 'FILE')}"
        raise write_error("standard output", "it was closed by the calling program", hint)


def open_standard_streams() -> None:
    """Reopen closed file descriptors 0 to 2, and make standard output blocking."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # otherwise the next opened file would get this descriptor
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = sys.stderr or _null_stream()
    sys.stdout = sys.stdout or _ClosedStream()
    with suppress(OSError, AttributeError):  # Windows
        os.set_blocking(1, True)


@contextmanager
def progress_bar(label: str, stream: TextIO) -> Iterator[ProgressCallback]:
    """Show a progress bar, and yield a function that updates it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    count, note = TextColumn("{task.fields[count]}"), TextColumn("{task.fields[note]}")
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn(), note)
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task(label, total=None, note="", count="")

        def update(done: int, total: int, note: str = "") -> None:
            """Update the progress bar."""
            bar.update(task, completed=done, total=total, note=note, count=f"{done:,}/{total:,}")

        yield update
