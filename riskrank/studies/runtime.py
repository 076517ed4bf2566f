"""What a study needs to run and what never changes its result: processes, and somebody who watches."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from riskrank.engine.sampling.processes import Jobs, Workers
from riskrank.errors import UsageError, option
from riskrank.options.values import contradict


class Move(Protocol):
    """Tell how far the work is; the note, where there is one, says what it amounts to so far."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Tell that this much of the work is done."""


@contextmanager
def unwatched(label: str) -> Iterator[Move | None]:
    """Show nobody how far the work is."""
    yield None


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """How to run.

    Attributes
    ----------
    jobs : int or Workers
        Processes, or the workers of an executor; results do not depend on it.
    progress : callable
        Takes a label; a context manager that gives a callable of the work done and all of it, or None.
    """

    jobs: Jobs = 1
    progress: Callable[[str], AbstractContextManager[Move | None]] = unwatched


HERE = Runtime()
"""In this process, and nobody watches."""


@contextmanager
def running(
    jobs: int | None,
    executor: Executor | str | None = None,
    progress: Callable[[str], AbstractContextManager[Move | None]] = unwatched,
) -> Iterator[Runtime]:
    """Give the runtime a caller asked for; a connection made for it ends with the block.

    Parameters
    ----------
    jobs : int or None
        Processes; one a core by default.
    executor : concurrent.futures.Executor or str, optional
        Where to run instead: an executor, which stays open, or the text :func:`connect` takes.
    progress : callable
        As in :class:`Runtime`.

    Raises
    ------
    UsageError
        If both are given, or the executor is none.
    InputError
        If no cluster answers.
    """
    if executor is None:
        yield Runtime(jobs=available_jobs(jobs), progress=progress)
        return
    if jobs is not None:
        contradict(option("jobs", jobs), option("executor"))
    if isinstance(executor, str):
        from riskrank.studies.executors import connect

        with connect(executor) as connected:
            yield Runtime(jobs=Workers(executor=connected), progress=progress)
    elif isinstance(executor, Executor):
        yield Runtime(jobs=Workers(executor=executor), progress=progress)
    else:
        raise UsageError(
            f"{option('executor')} takes an executor",
            found=type(executor).__name__,
            hint="give one of concurrent.futures, or the address of a Dask scheduler as dask:tcp://HOST:8786",
        )


def available_jobs(asked: int | None) -> int:
    """The processes to use: as asked, or one a core this process may run on."""
    if asked is not None:
        return asked
    # Not every system tells the cores this process may run on.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
