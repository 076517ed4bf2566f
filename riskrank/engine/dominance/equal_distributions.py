"""Are two models' distributions equal? From the distance of their integrated quantiles (method §4 "CLT")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import chdtrc

from riskrank.engine.dominance.influence_of_tasks import TaskWeights, per_cluster
from riskrank.engine.types import Floats, Integers

LEVELS = 32
"""Quantile levels at which the noise of integrated quantiles is described; its curves are smooth."""

MOST_CLUSTERS = 5000
"""Clusters used to describe that noise: more cost time and change nothing."""

BLOCK = 128
"""Clusters per matrix product. BLAS leaves products this small to one thread; larger ones it shares among
threads that wait for each other, which on a busy machine costs far more than it gains."""


def equal_p_values(
    ordered: Sequence[Floats],
    sortings: Sequence[Integers],
    units: Sequence[Integers],
    counts: Integers,
    distance: Floats,
    *,
    paired: bool,
    tasks: TaskWeights | None = None,
) -> Floats:
    """P-values of equal distributions.

    If i and j are equal, ∫D² is a sum of squared normals with the eigenvalues of D's covariance as weights; a
    chi-square with the same mean and variance stands for it. The influence of a score x on the integrated
    quantile at level t is min(x, Q(t)), centred.

    Parameters
    ----------
    ordered : sequence of k ndarrays, shapes (n_i,)
        Scores of each model, sorted upwards.
    sortings : sequence of k ndarrays of int, shapes (n_i,)
        Where each of them stood before.
    units : sequence of k ndarrays of int, shapes (n_i,)
        Cluster of each score, before sorting.
    counts : ndarray of int, shape (k,)
        Number of clusters of each model.
    distance : ndarray, shape (k, k)
        ∫D² of each pair.
    paired : bool
        Whether the models were scored on the same clusters.
    tasks : TaskWeights, optional
        Of a suite.

    Returns
    -------
    ndarray, shape (k, k)
        NaN on the diagonal.
    """
    k = len(ordered)
    if tasks is None:
        noise = [_noise(*model) for model in zip(ordered, sortings, units, counts, strict=True)]
    else:
        noise = [_noise_of_tasks(ordered[i], sortings[i], units[i], tasks, i) for i in range(k)]
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


def _noise(ordered: Floats, sorting: Integers, unit: Integers, count: int) -> Floats:
    """Each cluster's part in the noise of the integrated quantiles, shape (blocks, BLOCK, LEVELS)."""
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


def _noise_of_tasks(
    ordered: Floats, sorting: Integers, unit: Integers, tasks: TaskWeights, model: int
) -> Floats:
    """The same of a suite, of every cluster."""
    count = len(tasks.of_cluster[model])
    ends = np.cumsum(tasks.weights[model][sorting])
    levels = (np.arange(LEVELS) + 0.5) / LEVELS
    quantiles = ordered[np.minimum(np.searchsorted(ends, levels), len(ordered) - 1)]
    curves = np.zeros((-(-count // BLOCK) * BLOCK, LEVELS))
    for level, quantile in enumerate(quantiles):
        influence = np.minimum(ordered, quantile)
        curves[:count, level] = per_cluster(influence, sorting, unit, count, tasks, model)
    return curves.reshape(-1, BLOCK, LEVELS)


def _gram(first: Floats, second: Floats) -> Floats:
    return np.matmul(first.swapaxes(1, 2), second).sum(axis=0)
