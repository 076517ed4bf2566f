"""Labels in a column beside lines or points: so far apart that none hides another."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from riskrank.engine.types import Floats


def spread(wanted: ArrayLike, gap: float, low: float, high: float) -> Floats:
    """Move positions apart as little as possible, in the sense of least squares.

    Parameters
    ----------
    wanted : array_like, shape (n,)
        Where labels would stand, in any order; equal ones keep the order given.
    gap : float
        Least distance of neighbours. Made smaller where n labels have no room.
    low, high : float
        Bounds of all positions.

    Returns
    -------
    ndarray, shape (n,)
        In the same order, at least ``gap`` apart.
    """
    places = np.asarray(wanted, dtype=np.float64)
    if places.size == 0:
        return places
    if places.size > 1:
        gap = min(gap, (high - low) / (places.size - 1))
    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(places.size)
    moved = np.empty_like(places)
    first = in_order(places[order], np.diff(steps)) - steps
    moved[order] = np.clip(first, low, max(low, high - steps[-1])) + steps
    return moved


def in_order(wanted: ArrayLike, gaps: ArrayLike) -> Floats:
    """Move positions apart as little as possible, in the order given.

    Parameters
    ----------
    wanted : array_like, shape (n,)
        At least one.
    gaps : array_like, shape (n - 1,)
        Least distance of each position to the next.

    Returns
    -------
    ndarray, shape (n,)
    """
    steps = np.concatenate([[0.0], np.cumsum(np.asarray(gaps, dtype=np.float64))])
    # With the gaps taken out, what remains is to find the nearest non-decreasing sequence.
    return np.asarray(isotonic_regression(np.asarray(wanted, dtype=np.float64) - steps).x) + steps
