"""A rank test that keeps heavy tails from deciding a claim alone (method §4, rule 4).

A few huge scores can decide the squares of a violation ratio, and the bootstrap of them is liberal. Under
exchangeable models the sign-flip distribution of differences of ranks is bounded and close to normal whatever
the tails of the scores, so no claim is reported with less than a tenth of the ranks' own p-value. The smaller
of two unpaired samples may miss a bad mode altogether: there it is a third.

The scores of a rank share r are −(1 − r)^q, which look at the worst 1/q of the scores, for q = 1, 2, 8 and as
far as eight samples lie in that part, 32, 128 and so on. A model that is a little worse on most samples and
much better on the worst ones has a better mean and dominates in second order, but its middle ranks are worse:
with q ≤ 8 no number of samples would show that it avoids a disaster in one of twenty.

What stands behind the tests of pairs: samples, or of a suite degrees of freedom (method §8).
"""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.freedom import Freedom, satterthwaite, smallest
from riskrank.engine.sampling.strata import Strata
from riskrank.engine.ties import Pool, mid_rank_shares
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
        if not scores.judged:
            return found
        # One degree of freedom goes for how much of a judge is taken, which the same samples say.
        df = np.maximum(found.df - 1, 1.0)
        return Freedom(df, found.seen * df / found.df)
    each = [
        satterthwaite(_variances(scores, own, model), n)
        for own, model, n in zip(parts, models, counts, strict=True)
    ]
    return smallest(each[0], each[1])


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


# The claim's own p-value stands unless the ranks' is more than this many times larger.
_PAIRED, _UNPAIRED = 10.0, 3.0

# Powers q of the scores −(1 − r)^q that are always looked at: all, the lower half, the worst part.
_POWERS = (1, 2, 8)

# Every further power is so many times the last one, and leaves so many samples in the part it looks at.
_STEP, _IN_PART = 4, 8


def guard_share(*, paired: bool) -> float:
    """How many times smaller than the ranks' p-value a claim's may be."""
    return _PAIRED if paired else _UNPAIRED


def powers(samples: float) -> tuple[int, ...]:
    """Powers q of the scores −(1 − r)^q for a pair with so many independent samples."""
    found = list(_POWERS)
    while found[-1] * _STEP <= samples / _IN_PART:
        found.append(found[-1] * _STEP)
    return tuple(found)


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
    independent, k = scores.independent, scores.models
    pooled = Pool.of(scores, range(k))
    most = powers(float(independent.max()))
    units = [_unit_scores(scores, model, [pooled], most) for model in range(k)]
    found = np.ones((k, k))
    for i, j in itertools.combinations(range(k), 2):
        few = len(powers(float(min(independent[i], independent[j]))))
        pair = [(sums[:few], sizes) for sums, sizes in (units[i], units[j])]
        found[i, j], found[j, i] = _pair(scores, (i, j), *pair)
    return np.maximum(found, np.finfo(np.float64).tiny)


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
    pools = [Pool.of(scores, [model]) for model in range(scores.models)]
    found = np.ones((scores.models, scores.models))
    independent = scores.independent
    for i, j in sorted({(min(pair), max(pair)) for pair in pairs}):
        both = [pools[i], pools[j]]
        asked = powers(float(min(independent[i], independent[j])))
        units = [_unit_scores(scores, model, both, asked) for model in (i, j)]
        found[i, j], found[j, i] = _pair(scores, (i, j), *units)
    return found


def _unit_scores(
    scores: ClusteredScores, model: int, pools: Sequence[Pool], asked: Sequence[int]
) -> tuple[Floats, NDArray[np.int_]]:
    """Sums per cluster of the scores −(1 − r)^q, shape (powers, n), and the size of each cluster.

    Scores of a suite have their weights in the sums, which then compare whatever the sizes.
    """
    share, cluster = mid_rank_shares(scores.values[model], pools), scores.clusters[model]
    sizes, weights = np.bincount(cluster), np.ones(share.size)
    if scores.strata.several:
        sizes, weights = np.ones_like(sizes), scores.shares[model]
    sums = np.stack([np.bincount(cluster, -((1 - share) ** power) * weights) for power in asked])
    return sums.astype(np.float64), sizes


def _pair(
    scores: ClusteredScores,
    models: tuple[int, int],
    first: tuple[Floats, NDArray[np.int_]],
    second: tuple[Floats, NDArray[np.int_]],
) -> tuple[float, float]:
    """P-values of "the first is not better" and of "the second is not better"."""
    (a, size_a), (b, size_b) = first, second
    if not np.array_equal(size_a, size_b):
        # Clusters of different sizes have comparable means, not comparable sums.
        a, b = a / size_a, b / size_b
    if scores.drawn_together:
        difference = a - b
        effect, variance = difference.sum(axis=1), _flipped(scores, difference)
    elif scores.strata.several:
        effect, variance = _within_tasks(scores.strata, models, a, b)
    else:
        n, m = a.shape[1], b.shape[1]
        pooled = np.concatenate([a, b], axis=1)
        effect = a.mean(axis=1) - b.mean(axis=1)
        variance = pooled.var(axis=1, ddof=1) * (1 / n + 1 / m)
    z = _scaled(effect, variance)
    many = len(a)
    return min(1.0, many * float(ndtr(-z).min())), min(1.0, many * float(ndtr(z).min()))


def _flipped(scores: ClusteredScores, difference: Floats) -> Floats:
    """Variance of a sum of paired differences under flips of their signs, which keep Σ d².

    With a judge of whom one model takes more than another the differences of both strata are off by as much
    in opposite directions: they vary about their own means, and the sum, of the samples that people scored.
    """
    labelled = scores.labelled
    if not labelled:
        return np.asarray(np.einsum("...n,...n->...", difference, difference))
    parts = difference[..., :labelled], difference[..., labelled:]
    within = sum(part.var(axis=-1) * part.shape[-1] for part in parts)
    return np.asarray(within + difference.sum(axis=-1) ** 2 / labelled)


def _within_tasks(strata: Strata, models: tuple[int, int], a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Effects of unpaired models, and their variances under permutations of the units of each task."""
    effect, variance = np.zeros(len(a)), np.zeros(len(a))
    bounds = [strata.bounds(model).tolist() for model in models]
    for own, other in zip(*map(itertools.pairwise, bounds), strict=True):
        first, second = a[:, slice(*own)], b[:, slice(*other)]
        n, m = first.shape[1], second.shape[1]
        # The sums hold w_t/n_t: what may be exchanged are scores that weigh the same.
        pooled = np.concatenate([first * n, second * m], axis=1)
        effect += first.sum(axis=1) - second.sum(axis=1)
        variance += pooled.var(axis=1, ddof=1) * (1 / n + 1 / m)
    return effect, variance


def _scaled(effect: Floats, variance: Floats) -> Floats:
    """Effects in standard deviations; 0 where nothing varies."""
    return np.where(variance > 0, effect / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0)
