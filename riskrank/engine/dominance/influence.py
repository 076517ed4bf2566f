"""Standard errors of violation ratios without resampling ([RAB] Theorems 1 and 2, method §4).

A violation ratio is a smooth function of the quantile functions, so each score's effect on it, its influence,
can be written down: a weighted sum of gaps between order statistics. The variance of the ratio is that of the
mean influence. The paper's printed formula takes the variance of the influence's derivative instead; the
influence itself is what agrees with simulation, and it needs no density estimate.

The limit theorem assumes that the two distributions differ. Where they do not, the ratio is 0 or 1 by chance
and its error vanishes with it: two equal normals would be "separated" in 30 % of tests at 5 %, whatever the
sample size. So a p-value here is never smaller than that of the hypothesis that the two are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from typing import Literal

import numpy as np

from riskrank.engine.dominance.violation import CommonScale
from riskrank.errors import InputError, UsageError

LARGEST_ERROR = 0.5
"""The largest standard deviation a ratio, being in [0, 1], can have."""

LEVELS = 32
"""Quantile levels at which the noise of integrated quantiles is described; its curves are smooth."""

MOST_CLUSTERS = 5000
"""Clusters used to describe that noise: more cost time and change nothing."""

BLOCK = 128
"""Clusters per matrix product. BLAS leaves products this small to one thread; larger ones it shares among
threads that wait for each other, which on a busy machine costs far more than it gains."""


@dataclass(frozen=True)
class ViolationInfluence:
    """Violation ratios of k models with their asymptotic standard errors.

    Attributes
    ----------
    order : {1, 2}
        Order of dominance.
    ratio : ndarray, shape (k, k)
        ε_ij of "i dominates j"; NaN on the diagonal.
    ratio_error : ndarray, shape (k, k)
        Standard error of ε_ij; NaN on the diagonal.
    one_versus_all : ndarray, shape (k,)
        ε_i, the mean of ε_ij over j.
    relative : ndarray, shape (k, k)
        Δε_ij = ε_i − ε_j.
    relative_error : ndarray, shape (k, k)
        Standard error of Δε_ij; NaN on the diagonal.
    identical : ndarray of bool, shape (k, k)
        Pairs with equal distributions: their ratio is ½ by convention, with standard error 0.
    equal_p_value : ndarray, shape (k, k)
        P-value of "i and j have the same distribution", from the distance of their integrated quantiles.
    clusters : ndarray of int, shape (k,)
        Number of independent units (clusters, or rows) of each model.
    """

    order: int
    ratio: np.ndarray
    ratio_error: np.ndarray
    one_versus_all: np.ndarray
    relative: np.ndarray
    relative_error: np.ndarray
    identical: np.ndarray
    equal_p_value: np.ndarray
    clusters: np.ndarray


def influence_of_violation(
    samples: Sequence[np.ndarray],
    *,
    order: Literal[1, 2],
    clusters: Sequence[np.ndarray] | None = None,
    paired: bool = True,
) -> ViolationInfluence:
    """Return violation ratios, absolute and relative, with standard errors from influence functions.

    With d = Q_i − Q_j, d₋ = min(d, 0), S = ∫d² and N = ∫d₋², the ratio ε_ij = N/S changes with Q_i at the
    rate a = (2 d₋ S − 2 d N)/S² and with Q_j at −a. A score at x shifts Q_i only from its own quantile on, so
    its influence is V(x) = −∫_{Q_i ≥ x} a dQ_i, centred. For order 2, d is the difference of the integrated
    quantiles and ∫_t^1 a takes the place of a. Influences are summed by cluster, and over models before
    squaring in a paired design.

    Parameters
    ----------
    samples : sequence of k ndarrays, shapes (n_i,)
        Scores, larger is better; sizes may differ.
    order : {1, 2}
        Order of dominance.
    clusters : sequence of k ndarrays of int, shapes (n_i,), optional
        Which scores were drawn together (the draws of one sample); every row on its own by default. In a
        paired design the numbers are shared by the models, and by default row r of each model belongs
        together, which needs equal sizes.
    paired : bool
        Whether the models were scored on the same clusters.

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
    values, units, counts = _validated(samples, order, clusters, paired)
    sortings = [np.argsort(value, kind="stable") for value in values]
    ordered = [value[sorting] for value, sorting in zip(values, sortings, strict=True)]
    # The ratio is free of location and unit; a common scale keeps its fourth powers within range. A first
    # one, exact, keeps the sums behind the centre finite.
    first = CommonScale.of(ordered)
    ordered = [first.apply(row) for row in ordered]
    centre = np.mean([row.mean() for row in ordered])
    scale = max(float(np.abs(row - centre).max()) for row in ordered) or 1.0
    ordered = [(row - centre) / scale for row in ordered]
    k = len(ordered)
    ratio = np.full((k, k), np.nan)
    identical = np.zeros((k, k), dtype=bool)
    width = int(counts.max())
    # effect[i, j]: what each cluster of model i contributes to ε_ij, shape (k, k, clusters).
    effect = np.zeros((k, k, width))
    distance = np.zeros((k, k))
    grids = {}
    for i in range(k):
        for j in range(i):
            sizes = (len(ordered[i]), len(ordered[j]))
            if sizes not in grids:
                grids[sizes] = _MergedGrid(*sizes)
            distance[i, j] = distance[j, i] = _integrated_distance(ordered[i], ordered[j], grids[sizes])
            pair = (_first_order if order == 1 else _second_order)(ordered[i], ordered[j], grids[sizes])
            ratio[i, j], ratio[j, i] = pair.ratio, 1 - pair.ratio
            identical[i, j] = identical[j, i] = pair.influence_first is None
            if pair.influence_first is None:
                continue
            effect[i, j] = _per_cluster(pair.influence_first, sortings[i], units[i], width)
            effect[j, i] = -_per_cluster(pair.influence_second, sortings[j], units[j], width)
    correction = counts / np.maximum(counts - 1, 1)
    errors = _paired_errors if paired else _unpaired_errors
    linear, _ = errors(effect, correction)
    # Nothing within [0, 1] has a standard deviation above ½; models too alike for the linear rate exceed it.
    effect *= (LARGEST_ERROR / np.fmax(linear, LARGEST_ERROR))[:, :, None]
    ratio_error, relative_error = errors(effect, correction)
    one_versus_all = np.nanmean(ratio, axis=1)
    return ViolationInfluence(
        order=order,
        ratio=ratio,
        ratio_error=ratio_error,
        one_versus_all=one_versus_all,
        relative=one_versus_all[:, None] - one_versus_all[None, :],
        relative_error=relative_error,
        identical=identical,
        equal_p_value=_equal_p_values(ordered, sortings, units, counts, distance, paired),
        clusters=counts,
    )


