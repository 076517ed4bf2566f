"""Tests of dominance claims: bootstrap in rounds, Algorithm 1 of [RAB], and asymptotic tests (method §4).

The default test adds resamples round by round. Algorithm 1 of [RAB] is included for comparison; its type I
error is far too high. The asymptotic tests use standard errors from influence functions (method §4, "CLT").
"""

import numpy as np

from riskrank.engine.dominance.bootstrap import Replicates
from riskrank.engine.dominance.inference import RELATIVE, Claim, ColumnClaims, Inference
from riskrank.engine.dominance.influence import ViolationInfluence
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.dominance.ranking import ViolationEstimates
from riskrank.engine.dominance.sign_flips import MAX_ENUMERATED, flip_count, joint_flip_p_values, mean_utility
from riskrank.engine.dominance.stopping import ClaimFamily, ResampleCounts, extrapolate_tail
from riskrank.engine.dominance.tests import DominanceTests, Pairs, arrange_tests, family_pairs
from riskrank.engine.special import logit, ndtr
from riskrank.engine.types import Floats, Integers

# Pairs whose tails are computed at a time; each needs B numbers.
_PAIRS_AT_ONCE = 256


class BootstrapTest:
    """Default bootstrap test of one claim, updated after each round of resamples (method §4).

    Parameters
    ----------
    column : ColumnClaims
        Column of scores, and the pairs that form the family.
    claim : Claim
        Claim to test. The null hypothesis is that the statistic is at or above the claim's boundary.
    inference : Inference
        Settings, such as the level and the correction for multiple tests.
    """

    def __init__(self, column: ColumnClaims, claim: Claim, inference: Inference) -> None:
        """Prepare the test, including the lower bounds on p-values from sign flips."""
        self._estimates, self._claim = column.estimates, claim
        scores = column.scores
        self._pairs = family_pairs(scores.models, column.pairs)
        pairs = [*zip(*self._pairs, strict=True)]
        samples = pair_samples(scores, pairs)[self._pairs]
        floor, self._flips = np.zeros(len(pairs)), 0
        # Above ½, a claim is compatible with being the worse model. Sampled tasks have tests of their means.
        if claim.boundary <= 0.5 and not scores.n_random_tasks:
            level, known = inference.family.interval_level(len(pairs)), column.flip_p_values
            if inference.resamples != "auto":  # as many flips as resamples
                level = min(level, 10 / inference.resamples)
            if level not in known:
                orders = sorted({other.order for other in column.claims})
                cases = [(scores, mean_utility(order)) for order in orders]
                flipped = joint_flip_p_values(cases, pairs, level=level, seed=inference.seed)
                known[level] = dict(zip(orders, flipped, strict=True))
            floor = known[level][claim.order][self._pairs]
            units = max(scores.cluster_counts) * (1 if scores.joint_resamples else 2)
            self._flips = 0 if units <= MAX_ENUMERATED else flip_count(units, level)
        # If the sample itself supports the null hypothesis, no count of resamples may reject it.
        against = claim.statistic(self._estimates.ratios[claim.order - 1])[self._pairs] >= claim.boundary
        self._family = ClaimFamily(
            samples,
            np.where(against, np.maximum(floor, 0.5), floor),
            family=inference.claim_family(claim, self._pairs),
            max_resamples=inference.planned_resamples(len(pairs), fewest_samples(samples)),
        )

    @property
    def all_decided(self) -> bool:
        """True if all pairs are decided, so that more resamples cannot change a verdict."""
        return bool(self._family.closed.all())

    def update(self, replicates: Replicates, *, last: bool) -> None:
        """Stop testing the pairs that the resamples so far decide, or all pairs in the last round.

        `replicates` holds the resamples of all rounds so far.
        """
        observed = count_crossings(self._claim, replicates)[self._pairs]
        if replicates.probabilities is not None:
            shares = np.asarray(observed, dtype=np.float64)
            self._family.close_all(replicates.count, shares, float(replicates.probabilities.min()))
            return
        crossings, tail = crossings_to_counts(observed, replicates), None
        if self._claim.kind == RELATIVE:
            tail = np.full(len(crossings), np.nan)
            uncrossed = np.flatnonzero((crossings == 0) & ~self._family.closed)
            overall = replicates.one_versus_all(self._claim.order)
            for start in range(0, len(uncrossed), _PAIRS_AT_ONCE):
                some = uncrossed[start : start + _PAIRS_AT_ONCE]
                winners, losers = (side[some] for side in self._pairs)
                tail[some] = extrapolate_tail(overall[:, winners] - overall[:, losers])
        self._family.update(ResampleCounts(replicates.count, crossings, tail), last=last)

    def result(self, replicates: Replicates) -> DominanceTests:
        """Return the verdicts after the last round, whose resamples are given."""
        family = self._family
        return arrange_tests(
            self._estimates,
            self._claim,
            self._pairs,
            standard_error=bootstrap_errors(self._claim, replicates)[self._pairs],
            p_value=family.p_value,
            p_adjusted=family.p_adjusted,
            dominates=family.dominates,
            extrapolated=family.extrapolated,
            decided=family.decided,
            crossings=family.crossings,
            resamples=family.resamples,
            resamples_needed=family.needed,
            **dict(zip(("p_low", "p_high"), family.monte_carlo_limits(self._flips), strict=True)),
        )


