"""A rank test that keeps heavy tails from deciding a claim alone (method §4, rule 4).

A few huge scores can decide the squares of a violation ratio, and the bootstrap of them is liberal. Under
exchangeable models the sign-flip distribution of differences of ranks is bounded and close to normal whatever
the tails of the scores, so no claim is reported with less than a tenth of the ranks' own p-value.

Method §4 has two scores of a rank share r, r itself and −(1 − r)². A third, −(1 − r)⁸, looks at the worst
quarter: a model that is a little worse on most samples and much better on the worst ones has a better mean
and dominates in second order, but its middle ranks are worse, and with two scores no number of samples would
show it (log losses of well-calibrated classifiers are such scores).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats, Integers

# The claim's own p-value stands unless the ranks' is more than this many times larger.
GUARD = 10.0

# Powers q of the scores −(1 − r)^q: the whole range, its lower half, its worst quarter.
_POWERS = (1, 2, 8)


def relative_guard(scores: ClusteredScores) -> Floats:
    """Rank p-values of "i is not better than j", ranks taken among the scores of all models.

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.

    Returns
    -------
    ndarray, shape (k, k)
        1 on the diagonal.
    """
    return np.maximum(_relative(scores), np.finfo(np.float64).tiny)


def _relative(scores: ClusteredScores) -> Floats:
    pooled = np.sort(np.concatenate(scores.values))
    units = [
        _unit_scores(_mid_ranks(value, [pooled]), cluster)
        for value, cluster in zip(scores.values, scores.clusters, strict=True)
    ]
    k = scores.models
    found = np.ones((k, k))
    if scores.paired and all(np.array_equal(size, units[0][1]) for _, size in units):
        together = np.stack([sums for sums, _ in units], axis=1)
        for i in range(k):
            difference = together[:, i, None] - together
            z = _scaled(difference.sum(axis=2), np.einsum("zjn,zjn->zj", difference, difference))
            found[i] = np.minimum(1.0, len(_POWERS) * ndtr(-z).min(axis=0))
        return found
    for i in range(k):
        for j in range(i + 1, k):
            found[i, j], found[j, i] = _pair(units[i], units[j], paired=scores.paired)
    return found


def direct_guard(scores: ClusteredScores, pairs: Sequence[tuple[int, int]]) -> Floats:
    """Rank p-values of "i is not better than j", ranks taken among the two models' scores alone.

    Nobody else's presence in the table changes them.

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.
    pairs : sequence of (int, int)
        Pairs wanted, in either direction.

    Returns
    -------
    ndarray, shape (k, k)
        1 on the diagonal and for pairs that were not asked for.
    """
    ordered = [np.sort(value) for value in scores.values]
    found = np.ones((scores.models, scores.models))
    for i, j in sorted({(min(pair), max(pair)) for pair in pairs}):
        both = [ordered[i], ordered[j]]
        units = [_unit_scores(_mid_ranks(scores.values[m], both), scores.clusters[m]) for m in (i, j)]
        found[i, j], found[j, i] = _pair(*units, paired=scores.paired)
    return found


def _mid_ranks(values: Floats, ordered: Sequence[Floats]) -> Floats:
    """Mid-rank share in (0, 1) of each value among the pooled sorted samples."""
    places = np.zeros(values.shape)
    for sample in ordered:
        places += np.searchsorted(sample, values, "left") + np.searchsorted(sample, values, "right")
    return places / (2 * sum(sample.size for sample in ordered))


def _unit_scores(share: Floats, cluster: Integers) -> tuple[Floats, Integers]:
    """Sums per cluster of the scores −(1 − r)^q, shape (3, n), and the size of each cluster."""
    sums = np.stack([np.bincount(cluster, -((1 - share) ** power)) for power in _POWERS])
    return sums.astype(np.float64), np.bincount(cluster).astype(np.int64)


def _pair(
    first: tuple[Floats, Integers], second: tuple[Floats, Integers], *, paired: bool
) -> tuple[float, float]:
    """P-values of "the first is not better" and of "the second is not better"."""
    (a, size_a), (b, size_b) = first, second
    if not np.array_equal(size_a, size_b):
        # Clusters of different sizes have comparable means, not comparable sums.
        a, b = a / size_a, b / size_b
    if paired:
        difference = a - b
        effect, variance = difference.sum(axis=1), np.sum(difference**2, axis=1)
    else:
        n, m = a.shape[1], b.shape[1]
        pooled = np.concatenate([a, b], axis=1)
        effect = a.mean(axis=1) - b.mean(axis=1)
        variance = pooled.var(axis=1, ddof=1) * (1 / n + 1 / m)
    z = _scaled(effect, variance)
    many = len(_POWERS)
    return min(1.0, many * float(ndtr(-z).min())), min(1.0, many * float(ndtr(z).min()))


def _scaled(effect: Floats, variance: Floats) -> Floats:
    """Effects in standard deviations; 0 where nothing varies."""
    return np.where(variance > 0, effect / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0)
