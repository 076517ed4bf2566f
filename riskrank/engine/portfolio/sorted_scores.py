"""Sorted scores of one size, with the sums that several risks share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from riskrank.engine.sampling.steps import Steps, rounding_of, units_of
from riskrank.engine.types import Floats


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
