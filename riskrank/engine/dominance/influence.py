"""Standard errors of violation ratios without resampling ([RAB] Theorems 1 and 2, method §4).

A violation ratio is a smooth function of the quantile functions, so each score's effect on it, its influence,
can be written down: a weighted sum of gaps between order statistics. The variance of the ratio is that of the
mean influence. The paper's printed formula takes the variance of the influence's derivative instead; the
influence itself is what agrees with simulation, and it needs no density estimate.

The limit theorem assumes that the two distributions differ. Where they do not, the ratio is 0 or 1 by chance
and its error vanishes with it: two equal normals would be "separated" in 30 % of tests at 5 %, whatever the
sample size. So a p-value here is never smaller than that of the hypothesis that the two are equal.

Are two models' distributions equal? From the distance of their integrated quantiles (method §4 "CLT").
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.pair_curves import (
    MergedGrid,
    first_order_influence,
    integrated_distance,
    second_order_influence,
)
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats, Integers

LARGEST_ERROR = 0.5
"""The largest standard deviation a ratio, being in [0, 1], can have."""


@dataclass(frozen=True)
class ViolationInfluence:
    """Violation ratios of k models with their asymptotic standard errors.

    Attributes
    ----------
    ratio : ndarray, shape (k, k)
        ε_ij of "i dominates j", ½ by convention of equal distributions; NaN on the diagonal.
    ratio_error : ndarray, shape (k, k)
        Standard error of ε_ij, 0 of equal distributions; NaN on the diagonal.
    relative : ndarray, shape (k, k)
        Δε_ij = ε_i − ε_j.
    relative_error : ndarray, shape (k, k)
        Standard error of Δε_ij; NaN on the diagonal.
    equal_p_value : ndarray, shape (k, k)
        P-value of "i and j have the same distribution", from the distance of their integrated quantiles.
    clusters : ndarray of int, shape (k,)
        Number of independent units (clusters, or rows) of each model.
    """

    ratio: Floats
    ratio_error: Floats
    relative: Floats
    relative_error: Floats
    equal_p_value: Floats
    clusters: Integers


def influence_of_violation(scores: ClusteredScores, *, order: int) -> ViolationInfluence:
    """Violation ratios, absolute and relative, with standard errors from influence functions.

    With d = Q_i − Q_j, d₋ = min(d, 0), S = ∫d² and N = ∫d₋², the ratio ε_ij = N/S changes with Q_i at the
    rate a = (2 d₋ S − 2 d N)/S² and with Q_j at −a. A score at x shifts Q_i only from its own quantile on, so
    its influence is V(x) = −∫_{Q_i ≥ x} a dQ_i, centred. For order 2, d is the difference of the integrated
    quantiles and ∫_t^1 a takes the place of a. Influences are summed by cluster, and over models before
    squaring in a paired design.

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores, of no drawn tasks.
    order : {1, 2}
        Order of dominance.

    Returns
    -------
    ViolationInfluence

    Raises
    ------
    InputError
        If the samples or clusters do not fit each other, or a score is not finite.
    UsageError
        If the order is neither 1 nor 2.

    References
    ----------
    [RAB] Theorems 1 and 2, remarks 2 and 3; method §4 "CLT".
    """
    # The ratio is free of location and unit; a common scale keeps its fourth powers within range. A first
    # one, exact, keeps the sums behind the centre finite.
    values = CommonScale.of(scores.values).of_all(scores.values)
    centre = np.mean([row.mean() for row in values])
    scale = max(float(np.abs(row - centre).max()) for row in values) or 1.0
    scores = replace(scores, values=tuple((row - centre) / scale for row in values))
    sortings = [np.argsort(row, kind="stable") for row in scores.values]
    ordered = [row[sorting] for row, sorting in zip(scores.values, sortings, strict=True)]
    influence_of_pair = first_order_influence if order == 1 else second_order_influence
    k = len(ordered)
    counts = np.array(scores.cluster_counts)
    ratio = np.full((k, k), np.nan)
    # effect[i, j]: what each cluster of model i contributes to ε_ij, shape (k, k, clusters).
    effect = np.zeros((k, k, int(counts.max())))
    distance = np.zeros((k, k))
    grids: dict[tuple[int, int], MergedGrid] = {}
    shares = [own[sorting] for own, sorting in zip(scores.weights, sortings, strict=True)]
    for i in range(k):
        for j in range(i):
            sizes = (len(ordered[i]), len(ordered[j]))
            if not scores.plain or sizes not in grids:
                grids[sizes] = MergedGrid(shares[i], shares[j])
            grid = grids[sizes]
            distance[i, j] = distance[j, i] = integrated_distance(ordered[i], ordered[j], grid)
            pair = influence_of_pair(ordered[i], ordered[j], grid)
            ratio[i, j], ratio[j, i] = pair.ratio, 1 - pair.ratio
            if pair.influence_first is None or pair.influence_second is None:
                continue
            for first, second, moved in ((i, j, pair.influence_first), (j, i, -pair.influence_second)):
                influence = np.empty(moved.size)
                influence[sortings[first]] = moved
                effect[first, second, : counts[first]] = per_cluster(scores, first, influence)
    errors = _paired_errors if scores.paired else _unpaired_errors
    linear, _ = errors(effect)
    # Nothing within [0, 1] has a standard deviation above ½; models too alike for the linear rate exceed it.
    effect *= (LARGEST_ERROR / np.fmax(linear, LARGEST_ERROR))[:, :, None]
    ratio_error, relative_error = errors(effect)
    one_versus_all = np.nanmean(ratio, axis=1)
    return ViolationInfluence(
        ratio=ratio,
        ratio_error=ratio_error,
        relative=one_versus_all[:, None] - one_versus_all[None, :],
        relative_error=relative_error,
        equal_p_value=equal_p_values(scores, distance),
        clusters=counts,
    )


def _paired_errors(effect: Floats) -> tuple[Floats, Floats]:
    # Both models' effects on ε_ij meet in the same cluster; the second's enters ε_ij with the other sign.
    both = effect - effect.swapaxes(0, 1)
    ratio_error = np.sqrt(np.einsum("ijc,ijc->ij", both, both))
    one_versus_all = both.sum(axis=1) / (len(effect) - 1)
    difference = one_versus_all[:, None] - one_versus_all[None, :]
    relative_error = np.sqrt(np.einsum("ijc,ijc->ij", difference, difference))
    return _without_diagonal(ratio_error), _without_diagonal(relative_error)


def _unpaired_errors(effect: Floats) -> tuple[Floats, Floats]:
    k = len(effect)
    # product[m, i, j]: covariance of model m's effects on ε_mi and ε_mj.
    product = np.einsum("mic,mjc->mij", effect, effect, optimize=True)
    own = np.einsum("mii->mi", product)
    ratio_error = np.sqrt(own + own.T)
    relative_error = np.full((k, k), np.nan)
    for a in range(k):
        for b in range(a):
            # Weights of model m's effects on ε_m· in Δε_ab; [RAB] Theorem 2's factor 2 is the b-th of m = a.
            weights = np.zeros((k, k))
            weights[:, a], weights[:, b] = -1, 1
            weights[a], weights[b] = 1, -1
            weights[a, b], weights[b, a] = 2, -2
            variance = np.einsum("mi,mij,mj->", weights, product, weights)
            relative_error[a, b] = relative_error[b, a] = np.sqrt(variance) / (k - 1)
    return _without_diagonal(ratio_error), relative_error


def _without_diagonal(table: Floats) -> Floats:
    np.fill_diagonal(table, np.nan)
    return table


LEVELS = 32
"""Quantile levels at which the noise of integrated quantiles is described; its curves are smooth."""

MOST_CLUSTERS = 5000
"""Clusters used to describe that noise: more cost time and change nothing."""

BLOCK = 128
"""Clusters per matrix product. BLAS leaves products this small to one thread; larger ones it shares among
threads that wait for each other, which on a busy machine costs far more than it gains."""


def equal_p_values(scores: ClusteredScores, distance: Floats) -> Floats:
    """P-values of equal distributions.

    If i and j are equal, ∫D² is a sum of squared normals with the eigenvalues of D's covariance as weights; a
    chi-square with the same mean and variance stands for it. The influence of a score x on the integrated
    quantile at level t is min(x, Q(t)), centred.

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.
    distance : ndarray, shape (k, k)
        ∫D² of each pair.

    Returns
    -------
    ndarray, shape (k, k)
        NaN on the diagonal.
    """
    k = scores.models
    noise = [_noise(scores, model) for model in range(k)]
    p_value = np.full((k, k), np.nan)
    own = [_gram(curves, curves) for curves in noise]
    for i in range(k):
        for j in range(i):
            covariance = own[i] + own[j]
            if scores.paired:
                shared = _gram(noise[i], noise[j])
                covariance = covariance - shared - shared.T
            mean = np.trace(covariance) / LEVELS
            variance = 2 * (covariance**2).sum() / LEVELS**2
            if distance[i, j] == 0 or mean <= 0:
                # Without noise any difference is a certain one, and no difference is none.
                p = float(distance[i, j] == 0)
            else:
                p = chdtrc(2 * mean**2 / variance, distance[i, j] * 2 * mean / variance)
            p_value[i, j] = p_value[j, i] = p
    return p_value


def _noise(scores: ClusteredScores, model: int) -> Floats:
    """Each cluster's part in the noise of the integrated quantiles, shape (blocks, BLOCK, LEVELS)."""
    count, values = scores.cluster_counts[model], scores.values[model]
    # Evenly spaced cluster numbers when there are very many; the same ones for all models of a paired design.
    kept = np.unique(np.linspace(0, count - 1, min(count, MOST_CLUSTERS)).astype(np.int64))
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(scores.shares[model][order])
    levels = (np.arange(LEVELS) + 0.5) / LEVELS
    quantiles = values[order[np.minimum(np.searchsorted(ends, levels), order.size - 1)]]
    curves = np.zeros((-(-len(kept) // BLOCK) * BLOCK, LEVELS))
    for level, quantile in enumerate(quantiles):
        influence = per_cluster(scores, model, np.minimum(values, quantile))
        curves[: len(kept), level] = influence[kept] * np.sqrt(count / len(kept))
    return curves.reshape(-1, BLOCK, LEVELS)


def per_cluster(scores: ClusteredScores, model: int, influence: Floats) -> Floats:
    """Sums per cluster of influences that weigh as the scores do, about the mean of their task, shape (C,).

    Their squares add up to the variance of the weighted mean.
    """
    tasks = scores.strata.of_cluster[model]
    sums = np.bincount(scores.clusters[model], influence * scores.shares[model], minlength=tasks.size)
    counts = np.bincount(tasks).astype(np.float64)
    away = sums - (np.bincount(tasks, sums) / np.maximum(counts, 1))[tasks]
    return np.asarray(away * np.sqrt(counts / np.maximum(counts - 1, 1))[tasks])


def _gram(first: Floats, second: Floats) -> Floats:
    return np.matmul(first.swapaxes(1, 2), second).sum(axis=0)
