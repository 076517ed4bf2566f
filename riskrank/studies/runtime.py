"""Runtime of a study: parallel execution and progress display, which never affect the result."""

import logging
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Protocol

from riskrank.engine.sampling.processes import Jobs, Workers
from riskrank.errors import InputError, UsageError, option
from riskrank.options.values import contradict
from riskrank.version import __version__


class ProgressCallback(Protocol):
    """Function that is called to report progress, with a note on the intermediate result."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Report that `done` of `total` units of work are finished."""


@contextmanager
def no_progress(label: str) -> Iterator[ProgressCallback | None]:
    """Yield None instead of a function that reports progress; `label` has no effect."""
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


# One process without progress.
SERIAL = Runtime()


class _Resampled(Exception):
    """Exception that stops a study when its first resamples are complete."""


def _end_trial(done: int, total: int, note: str = "") -> None:
    """Raise an exception that stops a trial run as soon as it reports progress; the arguments are ignored."""
    raise _Resampled


def try_study(study: Callable[..., Any], settings: Any, table: Any, changes: Mapping[str, Any]) -> None:
    """Run a study with changed settings until its first resamples, to see whether it raises an error.

    Parameters
    ----------
    study : callable
        Function of a table, settings and a runtime.
    settings : Settings
        Options of the command.
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    changes : mapping of str to object
        Settings to change.
    """
    with suppress(_Resampled):
        study(table, replace(settings, **changes), Runtime(progress=lambda _: nullcontext(_end_trial)))


@contextmanager
def open_runtime(
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
        yield Runtime(jobs=process_count(jobs), progress=progress)
        return
    if jobs is not None:
        contradict(option("jobs", jobs), option("executor"))
    if isinstance(executor, str):
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


def process_count(requested: int | None) -> int:
    """Return the number of processes: as requested, or one per core available to this process."""
    if requested is not None:
        return requested
    # Not every system reports the cores available to this process.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


SCHEME = "dask:"

# Seconds to wait for a scheduler, so that a failure is reported within ten, including imports.
_PATIENCE = 5

# Seconds between two checks of the cluster, and until a cluster without workers is abandoned.
_LOOK = 2.0
_ABANDONED = 30.0

_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx)://)?(?:\[[^\s\[\]/@]+\]|[^\s\[\]/:@]+):([0-9]{1,5})")


def connect(address_text: str) -> Executor:
    """Connect to a Dask scheduler.

    Parameters
    ----------
    address_text : str
        Address such as ``dask:tcp://node7:8786`` or ``dask:node7:8786``.

    Returns
    -------
    concurrent.futures.Executor
        A context manager. Leaving it closes the connection but not the cluster.

    Raises
    ------
    UsageError
        If the address is not valid, or Dask is not installed.
    InputError
        If no scheduler responds, or its workers run another version of riskrank.
    """
    address = _parse_address(address_text)
    try:
        import distributed
    except ModuleNotFoundError:
        problem = f"{option('executor', address_text)} needs Dask"
        hint = "pip install 'riskrank[dask]', here and on the cluster"
        raise UsageError(problem, found="Dask is not installed", hint=hint) from None
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":  # real problems are raised as exceptions
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dask warns about package versions
            client = _run_with_timeout(_PATIENCE + 2, _connect_client, distributed, address)
    except Exception as error:  # if another program answers, any error may occur
        cause = f"the server does not respond like a Dask scheduler ({type(error).__name__})"
        if isinstance(error, OSError | ValueError | TypeError | ImportError):
            cause = str(error) or f"no answer within {_PATIENCE} seconds"
        hint = (
            "start one with: dask scheduler; write its full address, such as tcp://host:8786; or run "
            f"locally without {option('executor')}"
        )
        raise InputError(f"no Dask scheduler answers at {address}", found=cause, hint=hint) from None
    executor = DaskExecutor(client)
    try:
        executor.check()
    except BaseException:
        executor.shutdown()
        raise
    return executor


def _parse_address(text: str) -> str:
    """Return the address of a Dask scheduler without the ``dask:`` prefix.

    Raises
    ------
    UsageError
        If the address is invalid.
    """
    address = text.removeprefix(SCHEME)
    match = _ADDRESS.fullmatch(address)
    if not text.startswith(SCHEME) or match is None or not 1 <= int(match[1]) <= 65535:
        problem = f"{option('executor')} needs the address of a Dask scheduler"
        hint = f"write host and port: {option('executor', 'dask:tcp://host:8786')}"
        raise UsageError(problem, found=text or "nothing", hint=hint)
    return address


