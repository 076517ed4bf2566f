"""From estimates and verdicts on pairs to a ranking, and the places the tests leave to each model.

Source: method §4, "From verdicts to a ranking" (order by the estimate, doubt by the tests); [RAB] section 3
(Borda aggregation of pairwise tests).
"""

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.rank_sets import RankSets, rank_sets, rank_sets_of_wins, tiers
from riskrank.engine.ties import competition_ranks
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True)
class Ranking:
    """One method's ranking of k models.

    Attributes
    ----------
    rank : ndarray of int, shape (k,)
        1 is best; ties share the smaller rank (1, 2, 2, 4).
    wins : ndarray of int, shape (k,), or None
        Models beaten, where the method compares pairs.
    score : ndarray, shape (k,)
        One-versus-all violation ratio (small is good) or win rate (large is good).
    rank_low, rank_high : ndarray of int, shape (k,), or None
        Rank set: all models' true places lie in theirs together with probability 1 − α. None without tests
        of pairs; win rates have none, since a percentile interval of a rank misses the truth far too often.
    tier : ndarray of int, shape (k,), or None
        Models of one tier are not separated by any test.
    order : ndarray of int, shape (k,)
        Model numbers from first to last, ties in rank settled by the score.
    losses : ndarray of int, shape (k,), or None
        Models it is beaten by, where the method compares pairs.
    """

    rank: Integers
    score: Floats
    order: Integers
    wins: Integers | None = None
    losses: Integers | None = None
    rank_low: Integers | None = None
    rank_high: Integers | None = None
    tier: Integers | None = None

    @property
    def places(self) -> Integers:
        """Place of every model in the order, 1 for the first, shape (k,); no two share one."""
        return np.argsort(self.order) + 1


def rank_by_ratio(dominates: Booleans, ratio: Floats, *, tested: bool) -> Ranking:
    """Ranking by the one-versus-all ratio ε_i, with the places the tests leave (method §4).

    Parameters
    ----------
    dominates : ndarray of bool, shape (k, k)
        Whether i beats j in relative dominance.
    ratio : ndarray, shape (k,)
        One-versus-all violation ratios, small is good; models equal up to rounding share a rank.
    tested : bool
        Whether the wins are significant ones; only then are there rank sets and tiers.

    Returns
    -------
    Ranking
    """
    rank = competition_ranks(ratio)
    order = np.argsort(rank, kind="stable")
    return _with_places(rank, order, ratio, rank_sets(dominates), dominates if tested else None)


def rank_by_wins(
    dominates: Booleans,
    ratio: Floats,
    *,
    tested: bool,
    relative: bool = False,
    exclusive: bool = True,
) -> Ranking:
    """Borda ranking on wins, ordered by the one-versus-all ratio within ties ([RAB] section 3).

    Parameters
    ----------
    dominates : ndarray of bool, shape (k, k)
        Whether i beats j.
    ratio : ndarray, shape (k,)
        One-versus-all violation ratios, small is good.
    tested : bool
        Whether the wins are significant ones; only then are there rank sets and tiers.
    relative : bool
        Whether the wins are those of relative dominance, which order ε_i.
    exclusive : bool
        Whether two models cannot both beat each other: false for thresholds above ½.

    Returns
    -------
    Ranking
    """
    sets = rank_sets(dominates) if relative else rank_sets_of_wins(dominates, exclusive=exclusive)
    rank = competition_ranks(-sets.wins)
    order = np.lexsort((competition_ranks(ratio), rank))
    return _with_places(rank, order, ratio, sets, dominates if tested else None)


def _with_places(
    rank: Integers, order: Integers, ratio: Floats, sets: RankSets, tested: Booleans | None
) -> Ranking:
    """A ranking with its wins, and where they are significant with the places they leave."""
    found = Ranking(rank, ratio, order, sets.wins, sets.losses)
    if tested is None:
        return found
    return replace(found, rank_low=sets.low, rank_high=sets.high, tier=tiers(tested, order))


def rank_by_score(score: Floats) -> Ranking:
    """Ranking by a score of which more is better, such as a win rate.

    Parameters
    ----------
    score : ndarray, shape (k,)

    Returns
    -------
    Ranking
        Without wins, rank sets and tiers.
    """
    rank = competition_ranks(-score)
    return Ranking(rank=rank, score=score, order=np.argsort(rank, kind="stable"))
