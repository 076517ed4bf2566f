"""Type aliases for arrays by data type, sequences of names, and progress callbacks."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Names = Sequence[str]
# Called with the finished and the total amount of work.
Progress = Callable[[int, int], None]
