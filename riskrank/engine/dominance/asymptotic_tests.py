"""Dominance tests from standard errors, without resampling (method §4 "CLT")."""

from __future__ import annotations

import numpy as np
from scipy.special import logit, ndtr

from riskrank.engine.dominance.claims import RELATIVE, Claim
from riskrank.engine.dominance.estimates import ViolationEstimates
from riskrank.engine.dominance.influence import ViolationInfluence
from riskrank.engine.dominance.tests import DominanceTests, Pairs, decide, family_of
from riskrank.engine.family import Family
from riskrank.engine.types import Floats, Integers


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
