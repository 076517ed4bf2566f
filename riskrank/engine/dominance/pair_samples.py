"""Number of independent samples behind each pair of models (method §4, rule 1; §8 for suites)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from riskrank.engine.numeric import Pool, relative_mid_ranks
from riskrank.engine.sampling.degrees_of_freedom import Dof, minimum_df, satterthwaite
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats


def pair_samples(scores: ClusteredScores, pairs: Sequence[tuple[int, int]] | None = None) -> Floats | Dof:
    """Return the number of independent samples for each pair, or degrees of freedom for several fixed tasks.

    The number for a pair is that of the model with fewer samples. For several fixed tasks, Satterthwaite's
    degrees of freedom are those of the difference of mean mid-ranks, with ranks among all scores of the pair.
    Ranks are bounded, whatever the scores are.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    pairs : sequence of (int, int), optional
        Pairs to compute; by default all.

    Returns
    -------
    ndarray or Dof, shape (k, k)
    """
    if scores.strata.random or not scores.strata.has_several_tasks:
        independent = scores.effective_sizes
        return np.minimum(independent[:, None], independent)
    k = scores.models
    freedom, counts = Dof(np.full((k, k), np.inf), np.ones((k, k))), []
    for tasks, clusters in zip(scores.strata.cluster_tasks, scores.clusters, strict=True):
        sizes = np.ones(tasks.size) if scores.judged else np.bincount(clusters).astype(np.float64)
        # Kish's effective number of units in each task.
        counts.append(np.bincount(tasks, sizes) ** 2 / np.bincount(tasks, sizes**2))
    pools = [Pool.from_scores(scores, [model]) for model in range(k)]
    chosen = combinations(range(k), 2) if pairs is None else sorted({(min(p), max(p)) for p in pairs})
    for i, j in chosen:
        both = [pools[i], pools[j]]
        parts = _rank_mean_parts(scores, i, both), _rank_mean_parts(scores, j, both)
        pair = _pair_dof(scores, parts, (counts[i], counts[j]), (i, j))
        for table, value in ((freedom.df, pair.df), (freedom.variance_ratio, pair.variance_ratio)):
            table[i, j] = table[j, i] = float(value)
    return freedom


def fewest_samples(samples: Floats | Dof) -> float | Dof:
    """Return the smallest number of independent samples (or degrees of freedom) over all pairs."""
    if isinstance(samples, Dof):
        return samples[np.unravel_index(int(samples.df.argmin()), samples.df.shape)]
    return float(samples.min())


def _pair_dof(
    scores: ClusteredScores,
    parts: tuple[Floats, Floats],
    counts: tuple[Floats, Floats],
    models: tuple[int, int],
) -> Dof:
    """Return Satterthwaite's degrees of freedom for the difference in mean mid-ranks of two models.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    parts : (ndarray, ndarray), shapes (C,)
        Contribution of each unit to the mean mid-rank, for both models.
    counts : (ndarray, ndarray), shapes (T,)
        Effective number of units in each task, for both models.
    models : (int, int)
        Indices of the models.
    """
    if scores.paired:
        freedom = satterthwaite(_task_variances(scores, parts[0] - parts[1], models[0]), counts[0])
        if not scores.judged:
            return freedom
        # The same samples estimate the judge's coefficient, which costs one degree of freedom.
        df = np.maximum(freedom.df - 1, 1.0)
        return Dof(df, freedom.variance_ratio * df / freedom.df)
    variances = [_task_variances(scores, *side) for side in zip(parts, models, strict=True)]
    return minimum_df(*map(satterthwaite, variances, counts))


def _rank_mean_parts(scores: ClusteredScores, model: int, pools: Sequence[Pool]) -> Floats:
    """Split the macro mean of a model's mid-ranks into contributions of its units, shape (C,).

    The contributions sum to 0 within each task. `pools` holds the sorted scores of both models of a pair,
    among which scores are ranked.
    """
    strata, clusters = scores.strata, scores.clusters[model]
    shares = relative_mid_ranks(scores.values[model], pools)
    if scores.judged:
        sums = np.bincount(clusters, shares * scores.mean_weights[model])
        tasks = strata.cluster_tasks[model]
        return sums - (np.bincount(tasks, sums) / strata.counts(model))[tasks]
    task = strata.cluster_tasks[model][clusters]
    sizes = np.bincount(task, minlength=strata.tasks)
    deviations = shares - (np.bincount(task, shares, minlength=strata.tasks) / sizes)[task]
    return np.asarray(np.bincount(clusters, deviations * (strata.weights / sizes)[task]), dtype=np.float64)


def _task_variances(scores: ClusteredScores, parts: Floats, model: int) -> Floats:
    """Return the variance that each task contributes to a sum over the units of a model, shape (T,).

    `parts` holds the contribution of each unit to the sum.
    """
    strata = scores.strata
    squares = np.bincount(strata.cluster_tasks[model], parts**2, minlength=strata.tasks)
    n = np.maximum(strata.counts(model), 2).astype(np.float64)
    return squares * n / (n - 1)
