"""Run numbered tasks on several processes, with results that do not depend on how many.

A task gets its own random stream or none at all, results come back in the order of the tasks, and the
data shared by all tasks travels once to each process.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from riskrank.engine.sampling.threads import single_threaded
from riskrank.errors import NumericalError, option

Task = Callable[[Any, Any], Any]
"""A module-level function of the data all tasks share and of one task."""

Arrived = Callable[[int], None]

# Where Python looks for modules is told, not guessed: by itself it would put the current directory first, and
# a file there named like a module of the standard library would run.
_SERVE = (
    "import sys; handle, *sys.path[:] = sys.argv[1:]; "
    "from riskrank.engine.sampling.worker import serve; serve(int(handle))"
)
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
        self, function: Task, shared: Any, tasks: Sequence[Any], arrived: Arrived | None = None
    ) -> Iterator[Any]:
        """Yield ``function(shared, task)`` for every task, in order; see `run_tasks`."""
        results: Generator[Any, None, None]
        if self._executor is not None:
            results = _submit(self._executor, function, shared, tasks)
        elif min(self._jobs, len(tasks)) > 1:
            results = self._spread(function, shared, tasks)
        else:
            results = (function(shared, task) for task in tasks)
        with closing(results):
            for number, result in enumerate(results):
                if arrived is not None:
                    arrived(number + 1)
                yield result

    def _spread(self, function: Task, shared: Any, tasks: Sequence[Any]) -> Generator[Any, None, None]:
        """Give every process a thread that sends it tasks and waits for the answers."""
        if self._running:
            raise RuntimeError("these workers are at a run whose results have not all been read")
        self._running, finished, threads = True, False, None
        idle, own, died = iter(self._processes), threading.local(), list[_Ended]()

        def answer(task: Any) -> tuple[Exception | None, Any]:
            try:
                return own.process.answer(task)
            except _Ended as ended:
                died.append(ended)
                for process in self._processes:  # whose results nobody waits for
                    process.kill()
                raise

        try:
            while len(self._processes) < min(self._jobs, len(tasks)):
                self._processes.append(_Process())
            call = pickle.dumps((function, shared), protocol=5)
            for process in self._processes:
                process.send(b"", call)
            threads = ThreadPoolExecutor(
                len(self._processes), initializer=lambda: setattr(own, "process", next(idle))
            )
            for error, result in threads.map(answer, tasks):
                if error is not None:
                    error.add_note(result)  # its trace there
                    raise error
                yield result
            finished = True
        except _Ended as ended:
            raise NumericalError(
                "a worker process died before it finished",
                found=f"one of {len(self._processes)} ended {[*died, ended][0]}",
                hint=f"the machine may be short of memory: try {option('jobs', 1)}",
            ) from None
        finally:
            self._running = False
            if not finished:  # an error, an interrupt, or nobody wants the rest
                self._stop()
            if threads is not None:
                threads.shutdown(cancel_futures=True)

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


class _Ended(Exception):
    """A process is gone; says how."""


class _Process:
    """One process."""

    def __init__(self) -> None:
        from multiprocessing import Pipe

        places = [place for place in sys.path if place]
        variables = dict(os.environ)
        single_threaded(variables)
        self._connection, theirs = Pipe()
        try:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-I" if sys.flags.isolated else "-P", "-c", _SERVE),
                    *(str(theirs.fileno()), *places, _HOME),
                ],
                pass_fds=[theirs.fileno()],
                # Solvers and users' readers print, and so does what is dying.
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # In a group of its own it does not hear Ctrl-C: only its parent answers that.
                process_group=0,
                env=variables,
            )
        except OSError as error:
            self._connection.close()
            raise NumericalError(
                "a worker process cannot be started",
                found=error.strerror or str(error),
                hint=f"run in one process: {option('jobs', 1)}",
            ) from None
        finally:
            theirs.close()

    def answer(self, task: Any) -> tuple[Exception | None, Any]:
        """Return the error or the result of a task."""
        self.send(pickle.dumps(task, protocol=5))
        try:
            return pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise self._ended() from None

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> None:
        self._process.wait()
        self._connection.close()

    def send(self, *messages: bytes) -> None:
        try:
            for message in messages:
                self._connection.send_bytes(message)
        except OSError:
            raise self._ended() from None

    def _ended(self) -> _Ended:
        try:
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return _Ended("without a word")
        return _Ended(f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}")


def _submit(
    executor: Executor, function: Task, shared: Any, tasks: Sequence[Any]
) -> Generator[Any, None, None]:
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
