"""Bootstrap replicates of differences in tail means, for many comparisons at once.

A resample gives every resampling unit a random weight. The weights are exponential (Rubin's Bayesian
bootstrap). For many scores this is equivalent to drawing with replacement; for a tail with few scores it is
better. Scores are sorted once and summed.

Resamples only contain observed scores. If two models agree in the tails of 30 samples, every resample shows
no difference, although one sample in 25 may be a loss. The exact limit of a proportion (Clopper and Pearson
1934) counts one loss more than observed, and so does this module for tail means. Before the lower limit of an
interval is resampled, one sample is added against the claim; before the upper limit, one in its favour. Its
score is the mean of the samples in the tail and the worst possible score.

References
----------
C. J. Clopper and E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in the case of
the binomial. Biometrika 26(4), 404-413. doi:10.1093/biomet/26.4.404
D. B. Rubin (1981). The Bayesian bootstrap. The Annals of Statistics 9(1), 130-134. doi:10.1214/aos/1176345338
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from riskrank.engine.gates.side import SideScores, TailSide
from riskrank.engine.judges.tails import tune_for_tail
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK, ResampleBlock, make_blocks
from riskrank.engine.types import Floats
from riskrank.engine.weights import weighted_sums

# Weights generated at once: 32 MB of doubles.
_WEIGHTS = 1 << 22


@dataclass(frozen=True)
class Comparison:
    """Two models on one column of scores, and the statistic that is compared.

    Attributes
    ----------
    new, old : SideScores
        Scores of the two models.
    paired : bool
        True if both models share the units.
    level : float
        Tail level p: proportion of the worst scores.
    lowest : float
        The worst possible score.
    """

    new: SideScores
    old: SideScores
    paired: bool
    level: float
    lowest: float

    @classmethod
    def from_scores(
        cls, scores: ClusteredScores, new: int, old: int, level: float, lowest: float
    ) -> Comparison:
        """Build the comparison of two models; `new` and `old` are their indices.

        `level` is the proportion of worst scores in the tail, and `lowest` the worst possible score. Scores
        of a judge are calibrated on human labels for this tail.
        """
        if not scores.judged:
            sides = [SideScores.from_scores(scores, model) for model in (new, old)]
            return cls(sides[0], sides[1], scores.joint_resamples, level, lowest)
        tuned = tune_for_tail(scores, level)
        tails = [TailSide.from_scores(tuned, model) for model in (new, old)]
        return cls(tails[0], tails[1], True, level, lowest)

    def with_adverse_sample(self) -> Comparison:
        """Return a copy in which the new model has one more bad sample, and the old one a median sample.

        If tasks are sampled, the comparison is returned unchanged, because a single unobserved failure cannot
        be a whole task.
        """
        if self.new.tasks.random:
            return self
        observed, quantile = self.new.observed, self.new.worst_quantile(self.level)
        below = observed[observed < quantile]
        worst = float((self.lowest + below.sum()) / (1 + below.size))
        middle = float(np.median(self.old.observed))
        return replace(self, new=self.new.with_unit(worst), old=self.old.with_unit(middle))

    def with_favourable_sample(self) -> Comparison:
        """Return a copy in which the old model has one more bad sample, and the new one a median sample.

        If tasks are sampled, the comparison is returned unchanged.
        """
        adverse = replace(self, new=self.old, old=self.new).with_adverse_sample()
        return replace(adverse, new=adverse.old, old=adverse.new)


def resampled_differences(comparisons: Sequence[Comparison], *, resamples: int, seed: int) -> list[Floats]:
    """Resample the statistic of each comparison, new minus old.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Pairs of models, with the statistic to compare.
    resamples : int
        Number of resamples, B.
    seed : int
        Seed of the random streams; comparisons with the same number of units share their resamples.

    Returns
    -------
    list of ndarray, shapes (B,)
        Resampled differences, one array per comparison.
    """
    results = []
    for comparison in comparisons:
        new, old, level = comparison.new, comparison.old, comparison.level
        counts = int(new.clusters[-1]) + 1, int(old.clusters[-1]) + 1
        parts = [
            resampled_statistics(new, first, level) - resampled_statistics(old, second, level)
            for first, second in _draw_weights(*counts, comparison.paired, resamples, seed)
        ]
        results.append(np.concatenate(parts))
    return results


def observed_difference(comparison: Comparison) -> float:
    """Return the observed value of the compared statistic, new minus old."""
    new, old = (observed_tail_mean(side, comparison.level) for side in (comparison.new, comparison.old))
    return new - old


def observed_tail_mean(side: SideScores, level: float) -> float:
    """Return the tail mean of the observed scores of a model, for the worst proportion `level` of scores."""
    return float(resampled_statistics(side, np.ones((1, len(side.sizes))), level)[0])


def tail_means(side: SideScores, weights: Floats, level: float) -> Floats:
    """Return the tail mean of one model's scores in every resample, ``F^(-2)(p) / p`` (method §3).

    Parameters
    ----------
    side : SideScores
        Scores of the model, with their resampling units.
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
    """Return the mean or tail mean of one model in every resample, for any design.

    Parameters
    ----------
    side : SideScores or TailSide
        Scores of the model, with their resampling units.
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


def _draw_weights(
    new: int, old: int, paired: bool, resamples: int, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    """Draw bootstrap weights for the units of two models, and yield them in batches.

    Parameters
    ----------
    new, old : int
        Number of resampling units of each model.
    paired : bool
        True if both models share their units, and so the weights.
    resamples, seed : int
        Number of resamples, and seed of their random streams.

    Yields
    ------
    (ndarray, ndarray), shapes (rows, new) and (rows, old)
        Weights for the units of the new and of the old model.
    """
    step = max(_WEIGHTS // (new + old), 1)
    draws = _block_weights(make_blocks(resamples, seed), new, 0 if paired else old, step)
    while group := list(islice(draws, max(step // BLOCK // 8, 1))):
        first, second = (np.concatenate(rows) for rows in zip(*group, strict=True))
        yield first, first if paired else second


def _block_weights(
    blocks: Iterable[ResampleBlock], new: int, old: int, step: int
) -> Iterator[tuple[Floats, Floats]]:
    """Draw exponential weights for the units of two models, and yield them in batches.

    `new` and `old` are their numbers of units. A batch has at most `step` resamples of one block: a pair of
    arrays of shapes (rows, new) and (rows, old).
    """
    for block in blocks:
        rng = block.generator()
        for start in range(0, block.count, step):
            rows = min(step, block.count - start)
            yield rng.standard_exponential((rows, new)), rng.standard_exponential((rows, old))
