"""Products whose last bit hangs on nothing: those of BLAS hang on how many threads it has."""

import numpy as np

from riskrank.engine.types import Floats


def dot(first: Floats, second: Floats) -> float:
    """Σ_i first_i · second_i."""
    return float(np.einsum("i,i->", first, second))


def weighted_sums(weights: Floats, columns: Floats) -> Floats:
    """The sums of columns under each row of weights.

    Parameters
    ----------
    weights : ndarray, shape (B, n)
    columns : ndarray, shape (n,) or (n, m)

    Returns
    -------
    ndarray, shape (B,) or (B, m)
    """
    if columns.ndim == 1:
        return np.einsum("bi,i->b", weights, np.ascontiguousarray(columns))
    # Column by column: over both at once einsum has no fast loop.
    found = np.empty((len(weights), columns.shape[1]))
    for at, column in enumerate(columns.T):
        found[:, at] = weighted_sums(weights, column)
    return found
