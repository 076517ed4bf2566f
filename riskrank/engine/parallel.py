"""Run numbered tasks on several processes, with results that do not depend on how many.

A task gets its own random stream or none at all, results come back in the order of the tasks, and the
data shared by all tasks travels once to each process.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from riskrank.errors import NumericalError

_shared: Any = None


def run_tasks(
    function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], *, jobs: int = 1
) -> Iterator[Any]:
    """Yield ``function(shared, task)`` for every task, in order.

    Parameters
    ----------
    function : callable
        A module-level function of the shared data and one task.
    shared : object
        Data every task needs; sent once to each process.
    tasks : sequence
        One small description a task.
    jobs : int
        Number of processes; with 1 everything runs in this one.

    Raises
    ------
    NumericalError
        If a process dies, as it does when the machine runs out of memory.
    """
    jobs = min(jobs, len(tasks))
    if jobs <= 1:
        for task in tasks:
            yield function(shared, task)
        return
    # Fresh processes: forking one that already runs Polars' threads may deadlock.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(jobs, context, initializer=_start, initargs=(shared,))
    try:
        pending = [executor.submit(_call, function, task) for task in tasks]
        for future in pending:
            yield future.result()
    except BrokenProcessPool:
        raise NumericalError(
            "a worker process died before it finished",
            found=f"{jobs} processes at work",
            hint="the machine may be short of memory: try --jobs 1",
        ) from None
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _start(shared: Any) -> None:
    global _shared
    # Ctrl-C reaches the whole process group; only the parent answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _shared = shared


def _call(function: Callable[[Any, Any], Any], task: Any) -> Any:
    return function(_shared, task)
