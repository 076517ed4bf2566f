"""Kendall's tau between rankings, with ties (tau-b)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from riskrank.errors import InputError

PAIRS_AT_ONCE = 4_000_000
"""Signs of item pairs held in memory at once, over all rankings."""


def kendall_tau(first: ArrayLike, second: ArrayLike) -> float:
    """Return Kendall's tau-b of two rankings (or scores) of the same items.

    Parameters
    ----------
    first, second : array_like, shape (k,)
        Ranks or scores; equal numbers are ties. Both must run the same way.

    Returns
    -------
    float
        (concordant − discordant) / √(pairs untied in the first · pairs untied in the second), from −1 to 1;
        NaN if either ties all items.

    Raises
    ------
    InputError
        If the lengths differ, a value is not finite, or there are fewer than two items.
    """
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if first.shape != second.shape:
        raise InputError(
            "two rankings of different items cannot be compared",
            found=f"{first.size} and {second.size} ranks",
            hint="rank the same items in both",
        )
    return float(kendall_matrix(np.stack([first, second]))[0, 1])


def kendall_matrix(rankings: ArrayLike) -> np.ndarray:
    """Return Kendall's tau-b between every two of several rankings.

    Parameters
    ----------
    rankings : array_like, shape (m, k)
        One ranking (or list of scores) of k items per row.

    Returns
    -------
    ndarray, shape (m, m)
        Symmetric, 1 on the diagonal; NaN in the rows of rankings that tie all items.

    Raises
    ------
    InputError
        If the rankings are not a table of finite numbers over at least two items.
    """
    table = np.asarray(rankings, dtype=float)
    if table.ndim != 2 or table.shape[1] < 2 or not np.isfinite(table).all():
        raise InputError(
            "Kendall's tau needs complete rankings of at least two items",
            found=f"shape {table.shape}, {np.count_nonzero(~np.isfinite(table))} missing",
            hint="give one row per ranking, all over the same items",
        )
    agreement = np.zeros((len(table),) * 2)
    step = max(1, PAIRS_AT_ONCE // max(table.size, 1))
    for start in range(0, table.shape[1], step):
        rows = table[:, start : start + step]
        # Both orders of each pair are counted, which cancels in the ratio below.
        sign = np.sign(rows[:, :, None] - table[:, None, :]).reshape(len(table), -1)
        agreement += sign @ sign.T
    untied = np.diag(agreement)
    with np.errstate(invalid="ignore"):
        tau = agreement / np.sqrt(np.outer(untied, untied))
    return np.clip(tau, -1.0, 1.0)
