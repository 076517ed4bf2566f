"""Mean win rates, the baseline of leaderboards.

Source: [RAB] remark 1, eq. 22 and 23; method §5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.ties import competition_ranks
from riskrank.engine.types import Booleans, Floats


def model_win_rate(means: ArrayLike) -> Floats:
    """Share of the other models whose mean is at most the model's own ([RAB] eq. 22).

    Parameters
    ----------
    means : array_like, shape (k,)
        Mean score of each model.

    Returns
    -------
    ndarray, shape (k,)
        Win rates in [0, 1]; models with equal means both win.
    """
    values = np.asarray(means, dtype=np.float64)
    ranks = competition_ranks(values, size=float(np.abs(values).max()))
    wins = (ranks[None, :] <= ranks[:, None]).sum(axis=1) - 1
    return wins / (len(values) - 1)


def sample_split(scores: ClusteredScores, winner: int, loser: int) -> tuple[float, float, float]:
    """Shares of the samples on which a winner is better, equal and worse, by the mean of its draws.

    Answers: "order 2 says the first, but on how many samples is the second better?"

    Parameters
    ----------
    scores : ClusteredScores
        Of a paired design.
    winner, loser : int
        Two models.

    Returns
    -------
    better, equal, worse : float
        They sum to 1.
    """
    means = scores.sample_means()
    first, second = means[winner], means[loser]
    better, worse = (float(np.mean(first > second)), float(np.mean(first < second)))
    return better, float(np.mean(first == second)), worse


def best_on_sample(scores: ArrayLike) -> Booleans:
    """Whether a model is at least as good as the best of the others, per sample ([RAB] eq. 23).

    Parameters
    ----------
    scores : array_like, shape (k, n)
        Score of each model on each sample, the same samples for all.

    Returns
    -------
    ndarray of bool, shape (k, n)
        Its mean over the samples is the sample-level mean win rate.
    """
    values = np.asarray(scores, dtype=np.float64)
    return values == values.max(axis=0)


def beaten_on_sample(scores: ArrayLike) -> Floats:
    """Share of the other models a model beats on each sample, ties counted half (method §5).

    Parameters
    ----------
    scores : array_like, shape (k, n)
        Score of each model on each sample, the same samples for all.

    Returns
    -------
    ndarray, shape (k, n)
        Shares in [0, 1]; the mean over the samples is the pairwise per-sample win rate.
    """
    values = np.asarray(scores, dtype=np.float64)
    k = len(values)
    beaten = np.empty(values.shape)
    for i in range(k):
        beaten[i] = (values < values[i]).sum(axis=0) + 0.5 * ((values == values[i]).sum(axis=0) - 1)
    return beaten / (k - 1)
