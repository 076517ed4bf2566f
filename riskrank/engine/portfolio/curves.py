"""Quantile functions and Tail Value at Risk of several models at common levels ([RAB] Fig. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.portfolio.quantiles import alike, mean_of, quantile, tail_value_at_risk
from riskrank.engine.types import Floats, Integers

_GRID = 200
"""Levels of a curve at most: as many as a picture can show."""


@dataclass(frozen=True)
class Curves:
    """k models at l levels.

    Attributes
    ----------
    levels : ndarray, shape (l,)
        Probabilities in (0, 1], increasing.
    quantiles, tail_values : ndarray, shape (k, l)
        Quantiles, and means of the worst share.
    order : ndarray of int, shape (k,)
        Models from the largest mean to the smallest.
    """

    levels: Floats
    quantiles: Floats
    tail_values: Floats
    order: Integers


def curves(scores: Sequence[Floats], weights: Sequence[ArrayLike] = ()) -> Curves:
    """Curves of all models at common levels: every step of the data where they are few.

    Parameters
    ----------
    scores : sequence of k ndarrays, shapes (n_i,)
        Larger is better.
    weights : sequence of k ndarrays, shapes (n_i,), optional
        How much each score counts; all the same by default.

    Returns
    -------
    Curves
    """
    sizes = {column.size for column in scores}
    steps = sizes.pop() if len(sizes) == 1 and all(map(alike, weights)) else _GRID
    both = list(zip(scores, weights or [1.0] * len(scores), strict=True))
    count = min(steps, _GRID)
    levels = np.arange(1, count + 1) / count
    return Curves(
        levels=levels,
        quantiles=np.array([quantile(column, levels, own) for column, own in both]),
        tail_values=np.array([tail_value_at_risk(column, levels, own) for column, own in both]),
        order=np.argsort([-mean_of(column, own) for column, own in both], kind="stable"),
    )
