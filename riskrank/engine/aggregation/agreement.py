"""Agreement of several rankings of the same models, and the models whose ranks differ most.

The measure is Kendall's tau with ties.
"""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.ties import tie_codes

# Pairs compared at a time. Below 2^24 the sums of signs are exact in single precision, which has the
# fastest matrix product.
_PAIRS = 1 << 20


def kendall_tau(scores: np.ndarray) -> np.ndarray:
    """Compute Kendall's tau-b between all pairs of rankings.

    tau-b = Σ sign(x_i - x_j) sign(y_i - y_j) / sqrt(pairs not tied in x · pairs not tied in y), over all
    pairs i < j (Kendall 1945). It complements the visual comparison of rankings in COPA Fig. 6-7.

    Parameters
    ----------
    scores : array of shape (M, N)
        One row per ranking: scores or ranks of N items, in the same direction throughout. Equal values
        are ties.

    Returns
    -------
    array of shape (M, M)
        In [-1, 1]; NaN for a ranking in which all items are tied.
    """
    scores = np.asarray(scores, dtype=np.float64)
    M, N = scores.shape
    # Dense ranks, because differences of infinities are undefined.
    ranks = np.stack([np.unique(row, return_inverse=True)[1] for row in scores]).astype(np.int32)
    agreement = np.zeros((M, M))
    step = max(1, _PAIRS // N)
    for start in range(0, N, step):
        signs = np.sign(ranks[:, start : start + step, None] - ranks[:, None, :]).astype(np.float32)
        signs = signs.reshape(M, -1)
        agreement += (signs @ signs.T).astype(np.float64)
    # The numerator and the denominator both count each pair twice.
    untied = np.sqrt(np.diag(agreement))
    product = np.outer(untied, untied)
    tau = np.full((M, M), np.nan)
    np.divide(agreement, product, out=tau, where=product > 0)
    return np.clip(tau, -1.0, 1.0)


@dataclass(frozen=True)
class RankComparison:
    """Agreement of M rankings of N models.

    Attributes
    ----------
    rank : array of int, shape (M, N)
        Rank of each model, 1 for the best; tied models share the smallest of their ranks.
    tau : array of shape (M, M)
        Kendall's tau-b between the rankings; NaN for a ranking in which all models are tied.
    movement : array of int, shape (N,)
        Difference between a model's worst and best rank.
    """

    rank: np.ndarray
    tau: np.ndarray
    movement: np.ndarray

    @property
    def movers(self) -> np.ndarray:
        """Indices of all models, in decreasing order of `movement`, shape (N,)."""
        return np.argsort(-self.movement, kind="stable")


def compare_rankings(scores: np.ndarray) -> RankComparison:
    """Compare several rankings of the same models (COPA Fig. 6 and 7).

    Parameters
    ----------
    scores : array of shape (M, N)
        One ranking per row, as scores; smaller is better. Values within a relative 1e-12 are tied.

    Returns
    -------
    RankComparison
    """
    scores = np.asarray(scores, dtype=np.float64)
    places = np.stack([tie_codes(row) for row in scores])
    tau = kendall_tau(places)
    rank = np.stack([1 + np.searchsorted(np.sort(row), row, side="left") for row in places])
    return RankComparison(rank=rank, tau=tau, movement=rank.max(axis=0) - rank.min(axis=0))
