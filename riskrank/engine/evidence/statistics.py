"""Statistics of scores as means, and percentiles of scores (method §20).

A smooth statistic θ of one model varies like the mean of its influence values ψ. The pseudo-scores θ + ψ have
the mean θ, so their differences between models are differences of means, with the same intervals, clusters
and weights. A ratio of two models is a difference of logarithms, with pseudo-scores log θ + ψ/θ, where ψ/θ is
multiplied by the factor by which the logarithm without a unit changes more than linearly (jackknife).

Percentiles are not smooth. They are resampled with replacement and interpolated linearly. Percentile
intervals of differences hold their level from about three expected samples beyond the percentile on. The
percentile of a single model lies between two order statistics, whose ranks follow from a binomial number.

References
----------
F. R. Hampel (1974). The influence curve and its role in robust estimation. Journal of the American
Statistical Association 69(346), 383-393. doi:10.1080/01621459.1974.10482962
B. Efron (1979). Bootstrap methods: another look at the jackknife. The Annals of Statistics 7(1), 1-26.
doi:10.1214/aos/1176344552
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from riskrank.engine.evidence.bootstrap import ResampledDifference, bootstrap_evidence
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.mean_differences import PairDifferences
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.monte_carlo import p_value_interval
from riskrank.engine.sampling.resamples import make_blocks, unit_counts
from riskrank.engine.types import Floats, Integers

# Expected number of independent samples beyond a percentile, from which its intervals hold their level.
MIN_BEYOND = 3

# Counts of units drawn at once.
_BATCH = 1 << 21
# Largest relative change of a mean without one unit, above which its logarithm would be unbounded.
_MAX_CHANGE = 0.99
# Effective size for which the correction for small samples vanishes.
_LARGE = 1e9


def samples_for_percentile(proportion: float) -> int:
    """Return the smallest number of independent samples for which a percentile has a finite interval.

    `proportion` is the proportion of scores below the percentile.
    """
    return int(np.ceil(MIN_BEYOND / min(proportion, 1 - proportion) - 1e-9))


def pseudo_ratios(numerators: ClusteredScores, denominators: ClusteredScores) -> ClusteredScores:
    """Return pseudo-scores whose mean is a ratio of sums, Σ a / Σ b.

    Their variance estimates the variance of the ratio.

    Parameters
    ----------
    numerators, denominators : ClusteredScores
        Scores a and b of the same samples. The weighted sum of b is not 0 for any model.
    """
    values = []
    for model, (a, b) in enumerate(zip(numerators.values, denominators.values, strict=True)):
        weights, units = numerators.mean_weights[model], numerators.clusters[model]
        total = float(weights @ b)
        ratio = float(weights @ a) / total
        # The change of the ratio without the unit, which includes the change of its denominator.
        part = np.bincount(units, weights * b)[units] / total
        influence = (a - ratio * b) / total / (1 - part)
        values.append(ratio + influence - weights @ influence)
    return replace(numerators, values=tuple(values))


def pseudo_logarithms(scores: ClusteredScores, sign: float) -> ClusteredScores | None:
    """Return pseudo-scores whose mean is the logarithm of a model's mean score.

    The result is None if a mean is not positive.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    sign : float
        −1 if the scores are negative costs, else 1. The result is oriented in the same way.
    """
    values = []
    for model, (column, weights) in enumerate(zip(scores.values, scores.mean_weights, strict=True)):
        mean, units = sign * float(weights @ column), scores.clusters[model]
        if mean <= 0:
            return None
        influence = (sign * column - mean) / mean
        # The relative change of the mean without the unit, and the curvature of the logarithm over it.
        without = np.bincount(units, weights * influence) / np.maximum(1 - np.bincount(units, weights), 1e-9)
        change = np.clip(without, None, _MAX_CHANGE)
        curvature = np.ones_like(change)
        np.divide(-np.log1p(-change), change, out=curvature, where=np.abs(change) > 1e-9)
        influence = influence * curvature[units]
        values.append(sign * (np.log(mean) + influence - weights @ influence))
    return replace(scores, values=tuple(values))


def percentile_difference(
    scores: ClusteredScores,
    pair: tuple[int, int],
    proportion: float,
    *,
    boundary: float = 0.0,
    logarithms: float = 0.0,
    alone: bool = False,
    resamples: int,
    seed: int,
) -> ResampledDifference:
    """Resample the difference of two models' percentiles.

    Parameters
    ----------
    scores : ClusteredScores
        Unweighted scores.
    pair : (int, int)
        New and old model.
    proportion : float
        Proportion of scores below the percentile.
    boundary : float
        The claim is that the difference is above this value.
    logarithms : float
        0 to subtract the percentiles. Otherwise, their logarithms are subtracted: 1 for positive scores, −1
        for negated costs.
    alone : bool
        True to estimate the percentile of the new model alone; the scores of the old model are then 0.
    resamples, seed : int
        Number of bootstrap resamples, and seed of their random streams.

    Returns
    -------
    ResampledDifference
    """

    def difference(new: Floats, old: Floats) -> Floats:
        """Return the difference between replicates of two percentiles, or between their logarithms."""
        if not logarithms:
            return new - old
        return logarithms * (np.log(logarithms * new) - np.log(logarithms * old))

    counts, parts = [scores.cluster_counts[model] for model in pair], []
    for block in make_blocks(resamples, seed):
        rng, step = block.generator(), max(_BATCH // sum(counts), 1)
        for start in range(0, block.count, step):
            rows = min(step, block.count - start)
            drawn = [unit_counts(rng.integers(0, size, (rows, size))) for size in counts[: 2 - scores.paired]]
            sides = zip(pair, [drawn[0], drawn[-1]], strict=True)
            parts.append(difference(*(_percentiles(scores, *side, proportion) for side in sides)))
    replicates = np.sort(np.concatenate(parts))
    ones = [np.ones((1, size), dtype=np.int64) for size in counts]
    observed = (_percentiles(scores, *side, proportion) for side in zip(pair, ones, strict=True))
    result = ResampledDifference(
        float(difference(*observed)[0]),
        boundary,
        min(counts),
        float(replicates.std(ddof=1)),
        effective_size=_LARGE,
        fewest=samples_for_percentile(proportion),
    )
    if result.samples < result.fewest:
        return result
    low = high = replicates
    if alone:
        # The number of independent units below the true percentile is binomial.
        values = np.concatenate([[-np.inf], np.sort(scores.values[pair[0]]), [np.inf]])
        drawn_below = np.random.default_rng(seed).binomial(counts[0], proportion, resamples)
        position = drawn_below * scores.sizes[pair[0]] // counts[0]
        low, high = np.sort(values[position]), np.sort(values[position + 1])
    above = p_value_interval(int(np.count_nonzero(low <= boundary)), resamples)
    below = p_value_interval(int(np.count_nonzero(high >= boundary)), resamples)
    mc_bounds = np.array([above[1:], below[1:]])
    return replace(
        result, p_above=float(above[0]), p_below=float(below[0]), low=low, high=high, mc_bounds=mc_bounds
    )


def percentile_differences(
    scores: ClusteredScores, proportion: float, *, resamples: int = 2000, seed: int = 0
) -> tuple[Evidence, PairDifferences]:
    """Estimate the percentile of each of k models, and the differences of all pairs of models.

    Parameters
    ----------
    scores : ClusteredScores
        Unweighted scores.
    proportion : float
        Proportion of scores below the percentile.
    resamples, seed : int
        Number of bootstrap resamples, and seed of their random streams.

    Returns
    -------
    Evidence
        Evidence for the percentiles of the models.
    PairDifferences
        Differences of the percentiles, shape (k, k).
    """
    k, options = scores.models, dict[str, Any](resamples=resamples, seed=seed)
    pairs = [percentile_difference(scores, divmod(i, k), proportion, **options) for i in range(k * k)]
    evidence = bootstrap_evidence(pairs)
    df = np.minimum.outer(*[np.array(scores.cluster_counts, dtype=np.float64) - 1] * 2)
    value, error = (part.reshape(k, k) for part in (evidence.estimate, evidence.error))
    singles = []
    for model in range(k):
        single = scores.select_models([model, model])
        zero = replace(single, values=(single.values[0], np.zeros_like(single.values[1])))
        singles.append(percentile_difference(zero, (0, 1), proportion, alone=True, **options))
    differences = PairDifferences(value, error, df, test="bootstrap", resampled=evidence)
    return bootstrap_evidence(singles), differences


def _percentiles(scores: ClusteredScores, model: int, counts: Integers, proportion: float) -> Floats:
    """Return a percentile of one model's scores in each of B resamples, shape (B,).

    The percentile is interpolated linearly between two order statistics.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    model : int
        Index of the model.
    counts : ndarray of int, shape (B, units)
        Number of times that each unit is drawn.
    proportion : float
        Proportion of scores below the percentile.
    """
    order = np.argsort(scores.values[model], kind="stable")
    values, units = scores.values[model][order], scores.clusters[model][order]
    drawn = counts.take(units, axis=1).cumsum(axis=1, dtype=np.int32)
    last = drawn[:, -1] - 1
    position = proportion * last
    first = np.floor(position).astype(np.int64)
    low, high = (values[(drawn > at[:, None]).argmax(axis=1)] for at in (first, np.minimum(first + 1, last)))
    return low + (position - first) * (high - low)
