"""Where tasks run when not in processes of ours: on the workers of an existing Dask cluster."""

import logging
import re
import time
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, wait
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from riskrank.errors import InputError, UsageError, option
from riskrank.version import __version__

SCHEME = "dask:"

# Seconds to wait for a scheduler; that it does not answer is known within ten, imports included.
_PATIENCE = 5

# Seconds between two looks at the cluster, and after which one without workers is given up.
_LOOK = 2.0
_ABANDONED = 30.0

_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx)://)?(?:\[[^\s\[\]/@]+\]|[^\s\[\]/:@]+):([0-9]{1,5})")


def connect(place: str) -> Executor:
    """Connect to the executor a user names: ``dask:ADDRESS``, the address of a Dask scheduler.

    Parameters
    ----------
    place : str
        As ``dask:tcp://node7:8786`` or ``dask:node7:8786``.

    Returns
    -------
    concurrent.futures.Executor
        To be used as a context manager; leaving closes the connection, not the cluster.

    Raises
    ------
    UsageError
        If the place is of another form, or Dask is not installed.
    InputError
        If no scheduler answers there, or its workers have not the same riskrank.
    """
    address = _address(place)
    try:
        import distributed
    except ModuleNotFoundError:
        raise UsageError(
            f"{option('executor', place)} needs Dask",
            found="it is not installed",
            hint="pip install 'riskrank[dask]', here and on the cluster",
        ) from None
    _quieten()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other versions of Python and packages; we look at ours
            client = _within(_PATIENCE + 2, _meet, distributed, address)
    except Exception as error:  # whatever Dask makes of what another program says
        raise InputError(
            f"no Dask scheduler answers at {address}",
            found=_told(error),
            hint="start one with: dask scheduler; give its whole address, as tcp://host:8786; "
            f"or run here: leave out {option('executor')}",
        ) from None
    executor = DaskExecutor(client)
    try:
        executor.check()
    except BaseException:
        executor.shutdown()
        raise
    return executor


def _address(place: str) -> str:
    """The address in the place a user names: a host and a port, and how to talk to it."""
    address = place.removeprefix(SCHEME)
    whole = _ADDRESS.fullmatch(address)
    if not place.startswith(SCHEME) or whole is None or not 1 <= int(whole[1]) <= 65535:
        raise UsageError(
            f"{option('executor')} takes the address of a Dask scheduler",
            found=place or "nothing",
            hint=f"write host and port: {option('executor', 'dask:tcp://host:8786')}",
        )
    return address


def _meet(distributed: Any, address: str) -> Any:
    """Make a client, once it is known that a scheduler answers: one half made cannot be got rid of."""
    import asyncio

    kind = asyncio.run(asyncio.wait_for(_kind_of(distributed, address), _PATIENCE))
    if kind != "Scheduler":
        raise ValueError(f"a {kind} of Dask answers there, no scheduler")
    return distributed.Client(address, timeout=_PATIENCE, set_as_default=False)


async def _kind_of(distributed: Any, address: str) -> str:
    """Ask who answers at an address."""
    security = distributed.Security().get_connection_args("client")
    comm = await distributed.comm.connect(address, timeout=_PATIENCE, **security)
    try:
        await comm.write({"op": "identity", "reply": True})
        identity = await comm.read()
    finally:
        comm.abort()
    return str(identity["type"])


def _within(seconds: float, work: Callable[..., Any], *args: Any) -> Any:
    """Do some work, or give it up: in a thread that nobody waits for at the end of the process."""
    answers: SimpleQueue[tuple[Any, Exception | None]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put((work(*args), None))
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


def _told(error: Exception) -> str:
    if isinstance(error, OSError | ValueError | TypeError | ImportError):
        return str(error) or f"no answer within {_PATIENCE} seconds"
    return f"something that does not speak as a Dask scheduler does ({type(error).__name__})"


class ClusterLost(Exception):
    """Nobody is left to work on what was handed over."""


class DaskExecutor(Executor):
    """A Dask client as an executor that sends shared data once to each worker.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        from distributed.scheduler import KilledWorker

        self._client = client
        self._executor = client.get_executor(pure=False)
        self.failures = (KilledWorker, ClusterLost)

    def check(self) -> None:
        """Refuse a cluster without workers, or whose workers would compute something else.

        Raises
        ------
        InputError
        """
        try:
            found = set(self._client.run(_version).values())
        except Exception as error:  # whatever a worker without riskrank, or with another, makes of it
            found = {f"{type(error).__name__}: {error}"}
        if found != {__version__}:
            raise InputError(
                "the workers of the cluster have not the riskrank that is here",
                found=f"{', '.join(sorted(found)) or 'no workers'}; here {__version__}",
                hint=f"install riskrank {__version__} where the workers start"
                if found
                else "start some with: dask worker ADDRESS",
            )

    def share(self, data: Any) -> Any:
        """Hand over data for many tasks; what comes back stands for them.

        It is a task itself, so that the cluster can give the data to a worker again that lost them.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that the data are large
            return self._client.submit(_itself, data, pure=False)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function on one of the workers."""
        future: Future[Any] = self._executor.submit(function, *args, **kwargs)
        return future

    def outcome(self, future: Future[Any]) -> Any:
        """Wait for the result of a task, as long as somebody is there to work on it.

        Raises
        ------
        ClusterLost
            If the scheduler is gone, or has had no workers for half a minute.
        """
        there = time.monotonic()
        while not wait([future], timeout=_LOOK).done:
            if self._has_workers():
                there = time.monotonic()
            elif time.monotonic() - there > _ABANDONED:
                raise ClusterLost(f"the cluster has had no workers for {_ABANDONED:g} seconds")
        try:
            return future.result()
        except CancelledError:
            raise ClusterLost("the connection to the scheduler was lost") from None

    def _has_workers(self) -> bool:
        """Whether the scheduler has workers; where it does not say, it may."""
        try:
            identity = self._client.sync(self._client.scheduler.identity, callback_timeout=_LOOK)
        except Exception:  # busy, or gone, which the futures tell
            return True
        return bool(identity["workers"])

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Close the connection."""
        self._client.close(timeout=2)


def _quieten() -> None:
    """Keep Dask's log off standard error: what matters arrives as an exception."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _itself(data: Any) -> Any:
    return data


def _version() -> str:
    return __version__
