"""Two models' quantile functions, and what each score does to their violation ratio.

Where one model is better than another, and by how much: the difference of their quantile functions.

A pointwise band from the bootstrap goes with it (the shift function; Doksum 1974, Wilcox 1995).

One pair's violation ratio and what each score of either model does to it ([RAB] Theorems 1 and 2).

A step of an empirical quantile function moved by a little changes the ratio at a known rate; the influence of
a score is the sum of these rates over the gaps above it, centred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.dominance.rank_guard import behind_pairs, least
from riskrank.engine.matrix_products import dot
from riskrank.engine.portfolio.quantiles import integrated_quantile, quantile, weighted_steps
from riskrank.engine.sampling.degrees_of_freedom import expanded_interval
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import blocks
from riskrank.engine.sampling.steps import TOTAL, Steps, rounding_of, units_of
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Floats, Integers


class MergedGrid:
    """Where the steps of two empirical quantile functions lie among each other.

    Parameters
    ----------
    first, second : ndarray, shapes (n,) and (m,)
        Weights of the scores, upwards, of sum 1.
    """

    def __init__(self, first: Floats, second: Floats) -> None:
        ends = [units_of(np.cumsum(weights)) for weights in (first, second)]
        for own in ends:
            own[-1] = TOTAL
        # Ends that are equal but for rounding must merge into one breakpoint.
        places = np.clip(np.searchsorted(ends[0], ends[1]), 1, len(ends[0]) - 1)
        for near in (ends[0][places - 1], ends[0][places]):
            close = np.abs(ends[1] - near) <= rounding_of(len(first) + len(second))
            ends[1] = np.where(close, near, ends[1])
        every = np.union1d(*ends)
        self.width = np.diff(every, prepend=0) / TOTAL
        # A segment lies under the first sample's step `step_first`, whose last segment is `at_first`.
        self.step_first, self.step_second = (np.searchsorted(own, every) for own in ends)
        self.at_first, self.at_second = (np.searchsorted(every, own) for own in ends)


@dataclass(frozen=True)
class PairInfluence:
    """One pair's ratio and the influence of each order statistic of either sample (None if identical)."""

    ratio: float
    influence_first: Floats | None
    influence_second: Floats | None


def first_order_influence(x: Floats, y: Floats, grid: MergedGrid) -> PairInfluence:
    """Ratio of "x dominates y" and influences on it, from the quantile functions; x and y sorted upwards."""
    upper, lower = x[grid.step_first], y[grid.step_second]
    d = upper - lower
    below = np.minimum(d, 0)
    if not d.any():
        return PairInfluence(0.5, None, None)
    squares, violation = dot(grid.width, d * d), dot(grid.width, below * below)

    def primitive(gap: Floats) -> Floats:
        # Antiderivative of a(d): moving a step of the quantile function crosses all levels of its jump.
        under = np.minimum(gap, 0)
        return (under * under * squares - gap * gap * violation) / squares**2

    def influence(own: Floats, other: Floats, at: Integers, sign: int) -> Floats:
        # The other's value just before and just after each step; they differ where both step at once.
        before, after = other[at[:-1]], other[at[:-1] + 1]
        jump = np.zeros(len(own) - 1)
        for level in (before, after):
            jump += 0.5 * (primitive(sign * (own[1:] - level)) - primitive(sign * (own[:-1] - level)))
        return _from_jumps(jump)

    return PairInfluence(
        # Sums of different order may differ in their last bit.
        min(float(violation / squares), 1.0),
        influence(x, lower, grid.at_first, 1),
        influence(y, upper, grid.at_second, -1),
    )


def second_order_influence(x: Floats, y: Floats, grid: MergedGrid) -> PairInfluence:
    """Ratio and influences as for the first order, from the integrated quantile functions."""
    d = x[grid.step_first] - y[grid.step_second]
    if not d.any():
        return PairInfluence(0.5, None, None)
    left, right, squares = _integrated(d, grid)
    area, negative = _negative_parts(left, right, grid.width)
    violation = negative.sum()
    rate = (2 * area * squares - grid.width * (left + right) * violation) / squares**2
    # ∫_t^1 of the rate at the end of each segment.
    remaining = np.append(np.cumsum(rate[::-1])[::-1][1:], 0.0)
    return PairInfluence(
        min(float(violation / squares), 1.0),
        _from_jumps(remaining[grid.at_first[:-1]] * np.diff(x)),
        _from_jumps(-remaining[grid.at_second[:-1]] * np.diff(y)),
    )


