"""Run tasks in several processes; the results do not depend on the number of processes.

No random stream is shared between tasks. Results are returned in the order of the tasks. Shared data is sent
only once to each process.
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

from riskrank.engine.sampling.threads import set_single_threaded
from riskrank.errors import NumericalError, option

# A module-level function of the shared data and one task.
Task = Callable[[Any, Any], Any]

ResultCallback = Callable[[int], None]

# The import path is passed explicitly: by default Python puts the current directory first, and would run a
# file there that is named like a module of the standard library.
_COMMAND = (
    "import sys; handle, *sys.path[:] = sys.argv[1:]; "
    "from riskrank.engine.sampling.worker import serve; serve(int(handle))"
)
_IMPORT_ROOT = str(Path(__file__).parents[3])


class Workers:
    """Pool of worker processes that persists between calls of `run`, or a wrapper around a user's executor.

    Parameters
    ----------
    jobs : int
        Number of processes; with 1, everything runs in the calling process.
    executor : concurrent.futures.Executor, optional
        Executor to run the tasks instead; it is not shut down. If it has a method ``share``, shared data is
        passed to this method once; otherwise the data is sent with each task. If it has a method ``outcome``,
        this is called to wait for a future.
    """

    def __init__(self, jobs: int = 1, executor: Executor | None = None) -> None:
        """Remember the settings; processes are started when they are first needed."""
        self._jobs = jobs
        self._executor = executor
        self._processes: list[_Process] = []
        self._running = False

    def __enter__(self) -> Workers:
        """Return the pool itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop all processes."""
        self._stop_processes()

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        # Settings that contain workers are pickled with the data; they mean one process there.
        """Pickle the pool as the number 1."""
        return int, (1,)

    def run(
        self, function: Task, shared: Any, tasks: Sequence[Any], on_result: ResultCallback | None = None
    ) -> Iterator[Any]:
        """Yield ``function(shared, task)`` for each task, in order; see `run_tasks`.

        If given, `on_result` is called with the number of completed tasks.
        """
        results: Generator[Any, None, None]
        if self._executor is not None:
            results = _run_on_executor(self._executor, function, shared, tasks)
        elif min(self._jobs, len(tasks)) > 1:
            results = self._run_parallel(function, shared, tasks)
        else:
            results = (function(shared, task) for task in tasks)
        with closing(results):
            for number, result in enumerate(results):
                if on_result is not None:
                    on_result(number + 1)
                yield result

    def _run_parallel(self, function: Task, shared: Any, tasks: Sequence[Any]) -> Generator[Any, None, None]:
        """Run the tasks in all processes, and yield the results in order.

        The parameters are those of `run_tasks`. One thread per process sends tasks and waits for results.
        """
        if self._running:
            raise RuntimeError("the results of the previous run have not been read")
        self._running, finished, threads = True, False, None
        idle, local, exits = iter(self._processes), threading.local(), list[_Exited]()

        def run_task(task: Any) -> tuple[Exception | None, Any]:
            """Run a task in the process of the current thread; if it exits, kill all processes."""
            try:
                return local.process.run_task(task)
            except _Exited as exited:
                exits.append(exited)
                for process in self._processes:  # their results are no longer needed
                    process.kill()
                raise

        try:
            while len(self._processes) < min(self._jobs, len(tasks)):
                self._processes.append(_Process())
            call = pickle.dumps((function, shared), protocol=5)
            for process in self._processes:
                process.send(b"", call)
            threads = ThreadPoolExecutor(
                len(self._processes), initializer=lambda: setattr(local, "process", next(idle))
            )
            for error, result in threads.map(run_task, tasks):
                if error is not None:
                    error.add_note(result)  # traceback of the worker process
                    raise error
                yield result
            finished = True
        except _Exited as exited:
            problem = "a worker process died before it finished"
            detail = f"one of {len(self._processes)} processes ended {[*exits, exited][0]}"
            hint = f"the machine may be short of memory: try {option('jobs', 1)}"
            raise NumericalError(problem, found=detail, hint=hint) from None
        finally:
            self._running = False
            if not finished:  # an error, an interrupt, or the caller stopped reading
                self._stop_processes()
            if threads is not None:
                threads.shutdown(cancel_futures=True)

    def _stop_processes(self) -> None:
        """Terminate all processes and wait for them to exit."""
        processes, self._processes = self._processes, []
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


# Number of processes, or existing workers. Results do not depend on it.
Jobs = int | Workers


@contextmanager
def workers_for(jobs: Jobs) -> Iterator[Workers]:
    """Yield a pool of workers: `jobs` itself if it is a pool, otherwise a new pool of `jobs` processes.

    A new pool is stopped at the end of the ``with`` block.
    """
    if isinstance(jobs, Workers):
        yield jobs
        return
    with Workers(jobs) as workers:
        yield workers


def run_tasks(function: Task, shared: Any, tasks: Sequence[Any], *, jobs: Jobs = 1) -> Iterator[Any]:
    """Yield ``function(shared, task)`` for each task, in order.

    Parameters
    ----------
    function : callable
        Importable function that takes the shared data and one task.
    shared : object
        Data needed by all tasks; it is sent only once to each process.
    tasks : sequence
        Small picklable task descriptions.
    jobs : int or Workers
        Number of processes, or existing workers; with 1, everything runs in the calling process.

    Raises
    ------
    NumericalError
        If a process dies, for example for lack of memory.
    """
    with workers_for(jobs) as workers:
        yield from workers.run(function, shared, tasks)


class _Exited(Exception):
    """Raised if a worker process has exited; the message describes how."""


class _Process:
    """A worker process and the connection to it."""

    def __init__(self) -> None:
        """Start the process and connect to it."""
        from multiprocessing import Pipe

        paths = [path for path in sys.path if path]
        variables = dict(os.environ)
        set_single_threaded(variables)
        self._connection, child_end = Pipe()
        try:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-I" if sys.flags.isolated else "-P", "-c", _COMMAND),
                    *(str(child_end.fileno()), *paths, _IMPORT_ROOT),
                ],
                pass_fds=[child_end.fileno()],
                # Solvers, users' readers and dying processes may print.
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # In a separate process group it does not receive Ctrl-C; the parent handles that.
                process_group=0,
                env=variables,
            )
        except OSError as error:
            self._connection.close()
            problem = "a worker process cannot be started"
            hint = f"run in one process: {option('jobs', 1)}"
            raise NumericalError(problem, found=error.strerror or str(error), hint=hint) from None
        finally:
            child_end.close()

    def run_task(self, task: Any) -> tuple[Exception | None, Any]:
        """Send a task and return (error, result); the error is None on success."""
        self.send(pickle.dumps(task, protocol=5))
        try:
            return pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise self._exit_error() from None

    def kill(self) -> None:
        """Kill the process without waiting for it."""
        self._process.kill()

    def wait(self) -> None:
        """Wait for the process to exit and close the connection."""
        self._process.wait()
        self._connection.close()

    def send(self, *messages: bytes) -> None:
        """Send messages to the process; raise _Exited if it has exited."""
        try:
            for message in messages:
                self._connection.send_bytes(message)
        except OSError:
            raise self._exit_error() from None

    def _exit_error(self) -> _Exited:
        """Return an error that describes how the process ended."""
        try:
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return _Exited("without an exit status")
        return _Exited(f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}")


def _run_on_executor(
    executor: Executor, function: Task, shared: Any, tasks: Sequence[Any]
) -> Generator[Any, None, None]:
    """Run tasks on a user's executor, and yield the results in order.

    The other parameters are those of `run_tasks`.
    """
    share = getattr(executor, "share", None)
    data = shared if share is None else share(shared)
    outcome: Callable[[Any], Any] = getattr(executor, "outcome", Future.result)
    pending = deque(executor.submit(function, data, task) for task in tasks)
    try:
        while pending:
            yield outcome(pending[0])
            pending.popleft()
    except (BrokenExecutor, CancelledError, *getattr(executor, "failures", ())) as error:
        problem = "the executor lost its workers before they finished"
        hint = f"check its log, or leave out {option('executor')} to run locally"
        raise NumericalError(problem, found=str(error) or type(error).__name__, hint=hint) from None
    finally:
        for future in pending:
            future.cancel()
