"""Tests of almost and relative stochastic dominance for all ordered pairs of models.

Source: [RAB] sections 2 and 3, Algorithm 1; method §3 and §4, which corrects its rejection rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from riskrank.engine.dominance.bootstrap import Replicates
from riskrank.engine.dominance.influence import ViolationInfluence, absolute_p_values, relative_p_values
from riskrank.engine.dominance.tail import mean_difference_p_value, tail_p_value
from riskrank.engine.dominance.violation import one_versus_all, violation_matrix
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.multiplicity import adjust
from riskrank.errors import UsageError

Floats = NDArray[np.float64]

# [RAB] section 5 reports absolute tests at these thresholds.
PAPER_THRESHOLDS = (0.08, 0.25, 0.4)


@dataclass(frozen=True)
class Claim:
    """What a test asks: the order, and relative dominance or a ratio below a threshold.

    Attributes
    ----------
    order : {1, 2}
        Order of stochastic dominance.
    threshold : float or None
        Largest violation ratio of absolute dominance τ; None asks for relative dominance.
    """

    order: int
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise UsageError(
                "a threshold of almost dominance lies between 0 and 1",
                found=f"{self.threshold:g}",
                hint="the usual thresholds are 0.08, 0.25 and 0.4; at 0.5 or above both models may dominate",
            )

    @property
    def test(self) -> str:
        """``relative`` or ``absolute``."""
        return "relative" if self.threshold is None else "absolute"

    @property
    def boundary(self) -> float:
        """Value the statistic must stay below: 0 for relative dominance, τ for absolute."""
        return 0.0 if self.threshold is None else self.threshold

    def statistic(self, ratios: Floats) -> Floats:
        """Test statistic of every ordered pair from its violation ratios, shape (..., k, k)."""
        if self.threshold is not None:
            return ratios
        overall = one_versus_all(ratios)
        return overall[..., :, None] - overall[..., None, :]

    def on_unit_scale(self, statistic: Floats | float) -> Floats | float:
        """Statistic as a number in [0, 1], for the logit: Δε becomes (1 + Δε) / 2."""
        return (1 + statistic) / 2 if self.threshold is None else statistic


@dataclass(frozen=True)
class DominanceTests:
    """Verdicts on all ordered pairs; ``[i, j]`` is about "i dominates j", the diagonal is meaningless.

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
        Whether the p-value rests on the continued tail.
    """

    claim: Claim
    ratios: Floats
    statistic: Floats
    identical: NDArray[np.bool_]
    dominates: NDArray[np.bool_]
    standard_error: Floats | None
    p_value: Floats | None
    p_adjusted: Floats | None
    extrapolated: NDArray[np.bool_]


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
    """

    ratios: Floats
    means: Floats
    identical: NDArray[np.bool_]
    samples: int


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
    ratios = np.stack([violation_matrix(scores.values, order=order) for order in (1, 2)])
    ordered = [np.sort(value) for value in scores.values]
    means = np.array([value.mean() for value in ordered])
    k = len(ordered)
    identical = np.zeros((k, k), dtype=bool)
    for i, j in zip(*np.nonzero(np.triu(ratios[0] == 0.5, 1)), strict=True):
        identical[i, j] = identical[j, i] = _same_distribution(ordered[i], ordered[j])
    return ViolationEstimates(ratios, means, identical, scores.effective_size)


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
    return DominanceTests(
        claim, ratios, statistic, estimates.identical, below, None, None, None, np.zeros_like(below)
    )


def bootstrap_test(
    estimates: ViolationEstimates,
    replicates: Replicates,
    claim: Claim,
    *,
    alpha: float = 0.05,
    correction: str = "bonferroni",
) -> DominanceTests:
    """Percentile bootstrap test with tail continuation (method §4).

    Parameters
    ----------
    estimates : ViolationEstimates
        Ratios of the sample.
    replicates : Replicates
        Their bootstrap replicates.
    claim : Claim
        What to test; the null hypothesis is that the statistic is at or above its boundary.
    alpha : float
        Level of the family of all k(k - 1) ordered pairs.
    correction : str
        See :func:`riskrank.engine.sampling.multiplicity.adjust`.

    Returns
    -------
    DominanceTests
    """
    k = len(estimates.means)
    pairs = ~np.eye(k, dtype=bool)
    statistics = claim.statistic(replicates.ratios[:, claim.order - 1])
    fallback = mean_difference_p_value(estimates.means, replicates.means, samples=estimates.samples)
    tail = tail_p_value(
        claim.on_unit_scale(statistics[:, pairs]),
        claim.on_unit_scale(claim.boundary),
        samples=estimates.samples,
        fallback=fallback[pairs],
    )
    return _decide(
        estimates,
        claim,
        error=statistics[:, pairs].std(axis=0, ddof=1),
        p_value=tail.p_value,
        p_adjusted=adjust(tail.p_value, correction),
        extrapolated=tail.extrapolated,
        alpha=alpha,
    )


