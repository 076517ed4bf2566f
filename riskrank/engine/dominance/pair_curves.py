"""Quantile functions of two models, their difference, and influence functions of their violation ratio.

The difference of the quantile functions shows at which levels one model is better, and by how much. With a
pointwise bootstrap band it is known as the shift function (Doksum 1974, Wilcox 1995).

The violation ratio has a functional derivative with respect to each quantile function. The influence of a
score is the integral of this derivative over the gaps between order statistics above it, centred ([RAB]
Theorems 1 and 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.portfolio.quantiles import integrated_quantile, quantile, weighted_steps
from riskrank.engine.sampling.degrees_of_freedom import expanded_interval
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import make_blocks
from riskrank.engine.sampling.steps import TOTAL, Steps, rounding_units, to_weight_units
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Floats, Integers
from riskrank.engine.weights import dot


class MergedGrid:
    """Merged breakpoints of two empirical quantile functions.

    Parameters
    ----------
    first, second : ndarray, shapes (n,) and (m,)
        Weights of the sorted scores of the two samples. The weights of each sample sum to 1.

    Attributes
    ----------
    width : ndarray, shape (s,)
        Widths of the segments between merged breakpoints.
    step_first, step_second : ndarray of int, shape (s,)
        Index of the sorted score that each segment belongs to, for both samples.
    at_first, at_second : ndarray of int, shapes (n,) and (m,)
        Index of the last segment of each sorted score.
    """

    def __init__(self, first: Floats, second: Floats) -> None:
        """Merge the breakpoints; breakpoints that differ only by rounding become equal."""
        breakpoints = [to_weight_units(np.cumsum(weights)) for weights in (first, second)]
        for points in breakpoints:
            points[-1] = TOTAL
        # Merge breakpoints that differ only by rounding.
        places = np.clip(np.searchsorted(breakpoints[0], breakpoints[1]), 1, len(breakpoints[0]) - 1)
        for near in (breakpoints[0][places - 1], breakpoints[0][places]):
            close = np.abs(breakpoints[1] - near) <= rounding_units(len(first) + len(second))
            breakpoints[1] = np.where(close, near, breakpoints[1])
        merged = np.union1d(*breakpoints)
        self.width = np.diff(merged, prepend=0) / TOTAL
        self.step_first, self.step_second = (np.searchsorted(points, merged) for points in breakpoints)
        self.at_first, self.at_second = (np.searchsorted(merged, points) for points in breakpoints)


# Violation ratio of two samples, and the influences of their sorted scores on it.
Influences = tuple[float, Floats, Floats]


def first_order_influence(x: Floats, y: Floats, grid: MergedGrid) -> Influences:
    """Return the first-order violation ratio of "x dominates y", and the influence of each score on it.

    `x` and `y` hold sorted scores, and `grid` the merged breakpoints of their quantile functions. All
    influences are 0 if the samples are identical.

    Returns
    -------
    ratio : float
    influence_x, influence_y : ndarray
        Influences of the sorted scores, with the shapes of `x` and `y`.
    """
    upper, lower = x[grid.step_first], y[grid.step_second]
    d = upper - lower
    below = np.minimum(d, 0)
    if not d.any():
        return 0.5, np.zeros(x.size), np.zeros(y.size)
    squares, violation = dot(grid.width, d * d), dot(grid.width, below * below)

    def primitive(gap: Floats) -> Floats:
        """Return the antiderivative of the ratio's functional derivative at a quantile difference `gap`."""
        under = np.minimum(gap, 0)
        return (under * under * squares - gap * gap * violation) / squares**2

    def influence(sample: Floats, curve: Floats, at: Integers, sign: int) -> Floats:
        """Return the influence of each score of one sorted sample on the violation ratio.

        `curve` is the quantile function of the other sample, and `at` the segment of each step of this
        sample. `sign` is 1 for the first sample and −1 for the second.
        """
        # The other curve's value before and after each step; they differ if both step at the same level.
        before, after = curve[at[:-1]], curve[at[:-1] + 1]
        jump = np.zeros(len(sample) - 1)
        for level in (before, after):
            jump += 0.5 * (primitive(sign * (sample[1:] - level)) - primitive(sign * (sample[:-1] - level)))
        return _influence_from_jumps(jump)

    # Sums in a different order can differ in the last bit.
    ratio = min(float(violation / squares), 1.0)
    return ratio, influence(x, lower, grid.at_first, 1), influence(y, upper, grid.at_second, -1)


def second_order_influence(x: Floats, y: Floats, grid: MergedGrid) -> Influences:
    """Return the second-order violation ratio of "x dominates y", and the influence of each score on it.

    See `first_order_influence`.
    """
    d = x[grid.step_first] - y[grid.step_second]
    if not d.any():
        return 0.5, np.zeros(x.size), np.zeros(y.size)
    left, right, squares = _integrate(d, grid)
    low, high = np.minimum(left, 0), np.minimum(right, 0)
    crossing = (left < 0) != (right < 0)
    span = np.where(crossing, np.abs(left - right), 1.0)
    # If the integral D crosses zero, only the negative part of the segment counts.
    share = np.where(crossing, np.abs(low + high) / np.where(span == 0, 1.0, span), 1.0) * grid.width
    area = share * (low + high) / 2
    violation = (share * (low * low + low * high + high * high) / 3).sum()
    rate = (2 * area * squares - grid.width * (left + right) * violation) / squares**2
    # ∫_t^1 of the rate, with t the end of each segment.
    remaining = np.append(np.cumsum(rate[::-1])[::-1][1:], 0.0)
    return (
        min(float(violation / squares), 1.0),
        _influence_from_jumps(remaining[grid.at_first[:-1]] * np.diff(x)),
        _influence_from_jumps(-remaining[grid.at_second[:-1]] * np.diff(y)),
    )


