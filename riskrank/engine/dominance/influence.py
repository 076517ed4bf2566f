"""Standard errors of violation ratios from influence functions ([RAB] Theorems 1 and 2, method §4).

A violation ratio is a smooth function of the quantile functions. The influence of a score on it is therefore
a weighted sum of gaps between order statistics. The variance of the ratio is that of the mean influence. The
formula printed in [RAB] uses the variance of the influence's derivative instead. The influence function
itself agrees with simulations and requires no density estimate.

The limit theorem assumes that the two distributions differ. If they are equal, the estimated ratio can be 0
or 1 by chance, and its standard error is then 0. At a nominal level of 5 %, two identical normal
distributions would be declared different in 30 % of cases, whatever the sample size. Therefore every p-value
is at least that of a test for equality of the two distributions.

The equality test is based on the distance between the integrated quantile functions (method §4, "CLT").
"""

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance import pair_curves
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.special import chdtrc
from riskrank.engine.types import Floats, Integers

# The largest standard deviation a ratio, being in [0, 1], can have.
LARGEST_ERROR = 0.5


@dataclass(frozen=True)
class ViolationInfluence:
    """Violation ratios of k models with asymptotic standard errors.

    Attributes
    ----------
    ratio : ndarray, shape (k, k)
        ε_ij of "i dominates j", ½ by convention for equal distributions; NaN on the diagonal.
    ratio_error : ndarray, shape (k, k)
        Standard error of ε_ij, 0 for equal distributions; NaN on the diagonal.
    relative : ndarray, shape (k, k)
        Differences Δε_ij = ε_i − ε_j of the one-versus-all ratios.
    relative_error : ndarray, shape (k, k)
        Standard error of Δε_ij; NaN on the diagonal.
    equal_p_value : ndarray, shape (k, k)
        P-values for the null hypothesis that i and j have the same distribution, based on the distance
        between their integrated quantile functions.
    clusters : ndarray of int, shape (k,)
        Number of independent units (clusters or rows) of each model.
    """

    ratio: Floats
    ratio_error: Floats
    relative: Floats
    relative_error: Floats
    equal_p_value: Floats
    clusters: Integers


def violation_influence(scores: ClusteredScores, *, order: int) -> ViolationInfluence:
    """Compute absolute and relative violation ratios with standard errors from influence functions.

    Let d = Q_i − Q_j, d₋ = min(d, 0), S = ∫d² and N = ∫d₋². The functional derivative of the ratio ε_ij = N/S
    is a = (2 d₋ S − 2 d N)/S² with respect to Q_i, and −a with respect to Q_j. A score at x shifts Q_i only
    above its own quantile, so its influence is V(x) = −∫_{Q_i ≥ x} a dQ_i, centred. For order 2, d is the
    difference of the integrated quantiles and ∫_t^1 a replaces a. Influences are summed by cluster, and in a
    paired design also over models before squaring.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models; tasks must be fixed, not sampled.
    order : {1, 2}
        Order of dominance.

    Returns
    -------
    ViolationInfluence

    Raises
    ------
    InputError
        If the samples or clusters do not match, or a score is not finite.
    UsageError
        If the order is neither 1 nor 2.

    References
    ----------
    [RAB] Theorems 1 and 2, remarks 2 and 3; method §4 "CLT".
    """
    # The ratio is invariant to location and scale; a common scale keeps its fourth powers in range. The
    # exact scaling before it keeps the sums for the centre finite.
    values = CommonScale.fit(scores.values).apply_all(scores.values)
    centre = np.mean([row.mean() for row in values])
    scale = max(float(np.abs(row - centre).max()) for row in values) or 1.0
    scores = replace(scores, values=tuple((row - centre) / scale for row in values))
    sortings = [np.argsort(row, kind="stable") for row in scores.values]
    ordered = [row[sorting] for row, sorting in zip(scores.values, sortings, strict=True)]
    pair_influences = pair_curves.first_order_influence if order == 1 else pair_curves.second_order_influence
    k = len(ordered)
    counts = np.array(scores.cluster_counts)
    ratio = np.full((k, k), np.nan)
    # effect[i, j]: what each cluster of model i contributes to ε_ij, shape (k, k, clusters).
    effect = np.zeros((k, k, int(counts.max())))
    distance = np.zeros((k, k))
    grids: dict[tuple[int, int], pair_curves.MergedGrid] = {}
    shares = [weights[sorting] for weights, sorting in zip(scores.weights, sortings, strict=True)]
    for i in range(k):
        for j in range(i):
            sizes = (len(ordered[i]), len(ordered[j]))
            if not scores.unweighted or sizes not in grids:
                grids[sizes] = pair_curves.MergedGrid(shares[i], shares[j])
            grid = grids[sizes]
            distance[i, j] = distance[j, i] = pair_curves.integrated_distance(ordered[i], ordered[j], grid)
            ratio[i, j], of_first, of_second = pair_influences(ordered[i], ordered[j], grid)
            ratio[j, i] = 1 - ratio[i, j]
            for first, second, sorted_influence in ((i, j, of_first), (j, i, -of_second)):
                influence = np.empty(sorted_influence.size)
                influence[sortings[first]] = sorted_influence
                effect[first, second, : counts[first]] = cluster_sums(scores, first, influence)
    errors = _paired_errors if scores.paired else _unpaired_errors
    linear, _ = errors(effect)
    # The standard deviation of a ratio is at most ½; the linear rate of very similar models exceeds it.
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
    """Return the standard errors of ε_ij and Δε_ij in a paired design, shapes (k, k).

    ``effect[i, j]`` holds the contribution of each cluster of model i to ε_ij; shape (k, k, clusters).
    """
    # Both models affect ε_ij in the same cluster, with opposite signs.
    both = effect - effect.swapaxes(0, 1)
    ratio_error = np.sqrt(np.einsum("ijc,ijc->ij", both, both))
    one_versus_all = both.sum(axis=1) / (len(effect) - 1)
    difference = one_versus_all[:, None] - one_versus_all[None, :]
    relative_error = np.sqrt(np.einsum("ijc,ijc->ij", difference, difference))
    return _without_diagonal(ratio_error), _without_diagonal(relative_error)


