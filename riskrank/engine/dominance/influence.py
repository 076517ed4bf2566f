"""Influence functions of violation ratios, their standard errors, and the quantile functions of model pairs.

The difference of the quantile functions shows at which levels one model is better, and by how much. With a
pointwise bootstrap band it is known as the shift function (Doksum 1974, Wilcox 1995).

The violation ratio has a functional derivative with respect to each quantile function. The influence of a
score is the integral of this derivative over the gaps between order statistics above it, centred ([RAB]
Theorems 1 and 2).

The variance of the ratio (method §4) is that of the mean influence. The
formula printed in [RAB] uses the variance of the influence's derivative instead. The influence function
itself agrees with simulations and requires no density estimate.

The limit theorem assumes that the two distributions differ. If they are equal, the estimated ratio can be 0
or 1 by chance, and its standard error is then 0. At a nominal level of 5 %, two identical normal
distributions would be declared different in 30 % of cases, whatever the sample size. Therefore every p-value
is at least that of a test for equality of the two distributions.

The equality test is based on the distance between the integrated quantile functions (method §4, "CLT").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.numeric import CommonScale, dot
from riskrank.engine.portfolio.quantiles import integrated_quantile, quantile, weighted_steps
from riskrank.engine.sampling.degrees_of_freedom import expanded_interval
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import make_blocks
from riskrank.engine.sampling.steps import TOTAL, Steps, rounding_units, to_weight_units
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.special import chdtrc
from riskrank.engine.types import Floats, Integers


class MergedGrid:
    """Merged breakpoints of two empirical quantile functions.

    Parameters
    ----------
    first, second : ndarray, shapes (n,) and (m,)
        Weights of the sorted scores of the two samples. The weights of each sample sum to 1.

    Attributes
    ----------
    width : ndarray, shape (s,)
        Widths of the segments between merged breakpoints.
    step_first, step_second : ndarray of int, shape (s,)
        Index of the sorted score that each segment belongs to, for both samples.
    at_first, at_second : ndarray of int, shapes (n,) and (m,)
        Index of the last segment of each sorted score.
    """

    def __init__(self, first: Floats, second: Floats) -> None:
        """Merge the breakpoints; breakpoints that differ only by rounding become equal."""
        breakpoints = [to_weight_units(np.cumsum(weights)) for weights in (first, second)]
        for points in breakpoints:
            points[-1] = TOTAL
        # Merge breakpoints that differ only by rounding.
        places = np.clip(np.searchsorted(breakpoints[0], breakpoints[1]), 1, len(breakpoints[0]) - 1)
        for near in (breakpoints[0][places - 1], breakpoints[0][places]):
            close = np.abs(breakpoints[1] - near) <= rounding_units(len(first) + len(second))
            breakpoints[1] = np.where(close, near, breakpoints[1])
        merged = np.union1d(*breakpoints)
        self.width = np.diff(merged, prepend=0) / TOTAL
        self.step_first, self.step_second = (np.searchsorted(points, merged) for points in breakpoints)
        self.at_first, self.at_second = (np.searchsorted(merged, points) for points in breakpoints)


# Violation ratio of two samples, and the influences of their sorted scores on it.
Influences = tuple[float, Floats, Floats]


def first_order_influence(x: Floats, y: Floats, grid: MergedGrid) -> Influences:
    """Return the first-order violation ratio of "x dominates y", and the influence of each score on it.

    `x` and `y` hold sorted scores, and `grid` the merged breakpoints of their quantile functions. All
    influences are 0 if the samples are identical.

    Returns
    -------
    ratio : float
    influence_x, influence_y : ndarray
        Influences of the sorted scores, with the shapes of `x` and `y`.
    """
    upper, lower = x[grid.step_first], y[grid.step_second]
    d = upper - lower
    below = np.minimum(d, 0)
    if not d.any():
        return 0.5, np.zeros(x.size), np.zeros(y.size)
    squares, violation = dot(grid.width, d * d), dot(grid.width, below * below)

    def primitive(gap: Floats) -> Floats:
        """Return the antiderivative of the ratio's functional derivative at a quantile difference `gap`."""
        under = np.minimum(gap, 0)
        return (under * under * squares - gap * gap * violation) / squares**2

    def influence(sample: Floats, curve: Floats, at: Integers, sign: int) -> Floats:
        """Return the influence of each score of one sorted sample on the violation ratio.

        `curve` is the quantile function of the other sample, and `at` the segment of each step of this
        sample. `sign` is 1 for the first sample and −1 for the second.
        """
        # The other curve's value before and after each step; they differ if both step at the same level.
        before, after = curve[at[:-1]], curve[at[:-1] + 1]
        jump = np.zeros(len(sample) - 1)
        for level in (before, after):
            jump += 0.5 * (primitive(sign * (sample[1:] - level)) - primitive(sign * (sample[:-1] - level)))
        return _influence_from_jumps(jump)

    # Sums in a different order can differ in the last bit.
    ratio = min(float(violation / squares), 1.0)
    return ratio, influence(x, lower, grid.at_first, 1), influence(y, upper, grid.at_second, -1)


