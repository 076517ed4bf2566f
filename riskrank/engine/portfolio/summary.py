"""Summaries of a score distribution: mean, spread, quantiles and tail means.

Quantiles and Tail Value at Risk of several models are computed at common levels ([RAB] Fig. 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.portfolio.quantiles import has_equal_weights, quantile, tail_value_at_risk, weighted_mean
from riskrank.engine.types import Floats, Integers

DEFAULT_LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Summary:
    """Summaries of the scores of k models, with quantiles at l levels.

    Attributes
    ----------
    size : ndarray of int, shape (k,)
        Number of scores.
    mean, sd : ndarray, shape (k,)
        Mean, and standard deviation with divisor n - 1 (0 for a single score).
    levels : tuple of l float
        Probabilities.
    quantiles, tail_values : ndarray, shape (k, l)
        Quantiles, and Tail Value at Risk (the mean of the worst proportion p).
    """

    size: Integers
    mean: Floats
    sd: Floats
    levels: tuple[float, ...]
    quantiles: Floats
    tail_values: Floats

    @property
    def best_mean_first(self) -> Integers:
        """Indices of the models in decreasing order of mean, shape (k,)."""
        return np.argsort(-self.mean, kind="stable")


def summarise(
    scores: Sequence[Floats], levels: Sequence[float], weights: Sequence[ArrayLike] = ()
) -> Summary:
    """Summarise each model's scores.

    Parameters
    ----------
    scores : sequence of k ndarrays, shapes (n_i,)
        Scores; larger is better.
    levels : sequence of float
        Probabilities in (0, 1].
    weights : sequence of k ndarrays, shapes (n_i,), optional
        Weight of each score; equal by default.

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        If a level lies outside (0, 1].
    """
    both = list(zip(scores, weights or [1.0] * len(scores), strict=True))
    return Summary(
        np.array([column.size for column in scores]),
        np.array([weighted_mean(column, shares) for column, shares in both]),
        np.array([_standard_deviation(column, shares) for column, shares in both]),
        tuple(levels),
        np.array([quantile(column, levels, shares) for column, shares in both]),
        np.array([tail_value_at_risk(column, levels, shares) for column, shares in both]),
    )


def _standard_deviation(column: Floats, weights: ArrayLike) -> float:
    """Return the weighted standard deviation of a column of scores, with divisor n - 1; 0 for one score."""
    if column.size < 2:
        return 0.0
    if has_equal_weights(weights):
        return float(column.std(ddof=1))
    share = np.asarray(weights) / np.sum(weights)
    variance = np.dot(share, (column - np.dot(share, column)) ** 2)
    # n/(n − 1) of equal weights.
    return float(np.sqrt(variance / (1 - np.dot(share, share))))


# Largest number of levels of a curve: the resolution of a figure.
_GRID = 200


def summarise_curves(scores: Sequence[Floats], weights: Sequence[ArrayLike] = ()) -> Summary:
    """Summarise all models at levels suitable for drawing their quantile curves.

    The levels are multiples of 1/n for models with n equally weighted scores each, and at most 200.

    Parameters
    ----------
    scores, weights
        As in `summarise`.
    """
    sizes = {column.size for column in scores}
    steps = sizes.pop() if len(sizes) == 1 and all(map(has_equal_weights, weights)) else _GRID
    count = min(steps, _GRID)
    with np.errstate(over="ignore"):  # of the standard deviation, which is not needed for curves
        return summarise(scores, (np.arange(1, count + 1) / count).tolist(), weights)