def count_crossings(claim: Claim, replicates: Replicates) -> Integers | Floats:
    """Count the resamples that contradict the claim "i dominates j", shape (k, k).

    In these resamples, the test statistic is at or above the boundary of the claim. If `replicates` contain
    all possible resamples, return the probability of contradicting the claim instead.
    """
    if claim.kind != RELATIVE:
        return replicates.crossing_counts(claim.order, claim.boundary)
    overall, masses = replicates.one_versus_all(claim.order), replicates.probabilities
    if masses is not None:
        return np.array([masses @ (ratios[:, None] >= overall) for ratios in overall.T])
    return np.array([np.count_nonzero(ratios[:, None] >= overall, axis=0) for ratios in overall.T])


def crossings_to_counts(crossings: Integers | Floats, replicates: Replicates) -> Integers:
    """Convert the results of `count_crossings` to numbers of resamples.

    Counts are returned unchanged. Probabilities, for which `replicates` contain all possible resamples, are
    multiplied by the number of resamples.
    """
    times = 1 if replicates.probabilities is None else replicates.count
    return np.rint(crossings * times).astype(np.int64)


def bootstrap_errors(claim: Claim, replicates: Replicates) -> Floats:
    """Return the bootstrap standard error of the claim's test statistic for each pair, shape (k, k)."""
    if claim.kind != RELATIVE:
        return replicates.ratio_error[replicates.orders.index(claim.order)]
    if replicates.count < 2:
        return np.zeros(replicates.means.shape[1:] * 2)
    overall, masses = replicates.one_versus_all(claim.order), replicates.probabilities
    if masses is not None:
        deviations = overall - masses @ overall
        return np.array([np.sqrt(masses @ (ratios[:, None] - deviations) ** 2) for ratios in deviations.T])
    return np.array([(ratios[:, None] - overall).std(axis=0, ddof=1) for ratios in overall.T])


