"""Sign-flip tests that must confirm differences of tail means (method §4, "Tails").

The tail mean of a small sample is biased towards mild values. For unpaired models, the bias is even larger in
resamples, because these cannot contain failures that were never observed. Therefore each of their replicates
is shifted by twice the average bias of the resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.dominance.sign_flips import flip_p_values, tail_utility
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats


def correct_bias(scores: ClusteredScores, estimate: Floats, replicates: Floats) -> Floats:
    """Shift replicates, shape (B, ...), by twice their mean bias if the models do not share resamples."""
    if scores.joint_resamples:
        return replicates
    # A mean can overflow to infinity, which still compares correctly.
    with np.errstate(over="ignore", invalid="ignore"):
        return replicates - 2 * (replicates.mean(axis=0) - estimate)


def flipped_tail_p_values(
    scores: ClusteredScores, pairs: Sequence[tuple[int, int]], tail: float, *, level: float, seed: int
) -> Floats:
    """Return sign-flip p-values for the null hypothesis "the tail of i is not worse than that of j".

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    pairs : sequence of (int, int)
        Pairs to test, in both directions.
    tail : float
        Proportion of worst samples.
    level : float
        Smallest level of the family.
    seed : int
        Seed of the random flips.

    Returns
    -------
    ndarray, shape (k, k)
        P-values; 1 for pairs that are not tested.
    """
    return flip_p_values(scores, pairs, tail_utility(tail), level=level, seed=seed).T


def permutation_test(
    scores: ClusteredScores,
    pair: tuple[int, int],
    level: float | None,
    boundary: float,
    *,
    draws: int,
    seed: int,
) -> Callable[[int], float] | None:
    """Return a permutation test of the difference between the tail means of two models, or None.

    The claim is that the first model's tail mean exceeds the second's by more than `boundary`.

    Returns
    -------
    callable or None
        Function that returns the one-sided p-value for this claim (argument 1) or for the opposite claim
        (argument −1). None for means, and for models that share resamples.
    """
    if level is None or scores.joint_resamples:
        return None

    def p_value(side: int) -> float:
        """Return the p-value of the claim (`side` 1) or of the opposite claim (−1)."""
        values = list(scores.values)
        values[pair[0]] = values[pair[0]] - boundary
        better, worse = pair[::side]
        shifted = replace(scores, values=tuple(values))
        p_values = flipped_tail_p_values(shifted, [pair], level, level=10 / draws, seed=seed)
        return float(p_values[worse, better])

    return p_value
