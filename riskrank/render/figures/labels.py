"""Placement of labels next to lines or points, without overlap."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from riskrank.engine.types import Floats


def spread_labels(positions: ArrayLike, gap: float, low: float, high: float) -> Floats:
    """Spread n positions to a minimum distance, with the smallest sum of squared shifts.

    Parameters
    ----------
    positions : array_like, shape (n,)
        Desired positions in any order; equal ones keep their order.
    gap : float
        Minimum distance between neighbors, reduced if n labels do not fit.
    low, high : float
        Bounds of all positions.

    Returns
    -------
    ndarray, shape (n,)
        Positions in the given order.
    """
    desired = np.asarray(positions, dtype=np.float64)
    if desired.size == 0:
        return desired
    if desired.size > 1:
        gap = min(gap, (high - low) / (desired.size - 1))
    order = np.argsort(desired, kind="stable")
    steps = gap * np.arange(desired.size)
    moved = np.empty_like(desired)
    first = spread_in_order(desired[order], np.diff(steps)) - steps
    moved[order] = np.clip(first, low, max(low, high - steps[-1])) + steps
    return moved


def spread_in_order(positions: ArrayLike, gaps: ArrayLike) -> Floats:
    """Spread n ordered positions to given minimum distances, with the smallest sum of squared shifts.

    Parameters
    ----------
    positions : array_like, shape (n,)
        Desired positions, at least one.
    gaps : array_like, shape (n - 1,)
        Minimum distance from each position to the next.

    Returns
    -------
    ndarray, shape (n,)
    """
    steps = np.concatenate([[0.0], np.cumsum(np.asarray(gaps, dtype=np.float64))])
    # Without the gaps, the problem is isotonic regression.
    return np.asarray(isotonic_regression(np.asarray(positions, dtype=np.float64) - steps).x) + steps
