"""Run numbered tasks on several processes, with results that do not depend on how many.

A task gets its own random stream or none at all, results come back in the order of the tasks, and the
data shared by all tasks travels once to each process.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
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
    with Workers(min(jobs, len(tasks))) as workers:
        yield from workers.run(function, shared, tasks)


class Workers:
    """Processes that stay from one `run` to the next while the shared data is the same object.

    Parameters
    ----------
    jobs : int
        Number of processes; with 1 everything runs in this one.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._shared: Any = None
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def run(self, function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any]) -> Iterator[Any]:
        """Yield ``function(shared, task)`` for every task, in order; see `run_tasks`."""
        if self._jobs <= 1:
            for task in tasks:
                yield function(shared, task)
            return
        if self._executor is None or shared is not self._shared:
            self._stop()
            # Fresh processes: forking one that already runs Polars' threads may deadlock.
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self._jobs, context, initializer=_start, initargs=(shared,))
            self._shared = shared
        try:
            with _interrupts_put_off():
                pending = [self._executor.submit(_call, function, task) for task in tasks]
            for future in pending:
                yield future.result()
        except BrokenProcessPool:
            raise NumericalError(
                "a worker process died before it finished",
                found=f"{self._jobs} processes at work",
                hint="the machine may be short of memory: try --jobs 1",
            ) from None

    def _stop(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None


@contextmanager
def _interrupts_put_off() -> Iterator[None]:
    """Let a Ctrl-C wait until the processes are started and know their tasks.

    Within ``submit`` it could leave a lock of the executor taken, and the shutdown would wait for ever.
    A process started meanwhile inherits the blocked signal, so that it never answers it either: until
    `_start` runs there, it would die with a traceback of its imports.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is ever interrupted
        return
    asked: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    try:
        # Windows has no masks; its processes may show the traceback.
        mask = getattr(signal, "pthread_sigmask", None)
        before = mask(signal.SIG_BLOCK, {signal.SIGINT}) if mask else None
        try:
            yield
        finally:
            if mask:
                mask(signal.SIG_SETMASK, before)
    finally:
        signal.signal(signal.SIGINT, handler)
    if asked:
        signal.raise_signal(signal.SIGINT)


def _start(shared: Any) -> None:
    global _shared
    # Ctrl-C reaches the whole process group; only the parent answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _shared = shared


def _call(function: Callable[[Any, Any], Any], task: Any) -> Any:
    return function(_shared, task)
