"""Rank tests that prevent heavy tails from deciding a claim alone (method §4, rule 4).

A few extreme scores can dominate the squares in a violation ratio, and its bootstrap test is then liberal.
For exchangeable models, the sign-flip distribution of rank differences is bounded, and nearly normal however
heavy the tails are. Therefore no claim has a p-value below a tenth of the rank test's p-value. For unpaired
models the factor is a third, because the smaller sample can miss a failure mode altogether.

A normalised rank r in [0, 1] gets the rank score −(1 − r)^q, which emphasises the worst 1/q of the samples.
The powers are q = 1, 2, 8 and then 32, 128 and so on, as long as this part contains at least eight samples.
Suppose that a model is slightly worse on most samples and much better on the worst ones. It can have a better
mean and dominate in second order, although its middle ranks are worse. With q ≤ 8, no number of samples would
show that it avoids failures that affect one sample in twenty.

`pair_samples` returns the number of independent samples behind each pairwise test, or degrees of freedom for
a suite (method §8).
"""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from riskrank.engine.sampling.degrees_of_freedom import Dof, minimum_df, satterthwaite
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import Strata
from riskrank.engine.ties import Pool, relative_mid_ranks
from riskrank.engine.types import Floats


def pair_samples(scores: ClusteredScores, pairs: Sequence[tuple[int, int]] | None = None) -> Floats | Dof:
    """Return the number of independent samples for each pair, or degrees of freedom for several fixed tasks.

    The number for a pair is that of the model with fewer samples. Satterthwaite's degrees of freedom refer to
    the difference of mean pooled mid-ranks, which is bounded for any scores.

    Parameters
    ----------
    scores : ClusteredScores
    pairs : sequence of (int, int), optional
        Pairs to compute, with ranks among the scores of the pair only. By default all pairs, with ranks among
        the scores of all models.

    Returns
    -------
    ndarray or Dof, shape (k, k)
    """
    if scores.strata.random or not scores.strata.has_several_tasks:
        independent = scores.effective_sizes
        return np.minimum(independent[:, None], independent)
    k = scores.models
    freedom = Dof(np.full((k, k), np.inf), np.ones((k, k)))
    counts = [_effective_counts(scores, model) for model in range(k)]
    if pairs is None:
        pool = [Pool.from_scores(scores, range(k))]
        parts = [_rank_mean_parts(scores, model, pool) for model in range(k)]
        for i in range(k):
            for j in range(i):
                _set_pair(
                    freedom, i, j, _pair_dof(scores, (parts[i], parts[j]), (counts[i], counts[j]), (i, j))
                )
        return freedom
    pools = [Pool.from_scores(scores, [model]) for model in range(k)]
    for i, j in sorted({(min(pair), max(pair)) for pair in pairs}):
        both = [pools[i], pools[j]]
        pair_parts = _rank_mean_parts(scores, i, both), _rank_mean_parts(scores, j, both)
        _set_pair(freedom, i, j, _pair_dof(scores, pair_parts, (counts[i], counts[j]), (i, j)))
    return freedom


def fewest_samples(samples: Floats | Dof) -> float | Dof:
    """Return the smallest number of independent samples (or degrees of freedom) over all pairs."""
    if isinstance(samples, Dof):
        return samples[np.unravel_index(int(samples.df.argmin()), samples.df.shape)]
    return float(samples.min())


def _set_pair(freedom: Dof, i: int, j: int, pair: Dof) -> None:
    """Write a pair's degrees of freedom to both symmetric cells of a table."""
    for table, value in ((freedom.df, pair.df), (freedom.variance_ratio, pair.variance_ratio)):
        table[i, j] = table[j, i] = float(value)


def _pair_dof(
    scores: ClusteredScores,
    parts: tuple[Floats, Floats],
    counts: tuple[Floats, Floats],
    models: tuple[int, int],
) -> Dof:
    """Return Satterthwaite's degrees of freedom for the difference between two models."""
    if scores.paired:
        freedom = satterthwaite(_task_variances(scores, parts[0] - parts[1], models[0]), counts[0])
        if not scores.judged:
            return freedom
        # The same samples estimate the judge's coefficient, which costs one degree of freedom.
        df = np.maximum(freedom.df - 1, 1.0)
        return Dof(df, freedom.variance_ratio * df / freedom.df)
    sides = [
        satterthwaite(_task_variances(scores, part, model), n)
        for part, model, n in zip(parts, models, counts, strict=True)
    ]
    return minimum_df(sides[0], sides[1])


