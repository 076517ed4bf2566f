"""Arrays that are written over and over: to make fresh ones takes longer than to fill them."""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Numbers of eight bytes in a cache line.
_LINE = 8


class Scratch:
    """Named arrays of any shape, each of which lasts until its name is asked for again.

    Calls share them: one object serves one thread.
    """

    def __init__(self) -> None:
        self._flat: dict[str, NDArray[Any]] = {}
        self._numbers = np.arange(0)

    def floats(self, name: str, *shape: int) -> NDArray[np.float64]:
        """An array of numbers, filled with anything."""
        return self._of(name, shape, np.float64)

    def integers(self, name: str, *shape: int) -> NDArray[np.int64]:
        """An array of whole numbers, filled with anything."""
        return self._of(name, shape, np.int64)

    def numbers(self, count: int) -> NDArray[np.int64]:
        """The numbers from 0 on, to be read."""
        if self._numbers.size < count:
            self._numbers = np.arange(2 * count)
        return self._numbers[:count]

    def _of(self, name: str, shape: tuple[int, ...], kind: type) -> NDArray[Any]:
        size, flat = prod(shape), self._flat.get(name)
        if flat is None or flat.size < size:
            flat = self._flat[name] = _aligned(size, kind)
        return flat[:size].reshape(shape)


def _aligned(size: int, kind: type) -> NDArray[Any]:
    """An array that starts where a cache line does: to subtract into any other takes twice as long."""
    flat: NDArray[Any] = np.empty(size + _LINE, dtype=kind)
    start = -flat.ctypes.data % (_LINE * flat.itemsize) // flat.itemsize
    return flat[start : start + size]
