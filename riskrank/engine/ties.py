"""Numbers that differ by rounding only are equal: every ranking asks here."""

import numpy as np

from riskrank.engine.types import Floats, Integers

# Numbers this close, relatively, are equal: sums of the same numbers in another order differ by less.
TOLERANCE = 1e-12


def tie_codes(values: Floats) -> Integers:
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


def without_rounding(values: Floats) -> Floats:
    """Give near-equal values the smallest one of them.

    Parameters
    ----------
    values : array of shape (N,)
        Finite.

    Returns
    -------
    array, shape (N,)
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.append(True, np.diff(ordered) > TOLERANCE * np.abs(ordered[:-1]))
    equal = np.empty_like(values)
    equal[order] = ordered[first][np.cumsum(first) - 1]
    return equal


def competition_ranks(values: Floats | Integers, *, size: float = 1.0) -> Integers:
    """Ranks of values, smallest first; equal ones share the smaller rank (1, 2, 2, 4).

    Parameters
    ----------
    values : ndarray, shape (k,)
    size : float
        Size of the numbers the values are made of: neighbours closer than rounding of such numbers are equal.

    Returns
    -------
    ndarray of int, shape (k,)
    """
    order = np.argsort(values, kind="stable")
    with np.errstate(over="ignore"):  # an infinite difference is a difference
        apart = np.diff(values[order]) > TOLERANCE * size
    starts = np.append(True, apart)
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.maximum.accumulate(np.where(starts, np.arange(1, len(values) + 1), 0))
    return rank