def second_order_influence(x: Floats, y: Floats, grid: MergedGrid) -> Influences:
    """Return the second-order violation ratio of "x dominates y", and the influence of each score on it.

    See `first_order_influence`.
    """
    d = x[grid.step_first] - y[grid.step_second]
    if not d.any():
        return 0.5, np.zeros(x.size), np.zeros(y.size)
    left, right, squares = _integrate(d, grid)
    low, high = np.minimum(left, 0), np.minimum(right, 0)
    crossing = (left < 0) != (right < 0)
    span = np.where(crossing, np.abs(left - right), 1.0)
    # If the integral D crosses zero, only the negative part of the segment counts.
    share = np.where(crossing, np.abs(low + high) / np.where(span == 0, 1.0, span), 1.0) * grid.width
    area = share * (low + high) / 2
    violation = (share * (low * low + low * high + high * high) / 3).sum()
    rate = (2 * area * squares - grid.width * (left + right) * violation) / squares**2
    # ∫_t^1 of the rate, with t the end of each segment.
    remaining = np.append(np.cumsum(rate[::-1])[::-1][1:], 0.0)
    return (
        min(float(violation / squares), 1.0),
        _influence_from_jumps(remaining[grid.at_first[:-1]] * np.diff(x)),
        _influence_from_jumps(-remaining[grid.at_second[:-1]] * np.diff(y)),
    )


def integrated_distance(x: Floats, y: Floats, grid: MergedGrid) -> float:
    """Return ∫ D², where D is the difference of the integrated quantile functions of two samples.

    `x` and `y` hold sorted scores, and `grid` the merged breakpoints of their quantile functions.
    """
    return _integrate(x[grid.step_first] - y[grid.step_second], grid)[2]


def _integrate(difference: Floats, grid: MergedGrid) -> tuple[Floats, Floats, float]:
    """Integrate a difference of quantile functions to D, and integrate D².

    `difference` holds the value on each segment of the grid.

    Returns
    -------
    left, right : ndarray
        D at the ends of each segment.
    float
        ∫ D².
    """
    step = grid.width * difference
    right = np.cumsum(step)
    left = right - step
    return left, right, dot(grid.width, left * left + left * right + right * right) / 3


def _influence_from_jumps(jump: Floats) -> Floats:
    """Return the influence of each sorted score, with mean 0, shape (n,).

    `jump`, shape (n − 1,), is the integral of the ratio's derivative over the gap between neighbouring
    scores.
    """
    above = np.append(-np.cumsum(jump[::-1])[::-1], 0.0)
    return above - above.mean()


# Largest number of breakpoints for exact curves; above it, this many evenly spaced levels are used.
_MAX_LEVELS = 1000

_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairCurves:
    """Quantile functions of a pair of models, evaluated at l levels.

    Attributes
    ----------
    levels : ndarray, shape (l,)
        Merged breakpoints of both models in (0, 1], increasing.
    winner, loser : ndarray, shape (2, l)
        Left-continuous quantile function (row 0) and its integral (row 1).
    ratios : tuple of (float, float)
        Violation ratios of "winner dominates loser" for orders 1 and 2.
    band : (ndarray, ndarray), or None
        Lower and upper limits of the quantile difference at each level, shape (l,) each; None if no band was
        computed.
    """

    levels: Floats
    winner: Floats
    loser: Floats
    ratios: tuple[float, float]
    band: tuple[Floats, Floats] | None = None


