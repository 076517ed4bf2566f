"""Weights of metrics or objectives: checked and scaled in one place."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.ties import TOLERANCE
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, listing


def normalised_weights(weights: ArrayLike | None, names: Sequence[str], *, kind: str = "metric") -> Floats:
    """Scale weights to sum to one; uniform if there are none.

    Parameters
    ----------
    weights : array_like, shape (m,), optional
        Non-negative, not all zero. Those that sum to one but for rounding are kept as they were given.
    names : sequence of m str
        What they are weights of, for messages.
    kind : str
        The word for one of these.

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    UsageError
        If all weights are zero.
    """
    m = len(names)
    if weights is None:
        return np.full(m, 1 / m)
    given = np.asarray(weights, dtype=np.float64)
    with np.errstate(over="ignore"):
        total = given.sum()
    if not np.isfinite(total):  # of weights near the largest number
        given = given / given.max()
        total = given.sum()
    if not total > 0:
        raise UsageError(
            "the weights are all zero",
            found=listing(f"{name}=0" for name in names),
            hint=f"give at least one {kind} a positive weight",
        )
    return given if abs(total - 1) <= TOLERANCE else given / total
