"""How far several ways to rank the same models agree, and on whom they do not.

Kendall's tau between rankings, with ties.
"""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.ties import tie_codes

# Pairs compared at a time. Below 2^24 their signs sum exactly in single precision, which the matrix
# product is fastest in.
_PAIRS = 1 << 20


def kendall_tau(scores: np.ndarray) -> np.ndarray:
    """Compute Kendall's tau-b between all pairs of rankings.

    tau-b = Σ sign(x_i - x_j) sign(y_i - y_j) / sqrt(pairs not tied in x · pairs not tied in y), over all
    pairs i < j (Kendall 1945). COPA Fig. 6-7 compare rankings by eye; this is the number beside them.

    Parameters
    ----------
    scores : array of shape (M, N)
        One row per ranking: scores or ranks of N items, in the same direction throughout. Equal values
        are ties.

    Returns
    -------
    array of shape (M, M)
        In [-1, 1]; NaN for a ranking that ties everything.
    """
    scores = np.asarray(scores, dtype=np.float64)
    M, N = scores.shape
    # Dense ranks: infinities have no differences.
    ranks = np.stack([np.unique(row, return_inverse=True)[1] for row in scores]).astype(np.int32)
    agreement = np.zeros((M, M))
    step = max(1, _PAIRS // N)
    for start in range(0, N, step):
        signs = np.sign(ranks[:, start : start + step, None] - ranks[:, None, :]).astype(np.float32)
        signs = signs.reshape(M, -1)
        agreement += (signs @ signs.T).astype(np.float64)
    # Each pair has been counted in both orders, above and below the fraction line alike.
    untied = np.sqrt(np.diag(agreement))
    product = np.outer(untied, untied)
    tau = np.full((M, M), np.nan)
    np.divide(agreement, product, out=tau, where=product > 0)
    return np.clip(tau, -1.0, 1.0)


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
    """
    scores = np.asarray(scores, dtype=np.float64)
    places = np.stack([tie_codes(row) for row in scores])
    tau = kendall_tau(places)
    rank = np.stack([1 + np.searchsorted(np.sort(row), row, side="left") for row in places])
    return RankComparison(rank=rank, tau=tau, movement=rank.max(axis=0) - rank.min(axis=0))