def _rank_mean_parts(scores: ClusteredScores, model: int, pools: Sequence[Pool]) -> Floats:
    """Return each unit's contribution to the deviation of the macro mean mid-rank, shape (C,).

    The contributions sum to 0 within each task.
    """
    strata, clusters = scores.strata, scores.clusters[model]
    shares = relative_mid_ranks(scores.values[model], pools)
    if scores.judged:
        sums = np.bincount(clusters, shares * scores.mean_weights[model])
        of_unit = strata.cluster_tasks[model]
        return sums - (np.bincount(of_unit, sums) / strata.counts(model))[of_unit]
    task = strata.cluster_tasks[model][clusters]
    sizes = np.bincount(task, minlength=strata.tasks)
    deviations = shares - (np.bincount(task, shares, minlength=strata.tasks) / sizes)[task]
    return np.asarray(np.bincount(clusters, deviations * (strata.weights / sizes)[task]), dtype=np.float64)


def _task_variances(scores: ClusteredScores, parts: Floats, model: int) -> Floats:
    """Return the variance that each task contributes to the sum of parts, shape (T,)."""
    strata = scores.strata
    squares = np.bincount(strata.cluster_tasks[model], parts**2, minlength=strata.tasks)
    n = np.maximum(strata.counts(model), 2).astype(np.float64)
    return squares * n / (n - 1)


def _effective_counts(scores: ClusteredScores, model: int) -> Floats:
    """Return Kish's effective number of units for each task, shape (T,)."""
    strata, clusters = scores.strata, scores.clusters[model]
    sizes = np.ones(strata.cluster_tasks[model].size) if scores.judged else np.bincount(clusters)
    of_cluster = strata.cluster_tasks[model]
    sums = np.bincount(of_cluster, sizes)
    return np.asarray(sums**2 / np.bincount(of_cluster, sizes.astype(np.float64) ** 2))


# Largest ratio of the rank test's p-value to that of a claim.
_PAIRED, _UNPAIRED = 10.0, 3.0

# Powers q of the scores −(1 − r)^q that are always used: all scores, the lower half, the worst part.
_POWERS = (1, 2, 8)

# Ratio of successive further powers, and the smallest number of samples in the part they emphasise.
_STEP, _IN_PART = 4, 8


def guard_factor(*, paired: bool) -> float:
    """Return the largest allowed ratio of the rank test's p-value to that of a claim."""
    return _PAIRED if paired else _UNPAIRED


def rank_powers(samples: float) -> tuple[int, ...]:
    """Return the powers q of the rank scores −(1 − r)^q for a given number of independent samples."""
    result = list(_POWERS)
    while result[-1] * _STEP <= samples / _IN_PART:
        result.append(result[-1] * _STEP)
    return tuple(result)


def relative_rank_p_values(scores: ClusteredScores) -> Floats:
    """Return rank-test p-values for the null hypothesis "i is not better than j" for all pairs.

    Ranks are taken among the scores of all models.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.

    Returns
    -------
    ndarray, shape (k, k)
        1 on the diagonal.
    """
    independent, k = scores.effective_sizes, scores.models
    pooled = Pool.from_scores(scores, range(k))
    exponents = rank_powers(float(independent.max()))
    units = [_unit_scores(scores, model, [pooled], exponents) for model in range(k)]
    p_values = np.ones((k, k))
    for i, j in itertools.combinations(range(k), 2):
        count = len(rank_powers(float(min(independent[i], independent[j]))))
        pair = [(sums[:count], sizes) for sums, sizes in (units[i], units[j])]
        p_values[i, j], p_values[j, i] = _pair_p_values(scores, (i, j), *pair)
    return np.maximum(p_values, np.finfo(np.float64).tiny)


def direct_rank_p_values(scores: ClusteredScores, pairs: Sequence[tuple[int, int]]) -> Floats:
    """Return rank-test p-values for the null hypothesis "i is not better than j" for the given pairs.

    Ranks are taken among the scores of the pair, so the p-values do not depend on other models.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    pairs : sequence of (int, int)
        Pairs to test, in either direction.

    Returns
    -------
    ndarray, shape (k, k)
        1 on the diagonal and for pairs that were not requested.
    """
    pools = [Pool.from_scores(scores, [model]) for model in range(scores.models)]
    p_values = np.ones((scores.models, scores.models))
    independent = scores.effective_sizes
    for i, j in sorted({(min(pair), max(pair)) for pair in pairs}):
        both = [pools[i], pools[j]]
        exponents = rank_powers(float(min(independent[i], independent[j])))
        units = [_unit_scores(scores, model, both, exponents) for model in (i, j)]
        p_values[i, j], p_values[j, i] = _pair_p_values(scores, (i, j), *units)
    return p_values


