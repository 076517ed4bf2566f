"""Weights of metrics, and weighted sums whose rounding does not depend on the number of threads."""

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
        hint = f"give at least one {kind} a positive weight"
        raise UsageError("the weights are all zero", found=listing(f"{name}=0" for name in names), hint=hint)
    return scaled if abs(total - 1) <= TOLERANCE else scaled / total


def dot(first: Floats, second: Floats) -> float:
    """Return the dot product of two vectors."""
    return float(np.einsum("i,i->", first, second))


def weighted_sums(weights: Floats, columns: Floats) -> Floats:
    """Return the weighted sum of each column, for each row of weights.

    Parameters
    ----------
    weights : ndarray, shape (B, n)
        Sets of weights, one per row.
    columns : ndarray, shape (n,) or (n, m)
        Columns to be summed.

    Returns
    -------
    ndarray, shape (B,) or (B, m)
    """
    if columns.ndim == 1:
        return np.einsum("bi,i->b", weights, np.ascontiguousarray(columns))
    # einsum has no fast loop over both dimensions at once.
    sums = np.empty((len(weights), columns.shape[1]))
    for i, column in enumerate(columns.T):
        sums[:, i] = weighted_sums(weights, column)
    return sums
