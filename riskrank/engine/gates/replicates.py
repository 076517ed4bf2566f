"""Bootstrap replicates of differences of means and tail means, for many comparisons at once.

A resample is a weight for every unit of resampling. The weights are exponential (Rubin's Bayesian
bootstrap), which for means of many scores is the same as counting draws. For shares it is better: with the
one sample more of `caution`, the limits of a share of losses are Clopper and Pearson's, and the p-value of
0/1 scores is that of the exact sign test, where a plain bootstrap is off by a factor of ten among few losses.
Differences of means of all comparisons are two products of matrices, and tail means sums along scores that
were sorted once.

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
from riskrank.engine.sampling.resamples import blocks
from riskrank.engine.types import Floats

# Weights made at once: 32 MB of doubles.
_WEIGHTS = 1 << 22


def differences(comparisons: Sequence[Comparison], *, resamples: int, seed: int) -> list[Floats]:
    """Resample the statistic of each comparison, new minus old.

    Parameters
    ----------
    comparisons : sequence of Comparison
    resamples : int
        B.
    seed : int
        Entropy of the random streams; designs of the same size share their resamples.

    Returns
    -------
    list of ndarray, shapes (B,)
    """
    found = [np.empty(resamples) for _ in comparisons]
    designs: dict[tuple[bool, int, int], list[int]] = {}
    for at, one in enumerate(comparisons):
        units = int(one.new.clusters[-1]) + 1, int(one.old.clusters[-1]) + 1
        designs.setdefault((one.paired, *units), []).append(at)
    for (paired, new, old), members in designs.items():
        start = 0
        for weights in _weights(new, old, paired, resamples, seed):
            rows = slice(start, start + len(weights[0]))
            start = rows.stop
            for at in members:
                one = comparisons[at]
                new_ones = statistics(one.new, weights[0], one.level)
                found[at][rows] = new_ones - statistics(one.old, weights[1], one.level)
    return found


def difference(comparison: Comparison) -> float:
    """The statistic of the sample itself, new minus old."""
    new, old = comparison.new, comparison.old
    if comparison.level is None:
        return new.mean - old.mean
    return tail_value(new, comparison.level) - tail_value(old, comparison.level)


def tail_value(side: SideScores, level: float) -> float:
    """Mean of the worst share of a model's scores."""
    return float(statistics(side, np.ones((1, len(side.sizes))), level)[0])


def tail_means(side: SideScores, weights: Floats, level: float) -> Floats:
    """Mean of the worst share of one model's scores in every resample, ``F^(-2)(p) / p`` (method §3).

    Parameters
    ----------
    side : SideScores
    weights : ndarray, shape (B, units)
        How much each unit counts.
    level : float
        Share p of the worst scores, in (0, 1].

    Returns
    -------
    ndarray, shape (B,)
    """
    order = np.argsort(side.values, kind="stable")
    wanted = level * weighted_sums(weights, side.sizes.astype(np.float64))[:, None]
    # The tail of a resample mostly ends within twice as many scores of the sample.
    reach = min(order.size, int(2 * level * order.size) + 50)
    while True:
        drawn = weights[:, side.clusters[order[:reach]]]
        passed = np.cumsum(drawn, axis=1)
        if reach == order.size or np.all(passed[:, -1:] >= wanted):
            break
        reach = min(order.size, 2 * reach)
    inside = np.clip(wanted - (passed - drawn), 0.0, drawn)
    return weighted_sums(inside, side.values[order[:reach]]) / wanted[:, 0]


def statistics(side: SideScores | TailSide, drawn: Floats, level: float | None) -> Floats:
    """Means or tail means of one model in every resample, of a suite by its tasks, or with a judge.

    Parameters
    ----------
    side : SideScores or TailSide
    drawn : ndarray, shape (B, units)
        How much each unit counts, before tasks are weighed.
    level : float or None
        Share of the worst scores whose mean it is; None for the mean of all.
    """
    if isinstance(side, TailSide):
        assert level is not None
        return side.tails(drawn, level)
    if level is not None:
        return tail_means(side, side.weigh(drawn) if side.tasks.several else drawn, level)
    if side.tasks.several:
        return weighted_sums(side.weigh(drawn), side.sums)
    return weighted_sums(drawn, side.sums) / weighted_sums(drawn, side.sizes.astype(np.float64))


def _weights(new: int, old: int, paired: bool, resamples: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Weights of the units of either model, some resamples at a time."""
    step = max(_WEIGHTS // (new + old), 1)
    for stream, count in blocks(resamples, seed):
        rng = np.random.default_rng(stream)
        for start in range(0, count, step):
            rows = min(step, count - start)
            first = rng.standard_exponential((rows, new))
            yield first, first if paired else rng.standard_exponential((rows, old))
