"""Arrays by what they hold, whose shapes are said where they are used; and names in their order."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Names = Sequence[str]