def paper_test(
    estimates: ViolationEstimates, replicates: Replicates, claim: Claim, *, alpha: float = 0.05
) -> DominanceTests:
    """[RAB] Algorithm 1 to the letter: ``T - t₀ <= σ_boot Φ⁻¹(α / k²) / √n``.

    σ_boot already is the standard error; dividing it by √n again makes this nearly a comparison of
    point estimates, which rejects a true null hypothesis 43-52 % of the time at a nominal 5 %.

    Parameters
    ----------
    estimates, replicates, claim, alpha
        As in :func:`bootstrap_test`.

    Returns
    -------
    DominanceTests
        With ``p = Φ(√n (T - t₀) / σ_boot)``, adjusted by the paper's factor k².
    """
    k = len(estimates.means)
    pairs = ~np.eye(k, dtype=bool)
    error = claim.statistic(replicates.ratios[:, claim.order - 1])[:, pairs].std(axis=0, ddof=1)
    excess = claim.statistic(estimates.ratios[claim.order - 1])[pairs] - claim.boundary
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(excess == 0, 0.0, np.sqrt(estimates.samples) * excess / error)
    p_value = ndtr(z)
    return _decide(
        estimates,
        claim,
        error=error,
        p_value=p_value,
        p_adjusted=np.minimum(p_value * k * k, 1.0),
        extrapolated=np.zeros(p_value.shape, dtype=bool),
        alpha=alpha,
    )


def clt_test(
    estimates: ViolationEstimates,
    influence: ViolationInfluence,
    claim: Claim,
    *,
    alpha: float = 0.05,
    correction: str = "bonferroni",
) -> DominanceTests:
    """Asymptotic test by influence functions, without resampling ([RAB] Theorems 1 and 2, method §4).

    Parameters
    ----------
    estimates : ViolationEstimates
        Ratios of the sample.
    influence : ViolationInfluence
        Standard errors for the order of the claim.
    claim, alpha, correction
        As in :func:`bootstrap_test`.

    Returns
    -------
    DominanceTests
        With logit-scale p-values.
    """
    pairs = ~np.eye(len(estimates.means), dtype=bool)
    if claim.threshold is None:
        p_value, error = relative_p_values(influence), influence.relative_error
    else:
        p_value, error = absolute_p_values(influence, claim.threshold), influence.ratio_error
    return _decide(
        estimates,
        claim,
        error=error[pairs],
        p_value=p_value[pairs],
        p_adjusted=adjust(p_value[pairs], correction),
        extrapolated=np.zeros(int(pairs.sum()), dtype=bool),
        alpha=alpha,
    )


def claims(orders: Sequence[int], *, relative: bool, thresholds: Sequence[float]) -> tuple[Claim, ...]:
    """All claims of a run: relative ones first, then absolute ones by threshold."""
    found = [Claim(order) for order in orders] if relative else []
    found += [Claim(order, float(tau)) for order in orders for tau in thresholds]
    return tuple(found)


def _decide(
    estimates: ViolationEstimates,
    claim: Claim,
    *,
    error: Floats,
    p_value: Floats,
    p_adjusted: Floats,
    extrapolated: NDArray[np.bool_],
    alpha: float,
) -> DominanceTests:
    ratios = estimates.ratios[claim.order - 1]
    k = len(ratios)
    return DominanceTests(
        claim,
        ratios,
        claim.statistic(ratios),
        estimates.identical,
        _off_diagonal(p_adjusted <= alpha, k, False),
        _off_diagonal(error, k, 0.0),
        _off_diagonal(p_value, k, 1.0),
        _off_diagonal(p_adjusted, k, 1.0),
        _off_diagonal(extrapolated, k, False),
    )


def _off_diagonal(values: NDArray, k: int, diagonal: float | bool) -> NDArray:
    full = np.full((k, k), diagonal, dtype=values.dtype)
    full[~np.eye(k, dtype=bool)] = values
    return full


def _same_distribution(a: Floats, b: Floats) -> bool:
    """Whether two sorted samples have the same empirical CDF, sizes apart."""
    values_a, counts_a = np.unique(a, return_counts=True)
    values_b, counts_b = np.unique(b, return_counts=True)
    return np.array_equal(values_a, values_b) and np.array_equal(counts_a * b.size, counts_b * a.size)
