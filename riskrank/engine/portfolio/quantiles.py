"""Quantile functions, their integrals and Tail Value at Risk, of one column and of many sorted at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.sampling.steps import StepMaker, Steps, rounding_of, units_of
from riskrank.engine.types import Floats
from riskrank.errors import InputError


def quantile(sample: ArrayLike, level: ArrayLike, weights: ArrayLike = 1.0) -> Floats:
    """Left-continuous inverse of the empirical CDF.

    Parameters
    ----------
    sample : array_like, shape (n,)
        Scores, in any order.
    level : array_like
        Probabilities in (0, 1].
    weights : array_like, shape (n,), optional
        How much each score counts; all the same by default.

    Returns
    -------
    ndarray, shape of ``level``
        ``x_(ceil(n p))``, in the units of the scores.

    Raises
    ------
    InputError
        If a level lies outside (0, 1].
    """
    steps = weighted_steps(sample, weights)
    return steps.values[steps.at(_levels(level))]


def integrated_quantile(sample: ArrayLike, level: ArrayLike, weights: ArrayLike = 1.0) -> Floats:
    """Integral of the quantile function from 0 to ``level``, ``F^(-2)(p)`` ([RAB] eq. 3).

    Parameters
    ----------
    sample : array_like, shape (n,)
        Scores, in any order.
    level : array_like
        Probabilities in (0, 1].
    weights : array_like, shape (n,), optional
        As of :func:`quantile`.

    Returns
    -------
    ndarray, shape of ``level``
        ``F^(-2)(p)``; at ``p = 1`` it is the mean.

    Raises
    ------
    InputError
        If a level lies outside (0, 1].
    """
    return weighted_steps(sample, weights).integrated(_levels(level))


def tail_value_at_risk(sample: ArrayLike, level: ArrayLike, weights: ArrayLike = 1.0) -> Floats:
    """Mean of the worst share ``level`` of the scores, ``F^(-2)(p) / p`` (method §3).

    Parameters
    ----------
    sample : array_like, shape (n,)
        Scores, larger is better, in any order.
    level : array_like
        Probabilities in (0, 1].
    weights : array_like, shape (n,), optional
        As of :func:`quantile`.

    Returns
    -------
    ndarray, shape of ``level``
        Tail Value at Risk, in the units of the scores.

    Raises
    ------
    InputError
        If a level lies outside (0, 1].
    """
    return integrated_quantile(sample, level, weights) / _levels(level)


def tail_value_of_sorted(ordered: Floats, level: float) -> Floats:
    """Tail Value at Risk of samples that are sorted already.

    Parameters
    ----------
    ordered : ndarray, shape (..., n)
        Scores sorted upwards along the last axis.
    level : float
        Probability in (0, 1].

    Returns
    -------
    ndarray, shape (...)
    """
    weights = _tail_weights(ordered.shape[-1], level)
    return np.vecdot(ordered[..., : weights.size], weights) / (ordered.shape[-1] * level)


@lru_cache(maxsize=64)
def _tail_weights(n: int, level: float) -> Floats:
    """How much of each of the worst scores lies within the worst share: all, and of the last one a part."""
    steps = max(ceil(steps_to(level, n)), 1)
    weights = np.ones(steps)
    weights[-1] = n * level - (steps - 1)
    return weights


def mean_of(sample: Floats, weights: ArrayLike = 1.0) -> float:
    """Mean of scores, of which each counts as its weight says."""
    return float(sample.mean() if alike(weights) else np.dot(sample, weights) / np.sum(weights))


def alike(weights: ArrayLike) -> bool:
    """Whether all scores of a sample weigh the same, so that nobody needs to weigh them."""
    return not np.ptp(weights)


def weighted_steps(sample: ArrayLike, weights: ArrayLike) -> Steps:
    """A distribution of scores, each of which counts as its weight says, as steps."""
    values = np.asarray(sample, dtype=np.float64)
    shares = np.broadcast_to(np.asarray(weights, dtype=np.float64), values.shape)
    if alike(shares):
        values = np.sort(values)  # which takes a fifth of the time that their order takes
    maker = StepMaker.of(values, np.arange(values.size))
    return Steps(maker.values, maker.cumulated(units_of(shares / shares.sum())[None])[0])


def _levels(level: ArrayLike) -> Floats:
    levels = np.asarray(level, dtype=np.float64)
    if not np.all((levels > 0) & (levels <= 1)):
        raise InputError(
            "a quantile level must lie above 0 and at most at 1",
            found=f"{levels[~((levels > 0) & (levels <= 1))].flat[0]:g}",
            hint="give levels such as 0.05 or 0.5",
        )
    return levels


@dataclass(frozen=True)
class SortedScores:
    """Many samples of one size, as a risk is computed on them.

    Attributes
    ----------
    ordered : ndarray, shape (..., n)
        Scores sorted along the last axis, larger is better.
    mean : ndarray, shape (...)
    integrated : mapping of float to ndarray, shape (...)
        F(p) = ∫_0^p Q of the quantile function Q, by the levels p that were asked for.
    steps : Steps or None
        The same scores with their weights; None where all weigh the same.
    """

    ordered: Floats
    mean: Floats
    integrated: Mapping[float, Floats]
    steps: Steps | None = None

    @property
    def size(self) -> int:
        """Number of scores of a sample, n."""
        return self.ordered.shape[-1]

    @property
    def away(self) -> Floats:
        """Scores less their mean, shape (..., n)."""
        return self.ordered - self.mean[..., None]

    @property
    def slices(self) -> Floats:
        """Twice the integral of 1 − t over each score's slice of the levels t in [0, 1]."""
        if self.steps is None:
            n = self.size
            return (2 * n - 2 * np.arange(1, n + 1) + 1) / n**2
        widths = self.steps.widths
        return widths * (2 - 2 * np.cumsum(widths, axis=-1) + widths)

    def worst_mean(self, level: float) -> Floats:
        """Mean of the worst share of a sample: TVaR(p) = F(p)/p, shape (...)."""
        return self.integrated[level] / level

    def expected(self, sizes: Floats) -> Floats:
        """Mean of a function of each score, shape (...)."""
        if self.steps is None:
            return np.asarray(sizes.sum(axis=-1) / self.size)
        return np.asarray(np.einsum("...i,...i->...", sizes, self.steps.widths))

    def squared(self, sizes: Floats) -> Floats:
        """Mean of the square of a function of each score, shape (...)."""
        if self.steps is None:
            return np.asarray(np.einsum("...i,...i->...", sizes, sizes) / self.size)
        return np.asarray(np.einsum("...i,...i,...i->...", sizes, sizes, self.steps.widths))

    def quantile(self, level: float) -> Floats:
        """Q(p), shape (...)."""
        if self.steps is None:
            return self.ordered[..., max(ceil(steps_to(level, self.size)), 1) - 1]
        wanted = units_of(np.asarray(level)) - rounding_of(self.size)
        step = np.minimum((self.steps.cumulated < wanted).sum(axis=-1), self.size - 1)
        return np.take_along_axis(self.ordered, step[..., None], axis=-1)[..., 0]


