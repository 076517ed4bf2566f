"""Runtime of a study: parallel execution and progress display, which never affect the result."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from riskrank.engine.sampling.processes import Jobs, Workers
from riskrank.errors import UsageError, option
from riskrank.options.values import contradict


class ProgressCallback(Protocol):
    """Callback that reports progress, with a note on the intermediate result."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Report that `done` of `total` units of work are finished."""


@contextmanager
def no_progress(label: str) -> Iterator[ProgressCallback | None]:
    """Yield None instead of a progress callback."""
    yield None


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """How a study is executed.

    Attributes
    ----------
    jobs : int or Workers
        Number of processes, or the workers of an executor; results do not depend on it.
    progress : callable
        Function of a label that returns a context manager for a progress callback or None.
    """

    jobs: Jobs = 1
    progress: Callable[[str], AbstractContextManager[ProgressCallback | None]] = no_progress


SERIAL = Runtime()
"""One process without progress."""


@contextmanager
def running(
    jobs: int | None,
    executor: Executor | str | None = None,
    progress: Callable[[str], AbstractContextManager[ProgressCallback | None]] = no_progress,
) -> Iterator[Runtime]:
    """Yield the requested runtime, and close a connection to a cluster at the end.

    Parameters
    ----------
    jobs : int or None
        Number of processes; one per core by default.
    executor : concurrent.futures.Executor or str, optional
        Executor to use instead, which stays open, or an address for :func:`connect`.
    progress : callable
        Progress display, as in :class:`Runtime`.

    Raises
    ------
    UsageError
        If both `jobs` and `executor` are given, or the executor is not valid.
    InputError
        If no cluster responds at the address.
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
            f"{option('executor')} needs an executor",
            found=type(executor).__name__,
            hint="pass a concurrent.futures executor, or the address of a Dask scheduler, such as "
            "dask:tcp://HOST:8786",
        )


def available_jobs(requested: int | None) -> int:
    """Return the number of processes: as requested, or one per core available to this process."""
    if requested is not None:
        return requested
    # Not every system reports the cores available to this process.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