def integrated_distance(x: Floats, y: Floats, grid: MergedGrid) -> float:
    """Return ∫ D², where D is the difference of the integrated quantile functions of two samples.

    `x` and `y` hold sorted scores, and `grid` the merged breakpoints of their quantile functions.
    """
    return _integrate(x[grid.step_first] - y[grid.step_second], grid)[2]


def _integrate(difference: Floats, grid: MergedGrid) -> tuple[Floats, Floats, float]:
    """Integrate a difference of quantile functions to D, and integrate D².

    `difference` holds the value on each segment of the grid.

    Returns
    -------
    left, right : ndarray
        D at the ends of each segment.
    float
        ∫ D².
    """
    step = grid.width * difference
    right = np.cumsum(step)
    left = right - step
    return left, right, dot(grid.width, left * left + left * right + right * right) / 3


def _influence_from_jumps(jump: Floats) -> Floats:
    """Return the influence of each sorted score, with mean 0, shape (n,).

    `jump`, shape (n − 1,), is the integral of the ratio's derivative over the gap between neighbouring
    scores.
    """
    above = np.append(-np.cumsum(jump[::-1])[::-1], 0.0)
    return above - above.mean()


# Largest number of breakpoints for exact curves; above it, this many evenly spaced levels are used.
_MAX_LEVELS = 1000

_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairCurves:
    """Quantile functions of a pair of models, evaluated at l levels.

    Attributes
    ----------
    levels : ndarray, shape (l,)
        Merged breakpoints of both models in (0, 1], increasing.
    winner, loser : ndarray, shape (2, l)
        Left-continuous quantile function (row 0) and its integral (row 1).
    ratios : tuple of (float, float)
        Violation ratios of "winner dominates loser" for orders 1 and 2.
    band : (ndarray, ndarray), or None
        Lower and upper limits of the quantile difference at each level, shape (l,) each; None if no band was
        computed.
    """

    levels: Floats
    winner: Floats
    loser: Floats
    ratios: tuple[float, float]
    band: tuple[Floats, Floats] | None = None


def pair_curves(
    winner: Floats,
    loser: Floats,
    ratios: Sequence[float],
    *,
    weights: tuple[ArrayLike, ArrayLike] = (1.0, 1.0),
) -> PairCurves:
    """Compute the quantile functions of two models, and their integrals, at the merged breakpoints.

    Parameters
    ----------
    winner, loser : ndarray, shapes (n,) and (m,)
        Scores; larger is better.
    ratios : sequence of two float
        Violation ratios of "winner dominates loser" for orders 1 and 2.
    weights : (ndarray, ndarray), shapes (n,) and (m,), optional
        Weights of the scores; scalars mean equal weights.

    Returns
    -------
    PairCurves
        Curves without a confidence band.
    """
    breakpoints = []
    for sample, share in zip((winner, loser), weights, strict=True):
        cumulated = weighted_steps(sample, np.broadcast_to(share, sample.shape)).cumulated
        points = cumulated / float(cumulated[-1])
        breakpoints.append(points[np.diff(points, prepend=0.0) > _ROUNDING])
    levels = np.unique(np.concatenate(breakpoints))
    # Merge breakpoints of both samples that differ only by rounding.
    levels = levels[np.diff(levels, prepend=0.0) > _ROUNDING]
    if levels.size > _MAX_LEVELS:
        levels = np.arange(1, _MAX_LEVELS + 1) / _MAX_LEVELS

    curves = [
        np.array([quantile(sample, levels, share), integrated_quantile(sample, levels, share)])
        for sample, share in zip((winner, loser), weights, strict=True)
    ]
    return PairCurves(levels, curves[0], curves[1], (float(ratios[0]), float(ratios[1])))


_BATCH = 64


def quantile_difference(
    scores: ClusteredScores,
    winner: int,
    loser: int,
    levels: ArrayLike,
    *,
    resamples: int = 1000,
    level: float = 0.05,
    seed: int = 0,
) -> Differences:
    """Compute the difference between two models' quantiles, with a pointwise bootstrap band.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    winner, loser : int
        Model indices; the difference is winner minus loser.
    levels : array_like, shape (l,)
        Probabilities in (0, 1].
    resamples : int
        Number of bootstrap resamples.
    level : float
        Error level α: at each quantile level separately, the band has coverage 1 − α.
    seed : int
        Entropy of the random streams.

    Returns
    -------
    Differences
        Arrays of shape (l,). The band uses expanded percentiles (method §4).
    """
    levels = np.asarray(levels, dtype=np.float64)
    pair = scores.select_models((winner, loser))
    both = zip(pair.values, pair.weights, strict=True)
    better, worse = (quantile(v, levels, shares) for v, shares in both)
    design, differences = WeightedDesign(pair), []
    for cumulated in design.batches(make_blocks(resamples, seed), size=_BATCH):
        pairs = zip(design.values, cumulated, strict=True)
        first, second = (np.stack([v[Steps(v, r).quantile_index(levels)] for r in rows]) for v, rows in pairs)
        differences.append(first - second)
    samples = fewest_samples(pair_samples(pair, [(0, 1)]))
    low, high = expanded_interval(np.concatenate(differences), samples, level=1 - level)
    return Differences(better - worse, low, high)
