"""How often a model is on the Pareto front, and is COPA's choice, where samples are drawn again (method §7).

Shares of resamples, not tests: two equal models are each on the front about half of the time.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from riskrank.engine.copa.choice import CopaRanking, pick, power_norm, tie_breaking_norms
from riskrank.engine.copa.population import Population, divisor
from riskrank.engine.types import Booleans, Floats

# Comparisons of two models made at once.
_PAIRS = 1 << 22


@dataclass(frozen=True, eq=False)
class FrontShares:
    """Shares of the resamples.

    Attributes
    ----------
    front : ndarray, shape (N,)
        In which each model may be chosen and no other that may dominates it.
    chosen : ndarray, shape (N,)
        In which COPA chooses it; they sum to less than 1 if in some resample no model may be chosen, or
        only names choose between several.
    tied : float
        In which only names do.
    """

    front: Floats
    chosen: Floats
    tied: float


def front_shares(models: Population, ranking: CopaRanking, drawn: Floats, allowed: Booleans) -> FrontShares:
    """Find the front and choose in every resample.

    Parameters
    ----------
    models : Population
    ranking : CopaRanking
        How to choose.
    drawn : ndarray, shape (B, N, K)
        Its objectives in B resamples, larger is better.
    allowed : ndarray of bool, shape (B, N)
        The models that meet the constraints there.

    Returns
    -------
    FrontShares
    """
    resamples, N, _ = drawn.shape
    front, chosen, tied = np.zeros(N), np.zeros(N), 0
    step = max(_PAIRS // (N * N), 1)
    for start in range(0, resamples, step):
        rows = slice(start, start + step)
        on_front, ranks = _fronts_and_ranks(models, drawn[rows], allowed[rows])
        terms = ranks * ranking.weights
        norm = np.where(allowed[rows], power_norm(terms, ranking.p), np.inf)
        front += on_front.sum(axis=0)
        choice, other = (
            pick(chain([norm, ~on_front], tie_breaking_norms(terms), [names]))
            for names in (models.name_order, N - 1 - models.name_order)
        )
        possible, same = allowed[rows].any(axis=1), choice == other
        chosen += np.bincount(choice[possible & same], minlength=N)
        tied += int(np.count_nonzero(possible & ~same))
    return FrontShares(front / resamples, chosen / resamples, tied / resamples)


def _fronts_and_ranks(models: Population, drawn: Floats, allowed: Booleans) -> tuple[Booleans, Floats]:
    """Who is on the front in each resample, (B, N), and relative ranks among all models, (B, N, K)."""
    share, scale = models.tie_share, divisor(drawn.shape[1], models.denominator)
    ranks = np.empty(drawn.shape)
    matches = np.ones((*drawn.shape[:2], drawn.shape[1]), dtype=bool)
    exceeds = np.zeros_like(matches)
    for k in range(drawn.shape[2]):
        own, other = drawn[:, :, None, k], drawn[:, None, :, k]
        above, matched = other > own, other >= own
        matches &= matched
        exceeds |= above
        counts = (1 - share) * above.sum(axis=2) + share * (matched.sum(axis=2) - 1)
        ranks[:, :, k] = np.where(models.missing[:, k], 1.0, counts / scale)
    dominated = (matches & exceeds & allowed[:, None, :]).any(axis=2)
    return allowed & ~dominated, ranks