def logit_p_value(
    estimate: np.ndarray, error: np.ndarray, *, threshold: float, size: np.ndarray | int
) -> np.ndarray:
    """Return p-values of "the violation ratio is at least `threshold`" from a z-score on the logit scale.

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

    Raises
    ------
    UsageError
        If the threshold is not inside (0, 1).
    """
    if not 0 < threshold < 1:
        raise UsageError(
            f"violation threshold {threshold:g} is outside (0, 1)",
            found=f"{threshold:g}",
            hint="use a small share such as 0.25; the paper uses 0.08, 0.25 and 0.4",
        )
    from scipy.special import logit, ndtr

    edge = 1 / (4 * np.asarray(size, dtype=float))
    kept = np.clip(np.asarray(estimate, dtype=float), edge, 1 - edge)
    spread = np.maximum(error, edge) / (kept * (1 - kept))
    return ndtr((logit(kept) - logit(threshold)) / spread)


def absolute_p_values(result: ViolationInfluence, threshold: float) -> np.ndarray:
    """Return p-values of the absolute test of "i dominates j up to τ", shape (k, k), NaN on the diagonal.

    Parameters
    ----------
    result : ViolationInfluence
        Ratios and standard errors.
    threshold : float
        τ in (0, 1); the null hypothesis is ε_ij ≥ τ, or i and j the same.
    """
    p = logit_p_value(result.ratio, result.ratio_error, threshold=threshold, size=_pair_sizes(result))
    return np.maximum(p, result.equal_p_value)


def relative_p_values(result: ViolationInfluence) -> np.ndarray:
    """Return p-values of the relative test of "i beats j", shape (k, k), NaN on the diagonal.

    Parameters
    ----------
    result : ViolationInfluence
        Ratios and standard errors; the null hypothesis is Δε_ij ≥ 0, or i and j the same.
    """
    share = (1 + result.relative) / 2
    p = logit_p_value(share, result.relative_error / 2, threshold=0.5, size=_pair_sizes(result))
    return np.maximum(p, result.equal_p_value)


def _pair_sizes(result):
    return np.minimum(result.clusters[:, None], result.clusters[None, :])


