"""A progress bar on stderr, for people who watch; nobody else sees any of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from riskrank.studies.runtime import Move


@contextmanager
def progress_bar(label: str, stream: TextIO, *, shown: bool) -> Iterator[Move | None]:
    """Yield a function that moves a bar, or None where no bar is wanted."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(file=stream),
        transient=True,
    )

    def move(done: int, total: int, note: str = "") -> None:
        bar.update(task, completed=done, total=total, note=note, count=f"{done:,}/{total:,}")

    with bar:
        task = bar.add_task(label, total=None, note="", count="")
        yield move
