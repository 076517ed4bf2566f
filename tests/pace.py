"""Limit the CPU time of a block relative to the speed of this machine instead of in seconds."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


def job() -> float:
    """Return five times the CPU time to sum a hundred thousand squares, about 20 to 80 milliseconds."""
    start = time.process_time()
    sum(number * number for number in range(100_000))
    return 5 * (time.process_time() - start)


@contextmanager
def at_most(jobs: int) -> Iterator[None]:
    """Fail if the block takes more CPU time than this number of jobs, each as long as the slowest of six.

    Choose about ten times the usual time of the block: this separates linear from quadratic run time. Five of
    the jobs run only if the block exceeds the limit based on the first.
    """
    unit = job()
    start = time.process_time()
    yield
    spent = time.process_time() - start
    if spent >= jobs * unit:
        unit = max(unit, *(job() for _ in range(5)))
    assert spent < jobs * unit, f"{spent / unit:.0f} jobs"
