"""Bootstrap replicates of differences in means and tail means, for many comparisons at once.

A resample gives every resampling unit a random weight. The weights are exponential (Rubin's Bayesian
bootstrap). For means of many scores this is equivalent to drawing with replacement; for proportions it is
better. With the additional worst-case sample of :mod:`.worst_case_sample`, the limits of a proportion of
losses are those of Clopper and Pearson. The p-value for 0/1 scores is then that of the exact sign test,
whereas a plain bootstrap is wrong by a factor of ten for few losses. Two matrix products give the differences
in means of all comparisons. For tail means, scores are sorted once and summed.

References
----------
D. B. Rubin (1981). The Bayesian bootstrap. The Annals of Statistics 9(1), 130-134. doi:10.1214/aos/1176345338
"""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.gates.judged_sides import TailSide
from riskrank.engine.gates.side import SideScores
from riskrank.engine.gates.worst_case_sample import Comparison
from riskrank.engine.matrix_products import weighted_sums
from riskrank.engine.sampling.resamples import make_blocks
from riskrank.engine.types import Floats

# Weights generated at once: 32 MB of doubles.
_WEIGHTS = 1 << 22


def resampled_differences(comparisons: Sequence[Comparison], *, resamples: int, seed: int) -> list[Floats]:
    """Resample the statistic of each comparison, new minus old.

    Parameters
    ----------
    comparisons : sequence of Comparison
    resamples : int
        B.
    seed : int
        Seed of the random streams; comparisons with the same number of units share their resamples.

    Returns
    -------
    list of ndarray, shapes (B,)
    """
    results = [np.empty(resamples) for _ in comparisons]
    designs: dict[tuple[bool, int, int], list[int]] = {}
    for i, comparison in enumerate(comparisons):
        units = int(comparison.new.clusters[-1]) + 1, int(comparison.old.clusters[-1]) + 1
        designs.setdefault((comparison.paired, *units), []).append(i)
    for (paired, new, old), members in designs.items():
        start = 0
        for weights in _weights(new, old, paired, resamples, seed):
            rows = slice(start, start + len(weights[0]))
            start = rows.stop
            for i in members:
                comparison = comparisons[i]
                values = resampled_statistics(comparison.new, weights[0], comparison.level)
                results[i][rows] = values - resampled_statistics(comparison.old, weights[1], comparison.level)
    return results


def observed_difference(comparison: Comparison) -> float:
    """Return the observed statistic, new minus old."""
    new, old = comparison.new, comparison.old
    if comparison.level is None:
        return new.mean - old.mean
    return observed_tail_mean(new, comparison.level) - observed_tail_mean(old, comparison.level)


def observed_tail_mean(side: SideScores, level: float) -> float:
    """Return the observed tail mean of a model: the mean of its worst proportion ``level`` of scores."""
    return float(resampled_statistics(side, np.ones((1, len(side.sizes))), level)[0])


def tail_means(side: SideScores, weights: Floats, level: float) -> Floats:
    """Compute the tail mean of one model's scores in every resample, ``F^(-2)(p) / p`` (method §3).

    Parameters
    ----------
    side : SideScores
    weights : ndarray, shape (B, units)
        Weight of each unit.
    level : float
        Proportion p of the worst scores, in (0, 1].

    Returns
    -------
    ndarray, shape (B,)
    """
    order = np.argsort(side.values, kind="stable")
    targets = level * weighted_sums(weights, side.sizes.astype(np.float64))[:, None]
    # The tail of a resample usually ends within twice as many scores of the sample.
    length = min(order.size, int(2 * level * order.size) + 50)
    while True:
        score_weights = weights[:, side.clusters[order[:length]]]
        passed = np.cumsum(score_weights, axis=1)
        if length == order.size or np.all(passed[:, -1:] >= targets):
            break
        length = min(order.size, 2 * length)
    inside = np.clip(targets - (passed - score_weights), 0.0, score_weights)
    return weighted_sums(inside, side.values[order[:length]]) / targets[:, 0]


def resampled_statistics(side: SideScores | TailSide, unit_weights: Floats, level: float | None) -> Floats:
    """Compute the mean or tail mean of one model in every resample, for any design.

    Parameters
    ----------
    side : SideScores or TailSide
    unit_weights : ndarray, shape (B, units)
        Weight of each unit before the tasks are weighted.
    level : float or None
        Proportion of the worst scores for a tail mean; None for the mean of all scores.

    Returns
    -------
    ndarray, shape (B,)
    """
    if isinstance(side, TailSide):
        assert level is not None
        return side.tails(unit_weights, level)
    if level is not None:
        return tail_means(side, side.weigh(unit_weights) if side.tasks.has_several else unit_weights, level)
    if side.tasks.has_several:
        return weighted_sums(side.weigh(unit_weights), side.sums)
    return weighted_sums(unit_weights, side.sums) / weighted_sums(unit_weights, side.sizes.astype(np.float64))


def _weights(new: int, old: int, paired: bool, resamples: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield unit weights for both models, in batches of resamples."""
    step = max(_WEIGHTS // (new + old), 1)
    for block in make_blocks(resamples, seed):
        rng, count = block.generator(), block.count
        for start in range(0, count, step):
            rows = min(step, count - start)
            first = rng.standard_exponential((rows, new))
            yield first, first if paired else rng.standard_exponential((rows, old))
