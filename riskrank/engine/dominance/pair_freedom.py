"""What stands behind the tests of pairs: samples, or of a suite degrees of freedom (method §8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.mid_ranks import Pool, mid_rank_shares
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.freedom import Freedom, satterthwaite, smallest
from riskrank.engine.types import Floats


def behind_pairs(scores: ClusteredScores, pairs: Sequence[tuple[int, int]] | None = None) -> Floats | Freedom:
    """Independent samples of the one that has fewer; of these tasks Satterthwaite's degrees of freedom.

    Those are of the difference of pooled mid-rank shares, which is bounded whatever the scores are.

    Parameters
    ----------
    scores : ClusteredScores
    pairs : sequence of (int, int), optional
        Pairs that are ranked among themselves, so that nobody else's presence changes anything; by default
        all pairs, ranked among all models.

    Returns
    -------
    ndarray or Freedom, shape (k, k)
    """
    if scores.strata.random or not scores.strata.several:
        independent = scores.independent
        return np.minimum(independent[:, None], independent)
    k = scores.models
    found = Freedom(np.full((k, k), np.inf), np.ones((k, k)))
    counts = [_counts(scores, model) for model in range(k)]
    if pairs is None:
        pool = [Pool.of(scores, range(k))]
        parts = [_parts(scores, model, pool) for model in range(k)]
        for i in range(k):
            for j in range(i):
                _fill(found, i, j, _of_pair(scores, (parts[i], parts[j]), (counts[i], counts[j]), (i, j)))
        return found
    pools = [Pool.of(scores, [model]) for model in range(k)]
    for i, j in sorted({(min(pair), max(pair)) for pair in pairs}):
        both = [pools[i], pools[j]]
        own = _parts(scores, i, both), _parts(scores, j, both)
        _fill(found, i, j, _of_pair(scores, own, (counts[i], counts[j]), (i, j)))
    return found


def least(behind: Floats | Freedom) -> float | Freedom:
    """What stands behind the pair that has least."""
    if isinstance(behind, Freedom):
        return behind[np.unravel_index(int(behind.df.argmin()), behind.df.shape)]
    return float(behind.min())


def _fill(found: Freedom, i: int, j: int, pair: Freedom) -> None:
    for table, value in ((found.df, pair.df), (found.seen, pair.seen)):
        table[i, j] = table[j, i] = float(value)


def _of_pair(
    scores: ClusteredScores,
    parts: tuple[Floats, Floats],
    counts: tuple[Floats, Floats],
    models: tuple[int, int],
) -> Freedom:
    if scores.paired:
        found = satterthwaite(_variances(scores, parts[0] - parts[1], models[0]), counts[0])
        return _tuned(found) if scores.judged else found
    each = [
        satterthwaite(_variances(scores, own, model), n)
        for own, model, n in zip(parts, models, counts, strict=True)
    ]
    return smallest(each[0], each[1])


def _tuned(found: Freedom) -> Freedom:
    """One degree of freedom goes for how much of a judge is taken, which the same samples say."""
    df = np.maximum(found.df - 1, 1.0)
    return Freedom(df, found.seen * df / found.df)


def _parts(scores: ClusteredScores, model: int, pools: Sequence[Pool]) -> Floats:
    """How far each unit moves the macro mean of the mid-rank shares, shape (C,); 0 in sum within a task."""
    strata, clusters = scores.strata, scores.clusters[model]
    shares = mid_rank_shares(scores.values[model], pools)
    if scores.judged:
        sums = np.bincount(clusters, shares * scores.shares[model])
        of_unit = strata.of_cluster[model]
        return sums - (np.bincount(of_unit, sums) / strata.counts(model))[of_unit]
    task = strata.of_cluster[model][clusters]
    sizes = np.bincount(task, minlength=strata.tasks)
    away = shares - (np.bincount(task, shares, minlength=strata.tasks) / sizes)[task]
    return np.asarray(np.bincount(clusters, away * (strata.weights / sizes)[task]), dtype=np.float64)


def _variances(scores: ClusteredScores, parts: Floats, model: int) -> Floats:
    """Variance of each task's part of the sum, shape (T,)."""
    strata = scores.strata
    squares = np.bincount(strata.of_cluster[model], parts**2, minlength=strata.tasks)
    n = np.maximum(strata.counts(model), 2).astype(np.float64)
    return squares * n / (n - 1)


def _counts(scores: ClusteredScores, model: int) -> Floats:
    """Units of each task, of unequal ones Kish's number, shape (T,)."""
    strata, clusters = scores.strata, scores.clusters[model]
    sizes = np.ones(strata.of_cluster[model].size) if scores.judged else np.bincount(clusters)
    of_cluster = strata.of_cluster[model]
    sums = np.bincount(of_cluster, sizes)
    return np.asarray(sums**2 / np.bincount(of_cluster, sizes.astype(np.float64) ** 2))
