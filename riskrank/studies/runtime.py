"""What a study needs to run and what never changes its result: processes, and somebody who watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

Move = Callable[[int, int], None]


@contextmanager
def unwatched(label: str) -> Iterator[Move | None]:
    """Show nobody how far the work is."""
    yield None


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """How to run.

    Attributes
    ----------
    jobs : int
        Processes; results do not depend on it.
    progress : callable
        Takes a label; a context manager that gives a callable of the work done and all of it, or None.
    """

    jobs: int = 1
    progress: Callable[[str], AbstractContextManager[Move | None]] = unwatched
