"""Mean win rates, the baseline of leaderboards.

Source: [RAB] remark 1, eq. 22 and 23; method §5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def share_better(scores: ClusteredScores, one: int, other: int) -> float | None:
    """Share of the samples on which one model is better than another, ties counted half.

    Parameters
    ----------
    scores : ClusteredScores
    one, other : int

    Returns
    -------
    float or None
        None of an unpaired design, and where a judge's scores are corrected by a few of people's.
    """
    if not scores.paired or scores.judged:
        return None
    means = scores.sample_means()
    better = np.sign(means[one] - means[other])
    return float((mean_over(better, sample_weights(scores)) + 1) / 2)


def mean_over(shares: NDArray, weights: Floats) -> Floats:
    """Mean over samples, the last axis; of a suite each sample weighs as its task says (method §8)."""
    return np.asarray(np.einsum("...s,s->...", shares.astype(np.float64), weights) / weights.sum())


def sample_weights(scores: ClusteredScores) -> Floats:
    """How much each sample of a paired design weighs: all 1 where they weigh the same."""
    task = scores.strata.of_cluster[0][scores.sample_clusters()[0]]
    return np.ones(task.size) if scores.plain else scores.strata.weights[task] / np.bincount(task)[task]
