"""Tails as claims that can fail: hidden risks, and worse tails whatever the means (method §4).

Model i is a hidden risk if some model j of no larger mean has a significantly better mean of its worst
samples (TVaR). It follows that i does not second-order dominate j. The null hypothesis of a pair is that
TVaR_i is at least TVaR_j; the family is all ordered pairs with mean_i ≥ mean_j. A gap that is not
significant is never a risk. Named are only risks that sorting by the mean would walk into, where j ranks
before i: a model of mean .75 is no hidden risk because one of mean .42 has a milder tail.

Between the first model of a ranking and those a verdict calls equal to it a significantly worse tail is worth
saying whatever the means are (`worse_tails`). There the family is all ordered pairs, so that the leader and
its equals may have been chosen by the same samples.

Simulated with eight models and 1000 resamples, 200 tables a case, ranks aside: at most 0.025 ± 0.011 of
tables with a false risk among identical models (normal, Student's t with 3 degrees of freedom, correlation
0.8; n = 50, 150, 500), none with plain shifts. A model half a standard deviation ahead but for a 5 % chance
of −6 is found in 0.49 of tables at n = 150 and in all at 500; with a 2 % chance of −20 in none and in 0.62.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.inference import MOST
from riskrank.engine.dominance.permuted_tails import Relabelled
from riskrank.engine.dominance.rank_guard import least
from riskrank.engine.family import Family
from riskrank.engine.sampling.degrees_of_freedom import Freedom, expanded_p_value, expanded_share
from riskrank.engine.ties import competition_ranks
from riskrank.engine.types import Booleans, Floats, Integers

RISK = "risk"
NOT_SHOWN = "not shown"
NOT_DECIDED = "not decided"
NONE = "none"

# Sums of the same numbers in another order differ by a few units in the last place.
_ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class HiddenRisks:
    """Verdict on each of k models.

    Attributes
    ----------
    status : ndarray of str, shape (k,)
        ``risk``: a model of no larger mean that ranks before it has a significantly better tail; ``not
        shown``: its tail is better in the sample, which may be chance; ``not decided``: the same, and no
        resample contradicts it, but there are too few of them to show it in this family; ``none``: there is
        no such model in the sample.
    against : ndarray of int, shape (k,)
        The model of no larger mean that shows it most: smallest p-value, then best tail; −1 where the status
        is ``none``.
    mean, tail_mean : ndarray, shape (k,)
        In the units of the scores; the other model's numbers are those at ``against``.
    p_adjusted : ndarray, shape (k,)
        P-value of that pair, adjusted for the family; 1 where the status is ``none``.
    decided : ndarray of bool, shape (k,)
        False where the status is ``not decided``.
    resamples_needed : int
        Resamples that can decide every claim of the family.
    claims : int
        In that family.
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
    def place(self) -> Integers:
        """Place of each model by its mean alone, ties share the smaller one, shape (k,)."""
        return competition_ranks(-self.mean, size=float(np.abs(self.mean).max()))


def hidden_risk(
    means: Floats,
    tails: Floats,
    tail_replicates: Floats,
    *,
    rank: Integers,
    samples: Floats | Freedom,
    family: Family = Family(),
    relabelled: Relabelled | None = None,
) -> HiddenRisks:
    """Test every model for a hidden risk.

    Parameters
    ----------
    means, tails : ndarray, shape (k,)
        Of the sample, larger is better.
    tail_replicates : ndarray, shape (B, k)
        Tail means of resamples that were drawn for all models together where they are paired.
    rank : array_like of int, shape (k,)
        Ranks by the method that a reader is advised to follow, 1 for the best.
    samples : ndarray of shape (k, k), or Freedom
        Independent samples behind every pair, or degrees of freedom.
    family : Family
    relabelled : Relabelled, optional
        A second opinion on models that were drawn apart.

    Returns
    -------
    HiddenRisks
    """
    k, resamples = len(means), len(tail_replicates)
    slack = _ROUNDING * max(np.abs(means).max(), np.abs(tails).max())
    # On the smaller side a difference of means may overflow, which compares rightly all the same.
    with np.errstate(over="ignore"):
        asked = (means[:, None] - means >= -slack) & ~np.eye(k, dtype=bool)
        gap = tails - tails[:, None]
    crossings = _crossings(tail_replicates, slack)
    p_adjusted = _adjusted(crossings, resamples, asked, samples, family)
    shown = asked & (gap > slack) & (rank[None, :] < rank[:, None])
    p_adjusted = _confirmed(p_adjusted, shown, relabelled, family)
    significant = shown & family.significant(p_adjusted)
    against = np.full(k, -1)
    for i in np.flatnonzero(shown.any(axis=1)):
        rivals = np.flatnonzero(shown[i])
        against[i] = rivals[np.lexsort((-gap[i, rivals], p_adjusted[i, rivals]))[0]]
    has = against >= 0
    coarse = (shown & ~significant & (crossings == 0)).any(axis=1)
    open_question = np.where(coarse, NOT_DECIDED, np.where(has, NOT_SHOWN, NONE))
    status = np.where(significant.any(axis=1), RISK, open_question)
    return HiddenRisks(
        status=status,
        against=against,
        mean=means,
        tail_mean=tails,
        p_adjusted=np.where(has, p_adjusted[np.arange(k), against], 1.0),
        decided=status != NOT_DECIDED,
        resamples_needed=_resamples_for(family.level(int(asked.sum())), least(samples)),
        claims=int(asked.sum()),
    )