def _unit_scores(
    scores: ClusteredScores, model: int, pools: Sequence[Pool], exponents: Sequence[int]
) -> tuple[Floats, NDArray[np.int_]]:
    """Return the sums of the rank scores −(1 − r)^q by cluster, shape (powers, n), and the cluster sizes.

    For a suite, the sums include the weights of the scores. This makes sums of clusters of different sizes
    comparable, so all sizes are returned as 1.
    """
    share, cluster = relative_mid_ranks(scores.values[model], pools), scores.clusters[model]
    sizes, weights = np.bincount(cluster), np.ones(share.size)
    if scores.strata.has_several_tasks:
        sizes, weights = np.ones_like(sizes), scores.mean_weights[model]
    sums = np.stack([np.bincount(cluster, -((1 - share) ** power) * weights) for power in exponents])
    return sums.astype(np.float64), sizes


def _pair_p_values(
    scores: ClusteredScores,
    models: tuple[int, int],
    first: tuple[Floats, NDArray[np.int_]],
    second: tuple[Floats, NDArray[np.int_]],
) -> tuple[float, float]:
    """Return p-values for the null hypotheses "the first is not better" and "the second is not better"."""
    (a, size_a), (b, size_b) = first, second
    if not np.array_equal(size_a, size_b):
        # The means of clusters of different sizes are comparable, their sums are not.
        a, b = a / size_a, b / size_b
    if scores.joint_resamples:
        difference = a - b
        effect, variance = difference.sum(axis=1), _sign_flip_variance(scores, difference)
    elif scores.strata.has_several_tasks:
        effect, variance = _task_effects(scores.strata, models, a, b)
    else:
        n, m = a.shape[1], b.shape[1]
        pooled = np.concatenate([a, b], axis=1)
        effect = a.mean(axis=1) - b.mean(axis=1)
        variance = pooled.var(axis=1, ddof=1) * (1 / n + 1 / m)
    z = _standardised(effect, variance)
    many = len(a)
    return min(1.0, many * float(ndtr(-z).min())), min(1.0, many * float(ndtr(z).min()))


def _sign_flip_variance(scores: ClusteredScores, difference: Floats) -> Floats:
    """Return the variance of a sum of paired differences under random sign flips, which preserve Σ d².

    With a judge, the models can have different judge weights. This shifts the differences in the labelled and
    the unlabelled stratum in opposite directions. The variance is therefore computed around the mean of each
    stratum. The squared sum of the differences, divided by the number of labels, is then added.
    """
    labelled = scores.n_labelled
    if not labelled:
        return np.asarray(np.einsum("...n,...n->...", difference, difference))
    parts = difference[..., :labelled], difference[..., labelled:]
    within = sum(part.var(axis=-1) * part.shape[-1] for part in parts)
    return np.asarray(within + difference.sum(axis=-1) ** 2 / labelled)


def _task_effects(strata: Strata, models: tuple[int, int], a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the effects for unpaired models, and their variances under permutations within tasks."""
    effect, variance = np.zeros(len(a)), np.zeros(len(a))
    bounds = [strata.bounds(model).tolist() for model in models]
    for rows_a, rows_b in zip(*map(itertools.pairwise, bounds), strict=True):
        first, second = a[:, slice(*rows_a)], b[:, slice(*rows_b)]
        n, m = first.shape[1], second.shape[1]
        # The sums contain w_t/n_t; only equally weighted scores are exchangeable.
        pooled = np.concatenate([first * n, second * m], axis=1)
        effect += first.sum(axis=1) - second.sum(axis=1)
        variance += pooled.var(axis=1, ddof=1) * (1 / n + 1 / m)
    return effect, variance


def _standardised(effect: Floats, variance: Floats) -> Floats:
    """Return the effects divided by their standard deviations, or 0 where the variance is 0."""
    return np.where(variance > 0, effect / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0)
