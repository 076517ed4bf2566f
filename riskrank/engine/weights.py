"""Normalisation of weights of metrics or objectives."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.ties import TOLERANCE
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, listing


def normalised_weights(weights: ArrayLike | None, names: Sequence[str], *, kind: str = "metric") -> Floats:
    """Scale weights to sum to 1; without weights, return equal ones.

    Parameters
    ----------
    weights : array_like, shape (m,), optional
        Non-negative, not all zero. Weights that sum to 1 up to rounding are returned unchanged.
    names : sequence of m str
        Names of the weighted items, for error messages.
    kind : str
        Singular noun for an item, for error messages.

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
    scaled = np.asarray(weights, dtype=np.float64)
    with np.errstate(over="ignore"):
        total = scaled.sum()
    if not np.isfinite(total):  # the sum of large weights overflows
        scaled = scaled / scaled.max()
        total = scaled.sum()
    if not total > 0:
        raise UsageError(
            "the weights are all zero",
            found=listing(f"{name}=0" for name in names),
            hint=f"give at least one {kind} a positive weight",
        )
    return scaled if abs(total - 1) <= TOLERANCE else scaled / total
