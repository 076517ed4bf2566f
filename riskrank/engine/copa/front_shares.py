"""Shares (proportions) of resamples in which a model is on the Pareto front or COPA's choice (method §7).

These proportions are not tests: two equal models are each on the front in about half of the resamples.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from riskrank.engine.copa.population import Population, rank_denominator
from riskrank.engine.copa.ranking import CopaRanking, lexicographic_argmin, power_norm, tie_breaking_norms
from riskrank.engine.types import Booleans, Floats

# Largest number of pairs of models compared at once.
_PAIRS = 1 << 22


@dataclass(frozen=True, eq=False)
class FrontShares:
    """Proportions of resamples.

    Attributes
    ----------
    front : ndarray, shape (N,)
        Proportion in which each model is feasible and no feasible model dominates it.
    chosen : ndarray, shape (N,)
        Proportion in which COPA chooses each model. They sum to less than 1 if a resample has no feasible
        model, or a tie that only names break.
    tied : float
        Proportion in which only the names break a tie for the choice.
    """

    front: Floats
    chosen: Floats
    tied: float


def front_shares(
    models: Population, ranking: CopaRanking, replicates: Floats, allowed: Booleans
) -> FrontShares:
    """Return the proportions of resamples in which each model is on the front and is chosen.

    Parameters
    ----------
    models : Population
    ranking : CopaRanking
        Provides the norm and the weights of the choice.
    replicates : ndarray, shape (B, N, K)
        Objectives in B resamples; larger is better.
    allowed : ndarray of bool, shape (B, N)
        True for models that meet the constraints in each resample.

    Returns
    -------
    FrontShares
    """
    resamples, N, _ = replicates.shape
    front, chosen, tied = np.zeros(N), np.zeros(N), 0
    step = max(_PAIRS // (N * N), 1)
    for start in range(0, resamples, step):
        rows = slice(start, start + step)
        on_front, ranks = _resampled_fronts_and_ranks(models, replicates[rows], allowed[rows])
        terms = ranks * ranking.weights
        norm = np.where(allowed[rows], power_norm(terms, ranking.p), np.inf)
        front += on_front.sum(axis=0)
        choice, reverse_choice = (
            lexicographic_argmin(chain([norm, ~on_front], tie_breaking_norms(terms), [names]))
            for names in (models.name_order, N - 1 - models.name_order)
        )
        any_allowed, unambiguous = allowed[rows].any(axis=1), choice == reverse_choice
        chosen += np.bincount(choice[any_allowed & unambiguous], minlength=N)
        tied += int(np.count_nonzero(any_allowed & ~unambiguous))
    return FrontShares(front / resamples, chosen / resamples, tied / resamples)


def _resampled_fronts_and_ranks(
    models: Population, replicates: Floats, allowed: Booleans
) -> tuple[Booleans, Floats]:
    """Return a mask of the models on the front, shape (B, N), and relative ranks, shape (B, N, K)."""
    share, scale = models.tie_share, rank_denominator(replicates.shape[1], models.denominator)
    ranks = np.empty(replicates.shape)
    matches = np.ones((*replicates.shape[:2], replicates.shape[1]), dtype=bool)
    exceeds = np.zeros_like(matches)
    for k in range(replicates.shape[2]):
        value, rival_value = replicates[:, :, None, k], replicates[:, None, :, k]
        rival_exceeds, rival_matches = rival_value > value, rival_value >= value
        matches &= rival_matches
        exceeds |= rival_exceeds
        counts = (1 - share) * rival_exceeds.sum(axis=2) + share * (rival_matches.sum(axis=2) - 1)
        ranks[:, :, k] = np.where(models.missing[:, k], 1.0, counts / scale)
    dominated = (matches & exceeds & allowed[:, None, :]).any(axis=2)
    return allowed & ~dominated, ranks