def paper_test(
    estimates: ViolationEstimates, replicates: Replicates, claim: Claim, *, level: float = 0.05
) -> DominanceTests:
    """Run Algorithm 1 of [RAB] exactly as printed: ``T - t₀ <= σ_boot Φ⁻¹(α / k²) / √n``.

    σ_boot already is the standard error. Dividing it by √n again nearly turns the test into a comparison of
    point estimates. At a nominal level of 5 %, it rejects a true null hypothesis 43-52 % of the time.

    Parameters
    ----------
    estimates : ViolationEstimates
        Violation ratios and means in the sample.
    replicates : Replicates
        Bootstrap replicates of the same scores.
    claim : Claim
        Claim of dominance to test.
    level : float
        Family-wise level α for all k(k - 1) ordered pairs.

    Returns
    -------
    DominanceTests
        With ``p = Φ(√n (T - t₀) / σ_boot)``, adjusted by the paper's factor k².
    """
    k = len(estimates.means)
    pairs = family_pairs(k, None)
    error = bootstrap_errors(claim, replicates)[pairs]
    excess = claim.statistic(estimates.ratios[claim.order - 1])[pairs] - claim.boundary
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(excess == 0, 0.0, np.sqrt(estimates.samples) * excess / error)
    p_value = ndtr(z)
    p_adjusted = np.minimum(p_value * k * k, 1.0)
    return arrange_tests(
        estimates,
        claim,
        pairs,
        standard_error=error,
        p_value=p_value,
        p_adjusted=p_adjusted,
        dominates=p_adjusted <= level,
        crossings=crossings_to_counts(count_crossings(claim, replicates), replicates)[pairs],
        resamples=np.full(len(p_value), replicates.count),
        resamples_needed=np.zeros(len(p_value), dtype=np.int64),
    )


def logit_p_value(estimate: Floats, error: Floats, *, threshold: float, size: Integers | int) -> Floats:
    """Return p-values for the null hypothesis "ratio ≥ `threshold`", from a z-score on the logit scale.

    A ratio lies in [0, 1], and its estimate is skewed near 0 and 1. On the logit scale the error is closer to
    normal. Estimates are clipped to [1/(4n), 1 − 1/(4n)], and standard errors are at least 1/(4n). At exactly
    0 or 1 the influence function vanishes, and the standard error would otherwise be 0.

    Parameters
    ----------
    estimate : ndarray
        Violation ratios ε_ij; for relative statistics (1 + Δε_ij)/2, with threshold ½.
    error : ndarray, same shape
        Standard errors; for relative statistics, half the standard errors of Δε_ij.
    threshold : float
        τ in (0, 1).
    size : ndarray of int or int
        Number n of independent units behind each estimate.

    Returns
    -------
    ndarray, same shape
        NaN if the estimate is NaN.
    """
    edge = 1 / (4 * np.asarray(size, dtype=float))
    clipped = np.clip(np.asarray(estimate, dtype=float), edge, 1 - edge)
    spread = np.maximum(error, edge) / (clipped * (1 - clipped))
    return ndtr((logit(clipped) - logit(threshold)) / spread)


def claim_p_values(result: ViolationInfluence, claim: Claim) -> Floats:
    """Return the p-values of a claim for all ordered pairs, shape (k, k), NaN on the diagonal.

    `result` holds violation ratios with asymptotic standard errors. The null hypothesis is that ε_ij ≥ τ
    (Δε_ij ≥ 0 for a relative claim), or that i and j have equal distributions.
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
    inference: Inference,
    pairs: Pairs | None = None,
) -> DominanceTests:
    """Test a claim with influence functions instead of resampling ([RAB] Theorems 1 and 2, method §4).

    Parameters
    ----------
    estimates : ViolationEstimates
        Violation ratios and means in the sample.
    influence : ViolationInfluence
        Standard errors for the claim's order.
    claim : Claim
        Claim of dominance to test.
    inference : Inference
        Level and correction.
    pairs : sequence of (int, int), optional
        Ordered pairs (winner, loser) that form the family; by default all k(k - 1).

    Returns
    -------
    DominanceTests
        Has p-values computed on the logit scale; all claims are decided.
    """
    selected = family_pairs(len(estimates.means), pairs)
    error = influence.relative_error if claim.kind == RELATIVE else influence.ratio_error
    p_value = claim_p_values(influence, claim)[selected]
    family = inference.claim_family(claim, selected)
    p_adjusted = family.adjust_p_values(p_value)
    return arrange_tests(
        estimates,
        claim,
        selected,
        standard_error=error[selected],
        p_value=p_value,
        p_adjusted=p_adjusted,
        dominates=family.significant(p_adjusted),
    )
