"""Run numbered tasks on several processes, with results that do not depend on how many.

A task gets its own random stream or none at all, results come back in the order of the tasks, and the
data shared by all tasks travels once to each process.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from riskrank.engine.sampling.threads import single_threaded
from riskrank.engine.sampling.worker import CALL, SHARE, Parts, pack, receive, send, unpack
from riskrank.errors import NumericalError, option

Task = Callable[[Any, Any], Any]
"""A module-level function of the data all tasks share and of one task."""

Arrived = Callable[[int], None]

# Where Python looks for modules is told, not guessed: by itself it would put the current directory first, and
# a file there named like a module of the standard library would run.
_SERVE = "import sys; sys.path[:] = sys.argv[1:]; from riskrank.engine.sampling.worker import serve; serve()"
_HOME = str(Path(__file__).parents[3])


class Workers:
    """Processes that stay from one `run` to the next, or an executor of the caller's.

    Parameters
    ----------
    jobs : int
        Number of processes; with 1 everything runs in this one.
    executor : concurrent.futures.Executor, optional
        Where to run tasks instead. It stays open. Has it a method ``share``, data go through it once for
        all tasks; otherwise they go with each. Has it a method ``outcome``, that one waits for a future.
    """

    def __init__(self, jobs: int = 1, executor: Executor | None = None) -> None:
        self._jobs = jobs
        self._executor = executor
        self._processes: list[_Process] = []
        self._running = False

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        # Settings that name workers travel with the data; at the other end there is one process.
        return int, (1,)

    def run(
        self,
        function: Task,
        shared: Any,
        tasks: Sequence[Any],
        arrived: Arrived | None = None,
        *,
        here: bool = False,
    ) -> Iterator[Any]:
        """Yield ``function(shared, task)`` for every task, in order; see `run_tasks`.

        With `here` this process is one of them, for tasks so short that it hardly keeps the others waiting.
        """
        if self._executor is None and min(self._jobs, len(tasks)) > 1:
            yield from self._spread(function, shared, tasks, arrived, here)
            return
        results: Iterator[Any] = (function(shared, task) for task in tasks)
        if self._executor is not None:
            results = _submit(self._executor, function, shared, tasks)
        for number, result in enumerate(results):
            if arrived is not None:
                arrived(number + 1)
            yield result

    def _spread(
        self, function: Task, shared: Any, tasks: Sequence[Any], arrived: Arrived | None, here: bool
    ) -> Iterator[Any]:
        done: dict[int, tuple[Exception | None, Any]] = {}
        waiting = enumerate(tasks)
        if self._running:
            raise RuntimeError("these workers are at a run whose results have not all been read")
        self._running, finished = True, False
        try:
            while len(self._processes) < min(self._jobs, len(tasks)) - here:
                self._processes.append(_Process())
            data = pack(shared)
            with selectors.DefaultSelector() as answers:
                for process in self._processes:
                    process.share(data)
                    answers.register(process.answers, selectors.EVENT_READ, process)
                del data
                # While this process is at a task of its own, the others have a second one to go on with.
                for process, (number, task) in zip(self._processes * (1 + here), waiting, strict=False):
                    process.ask(function, number, task)
                for number in range(len(tasks)):
                    while number not in done:
                        own = next(waiting, None) if here else None
                        if own is not None:
                            done[own[0]] = _outcome(function, shared, own[1])
                        for key, _ in answers.select(None if own is None else 0):
                            process = key.data
                            done.update([process.answer()])
                            if (following := next(waiting, None)) is not None:
                                process.ask(function, *following)
                        if arrived is not None:
                            arrived(number + len(done))
                    error, result = done.pop(number)
                    if error is not None:
                        error.add_note(result)  # its trace there
                        raise error
                    yield result
            finished = True
        except _Ended as ended:
            raise NumericalError(
                "a worker process died before it finished",
                found=f"one of {len(self._processes)} ended {ended}",
                hint=f"the machine may be short of memory: try {option('jobs', 1)}",
            ) from None
        finally:
            self._running = False
            if not finished:  # an error, an interrupt, or nobody wants the rest
                self._stop()

    def _stop(self) -> None:
        processes, self._processes = self._processes, []
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


Jobs = int | Workers
"""How many processes to use, or the workers there are. Results do not depend on it."""


@contextmanager
def workers_for(jobs: Jobs) -> Iterator[Workers]:
    """Give the workers there are, or processes that end with the block."""
    if isinstance(jobs, Workers):
        yield jobs
        return
    with Workers(jobs) as workers:
        yield workers


def run_tasks(function: Task, shared: Any, tasks: Sequence[Any], *, jobs: Jobs = 1) -> Iterator[Any]:
    """Yield ``function(shared, task)`` for every task, in order.

    Parameters
    ----------
    function : callable
        A function of the shared data and one task that can be imported by its name.
    shared : object
        Data every task needs; sent once to each process.
    tasks : sequence
        One small description a task.
    jobs : int or Workers
        Number of processes, or those there are; with 1 everything runs in this one.

    Raises
    ------
    NumericalError
        If a process dies, as it does when the machine runs out of memory.
    """
    with workers_for(jobs) as workers:
        yield from workers.run(function, shared, tasks)


def _outcome(function: Task, shared: Any, task: Any) -> tuple[Exception | None, Any]:
    """What a task of this process gives: a result, or an error to be raised in its turn."""
    try:
        return None, function(shared, task)
    except Exception as error:
        return error, "in this process"


class _Ended(Exception):
    """A process is gone; says how."""


class _Process:
    """One process, and the numbers of the tasks it is at, the first one first."""

    def __init__(self) -> None:
        self._asked: deque[int] = deque()
        places = [place for place in sys.path if place]
        variables = dict(os.environ)
        single_threaded(variables)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I" if sys.flags.isolated else "-P", "-c", _SERVE, *places, _HOME],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # What a dying process prints would stand between the lines of ours.
                stderr=subprocess.DEVNULL,
                # In a group of its own it does not hear Ctrl-C: only its parent answers that.
                process_group=0,
                env=variables,
            )
        except OSError as error:
            raise NumericalError(
                "a worker process cannot be started",
                found=error.strerror or str(error),
                hint=f"run in one process: {option('jobs', 1)}",
            ) from None
        self.answers: Any = self._process.stdout
        self._requests: Any = self._process.stdin

    def share(self, data: Parts) -> None:
        self._send([SHARE, *data])

    def ask(self, function: Task, number: int, task: Any) -> None:
        self._asked.append(number)
        self._send([CALL, *pack((function, task))])

    def answer(self) -> tuple[int, tuple[Exception | None, Any]]:
        """The number of the task that is done, and its error or result."""
        try:
            parts = receive(self.answers)
        except (EOFError, OSError):
            raise self._ended() from None
        return self._asked.popleft(), unpack(parts)

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> None:
        with self._process:
            pass  # leaving closes the pipes and waits

    def _send(self, parts: Parts) -> None:
        try:
            send(self._requests, parts)
        except OSError:
            raise self._ended() from None

    def _ended(self) -> _Ended:
        try:
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return _Ended("without a word")
        return _Ended(f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}")


def _submit(executor: Executor, function: Task, shared: Any, tasks: Sequence[Any]) -> Iterator[Any]:
    share = getattr(executor, "share", None)
    data = shared if share is None else share(shared)
    outcome: Callable[[Any], Any] = getattr(executor, "outcome", Future.result)
    pending = deque(executor.submit(function, data, task) for task in tasks)
    try:
        while pending:
            yield outcome(pending[0])
            pending.popleft()
    except (BrokenExecutor, CancelledError, *getattr(executor, "failures", ())) as error:
        raise NumericalError(
            "the executor lost its workers before they finished",
            found=str(error) or type(error).__name__,
            hint=f"look at its log, or run here: leave out {option('executor')}",
        ) from None
    finally:
        for future in pending:
            future.cancel()
