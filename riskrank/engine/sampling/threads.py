"""Restrict linear algebra to a single thread per process."""

from collections.abc import MutableMapping

_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def set_single_threaded(variables: MutableMapping[str, str]) -> None:
    """Limit numerical libraries to one thread, through the environment of a process.

    The process must not have imported NumPy. More threads would compete with the worker processes. They also
    change the order of summation for arrays of more than about 10,000 numbers, so the last bits would depend
    on the machine. Variables set by the user are kept.
    """
    for name in _VARIABLES:
        variables.setdefault(name, "1")
