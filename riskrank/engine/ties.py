"""Numbers that differ by rounding only are equal."""

from __future__ import annotations

import numpy as np

# Norms this close, relatively, are equal: sums of the same ranks in another order differ by less.
TOLERANCE = 1e-12


def tie_codes(values: np.ndarray) -> np.ndarray:
    """Replace values by their places among the distinct ones, from 0; near-equal neighbours are one.

    Parameters
    ----------
    values : array of shape (N,)
        Finite.

    Returns
    -------
    array of int, shape (N,)
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    codes = np.zeros(values.size, dtype=np.int64)
    codes[order[1:]] = np.cumsum(np.diff(ordered) > TOLERANCE * np.abs(ordered[:-1]))
    return codes
