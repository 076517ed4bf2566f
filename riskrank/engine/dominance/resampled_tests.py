"""The default test of a claim on all pairs, continued round by round (method §4, rules 1 to 4).

Algorithm 1 of [RAB] to the letter, kept to be compared with; it rejects far too often (method §4).

Dominance tests from standard errors, without resampling (method §4 "CLT").
"""

import numpy as np
from scipy.special import logit, ndtr

from riskrank.engine.dominance.inference import RELATIVE, Claim, Inference, Question
from riskrank.engine.dominance.influence import ViolationInfluence
from riskrank.engine.dominance.rank_guard import (
    behind_pairs,
    direct_guard,
    guard_share,
    least,
    relative_guard,
)
from riskrank.engine.dominance.ranking import ViolationEstimates
from riskrank.engine.dominance.replicates import Replicates
from riskrank.engine.dominance.sign_tests import sign_tests
from riskrank.engine.dominance.stopping import ClaimFamily, Counted, relative_tail
from riskrank.engine.dominance.tests import DominanceTests, Pairs, decide, family_of
from riskrank.engine.family import Family
from riskrank.engine.types import Floats, Integers

# Statistics of a tail are made for this many pairs at a time: B numbers each.
_PAIRS_AT_ONCE = 256


class BootstrapTest:
    """The default test of one claim, continued round by round (method §4, rules 1 to 4).

    Parameters
    ----------
    question : Question
        The column, and the pairs that make up the family.
    claim : Claim
        What to test; the null hypothesis is that the statistic is at or above its boundary.
    inference : Inference
        Level and correction of the family.
    """

    def __init__(self, question: Question, claim: Claim, inference: Inference) -> None:
        self._estimates, self._claim = question.estimates, claim
        scores = question.scores
        self._pairs = family_of(scores.models, question.pairs)
        winners = self._pairs[0]
        own = None if claim.kind == RELATIVE else [*zip(*self._pairs, strict=True)]
        samples = behind_pairs(scores, own)[self._pairs]
        # Beyond ½ the claim is compatible with being the worse model, which ranks and signs would show.
        guard, exact = np.zeros((2, len(winners)))
        if own is None or claim.boundary <= 0.5:
            exact = sign_tests(scores)[self._pairs] / 2
        if own is None:
            guard = relative_guard(scores)[self._pairs]
        elif claim.boundary <= 0.5:
            # Nobody else's presence in the table changes a claim about two models.
            guard = direct_guard(scores, own)[self._pairs]
        # Where the sample itself speaks for the null hypothesis, no count of resamples speaks against it.
        against = claim.statistic(self._estimates.ratios[claim.order - 1])[self._pairs] >= claim.boundary
        share = guard_share(paired=scores.drawn_together)
        guard = np.where(against, 0.5 * share, guard)
        self._family = ClaimFamily(
            samples,
            guard,
            family=inference.family,
            guard_share=share,
            exact=exact,
            most=inference.planned(len(winners), least(samples)),
        )

    @property
    def closed(self) -> bool:
        """Whether no further resample can change a verdict."""
        return bool(self._family.closed.all())

    def settle(self, replicates: Replicates, *, last: bool) -> None:
        """Close what the resamples so far can close; everything if no round follows."""
        found = crossings_of(self._claim, replicates)[self._pairs]
        if replicates.masses is not None:
            shares = np.asarray(found, dtype=np.float64)
            self._family.settle_all(replicates.count, shares, float(replicates.masses.min()))
            return
        crossings, tail = counted(found, replicates), None
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
        return decide(
            self._estimates,
            self._claim,
            self._pairs,
            standard_error=errors_of(self._claim, replicates)[self._pairs],
            p_value=family.p_value,
            p_adjusted=family.p_adjusted,
            dominates=family.dominates,
            extrapolated=family.extrapolated,
            decided=family.decided,
            crossings=counted(crossings_of(self._claim, replicates), replicates)[self._pairs],
            resamples=family.resamples,
            resamples_needed=family.needed,
        )


def crossings_of(claim: Claim, replicates: Replicates) -> Integers | Floats:
    """Resamples in which the statistic is at or above its boundary, or their probability, shape (k, k)."""
    if claim.kind != RELATIVE:
        return replicates.crossed(claim.order, claim.boundary)
    overall, masses = replicates.one_versus_all(claim.order), replicates.masses
    if masses is not None:
        return np.array([masses @ (own[:, None] >= overall) for own in overall.T])
    return np.array([np.count_nonzero(own[:, None] >= overall, axis=0) for own in overall.T])


def counted(crossings: Integers | Floats, replicates: Replicates) -> Integers:
    """How many of the resamples that is."""
    times = 1 if replicates.masses is None else replicates.count
    return np.rint(crossings * times).astype(np.int64)