def _validated(samples, order, clusters, paired):
    if order not in (1, 2):
        raise UsageError(
            f"dominance of order {order!r} is not defined here",
            found=f"{order!r}",
            hint="use order 1 (quantiles) or 2 (integrated quantiles)",
        )
    values = [np.asarray(sample, dtype=float) for sample in samples]
    if len(values) < 2:
        raise InputError(
            "a comparison needs at least two models",
            found=f"{len(values)} model",
            hint="select more models or give a table that holds more",
        )
    for number, value in enumerate(values, start=1):
        if value.ndim != 1 or value.size < 2 or not np.isfinite(value).all():
            raise InputError(
                f"the scores of model {number} cannot be used",
                found=f"shape {value.shape}, {np.count_nonzero(~np.isfinite(value))} not finite",
                hint="scores must be finite numbers, at least two per model",
            )
    given = clusters is not None
    labels = [np.asarray(c) for c in clusters] if given else [np.arange(value.size) for value in values]
    if [label.shape for label in labels] != [value.shape for value in values]:
        raise InputError(
            "every score needs the number of its sample",
            found=f"{[label.size for label in labels]} numbers for {[value.size for value in values]} scores",
            hint="give one cluster array per model, as long as its scores",
        )
    found = [np.unique(label, return_inverse=True) for label in labels]
    if paired and any(not np.array_equal(names, found[0][0]) for names, _ in found):
        raise InputError(
            "paired models must be scored on the same samples",
            found=f"models with {min(len(n) for n, _ in found)} to {max(len(n) for n, _ in found)} samples",
            hint="use --unpaired, or keep the common samples with --missing drop",
        )
    counts = np.array([len(names) for names, _ in found])
    return values, [unit for _, unit in found], counts


