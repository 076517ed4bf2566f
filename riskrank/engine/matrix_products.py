"""Matrix products whose rounding does not depend on the number of threads, unlike with BLAS."""

import numpy as np

from riskrank.engine.types import Floats


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
