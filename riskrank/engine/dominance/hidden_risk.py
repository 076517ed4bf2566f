"""Significantly worse tails: hidden risks, and worse tails regardless of the means (method §4).

Model i is a hidden risk if some model j has a significantly better tail mean (TVaR) although its mean is not
larger. Then i does not dominate j in second order. The null hypothesis for a pair is TVaR_i ≥ TVaR_j; the
family consists of all ordered pairs with mean_i ≥ mean_j. A difference that is not significant is never
reported as a risk. A risk is only reported if ranking by the mean would hide it, that is, if j ranks before
i. For example, a model with mean .75 is not a hidden risk just because a model with mean .42 has a better
tail.

Between the first model of a ranking and the models tied with it, a significantly worse tail is always
reported, whatever the means are (`find_worse_tails`). Its family consists of all pairs, so the leader
and its ties may be selected with the same samples.

Simulations used eight models, 1000 resamples and 200 tables per case; ranks were ignored. The scores of
identical models were normal, or Student's t with 3 degrees of freedom, also with correlation 0.8, for n = 50,
150, 500. At most 0.025 ± 0.011 of these tables report a false risk. Under pure location shifts, none do. In
another simulation, one model leads by half a standard deviation, but scores −6 with probability 5 %. It is
detected in 0.49 of the tables at n = 150, and in all at n = 500. If it scores −20 with probability 2 %, the
rates are 0 and 0.62.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.inference import MAX_RESAMPLES
from riskrank.engine.dominance.pair_samples import fewest_samples
from riskrank.engine.family import Family
from riskrank.engine.numeric import competition_ranks
from riskrank.engine.sampling.degrees_of_freedom import Dof, expanded_p_value, unexpanded_p_value
from riskrank.engine.types import Booleans, Floats, Integers

RISK = "risk"
NOT_SIGNIFICANT = "not shown"
NOT_DECIDED = "not decided"
NONE = "none"

# Sums of the same numbers in a different order differ by a few units in the last place.
_ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class HiddenRisks:
    """Hidden-risk status of k models.

    Attributes
    ----------
    status : ndarray of str, shape (k,)
        ``risk``: a higher-ranked model whose mean is not larger has a significantly better tail. ``not
        shown``: such a model has a better tail in the sample, but the difference is not significant. ``not
        decided``: no resample contradicts the difference, but there are too few resamples for a family of
        this size. ``none``: no such model in the sample.
    against : ndarray of int, shape (k,)
        Index of the model with the strongest evidence against this one: smallest p-value, then best tail. −1
        if the status is ``none``.
    mean, tail_mean : ndarray, shape (k,)
        Means and tail means, in the units of the scores. Index them with ``against`` to get those of the
        other models.
    p_adjusted : ndarray, shape (k,)
        Adjusted p-value for the comparison with that model; 1 if the status is ``none``.
    decided : ndarray of bool, shape (k,)
        False if the status is ``not decided``.
    resamples_needed : int
        Number of resamples sufficient to decide every claim in the family.
    claims : int
        Number of claims in the family.
    """

    status: NDArray[np.str_]
    against: Integers
    mean: Floats
    tail_mean: Floats
    p_adjusted: Floats
    decided: Booleans
    resamples_needed: int
    claims: int

    @property
    def rank_by_mean(self) -> Integers:
        """Rank of each model by its mean, shape (k,); ties share the smaller rank."""
        return competition_ranks(-self.mean, scale=float(np.abs(self.mean).max()))


def find_hidden_risks(
    means: Floats,
    tails: Floats,
    tail_replicates: Floats,
    *,
    rank: Integers,
    samples: Floats | Dof,
    family: Family = Family(),
    flipped: Floats | float = 0.0,
) -> HiddenRisks:
    """Test every model for a hidden risk.

    A model has a hidden risk if a higher-ranked model, whose mean is not larger, has a significantly better
    tail.

    Parameters
    ----------
    means, tails : ndarray, shape (k,)
        Sample means and tail means; larger is better.
    tail_replicates : ndarray, shape (B, k)
        Tail means in each resample; paired models share resamples.
    rank : array_like of int, shape (k,)
        Ranks by the preferred method, 1 for the best.
    samples : ndarray of shape (k, k), or Dof
        Number of independent samples for every pair, or degrees of freedom.
    family : Family
        Level and correction for multiple tests.
    flipped : ndarray, shape (k, k), optional
        Lower bounds on the p-values from sign flips.

    Returns
    -------
    HiddenRisks
    """
    k, resamples = len(means), len(tail_replicates)
    slack = _ROUNDING * max(np.abs(means).max(), np.abs(tails).max())
    # A difference of means can overflow to infinity, which still compares correctly.
    with np.errstate(over="ignore"):
        tested = (means[:, None] - means >= -slack) & ~np.eye(k, dtype=bool)
        gap = tails - tails[:, None]
    crossings = _count_crossings(tail_replicates, slack)
    p_adjusted = _adjusted_p_values(crossings, resamples, tested, samples, family, flipped)
    better = tested & (gap > slack) & (rank[None, :] < rank[:, None])
    significant, against = better & family.significant(p_adjusted), np.full(k, -1)
    for i in np.flatnonzero(better.any(axis=1)):
        rivals = np.flatnonzero(better[i])
        against[i] = rivals[np.lexsort((-gap[i, rivals], p_adjusted[i, rivals]))[0]]
    has_rival = against >= 0
    coarse = (better & ~significant & (crossings == 0)).any(axis=1)
    open_question = np.where(coarse, NOT_DECIDED, np.where(has_rival, NOT_SIGNIFICANT, NONE))
    status = np.where(significant.any(axis=1), RISK, open_question)
    level = unexpanded_p_value(family.interval_level(int(tested.sum())), fewest_samples(samples))
    return HiddenRisks(
        status=status,
        against=against,
        mean=means,
        tail_mean=tails,
        p_adjusted=np.where(has_rival, p_adjusted[np.arange(k), against], 1.0),
        decided=status != NOT_DECIDED,
        # With so many resamples, zero crossings give a p-value of at most the level.
        resamples_needed=ceil(1 / max(float(level), 1 / MAX_RESAMPLES)) - 1,
        claims=int(tested.sum()),
    )


@dataclass(frozen=True)
class WorseTail:
    """A model whose tail mean is significantly worse than another model's.

    Attributes
    ----------
    worse, better : int
        Indices of the two models.
    p_adjusted : float
        Adjusted p-value of the difference.
    """

    worse: int
    better: int
    p_adjusted: float


def find_worse_tails(
    tails: Floats,
    tail_replicates: Floats,
    leader: int,
    tied: Iterable[int],
    *,
    samples: Floats | Dof,
    family: Family = Family(),
    flipped: Floats | float = 0.0,
) -> list[WorseTail]:
    """Find the significant differences of tail means between the leader and the models tied with it.

    Parameters
    ----------
    tails : ndarray, shape (k,)
        Sample tail means; larger is better.
    tail_replicates : ndarray, shape (B, k)
        Tail means in each resample; paired models share resamples.
    leader : int
        The first model of the ranking.
    tied : iterable of int
        Models not significantly different from the leader; other models are not compared.
    samples : ndarray of shape (k, k), or Dof
        Number of independent samples for every pair, or degrees of freedom.
    family : Family
        Level and correction for multiple tests; the family consists of all pairs of the k models.
    flipped : ndarray, shape (k, k), optional
        Lower bounds on the p-values from sign flips.

    Returns
    -------
    list of WorseTail
        At most one per tied model; sorted by p-value, then by decreasing difference.
    """
    k, slack = len(tails), _ROUNDING * np.abs(tails).max()
    crossings = _count_crossings(tail_replicates, slack)
    tested, pairs_family = ~np.eye(k, dtype=bool), replace(family, per_rejection=2)
    p_adjusted = _adjusted_p_values(crossings, len(tail_replicates), tested, samples, pairs_family, flipped)
    pairs = [pair for j in tied if j != leader for pair in ((leader, j), (j, leader))]
    results = [
        WorseTail(i, j, float(p_adjusted[i, j]))
        for i, j in pairs
        if family.significant(p_adjusted[i, j]) and tails[i] < tails[j] - slack
    ]
    return sorted(results, key=lambda result: (result.p_adjusted, tails[result.worse] - tails[result.better]))


def _adjusted_p_values(
    crossings: Integers,
    resamples: int,
    tested: Booleans,
    samples: Floats | Dof,
    family: Family,
    flipped: Floats | float,
) -> Floats:
    """Return adjusted p-values for the null hypothesis "the tail of i is not worse than that of j".

    Parameters
    ----------
    crossings : ndarray of int, shape (k, k)
        Number of resamples that contradict "the tail of i is worse".
    resamples : int
        Total number of resamples.
    tested : ndarray of bool, shape (k, k)
        Pairs in the family; the p-value of other pairs is 1.
    samples : ndarray of shape (k, k), or Dof
        Number of independent samples for every pair, or degrees of freedom.
    family : Family
        Level and correction for multiple tests.
    flipped : ndarray, shape (k, k), or float
        Lower bounds on the p-values from sign flips.

    Returns
    -------
    ndarray, shape (k, k)
    """
    p_value = np.ones(crossings.shape)
    p_value[tested] = expanded_p_value((1 + crossings[tested]) / (resamples + 1), samples[tested])
    return family.adjust_p_values(np.maximum(p_value, flipped), tested)


def _count_crossings(replicates: Floats, slack: float) -> Integers:
    """Count the resamples that contradict "the tail mean of i is below that of j", shape (k, k).

    `replicates` holds the tail mean of each model in each resample, shape (B, k). The claim is contradicted
    if the tail mean of i is at least that of j minus `slack`.
    """
    k = replicates.shape[1]
    counts = np.empty((k, k), dtype=np.int64)
    # Near the smallest number the difference overflows to infinity, which still compares correctly.
    with np.errstate(over="ignore"):
        for i in range(k):
            counts[i] = (replicates[:, [i]] >= replicates - slack).sum(axis=0)
    return counts
