"""Algorithm 1 of [RAB] to the letter, kept to be compared with; it rejects far too often (method §4)."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from riskrank.engine.dominance.claims import Claim
from riskrank.engine.dominance.estimates import ViolationEstimates
from riskrank.engine.dominance.replicates import Replicates
from riskrank.engine.dominance.resampled_tests import counted, crossings_of, errors_of
from riskrank.engine.dominance.tests import DominanceTests, decide, family_of


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
        error=error,
        p_value=p_value,
        p_adjusted=p_adjusted,
        dominates=p_adjusted <= level,
        crossings=counted(crossings_of(claim, replicates), replicates)[pairs],
        resamples=np.full(len(p_value), replicates.count),
    )
