"""Linear algebra on one thread: work is divided among processes."""

from collections.abc import MutableMapping

_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def single_threaded(variables: MutableMapping[str, str]) -> None:
    """Ask for one thread in the environment of a process that has yet to import NumPy.

    More threads would compete with the processes. They also sum in another order from some 10,000 numbers
    on, so that the last bits of a result depended on the machine. Who asked for a number gets it.
    """
    for name in _VARIABLES:
        variables.setdefault(name, "1")
