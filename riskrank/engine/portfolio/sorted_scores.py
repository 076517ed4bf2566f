"""Sorted scores of one size, with the sums that several risks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

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
    """

    ordered: Floats
    mean: Floats
    integrated: Mapping[float, Floats]

    @property
    def size(self) -> int:
        """Number of scores of a sample, n."""
        return self.ordered.shape[-1]

    @property
    def away(self) -> Floats:
        """Scores less their mean, shape (..., n)."""
        return self.ordered - self.mean[..., None]

    def worst_mean(self, level: float) -> Floats:
        """Mean of the worst share of a sample: TVaR(p) = F(p)/p, shape (...)."""
        return self.integrated[level] / level


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


def steps_to(level: float, n: int) -> float:
    """N·p, on the integer where only rounding keeps it off: 0.07 · 100 is 7 steps, not 7 and a bit."""
    steps = n * level
    return round(steps) if abs(steps - round(steps)) <= 1e-12 * n else steps
