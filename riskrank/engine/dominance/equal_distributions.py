"""Are two models' distributions equal? From the distance of their integrated quantiles (method §4 "CLT")."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats

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
