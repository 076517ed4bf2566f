"""Arrays that are written over and over: to make fresh ones takes longer than to fill them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
            flat = self._flat[name] = np.empty(size, dtype=kind)
        return flat[:size].reshape(shape)