def sorted_scores(ordered: Floats, levels: Sequence[float]) -> SortedScores:
    """Sum sorted scores up, to each level and to the end.

    Parameters
    ----------
    ordered : ndarray, shape (..., n)
        Sorted along the last axis.
    levels : sequence of float
        Levels p in (0, 1], ascending.

    Returns
    -------
    SortedScores
    """
    n = ordered.shape[-1]
    total, done, integrated = np.zeros(ordered.shape[:-1]), 0, {}
    for level in levels:  # whole steps, and the part of a step that the level cuts
        steps = steps_to(level, n)
        total = total + ordered[..., done : int(steps)].sum(axis=-1)
        done = int(steps)
        cut = ordered[..., min(done, n - 1)]
        integrated[level] = (total + (steps - done) * cut) / n
    return SortedScores(ordered, (total + ordered[..., done:].sum(axis=-1)) / n, integrated)


def weighted_scores(steps: Steps, levels: Sequence[float]) -> SortedScores:
    """The same of scores that weigh differently (method §8).

    Parameters
    ----------
    steps : Steps
        Cumulated weights of shape (B, d).
    levels : sequence of float

    Returns
    -------
    SortedScores
    """
    integrated = {level: level * steps.tail_means(level) for level in levels}
    held = steps.held()
    return SortedScores(held.values, steps.means, integrated, held)


def steps_to(level: float, n: int) -> float:
    """N·p, on the integer where only rounding keeps it off: 0.07 · 100 is 7 steps, not 7 and a bit."""
    steps = n * level
    return round(steps) if abs(steps - round(steps)) <= 1e-12 * n else steps