@dataclass(frozen=True)
class WorseTail:
    """A model whose worst samples are significantly worse than another's.

    Attributes
    ----------
    worse, better : int
        The two models.
    p_adjusted : float
    """

    worse: int
    better: int
    p_adjusted: float


def worse_tails(
    tails: Floats,
    tail_replicates: Floats,
    leader: int,
    equals: Iterable[int],
    *,
    samples: Floats | Freedom,
    family: Family = Family(),
    relabelled: Relabelled | None = None,
) -> list[WorseTail]:
    """Whose tail is worse, the leader's or that of a model the verdict calls equal to it.

    Answers: "no test tells them apart on the whole, but are the bad cases of one worse?"

    Parameters
    ----------
    tails : ndarray, shape (k,)
        Of the sample, larger is better.
    tail_replicates : ndarray, shape (B, k)
        Tail means of resamples that were drawn for all models together where they are paired.
    leader : int
        The first model of the ranking.
    equals : iterable of int
        Models no test tells apart from it; other models are not compared.
    samples : ndarray of shape (k, k), or Freedom
        Independent samples behind every pair, or degrees of freedom.
    family : Family
        Of all ordered pairs of the k models.
    relabelled : Relabelled, optional
        A second opinion on models that were drawn apart.

    Returns
    -------
    list of WorseTail
        At most one a model of `equals`, smallest p-value first, then the largest gap.
    """
    k, slack = len(tails), _ROUNDING * np.abs(tails).max()
    crossings = _crossings(tail_replicates, slack)
    asked = ~np.eye(k, dtype=bool)
    p_adjusted = _adjusted(crossings, len(tail_replicates), asked, samples, family)
    pairs = [pair for j in equals if j != leader for pair in ((leader, j), (j, leader))]
    named = np.zeros((k, k), dtype=bool)
    named[tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)] = True
    p_adjusted = _confirmed(p_adjusted, named, relabelled, family)
    found = [
        WorseTail(i, j, float(p_adjusted[i, j]))
        for i, j in pairs
        if family.significant(p_adjusted[i, j]) and tails[i] < tails[j] - slack
    ]
    return sorted(found, key=lambda one: (one.p_adjusted, tails[one.worse] - tails[one.better]))


def _confirmed(p_adjusted: Floats, asked: Booleans, relabelled: Relabelled | None, family: Family) -> Floats:
    """The larger p-value where resamples alone would show a worse tail."""
    if relabelled is None:
        return p_adjusted
    found = p_adjusted.copy()
    for i, j in np.argwhere(asked & family.significant(p_adjusted)).tolist():
        found[i, j] = max(found[i, j], relabelled.p_adjusted(i, j))
    return found


def _adjusted(
    crossings: Integers, resamples: int, asked: Booleans, behind: Floats | Freedom, family: Family
) -> Floats:
    """Adjusted p-values of "tail i is not worse than tail j" in the family asked for; 1 elsewhere."""
    p_value = np.ones(crossings.shape)
    p_value[asked] = expanded_p_value((1 + crossings[asked]) / (resamples + 1), behind[asked])
    return family.adjusted(p_value, asked)


def _crossings(replicates: Floats, slack: float) -> Integers:
    """Resamples in which tail i is not worse than tail j, shape (k, k), a row at a time to spare memory."""
    k = replicates.shape[1]
    found = np.empty((k, k), dtype=np.int64)
    # At the end of the range a little less than the smallest number overflows, and compares rightly.
    with np.errstate(over="ignore"):
        for i in range(k):
            found[i] = (replicates[:, [i]] >= replicates - slack).sum(axis=0)
    return found


def _resamples_for(level: float, samples: float | Freedom) -> int:
    """Fewest resamples of which none has to cross for a p-value of at most the level."""
    return ceil(1 / max(float(expanded_share(level, samples)), 1 / MOST)) - 1