def pair_curves(
    winner: Floats,
    loser: Floats,
    ratios: Sequence[float],
    *,
    weights: tuple[ArrayLike, ArrayLike] = (1.0, 1.0),
) -> PairCurves:
    """Compute the quantile functions of two models, and their integrals, at the merged breakpoints.

    Parameters
    ----------
    winner, loser : ndarray, shapes (n,) and (m,)
        Scores; larger is better.
    ratios : sequence of two float
        Violation ratios of "winner dominates loser" for orders 1 and 2.
    weights : (ndarray, ndarray), shapes (n,) and (m,), optional
        Weights of the scores; scalars mean equal weights.

    Returns
    -------
    PairCurves
        Curves without a confidence band.
    """
    breakpoints = []
    for sample, share in zip((winner, loser), weights, strict=True):
        cumulated = weighted_steps(sample, np.broadcast_to(share, sample.shape)).cumulated
        points = cumulated / float(cumulated[-1])
        breakpoints.append(points[np.diff(points, prepend=0.0) > _ROUNDING])
    levels = np.unique(np.concatenate(breakpoints))
    # Merge breakpoints of both samples that differ only by rounding.
    levels = levels[np.diff(levels, prepend=0.0) > _ROUNDING]
    if levels.size > _MAX_LEVELS:
        levels = np.arange(1, _MAX_LEVELS + 1) / _MAX_LEVELS

    curves = [
        np.array([quantile(sample, levels, share), integrated_quantile(sample, levels, share)])
        for sample, share in zip((winner, loser), weights, strict=True)
    ]
    return PairCurves(levels, curves[0], curves[1], (float(ratios[0]), float(ratios[1])))


_BATCH = 64


def quantile_difference(
    scores: ClusteredScores,
    winner: int,
    loser: int,
    levels: ArrayLike,
    *,
    resamples: int = 1000,
    level: float = 0.05,
    seed: int = 0,
) -> Differences:
    """Compute the difference between two models' quantiles, with a pointwise bootstrap band.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    winner, loser : int
        Model indices; the difference is winner minus loser.
    levels : array_like, shape (l,)
        Probabilities in (0, 1].
    resamples : int
        Number of bootstrap resamples.
    level : float
        Error level α: at each quantile level separately, the band has coverage 1 − α.
    seed : int
        Entropy of the random streams.

    Returns
    -------
    Differences
        Arrays of shape (l,). The band uses expanded percentiles (method §4).
    """
    levels = np.asarray(levels, dtype=np.float64)
    pair = scores.select_models((winner, loser))
    both = zip(pair.values, pair.weights, strict=True)
    better, worse = (quantile(v, levels, shares) for v, shares in both)
    design, differences = WeightedDesign(pair), []
    for cumulated in design.batches(make_blocks(resamples, seed), size=_BATCH):
        pairs = zip(design.values, cumulated, strict=True)
        first, second = (np.stack([v[Steps(v, r).quantile_index(levels)] for r in rows]) for v, rows in pairs)
        differences.append(first - second)
    samples = fewest_samples(pair_samples(pair, [(0, 1)]))
    low, high = expanded_interval(np.concatenate(differences), samples, level=1 - level)
    return Differences(better - worse, low, high)


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
    pair_influences = first_order_influence if order == 1 else second_order_influence
    k = len(ordered)
    counts = np.array(scores.cluster_counts)
    ratio = np.full((k, k), np.nan)
    # effect[i, j]: what each cluster of model i contributes to ε_ij, shape (k, k, clusters).
    effect = np.zeros((k, k, int(counts.max())))
    distance = np.zeros((k, k))
    grids: dict[tuple[int, int], MergedGrid] = {}
    shares = [weights[sorting] for weights, sorting in zip(scores.weights, sortings, strict=True)]
    for i in range(k):
        for j in range(i):
            sizes = (len(ordered[i]), len(ordered[j]))
            if not scores.unweighted or sizes not in grids:
                grids[sizes] = MergedGrid(shares[i], shares[j])
            grid = grids[sizes]
            distance[i, j] = distance[j, i] = integrated_distance(ordered[i], ordered[j], grid)
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
    for level, limit in enumerate(quantiles):
        influence = cluster_sums(scores, model, np.minimum(values, limit))
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
