"""Where one model is better than another, and by how much: the difference of their quantile functions.

A pointwise band from the bootstrap goes with it (the shift function; Doksum 1974, Wilcox 1995).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.portfolio.quantiles import quantile
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.expanded_percentile import expanded_interval
from riskrank.engine.sampling.resamples import batches, blocks

_BATCH = 64


def quantile_difference(
    scores: ClusteredScores,
    winner: int,
    loser: int,
    levels: ArrayLike,
    *,
    resamples: int = 1000,
    alpha: float = 0.05,
    seed: int = 0,
) -> Differences:
    """Difference of two models' quantiles, with a band that holds at each level on its own.

    Parameters
    ----------
    scores : ClusteredScores
    winner, loser : int
        Models; the difference is the winner's quantile less the loser's.
    levels : array_like, shape (l,)
        Probabilities in (0, 1].
    resamples : int
        Bootstrap resamples; 0 for no band.
    alpha : float
        The band holds with probability 1 - alpha at each level.
    seed : int
        Entropy of the random streams.

    Returns
    -------
    Differences
        Arrays of shape (l,); expanded percentiles (method §4).
    """
    levels = np.asarray(levels, dtype=np.float64)
    estimate = quantile(scores.values[winner], levels) - quantile(scores.values[loser], levels)
    if not resamples:
        return Differences(estimate, None, None)
    pair = ClusteredScores(
        values=(scores.values[winner], scores.values[loser]),
        clusters=(scores.clusters[winner], scores.clusters[loser]),
        paired=scores.paired,
        samples=None if scores.samples is None else (scores.samples[winner], scores.samples[loser]),
    )
    found = []
    for batch in batches(pair, blocks(resamples, seed), size=_BATCH):
        # The place of a quantile among sorted scores is that quantile of the places.
        first, second = (
            rows[:, quantile(np.arange(rows.shape[1]), levels).astype(int)] for rows in batch.ordered
        )
        found.append(first - second)
    low, high = expanded_interval(np.concatenate(found), float(pair.independent.min()), level=1 - alpha)
    return Differences(estimate, low, high)
