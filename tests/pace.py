"""Limit the time of a block by jobs of this machine instead of seconds: machines differ, and are busy."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


def job() -> float:
    """Five times the processor time of a plain sum of a hundred thousand squares: 20 to 80 milliseconds."""
    start = time.process_time()
    sum(number * number for number in range(100_000))
    return 5 * (time.process_time() - start)


@contextmanager
def at_most(jobs: int) -> Iterator[None]:
    """Fail if the block takes more processor time than so many jobs, each as long as the slowest of six.

    Give about ten times what the block takes: that tells time of the bytes from time of their square. Five
    of the jobs are done only where the first was too quick for the block.
    """
    unit = job()
    start = time.process_time()
    yield
    spent = time.process_time() - start
    if spent >= jobs * unit:
        unit = max(unit, *(job() for _ in range(5)))
    assert spent < jobs * unit, f"{spent / unit:.0f} jobs"
