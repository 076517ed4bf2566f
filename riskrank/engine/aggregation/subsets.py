"""Walking the subsets of a small set in order of size, for dynamic programs over them."""

from collections.abc import Iterator

import numpy as np

MOST_ITEMS = 18
"""Dynamic programs over subsets stop here: 2^18 states, some tenths of a second and tens of MB."""


def layers(size: int) -> Iterator[np.ndarray]:
    """Yield the subsets of `size` items as bit masks: first those of one item, then of two, up to all."""
    bits = np.bitwise_count(np.arange(1 << size, dtype=np.uint32))
    by_size = np.argsort(bits, kind="stable").astype(np.int64)
    ends = np.cumsum(np.bincount(bits, minlength=size + 1))
    for held in range(1, size + 1):
        yield by_size[ends[held - 1] : ends[held]]
