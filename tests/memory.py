"""Limit the memory of a block."""

import tracemalloc
from contextlib import contextmanager


@contextmanager
def memory_below(most):
    """Of a block that allocates fewer bytes at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()
