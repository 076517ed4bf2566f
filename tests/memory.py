"""Limit the memory of a block."""

import tracemalloc
from contextlib import contextmanager


@contextmanager
def memory_below(most):
    """Fail if the block allocates more than `most` bytes at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()
