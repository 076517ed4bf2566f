"""Where tasks run when not in processes of ours: on the workers of an existing Dask cluster."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from riskrank import __version__
from riskrank.errors import InputError, UsageError, option

SCHEME = "dask:"

# Seconds to wait for a scheduler; that it does not answer is known within ten, imports included.
_PATIENCE = 5


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
    address = place.removeprefix(SCHEME)
    if not place.startswith(SCHEME) or not address:
        raise UsageError(
            f"{option('executor')} takes the address of a Dask scheduler",
            found=place or "nothing",
            hint=f"write {option('executor', 'dask:tcp://HOST:8786')}",
        )
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
            client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {address}",
            found=str(error) or f"no answer within {_PATIENCE} seconds",
            hint=f"start one with: dask scheduler; or run here: leave out {option('executor')}",
        ) from None
    executor = DaskExecutor(client)
    try:
        executor.check()
    except BaseException:
        executor.shutdown()
        raise
    return executor


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
        self.failures = (KilledWorker,)

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