class _MergedGrid:
    """Where the steps of two empirical quantile functions of sizes n and m lie among each other."""

    def __init__(self, n, m):
        whole = lcm(n, m)
        # Integers in units of 1/lcm: r/n and s/m that are equal must merge into one breakpoint.
        first = np.arange(1, n + 1, dtype=np.int64) * (whole // n)
        second = np.arange(1, m + 1, dtype=np.int64) * (whole // m)
        ends = first if n == m else np.union1d(first, second)
        self.width = np.diff(ends, prepend=0) / whole
        # A segment lies under the first sample's step `step_first`, whose last segment is `at_first`.
        self.step_first = np.searchsorted(first, ends)
        self.step_second = np.searchsorted(second, ends)
        self.at_first = np.searchsorted(ends, first)
        self.at_second = np.searchsorted(ends, second)


@dataclass(frozen=True)
class _PairInfluence:
    """One pair's ratio and the influence of each order statistic of either sample (None if identical)."""

    ratio: float
    influence_first: np.ndarray | None
    influence_second: np.ndarray | None


def _first_order(x, y, grid):
    upper, lower = x[grid.step_first], y[grid.step_second]
    d = upper - lower
    below = np.minimum(d, 0)
    if not d.any():
        return _PairInfluence(0.5, None, None)
    squares, violation = grid.width @ (d * d), grid.width @ (below * below)

    def primitive(gap):
        # Antiderivative of a(d): moving a step of the quantile function crosses all levels of its jump.
        under = np.minimum(gap, 0)
        return (under * under * squares - gap * gap * violation) / squares**2

    def influence(own, other, at, sign):
        # The other's value just before and just after each step; they differ where both step at once.
        before, after = other[at[:-1]], other[at[:-1] + 1]
        jump = np.zeros(len(own) - 1)
        for level in (before, after):
            jump += 0.5 * (primitive(sign * (own[1:] - level)) - primitive(sign * (own[:-1] - level)))
        return _from_jumps(jump)

    return _PairInfluence(
        violation / squares,
        influence(x, lower, grid.at_first, 1),
        influence(y, upper, grid.at_second, -1),
    )


def _second_order(x, y, grid):
    d = x[grid.step_first] - y[grid.step_second]
    if not d.any():
        return _PairInfluence(0.5, None, None)
    step = grid.width * d
    right = np.cumsum(step)
    left = right - step
    squares = grid.width @ (left * left + left * right + right * right) / 3
    negative = _negative_parts(left, right, grid.width)
    violation = negative.squares.sum()
    rate = (2 * negative.area * squares - grid.width * (left + right) * violation) / squares**2
    # ∫_t^1 of the rate at the end of each segment.
    remaining = np.append(np.cumsum(rate[::-1])[::-1][1:], 0.0)
    return _PairInfluence(
        violation / squares,
        _from_jumps(remaining[grid.at_first[:-1]] * np.diff(x)),
        _from_jumps(-remaining[grid.at_second[:-1]] * np.diff(y)),
    )


@dataclass(frozen=True)
class _NegativeParts:
    """∫ min(D, 0) and ∫ min(D, 0)² over each segment of a piecewise linear D."""

    area: np.ndarray
    squares: np.ndarray


def _negative_parts(left, right, width):
    low, high = np.minimum(left, 0), np.minimum(right, 0)
    crossing = (left < 0) != (right < 0)
    span = np.where(crossing, np.abs(left - right), 1.0)
    # Where D crosses zero, only the share of the segment on the negative side counts.
    share = np.where(crossing, np.abs(low + high) / np.where(span == 0, 1.0, span), 1.0) * width
    return _NegativeParts(share * (low + high) / 2, share * (low * low + low * high + high * high) / 3)


def _integrated_distance(x, y, grid):
    """Return ∫ D² of the integrated quantiles."""
    step = grid.width * (x[grid.step_first] - y[grid.step_second])
    right = np.cumsum(step)
    left = right - step
    return grid.width @ (left * left + left * right + right * right) / 3


def _equal_p_values(ordered, sortings, units, counts, distance, paired):
    """Return p-values of equal distributions, shape (k, k), NaN on the diagonal.

    If i and j are equal, ∫D² is a sum of squared normals with the eigenvalues of D's covariance as weights; a
    chi-square with the same mean and variance stands for it. The influence of a score x on the integrated
    quantile at level t is min(x, Q(t)), centred.
    """
    from scipy.special import chdtrc

    k = len(ordered)
    noise = [_noise(*model) for model in zip(ordered, sortings, units, counts, strict=True)]
    p_value = np.full((k, k), np.nan)
    own = [_gram(curves, curves) for curves in noise]
    for i in range(k):
        for j in range(i):
            covariance = own[i] + own[j]
            if paired:
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


def _noise(ordered, sorting, unit, count):
    """Return each cluster's part in the noise of the integrated quantiles, shape (blocks, BLOCK, LEVELS)."""
    n = len(ordered)
    # Evenly spaced cluster numbers when there are very many; the same ones for all models of a paired design.
    kept = np.unique(np.linspace(0, count - 1, min(count, MOST_CLUSTERS)).astype(np.int64))
    place = np.full(count, -1)
    place[kept] = np.arange(len(kept))
    at = place[unit[sorting]]
    quantiles = ordered[((np.arange(LEVELS) + 0.5) / LEVELS * n).astype(np.int64)]
    curves = np.zeros((-(-len(kept) // BLOCK) * BLOCK, LEVELS))
    for level, quantile in enumerate(quantiles):
        influence = np.minimum(ordered, quantile)
        influence -= influence.mean()
        curves[: len(kept), level] = np.bincount(at[at >= 0], influence[at >= 0], minlength=len(kept))
    curves *= np.sqrt(count / len(kept) * count / max(count - 1, 1)) / n
    return curves.reshape(-1, BLOCK, LEVELS)


def _gram(first, second):
    return np.matmul(first.swapaxes(1, 2), second).sum(axis=0)


def _from_jumps(jump):
    """Return the centred influence of each order statistic from the integral of a over each gap above it."""
    above = np.append(-np.cumsum(jump[::-1])[::-1], 0.0)
    return above - above.mean()


def _per_cluster(influence, sorting, unit, width):
    return np.bincount(unit[sorting], influence, minlength=width) / len(influence)


def _paired_errors(effect, correction):
    # Both models' effects on ε_ij meet in the same cluster; the second's enters ε_ij with the other sign.
    both = effect - effect.swapaxes(0, 1)
    ratio_error = np.sqrt(correction[0] * np.einsum("ijc,ijc->ij", both, both))
    one_versus_all = both.sum(axis=1) / (len(effect) - 1)
    difference = one_versus_all[:, None] - one_versus_all[None, :]
    relative_error = np.sqrt(correction[0] * np.einsum("ijc,ijc->ij", difference, difference))
    return _without_diagonal(ratio_error), _without_diagonal(relative_error)


def _unpaired_errors(effect, correction):
    k = len(effect)
    # product[m, i, j]: covariance of model m's effects on ε_mi and ε_mj.
    product = np.einsum("mic,mjc->mij", effect, effect, optimize=True) * correction[:, None, None]
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


def _without_diagonal(table):
    np.fill_diagonal(table, np.nan)
    return table
