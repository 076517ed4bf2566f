"""What the table at hand says before any test: violation ratios, means, tail means ([RAB] section 2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.merged_steps import same_distribution
from riskrank.engine.dominance.violation import ORDERS, ViolationKernel, violation_matrices
from riskrank.engine.judges.tails import for_tail
from riskrank.engine.portfolio.quantiles import tail_value_of_sorted
from riskrank.engine.sampling.design import FEWEST_LABELS, ClusteredScores
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Booleans, Floats

TAIL_LEVEL = 0.05


def tail_level(scores: ClusteredScores) -> float:
    """Level of the worst share of the scores: 5 %, or five samples where they are more (method §4).

    With a judge, 20 of those that people scored (method §12).
    """
    if scores.judged:
        return min(max(TAIL_LEVEL, FEWEST_LABELS / scores.labelled), 1.0)
    samples: float = min(scores.cluster_counts)
    if not scores.plain:
        # Also where whole tasks are drawn, a tail is one of samples.
        sums = [np.bincount(*both) for both in zip(scores.samples, scores.weights, strict=True)]
        samples = min(float(1 / (own**2).sum()) for own in sums)
    return min(max(TAIL_LEVEL, 5 / samples), 1.0)


def matrices_of(scores: ClusteredScores, *, orders: Sequence[int] = ORDERS) -> Floats:
    """Violation ratios of all ordered pairs of any design, shape (orders, k, k)."""
    if scores.plain:
        return violation_matrices([np.sort(value) for value in scores.values], orders=orders)
    return weighted_matrices(scores, orders=orders)


def weighted_matrices(scores: ClusteredScores, *, orders: Sequence[int] = ORDERS) -> Floats:
    """The same by merging steps, whatever the weights."""
    design = WeightedDesign(replace(scores, values=CommonScale.of(scores.values).of_all(scores.values)))
    kernel = ViolationKernel.of(scores.models, orders=orders)
    return kernel.ratios_of_steps(design.values, design.of_sample(), max(scores.sizes))[..., 0]


@dataclass(frozen=True)
class ViolationEstimates:
    """Violation ratios of the table at hand.

    Attributes
    ----------
    ratios : ndarray, shape (2, k, k)
        Orders 1 and 2.
    means : ndarray, shape (k,)
        Mean score of each model.
    identical : ndarray of bool, shape (k, k)
        Pairs whose empirical distributions are equal.
    samples : float
        Independent samples behind the least-sampled model; of unequal clusters Kish's number.
    tails : ndarray, shape (k,)
        Mean of the worst share `tail_level` of each model's scores.
    tail_level : float
        max(0.05, 5/n).
    """

    ratios: Floats
    means: Floats
    identical: Booleans
    samples: float
    tails: Floats
    tail_level: float


def estimate(scores: ClusteredScores) -> ViolationEstimates:
    """Violation ratios of both orders ([RAB] section 2).

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.

    Returns
    -------
    ViolationEstimates
    """
    # On a common scale sums of scores near the largest double stay finite.
    scale, level, k = CommonScale.of(scores.values), tail_level(scores), scores.models
    scaled = replace(scores, values=scale.of_all(scores.values))
    ratios, means, tails, same = (_plain if scores.plain else _weighted)(scaled, level)
    identical = np.zeros((k, k), dtype=bool)
    for i, j in zip(*np.nonzero(np.triu(ratios[0] == 0.5, 1)), strict=True):
        identical[i, j] = identical[j, i] = same(i, j)
    independent = float(scores.independent.min())
    return ViolationEstimates(ratios, scale.undo(means), identical, independent, scale.undo(tails), level)


Estimated = tuple[Floats, Floats, Floats, Callable[[int, int], bool]]
"""Ratios, means and tail means, and whether two models have one distribution."""


def _plain(scores: ClusteredScores, level: float) -> Estimated:
    ordered = [np.sort(value) for value in scores.values]
    means = np.array([value.mean() for value in ordered])
    tails = np.array([tail_value_of_sorted(value, level) for value in ordered])
    ratios = violation_matrices(ordered)
    return ratios, means, tails, lambda i, j: _same_distribution(ordered[i], ordered[j])


def _weighted(scores: ClusteredScores, level: float) -> Estimated:
    """The same of scores that weigh differently (method §8)."""
    design, worst, most = WeightedDesign(scores), WeightedDesign(for_tail(scores, level)), max(scores.sizes)
    cumulated = design.of_sample()
    steps, ends = (
        [Steps(*one) for one in zip(own.values, (rows[0] for rows in of), strict=True)]
        for own, of in ((design, cumulated), (worst, worst.of_sample()))
    )
    ratios = ViolationKernel.of(len(steps)).ratios_of_steps(design.values, cumulated, most)[..., 0]
    means, tails = np.array([one.means for one in steps]), np.array([one.tail_means(level) for one in ends])
    return ratios, means, tails, lambda i, j: same_distribution(steps[i], steps[j], most)


def _same_distribution(a: Floats, b: Floats) -> bool:
    """Whether two sorted samples have the same empirical CDF, sizes apart."""
    values_a, counts_a = np.unique(a, return_counts=True)
    values_b, counts_b = np.unique(b, return_counts=True)
    return np.array_equal(values_a, values_b) and np.array_equal(counts_a * b.size, counts_b * a.size)
