"""How far several ways to rank the same models agree, and on whom they do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskrank.engine.aggregation.kendall import kendall_tau
from riskrank.engine.ties import tie_codes


@dataclass(frozen=True)
class RankComparison:
    """Rankings of N models by M criteria.

    Attributes
    ----------
    rank : array of int, shape (M, N)
        1 for the best; tied models share the smallest of their ranks.
    tau : array of shape (M, M)
        Kendall's tau-b between the rankings, ties included; NaN for one that ties all models.
    movement : array of int, shape (N,)
        Difference between a model's worst and best rank.
    """

    rank: np.ndarray
    tau: np.ndarray
    movement: np.ndarray

    @property
    def movers(self) -> np.ndarray:
        """All models, those that move most first."""
        return np.argsort(-self.movement, kind="stable")


def compare_rankings(scores: np.ndarray) -> RankComparison:
    """Compare criteria as in COPA Fig. 6 and 7.

    Parameters
    ----------
    scores : array of shape (M, N)
        One row per criterion, small is better. Values within a relative 1e-12 are tied.

    Returns
    -------
    RankComparison

    Raises
    ------
    InputError
        For fewer than two models or values that are NaN.
    """
    scores = np.asarray(scores, dtype=np.float64)
    places = np.stack([tie_codes(row) for row in scores])
    tau = kendall_tau(places)
    rank = np.stack([1 + np.searchsorted(np.sort(row), row, side="left") for row in places])
    return RankComparison(rank=rank, tau=tau, movement=rank.max(axis=0) - rank.min(axis=0))
