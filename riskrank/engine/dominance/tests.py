"""Tests of almost and relative stochastic dominance for all ordered pairs of models.

Source: [RAB] sections 2 and 3, Algorithm 1; method §3 and §4, which corrects its rejection rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from riskrank.engine.dominance.asymptotic_tests import absolute_p_values, relative_p_values
from riskrank.engine.dominance.bootstrap import Replicates, tail_level
from riskrank.engine.dominance.claims import PAPER_THRESHOLDS, RELATIVE, Claim, claims
from riskrank.engine.dominance.closing import Counted, Family
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.influence import ViolationInfluence
from riskrank.engine.dominance.rank_guard import GUARD, direct_guard, relative_guard
from riskrank.engine.dominance.tail import relative_tail
from riskrank.engine.dominance.violation import CommonScale, violation_matrices
from riskrank.engine.portfolio.quantiles import tail_value_of_sorted
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.multiplicity import adjust
from riskrank.engine.types import Booleans, Floats, Integers

__all__ = ["PAPER_THRESHOLDS", "Claim", "claims"]

Pairs = Sequence[tuple[int, int]]

# Statistics of a tail are made for this many pairs at a time: B numbers each.
_PAIRS_AT_ONCE = 256


@dataclass(frozen=True)
class DominanceTests:
    """Verdicts on all ordered pairs; ``[i, j]`` is about "i dominates j", the diagonal is meaningless.

    Pairs that were not asked for have p-values of 1 and dominate nobody.

    Attributes
    ----------
    claim : Claim
        What was tested.
    ratios : ndarray, shape (k, k)
        Violation ratios.
    statistic : ndarray, shape (k, k)
        Violation ratio, or the difference of one-versus-all ratios for relative dominance.
    identical : ndarray of bool, shape (k, k)
        Pairs whose empirical distributions are equal.
    dominates : ndarray of bool, shape (k, k)
        Adjusted p-value at most α; without a test, the statistic below its boundary.
    standard_error, p_value, p_adjusted : ndarray, shape (k, k), or None
        None if no test was asked for.
    extrapolated : ndarray of bool, shape (k, k)
        Whether the claim was closed by its continued tail.
    decided : ndarray of bool, shape (k, k)
        False where the claim is not significant only because the resamples are too few to say so.
    crossings : ndarray of int, shape (k, k), or None
        Resamples in which the statistic was at or above its boundary.
    resamples : ndarray of int, shape (k, k), or None
        Resamples after which the claim was closed.
    resamples_needed : ndarray of int, shape (k, k), or None
        Resamples that would decide an undecided claim, 0 for the others.
    family : int
        Number of tests adjusted for, m.
    """

    claim: Claim
    ratios: Floats
    statistic: Floats
    identical: Booleans
    dominates: Booleans
    standard_error: Floats | None
    p_value: Floats | None
    p_adjusted: Floats | None
    extrapolated: Booleans
    decided: Booleans
    crossings: Integers | None = None
    resamples: Integers | None = None
    resamples_needed: Integers | None = None
    family: int = 0


@dataclass(frozen=True)
class ViolationEstimates:
    """Violation ratios of the table at hand.

    Attributes
    ----------
    ratios : ndarray, shape (2, k, k)
        Orders 1 and 2.
    means : ndarray, shape (k,)
        Mean score of each model.
    identical : ndarray of bool, shape (k, k)
        Pairs whose empirical distributions are equal.
    samples : int
        Independent samples behind the least-sampled model.
    tails : ndarray, shape (k,)
        Mean of the worst share `tail_level` of each model's scores.
    tail_level : float
        max(0.05, 5/n).
    """

    ratios: Floats
    means: Floats
    identical: Booleans
    samples: int
    tails: Floats
    tail_level: float


def estimate(scores: ClusteredScores) -> ViolationEstimates:
    """Violation ratios of both orders ([RAB] section 2).

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.

    Returns
    -------
    ViolationEstimates
    """
    ordered = [np.sort(value) for value in scores.values]
    ratios = violation_matrices(ordered)
    # On a common scale sums of scores near the largest double stay finite.
    scale, level = CommonScale.of(ordered), tail_level(scores)
    scaled = [scale.apply(value) for value in ordered]
    means = scale.undo(np.array([value.mean() for value in scaled]))
    tails = scale.undo(np.array([tail_value_of_sorted(value, level) for value in scaled]))
    k = len(ordered)
    identical = np.zeros((k, k), dtype=bool)
    for i, j in zip(*np.nonzero(np.triu(ratios[0] == 0.5, 1)), strict=True):
        identical[i, j] = identical[j, i] = _same_distribution(ordered[i], ordered[j])
    return ViolationEstimates(ratios, means, identical, scores.effective_size, tails, level)


def compare(estimates: ViolationEstimates, claim: Claim) -> DominanceTests:
    """Who dominates whom in the sample, without a test.

    Parameters
    ----------
    estimates : ViolationEstimates
    claim : Claim

    Returns
    -------
    DominanceTests
        With ``dominates`` where the statistic lies below its boundary, and no p-values.
    """
    ratios = estimates.ratios[claim.order - 1]
    statistic = claim.statistic(ratios)
    below = (statistic < claim.boundary) & ~np.eye(len(ratios), dtype=bool)
    none = np.zeros_like(below)
    return DominanceTests(claim, ratios, statistic, estimates.identical, below, None, None, None, none, ~none)


class BootstrapTest:
    """The default test of one claim, continued round by round (method §4, rules 1 to 4).

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.
    estimates : ViolationEstimates
        Ratios of the sample.
    claim : Claim
        What to test; the null hypothesis is that the statistic is at or above its boundary.
    inference : Inference
        Level and correction of the family.
    pairs : sequence of (int, int), optional
        Ordered pairs (winner, loser) that make up the family; by default all k(k - 1).
    """

    def __init__(
        self,
        scores: ClusteredScores,
        estimates: ViolationEstimates,
        claim: Claim,
        inference: Inference,
        pairs: Pairs | None = None,
    ) -> None:
        self._estimates, self._claim = estimates, claim
        self._pairs = family_of(scores.models, pairs)
        winners, losers = self._pairs
        if claim.kind == RELATIVE:
            samples = np.full(len(winners), scores.effective_size)
            guard = relative_guard(scores)[self._pairs]
        else:
            # Nobody else's presence in the table changes a claim about two models.
            counts = np.array(scores.cluster_counts)
            samples = np.minimum(counts[winners], counts[losers])
            # Beyond ½ the claim is compatible with being the worse model, which ranks would show.
            guard = np.zeros(len(winners))
            if claim.boundary <= 0.5:
                guard = direct_guard(scores, [*zip(*self._pairs, strict=True)])[self._pairs]
        # Where the sample itself speaks for the null hypothesis, no count of resamples speaks against it.
        against = claim.statistic(estimates.ratios[claim.order - 1])[self._pairs] >= claim.boundary
        guard = np.where(against, 0.5 * GUARD, guard)
        self._family = Family(
            samples,
            guard,
            alpha=inference.alpha,
            correction=inference.correction,
            most=inference.planned(len(winners)),
        )

    @property
    def closed(self) -> bool:
        """Whether no further resample can change a verdict."""
        return bool(self._family.closed.all())

    def settle(self, replicates: Replicates, *, last: bool) -> None:
        """Close what the resamples so far can close; everything if no round follows."""
        crossings = _crossings(self._claim, replicates)[self._pairs]
        tail = None
        if self._claim.kind == RELATIVE:
            tail = np.full(len(crossings), np.nan)
            uncrossed = np.flatnonzero((crossings == 0) & ~self._family.closed)
            overall = replicates.one_versus_all(self._claim.order)
            for start in range(0, len(uncrossed), _PAIRS_AT_ONCE):
                some = uncrossed[start : start + _PAIRS_AT_ONCE]
                winners, losers = (side[some] for side in self._pairs)
                tail[some] = relative_tail(overall[:, winners] - overall[:, losers])
        self._family.settle(Counted(replicates.count, crossings, tail), last=last)

    def result(self, replicates: Replicates) -> DominanceTests:
        """Verdicts after the last round."""
        family = self._family
        return _decide(
            self._estimates,
            self._claim,
            self._pairs,
            error=_errors(self._claim, replicates)[self._pairs],
            p_value=family.p_value,
            p_adjusted=family.p_adjusted,
            dominates=family.dominates,
            extrapolated=family.extrapolated,
            decided=family.decided,
            crossings=_crossings(self._claim, replicates)[self._pairs],
            resamples=family.resamples,
            resamples_needed=family.needed,
        )


def bootstrap_test(
    scores: ClusteredScores,
    replicates: Replicates,
    claim: Claim,
    inference: Inference,
    *,
    pairs: Pairs | None = None,
    estimates: ViolationEstimates | None = None,
) -> DominanceTests:
    """The default test on a number of resamples that is settled already.

    Parameters
    ----------
    scores, claim, inference, pairs
        As in :class:`BootstrapTest`.
    replicates : Replicates
        Resamples of the scores, with the boundary of the claim among their thresholds.
    estimates : ViolationEstimates, optional
        Estimates of the scores, where they are there already.

    Returns
    -------
    DominanceTests
    """
    test = BootstrapTest(scores, estimates or estimate(scores), claim, inference, pairs)
    test.settle(replicates, last=True)
    return test.result(replicates)


def family_of(k: int, pairs: Pairs | None) -> tuple[Integers, Integers]:
    """Winners and losers of the ordered pairs of a family, each pair once; all pairs by default."""
    if pairs is None:
        winners, losers = np.nonzero(~np.eye(k, dtype=bool))
        return winners, losers
    unique = np.array(list(dict.fromkeys(pairs)), dtype=np.int64)
    return unique[:, 0], unique[:, 1]


def _crossings(claim: Claim, replicates: Replicates) -> Integers:
    """Resamples in which the statistic is at or above its boundary, shape (k, k)."""
    if claim.kind != RELATIVE:
        return replicates.crossed(claim.order, claim.boundary)
    overall = replicates.one_versus_all(claim.order)
    return np.array([np.count_nonzero(own[:, None] >= overall, axis=0) for own in overall.T])


def _errors(claim: Claim, replicates: Replicates) -> Floats:
    """Bootstrap standard errors of the statistic, shape (k, k)."""
    if claim.kind != RELATIVE:
        return replicates.ratio_error[replicates.orders.index(claim.order)]
    if replicates.count < 2:
        return np.zeros(replicates.means.shape[1:] * 2)
    overall = replicates.one_versus_all(claim.order)
    return np.array([(own[:, None] - overall).std(axis=0, ddof=1) for own in overall.T])


def paper_test(
    estimates: ViolationEstimates, replicates: Replicates, claim: Claim, *, alpha: float = 0.05
) -> DominanceTests:
    """[RAB] Algorithm 1 to the letter: ``T - t₀ <= σ_boot Φ⁻¹(α / k²) / √n``.

    σ_boot already is the standard error; dividing it by √n again makes this nearly a comparison of
    point estimates, which rejects a true null hypothesis 43-52 % of the time at a nominal 5 %.

    Parameters
    ----------
    estimates : ViolationEstimates
    replicates : Replicates
    claim : Claim
    alpha : float
        Level of the family of all k(k - 1) ordered pairs.

    Returns
    -------
    DominanceTests
        With ``p = Φ(√n (T - t₀) / σ_boot)``, adjusted by the paper's factor k².
    """
    k = len(estimates.means)
    pairs = family_of(k, None)
    error = _errors(claim, replicates)[pairs]
    excess = claim.statistic(estimates.ratios[claim.order - 1])[pairs] - claim.boundary
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(excess == 0, 0.0, np.sqrt(estimates.samples) * excess / error)
    p_value = ndtr(z)
    p_adjusted = np.minimum(p_value * k * k, 1.0)
    return _decide(
        estimates,
        claim,
        pairs,
        error=error,
        p_value=p_value,
        p_adjusted=p_adjusted,
        dominates=p_adjusted <= alpha,
        crossings=_crossings(claim, replicates)[pairs],
        resamples=np.full(len(p_value), replicates.count),
    )


def clt_test(
    estimates: ViolationEstimates,
    influence: ViolationInfluence,
    claim: Claim,
    *,
    alpha: float = 0.05,
    correction: str = "holm",
    pairs: Pairs | None = None,
) -> DominanceTests:
    """Asymptotic test by influence functions, without resampling ([RAB] Theorems 1 and 2, method §4).

    Parameters
    ----------
    estimates : ViolationEstimates
        Ratios of the sample.
    influence : ViolationInfluence
        Standard errors for the order of the claim.
    claim : Claim
        What to test.
    alpha : float
        Level of the family.
    correction : str
        See :func:`riskrank.engine.sampling.multiplicity.adjust`.
    pairs : sequence of (int, int), optional
        Ordered pairs (winner, loser) that make up the family; by default all k(k - 1).

    Returns
    -------
    DominanceTests
        With logit-scale p-values, all decided.
    """
    family = family_of(len(estimates.means), pairs)
    if claim.kind == RELATIVE:
        p_value, error = relative_p_values(influence), influence.relative_error
    else:
        p_value, error = absolute_p_values(influence, claim.boundary), influence.ratio_error
    p_adjusted = adjust(p_value[family], correction)
    return _decide(
        estimates,
        claim,
        family,
        error=error[family],
        p_value=p_value[family],
        p_adjusted=p_adjusted,
        dominates=p_adjusted <= alpha,
    )


def _decide(
    estimates: ViolationEstimates,
    claim: Claim,
    pairs: tuple[Integers, Integers],
    *,
    error: Floats,
    p_value: Floats,
    p_adjusted: Floats,
    dominates: Booleans,
    extrapolated: Booleans | None = None,
    decided: Booleans | None = None,
    crossings: Integers | None = None,
    resamples: Integers | None = None,
    resamples_needed: Integers | None = None,
) -> DominanceTests:
    ratios = estimates.ratios[claim.order - 1]

    def square(values: NDArray | None, elsewhere: float | bool) -> NDArray:
        kind = type(elsewhere) if values is None else values.dtype
        full = np.full(ratios.shape, elsewhere, dtype=kind)
        if values is not None:
            full[pairs] = values
        return full

    return DominanceTests(
        claim,
        ratios,
        claim.statistic(ratios),
        estimates.identical,
        square(dominates, False),
        square(error, 0.0),
        square(p_value, 1.0),
        square(p_adjusted, 1.0),
        square(extrapolated, False),
        square(decided, True),
        None if crossings is None else square(crossings, 0),
        None if resamples is None else square(resamples, 0),
        None if resamples is None else square(resamples_needed, 0),
        len(p_value),
    )


def _same_distribution(a: Floats, b: Floats) -> bool:
    """Whether two sorted samples have the same empirical CDF, sizes apart."""
    values_a, counts_a = np.unique(a, return_counts=True)
    values_b, counts_b = np.unique(b, return_counts=True)
    return np.array_equal(values_a, values_b) and np.array_equal(counts_a * b.size, counts_b * a.size)