def errors_of(claim: Claim, replicates: Replicates) -> Floats:
    """Bootstrap standard errors of the statistic, shape (k, k)."""
    if claim.kind != RELATIVE:
        return replicates.ratio_error[replicates.orders.index(claim.order)]
    if replicates.count < 2:
        return np.zeros(replicates.means.shape[1:] * 2)
    overall, masses = replicates.one_versus_all(claim.order), replicates.masses
    if masses is not None:
        away = overall - masses @ overall
        return np.array([np.sqrt(masses @ (own[:, None] - away) ** 2) for own in away.T])
    return np.array([(own[:, None] - overall).std(axis=0, ddof=1) for own in overall.T])


def paper_test(
    estimates: ViolationEstimates, replicates: Replicates, claim: Claim, *, level: float = 0.05
) -> DominanceTests:
    """[RAB] Algorithm 1 to the letter: ``T - t₀ <= σ_boot Φ⁻¹(α / k²) / √n``.

    σ_boot already is the standard error; dividing it by √n again makes this nearly a comparison of
    point estimates, which rejects a true null hypothesis 43-52 % of the time at a nominal 5 %.

    Parameters
    ----------
    estimates : ViolationEstimates
    replicates : Replicates
    claim : Claim
    level : float
        Level of the family of all k(k - 1) ordered pairs.

    Returns
    -------
    DominanceTests
        With ``p = Φ(√n (T - t₀) / σ_boot)``, adjusted by the paper's factor k².
    """
    k = len(estimates.means)
    pairs = family_of(k, None)
    error = errors_of(claim, replicates)[pairs]
    excess = claim.statistic(estimates.ratios[claim.order - 1])[pairs] - claim.boundary
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(excess == 0, 0.0, np.sqrt(estimates.samples) * excess / error)
    p_value = ndtr(z)
    p_adjusted = np.minimum(p_value * k * k, 1.0)
    return decide(
        estimates,
        claim,
        pairs,
        standard_error=error,
        p_value=p_value,
        p_adjusted=p_adjusted,
        dominates=p_adjusted <= level,
        crossings=counted(crossings_of(claim, replicates), replicates)[pairs],
        resamples=np.full(len(p_value), replicates.count),
        resamples_needed=np.zeros(len(p_value), dtype=np.int64),
    )


def logit_p_value(estimate: Floats, error: Floats, *, threshold: float, size: Integers | int) -> Floats:
    """P-values of "the violation ratio is at least `threshold`" from a z-score on the logit scale.

    A ratio lives in [0, 1] and its estimate is skewed near the ends; on the logit scale a normal error comes
    nearer. Estimates are kept 1/4n away from the ends and errors at least that large: at 0 or 1 exactly, the
    influence vanishes and the plain error would claim certainty.

    Parameters
    ----------
    estimate : ndarray
        Violation ratios ε_ij; for relative statistics give (1 + Δε_ij)/2 and threshold ½.
    error : ndarray, same shape
        Standard errors; for relative statistics, half those of Δε_ij.
    threshold : float
        τ in (0, 1).
    size : ndarray of int or int
        Number n of independent units behind each estimate.

    Returns
    -------
    ndarray, same shape
        NaN where the estimate is.
    """
    edge = 1 / (4 * np.asarray(size, dtype=float))
    kept = np.clip(np.asarray(estimate, dtype=float), edge, 1 - edge)
    spread = np.maximum(error, edge) / (kept * (1 - kept))
    return ndtr((logit(kept) - logit(threshold)) / spread)


def claim_p_values(result: ViolationInfluence, claim: Claim) -> Floats:
    """P-values of a claim on all ordered pairs, shape (k, k), NaN on the diagonal.

    The null hypothesis is ε_ij ≥ τ, of a relative claim Δε_ij ≥ 0, or i and j the same.
    """
    estimate, error, threshold = result.ratio, result.ratio_error, claim.boundary
    if claim.kind == RELATIVE:
        estimate, error, threshold = (1 + result.relative) / 2, result.relative_error / 2, 0.5
    size = np.minimum(result.clusters[:, None], result.clusters)
    return np.maximum(logit_p_value(estimate, error, threshold=threshold, size=size), result.equal_p_value)


def clt_test(
    estimates: ViolationEstimates,
    influence: ViolationInfluence,
    claim: Claim,
    *,
    family: Family = Family(),
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
    family : Family
    pairs : sequence of (int, int), optional
        Ordered pairs (winner, loser) that make up the family; by default all k(k - 1).

    Returns
    -------
    DominanceTests
        With logit-scale p-values, all decided.
    """
    wanted = family_of(len(estimates.means), pairs)
    error = influence.relative_error if claim.kind == RELATIVE else influence.ratio_error
    p_value = claim_p_values(influence, claim)[wanted]
    p_adjusted = family.adjusted(p_value)
    return decide(
        estimates,
        claim,
        wanted,
        standard_error=error[wanted],
        p_value=p_value,
        p_adjusted=p_adjusted,
        dominates=family.significant(p_adjusted),
    )