def _unpaired_errors(effect: Floats) -> tuple[Floats, Floats]:
    """Return the standard errors of ε_ij and Δε_ij for unpaired models, shapes (k, k).

    ``effect[i, j]`` holds the contribution of each cluster of model i to ε_ij; shape (k, k, clusters).
    """
    k = len(effect)
    # product[m, i, j]: covariance of model m's effects on ε_mi and ε_mj.
    product = np.einsum("mic,mjc->mij", effect, effect, optimize=True)
    variances = np.einsum("mii->mi", product)
    ratio_error = np.sqrt(variances + variances.T)
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
    """Set the diagonal of a square array to NaN in place, and return the array."""
    np.fill_diagonal(table, np.nan)
    return table


# Quantile levels for the covariance of integrated quantiles, whose curves are smooth.
LEVELS = 32

# Largest number of clusters for that covariance; more clusters do not change it.
MAX_CLUSTERS = 5000

# Clusters per matrix product. BLAS runs products of this size in one thread. It splits larger ones among
# threads, which is slower on a busy machine.
BLOCK = 128


def equal_p_values(scores: ClusteredScores, distance: Floats) -> Floats:
    """Return p-values of all pairs for the null hypothesis that both models have the same distribution.

    If i and j have equal distributions, ∫D² is a sum of squared normal variables, weighted by the eigenvalues
    of D's covariance. It is approximated by a chi-square with the same mean and variance. The influence of a
    score x on the integrated quantile at level t is min(x, Q(t)), centred.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    distance : ndarray, shape (k, k)
        ∫D² for each pair, where D is the difference of the integrated quantile functions.

    Returns
    -------
    ndarray, shape (k, k)
        NaN on the diagonal.
    """
    k = scores.models
    noise = [_cluster_curves(scores, model) for model in range(k)]
    p_value = np.full((k, k), np.nan)
    covariances = [_sum_of_products(curves, curves) for curves in noise]
    for i in range(k):
        for j in range(i):
            covariance = covariances[i] + covariances[j]
            if scores.paired:
                shared = _sum_of_products(noise[i], noise[j])
                covariance = covariance - shared - shared.T
            mean = np.trace(covariance) / LEVELS
            variance = 2 * (covariance**2).sum() / LEVELS**2
            if distance[i, j] == 0 or mean <= 0:
                # Without variance, every difference is certain.
                p = float(distance[i, j] == 0)
            else:
                p = chdtrc(2 * mean**2 / variance, distance[i, j] * 2 * mean / variance)
            p_value[i, j] = p_value[j, i] = p
    return p_value


def _cluster_curves(scores: ClusteredScores, model: int) -> Floats:
    """Return the influence of each cluster of a model on its integrated quantile function.

    The shape is (blocks, BLOCK, LEVELS): clusters are split into blocks, and the last block is padded with
    zeros.
    """
    count, values = scores.cluster_counts[model], scores.values[model]
    # If there are very many clusters, use evenly spaced ones: the same for all models of a paired design.
    chosen = np.unique(np.linspace(0, count - 1, min(count, MAX_CLUSTERS)).astype(np.int64))
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(scores.mean_weights[model][order])
    levels = (np.arange(LEVELS) + 0.5) / LEVELS
    quantiles = values[order[np.minimum(np.searchsorted(cumulated, levels), order.size - 1)]]
    curves = np.zeros((-(-len(chosen) // BLOCK) * BLOCK, LEVELS))
    for level, quantile in enumerate(quantiles):
        influence = cluster_sums(scores, model, np.minimum(values, quantile))
        curves[: len(chosen), level] = influence[chosen] * np.sqrt(count / len(chosen))
    return curves.reshape(-1, BLOCK, LEVELS)


def cluster_sums(scores: ClusteredScores, model: int, influence: Floats) -> Floats:
    """Sum the weighted influences of one model's scores by cluster, and centre them by task, shape (C,).

    `influence` holds one value per score of the model with index `model`. The sum of squares of the result
    estimates the variance of the weighted mean.
    """
    tasks = scores.strata.cluster_tasks[model]
    sums = np.bincount(scores.clusters[model], influence * scores.mean_weights[model], minlength=tasks.size)
    counts = np.bincount(tasks).astype(np.float64)
    deviations = sums - (np.bincount(tasks, sums) / np.maximum(counts, 1))[tasks]
    return np.asarray(deviations * np.sqrt(counts / np.maximum(counts - 1, 1))[tasks])


def _sum_of_products(first: Floats, second: Floats) -> Floats:
    """Return the sum of ``first.T @ second`` over blocks of clusters, shape (LEVELS, LEVELS).

    Both arrays have shape (blocks, BLOCK, LEVELS).
    """
    return np.matmul(first.swapaxes(1, 2), second).sum(axis=0)
