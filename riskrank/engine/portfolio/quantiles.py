"""Quantile functions, their integrals, and Tail Value at Risk, for single samples and sorted batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.sampling.steps import StepMaker, Steps, rounding_units, to_weight_units
from riskrank.engine.types import Floats
from riskrank.errors import InputError


def quantile(sample: ArrayLike, level: ArrayLike, weights: ArrayLike = 1.0) -> Floats:
    """Return quantiles of a sample: the left-continuous inverse of its empirical CDF.

    Parameters
    ----------
    sample : array_like, shape (n,)
        Scores, in any order.
    level : array_like
        Probabilities in (0, 1].
    weights : array_like, shape (n,), optional
        Weight of each score; equal by default.

    Returns
    -------
    ndarray, shape of ``level``
        The order statistic ``x_(⌈n p⌉)``.

    Raises
    ------
    InputError
        If a level lies outside (0, 1].
    """
    steps = weighted_steps(sample, weights)
    return steps.values[steps.quantile_index(_checked_levels(level))]


def integrated_quantile(sample: ArrayLike, level: ArrayLike, weights: ArrayLike = 1.0) -> Floats:
    """Return the integral of the quantile function from 0 to ``level``, ``F^(-2)(p)`` ([RAB] eq. 3).

    Parameters
    ----------
    sample : array_like, shape (n,)
        Scores, in any order.
    level : array_like
        Probabilities in (0, 1].
    weights : array_like, shape (n,), optional
        As in :func:`quantile`.

    Returns
    -------
    ndarray, shape of ``level``
        ``F^(-2)(p)``; at ``p = 1`` it is the mean.

    Raises
    ------
    InputError
        If a level lies outside (0, 1].
    """
    return weighted_steps(sample, weights).integrated_quantiles(_checked_levels(level))


def tail_value_at_risk(sample: ArrayLike, level: ArrayLike, weights: ArrayLike = 1.0) -> Floats:
    """Return the mean of the worst proportion p of the scores, ``F^(-2)(p) / p`` (method §3).

    Parameters
    ----------
    sample : array_like, shape (n,)
        Scores, larger is better, in any order.
    level : array_like
        Probabilities in (0, 1].
    weights : array_like, shape (n,), optional
        As in :func:`quantile`.

    Returns
    -------
    ndarray, shape of ``level``
        Tail Value at Risk (TVaR).

    Raises
    ------
    InputError
        If a level lies outside (0, 1].
    """
    return integrated_quantile(sample, level, weights) / _checked_levels(level)


def sorted_tail_value_at_risk(ordered: Floats, level: float) -> Floats:
    """Return the Tail Value at Risk of sorted samples.

    Parameters
    ----------
    ordered : ndarray, shape (..., n)
        Scores in ascending order along the last axis.
    level : float
        Probability in (0, 1].

    Returns
    -------
    ndarray, shape (...)
        Tail Value at Risk of each sample.
    """
    weights = _tail_weights(ordered.shape[-1], level)
    return np.vecdot(ordered[..., : weights.size], weights) / (ordered.shape[-1] * level)


@lru_cache(maxsize=64)
def _tail_weights(n: int, level: float) -> Floats:
    """Return the weights of the sorted scores in the lower tail of n scores, shape (⌈n · level⌉,).

    Weights are 1, except that of the last score in the tail, which may be a fraction.
    """
    steps = max(ceil(fractional_steps(level, n)), 1)
    weights = np.ones(steps)
    weights[-1] = n * level - (steps - 1)
    return weights


def weighted_mean(sample: Floats, weights: ArrayLike = 1.0) -> float:
    """Return the weighted mean of the scores of a sample; weights are equal by default."""
    return float(sample.mean() if has_equal_weights(weights) else np.dot(sample, weights) / np.sum(weights))


def has_equal_weights(weights: ArrayLike) -> bool:
    """Return True if all scores of a sample have the same weight."""
    return not np.ptp(weights)


def weighted_steps(sample: ArrayLike, weights: ArrayLike) -> Steps:
    """Return the weighted empirical distribution of a sample, as a step function.

    `sample` holds the scores in any order, `weights` the weight of each score or a common number.
    """
    values = np.asarray(sample, dtype=np.float64)
    shares = np.broadcast_to(np.asarray(weights, dtype=np.float64), values.shape)
    if has_equal_weights(shares):
        values = np.sort(values)  # five times faster than the argsort that unequal weights need
    maker = StepMaker.from_scores(values, np.arange(values.size))
    return Steps(maker.values, maker.cumulated(to_weight_units(shares / shares.sum())[None])[0])


def _checked_levels(level: ArrayLike) -> Floats:
    """Return the levels as an array; raise InputError unless all lie in (0, 1]."""
    levels = np.asarray(level, dtype=np.float64)
    if not np.all((levels > 0) & (levels <= 1)):
        problem = "a quantile level must be above 0 and at most 1"
        detail = f"{levels[~((levels > 0) & (levels <= 1))].flat[0]:g}"
        raise InputError(problem, found=detail, hint="give levels such as 0.05 or 0.5")
    return levels


@dataclass(frozen=True)
class SortedScores:
    """Many sorted samples of equal size, with the integrals needed to compute risks.

    Attributes
    ----------
    ordered : ndarray, shape (..., n)
        Scores sorted along the last axis, larger is better.
    mean : ndarray, shape (...)
        Mean of each sample.
    integrated : mapping of float to ndarray, shape (...)
        Integral F(p) = ∫_0^p Q(t) dt of the quantile function Q, by level p.
    steps : Steps or None
        The scores with their weights; None if the weights are equal.
    """

    ordered: Floats
    mean: Floats
    integrated: Mapping[float, Floats]
    steps: Steps | None = None

    @property
    def size(self) -> int:
        """Number of scores per sample, n."""
        return self.ordered.shape[-1]

    @property
    def deviations(self) -> Floats:
        """Scores minus the mean of their sample, shape (..., n)."""
        return self.ordered - self.mean[..., None]

    @property
    def gini_weights(self) -> Floats:
        """Weight of each score in the Gini tail measure, shape (..., n).

        It is 2 ∫ (1 − t) dt over the levels t at which the quantile Q(t) is this score.
        """
        if self.steps is None:
            n = self.size
            return (2 * n - 2 * np.arange(1, n + 1) + 1) / n**2
        widths = self.steps.widths
        return widths * (2 - 2 * np.cumsum(widths, axis=-1) + widths)

    def worst_mean(self, level: float) -> Floats:
        """Return the mean of the worst proportion p = `level` of each sample, TVaR(p) = F(p)/p, shape (...).

        `level` is one of the keys of `integrated`.
        """
        return self.integrated[level] / level

    def mean_of(self, values: Floats) -> Floats:
        """Return the weighted mean of `values` over the last axis, shape (...).

        There is one value per score.
        """
        if self.steps is None:
            return np.asarray(values.sum(axis=-1) / self.size)
        return np.asarray(np.einsum("...i,...i->...", values, self.steps.widths))

    def mean_square_of(self, values: Floats) -> Floats:
        """Return the weighted mean of squared `values` over the last axis, shape (...).

        There is one value per score.
        """
        if self.steps is None:
            return np.asarray(np.einsum("...i,...i->...", values, values) / self.size)
        return np.asarray(np.einsum("...i,...i,...i->...", values, values, self.steps.widths))

    def quantile(self, level: float) -> Floats:
        """Return the quantile of each sample at a level in (0, 1], shape (...)."""
        if self.steps is None:
            return self.ordered[..., max(ceil(fractional_steps(level, self.size)), 1) - 1]
        target = to_weight_units(np.asarray(level)) - rounding_units(self.size)
        step = np.minimum((self.steps.cumulated < target).sum(axis=-1), self.size - 1)
        return np.take_along_axis(self.ordered, step[..., None], axis=-1)[..., 0]


def sorted_scores(ordered: Floats, levels: Sequence[float]) -> SortedScores:
    """Prepare sorted scores for risk measures: their mean, and their integrals up to each level.

    Parameters
    ----------
    ordered : ndarray, shape (..., n)
        Scores sorted along the last axis.
    levels : sequence of float
        Levels p in (0, 1], ascending.

    Returns
    -------
    SortedScores
    """
    n = ordered.shape[-1]
    total, done, integrated = np.zeros(ordered.shape[:-1]), 0, {}
    for level in levels:  # sum complete steps, and the part of the step up to the level
        steps = fractional_steps(level, n)
        total = total + ordered[..., done : int(steps)].sum(axis=-1)
        done = int(steps)
        cut = ordered[..., min(done, n - 1)]
        integrated[level] = (total + (steps - done) * cut) / n
    return SortedScores(ordered, (total + ordered[..., done:].sum(axis=-1)) / n, integrated)


def sorted_weighted_scores(steps: Steps, levels: Sequence[float]) -> SortedScores:
    """Prepare unequally weighted scores for risk measures: their mean and integrals (method §8).

    Parameters
    ----------
    steps : Steps
        Cumulative weights of shape (B, d).
    levels : sequence of float
        Levels p in (0, 1], ascending.

    Returns
    -------
    SortedScores
    """
    integrated = {level: level * steps.tail_means(level) for level in levels}
    distinct = steps.on_support()
    return SortedScores(distinct.values, steps.means, integrated, distinct)


def fractional_steps(level: float, n: int) -> float:
    """Return n · `level`, rounded to an integer if it differs from one only by floating-point error."""
    steps = n * level
    return round(steps) if abs(steps - round(steps)) <= 1e-12 * n else steps
