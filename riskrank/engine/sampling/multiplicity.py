"""Corrections for many tests in one family (method §4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats
from riskrank.errors import UsageError

METHODS = ("bonferroni", "holm", "bh", "none")


def adjust(p_values: ArrayLike, method: str) -> Floats:
    """Adjusted p-values: reject where they are at most the level.

    Parameters
    ----------
    p_values : array_like, shape (..., m)
        The p-values of one family of tests, or of many on the last axis.
    method : {"bonferroni", "holm", "bh", "none"}
        Bonferroni and Holm bound the family-wise error rate, Benjamini-Hochberg the false discovery
        rate.

    Returns
    -------
    ndarray, shape (..., m)
        Adjusted p-values, at most 1, in the order given.

    Raises
    ------
    UsageError
        If the method is unknown.
    """
    p = np.asarray(p_values, dtype=np.float64)
    m = p.shape[-1]
    if method == "none" or m == 0:
        return p.copy()
    if method == "bonferroni":
        return np.minimum(p * m, 1.0)
    if method not in METHODS:
        raise UsageError(
            "unknown correction for multiple tests", found=method, hint=f"use one of {', '.join(METHODS)}"
        )
    order = np.argsort(p, axis=-1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=-1)
    if method == "holm":
        stepped = np.maximum.accumulate(ordered * np.arange(m, 0, -1), axis=-1)
    else:
        stepped = np.minimum.accumulate((ordered * m / np.arange(1, m + 1))[..., ::-1], axis=-1)[..., ::-1]
    adjusted = np.empty(p.shape)
    np.put_along_axis(adjusted, order, np.minimum(stepped, 1.0), axis=-1)
    return adjusted