def _connect_client(distributed: Any, address: str) -> Any:
    """Return a Dask client, after checking that a scheduler responds at the address.

    The check is needed because a client whose connection failed cannot be closed. `distributed` is the
    imported module.
    """
    import asyncio

    kind = asyncio.run(asyncio.wait_for(_server_type(distributed, address), _PATIENCE))
    if kind != "Scheduler":
        raise ValueError(f"the address belongs to a Dask {kind}, not to a scheduler")
    return distributed.Client(address, timeout=_PATIENCE, set_as_default=False)


async def _server_type(distributed: Any, address: str) -> str:
    """Return the type of the Dask server at an address, such as "Scheduler"."""
    security = distributed.Security().get_connection_args("client")
    comm = await distributed.comm.connect(address, timeout=_PATIENCE, **security)
    try:
        await comm.write({"op": "identity", "reply": True})
        identity = await comm.read()
    finally:
        comm.abort()
    return str(identity["type"])


def _run_with_timeout(seconds: float, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function and return its result.

    The function runs in a daemon thread, so it cannot keep the process alive.

    Raises
    ------
    TimeoutError
        If the function takes longer than `seconds`.
    """
    answers: SimpleQueue[tuple[Any, Exception | None]] = SimpleQueue()

    def run() -> None:
        """Store the result or the exception of the function."""
        try:
            answers.put((function(*args), None))
        except Exception as error:
            answers.put((None, error))

    Thread(target=run, daemon=True).start()
    try:
        result, error = answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return result


class ClusterLost(Exception):
    """Error raised if a cluster has no workers left."""


class DaskExecutor(Executor):
    """Executor that runs functions through a Dask client and sends shared data only once per worker.

    Parameters
    ----------
    client : distributed.Client
        Client of a Dask cluster.
    """

    def __init__(self, client: Any) -> None:
        """Wrap a connected Dask client."""
        from distributed.scheduler import KilledWorker

        self._client = client
        self._executor = client.get_executor(pure=False)
        self.failures = (KilledWorker, ClusterLost)

    def check(self) -> None:
        """Check that the cluster has workers and that they run the same version of riskrank.

        Raises
        ------
        InputError
            If there are no workers, or the versions differ.
        """
        try:
            versions = set(self._client.run(_worker_version).values())
        except Exception as error:  # without riskrank, a worker may raise any error
            versions = {f"{type(error).__name__}: {error}"}
        if versions != {__version__}:
            raise InputError(
                f"the cluster needs workers with riskrank {__version__}",
                found=f"{', '.join(sorted(versions))} on the workers" if versions else "no workers",
                hint=f"install riskrank {__version__} for the workers"
                if versions
                else "start workers with: dask worker ADDRESS",
            )

    def share(self, data: Any) -> Any:
        """Send data that many tasks use to the cluster, and return a future for them.

        The transfer is itself a task, so that the cluster can repeat it for a worker that lost the data.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about large data
            return self._client.submit(_identity, data, pure=False)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function on one of the workers, and return a future for its result."""
        future: Future[Any] = self._executor.submit(function, *args, **kwargs)
        return future

    def outcome(self, future: Future[Any]) -> Any:
        """Return the result of a task, waiting as long as the cluster has workers.

        Raises
        ------
        ClusterLost
            If the scheduler cannot be reached, or the cluster has had no workers for half a minute.
        """
        last_seen = time.monotonic()
        while not wait([future], timeout=_LOOK).done:
            if self._has_workers():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > _ABANDONED:
                raise ClusterLost(f"the cluster has had no workers for {_ABANDONED:g} seconds")
        try:
            return future.result()
        except CancelledError:
            raise ClusterLost("the connection to the scheduler was lost") from None

    def _has_workers(self) -> bool:
        """Return False if the scheduler responds that it has no workers, otherwise True."""
        try:
            identity = self._client.sync(self._client.scheduler.identity, callback_timeout=_LOOK)
        except Exception:  # busy, or lost, which the futures report
            return True
        return bool(identity["workers"])

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Close the connection to the scheduler. The arguments have no effect."""
        self._client.close(timeout=2)


def _identity(data: Any) -> Any:
    """Return the argument unchanged.

    The executor uses this function to transfer data to a worker.
    """
    return data


def _worker_version() -> str:
    """Return the riskrank version of the process in which it runs."""
    return __version__