def _negative_parts(left: Floats, right: Floats, width: Floats) -> tuple[Floats, Floats]:
    """∫ min(D, 0) and ∫ min(D, 0)² over each segment of a piecewise linear D."""
    low, high = np.minimum(left, 0), np.minimum(right, 0)
    crossing = (left < 0) != (right < 0)
    span = np.where(crossing, np.abs(left - right), 1.0)
    # Where D crosses zero, only the share of the segment on the negative side counts.
    share = np.where(crossing, np.abs(low + high) / np.where(span == 0, 1.0, span), 1.0) * width
    return share * (low + high) / 2, share * (low * low + low * high + high * high) / 3


def integrated_distance(x: Floats, y: Floats, grid: MergedGrid) -> float:
    """∫ D² of the integrated quantiles."""
    return _integrated(x[grid.step_first] - y[grid.step_second], grid)[2]


def _integrated(difference: Floats, grid: MergedGrid) -> tuple[Floats, Floats, float]:
    """D, of quantiles that differ so, at both ends of each segment, and ∫ D²."""
    step = grid.width * difference
    right = np.cumsum(step)
    left = right - step
    return left, right, dot(grid.width, left * left + left * right + right * right) / 3


def _from_jumps(jump: Floats) -> Floats:
    """The centred influence of each order statistic from the integral of a over each gap above it."""
    above = np.append(-np.cumsum(jump[::-1])[::-1], 0.0)
    return above - above.mean()


_MOST = 1000
"""Breakpoints up to which curves are exact; beyond, as many levels evenly spaced."""

_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairCurves:
    """A pair of models at l levels.

    Attributes
    ----------
    levels : ndarray, shape (l,)
        All breakpoints of both models in (0, 1], increasing.
    winner, loser : ndarray, shape (2, l)
        Quantile function (left-continuous: the value up to a level from the one before it) and its integral.
    ratios : tuple of (float, float)
        Violation ratios of "winner dominates loser" of orders 1 and 2.
    band : (ndarray, ndarray), or None
        Ends of an interval of the difference of the quantiles at each level, shapes (l,).
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
    """Curves of two models at their merged breakpoints.

    Parameters
    ----------
    winner, loser : ndarray, shapes (n,) and (m,)
        Scores, larger is better; the winner is the model whose dominance is looked at.
    ratios : sequence of two float
        Its violation ratios, orders 1 and 2.
    weights : (ndarray, ndarray), shapes (n,) and (m,), optional
        How much each score counts; all the same by default.

    Returns
    -------
    PairCurves
        Without a band.
    """
    levels = np.unique(np.concatenate([_ends(*own) for own in zip((winner, loser), weights, strict=True)]))
    # The ends of both that differ by rounding are one.
    levels = levels[np.diff(levels, prepend=0.0) > _ROUNDING]
    if levels.size > _MOST:
        levels = np.arange(1, _MOST + 1) / _MOST

    def both(sample: Floats, own: ArrayLike) -> Floats:
        return np.array([quantile(sample, levels, own), integrated_quantile(sample, levels, own)])

    first, second = weights
    return PairCurves(levels, both(winner, first), both(loser, second), (float(ratios[0]), float(ratios[1])))


def _ends(sample: Floats, weights: ArrayLike) -> Floats:
    """Cumulated weights of a sample upwards, to 1."""
    steps = weighted_steps(sample, np.broadcast_to(weights, sample.shape))
    ends = steps.cumulated / float(steps.cumulated[-1])
    return ends[np.diff(ends, prepend=0.0) > _ROUNDING]


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
    """Difference of two models' quantiles, with a band that holds at each level on its own.

    Parameters
    ----------
    scores : ClusteredScores
    winner, loser : int
        Models; the difference is the winner's quantile less the loser's.
    levels : array_like, shape (l,)
        Probabilities in (0, 1].
    resamples : int
        Bootstrap resamples; 0 for no band.
    level : float
        The band holds with probability 1 - level at each level.
    seed : int
        Entropy of the random streams.

    Returns
    -------
    Differences
        Arrays of shape (l,); expanded percentiles (method §4).
    """
    levels = np.asarray(levels, dtype=np.float64)
    pair = scores.of_models((winner, loser))
    both = zip(pair.values, pair.weights, strict=True)
    better, worse = (quantile(own, levels, shares) for own, shares in both)
    estimate = better - worse
    if not resamples:
        return Differences(estimate, None, None)
    design, drawn = WeightedDesign(pair), []
    for cumulated in design.batches(blocks(resamples, seed), size=_BATCH):
        of_each = zip(design.values, cumulated, strict=True)
        first, second = (np.stack([own[Steps(own, row).at(levels)] for row in rows]) for own, rows in of_each)
        drawn.append(first - second)
    behind = least(behind_pairs(pair, [(0, 1)]))
    low, high = expanded_interval(np.concatenate(drawn), behind, level=1 - level)
    return Differences(estimate, low, high)
