"""What is kept of bootstrap resamples (method §4).

The ratios of every resample would be (B, orders, k, k) numbers. No test needs them whole: relative claims
live on the k one-versus-all ratios of a resample, direct and absolute ones on counts of crossings and two
running moments a pair. Only those are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class Replicates:
    """What is kept of every resample.

    Attributes
    ----------
    orders : tuple of o int
        Orders of dominance that were looked at.
    thresholds : tuple of t float
        Values of ε_ij whose crossings were counted.
    overall : ndarray, shape (B, o, k), or None
        One-versus-all ratios ε_i; None where only some pairs were looked at.
    crossings : ndarray of int, shape (t, o, k, k)
        Number of resamples with ε_ij at or above the threshold.
    ratio_error : ndarray, shape (o, k, k)
        Standard deviation of ε_ij.
    means : ndarray, shape (B, k)
        Mean score of each model, in the units of the scores.
    tails : ndarray, shape (B, k)
        Mean of the worst share `tail_level` of each model's scores, in the same units.
    tail_level : float
        max(0.05, 5/n).
    masses : ndarray, shape (M,), or None
        Of all resamples of few tasks (method §8): the probability of each. Then `overall` has M rows, the
        crossings are probabilities, and each row of `means` and `tails` counts the same.
    """

    orders: tuple[int, ...]
    thresholds: tuple[float, ...]
    overall: Floats | None
    crossings: Integers | Floats
    ratio_error: Floats
    means: Floats
    tails: Floats
    tail_level: float
    masses: Floats | None = None

    @property
    def count(self) -> int:
        """Number of resamples, B."""
        return len(self.means)

    def smallest_share(self, most: int) -> float:
        """Smallest share of resamples that can be shown, where so many would be drawn at most."""
        return 1 / (most + 1) if self.masses is None else float(self.masses.min())

    def one_versus_all(self, order: int) -> Floats:
        """Replicates of ε_i for one order, shape (B, k)."""
        if self.overall is None:
            raise ValueError("one-versus-all ratios need all pairs")
        return self.overall[:, self.orders.index(order)]

    def crossed(self, order: int, threshold: float) -> Integers | Floats:
        """Number of resamples with ε_ij at or above a threshold, or their probability, shape (k, k)."""
        return self.crossings[self.thresholds.index(threshold), self.orders.index(order)]


@dataclass(frozen=True)
class Part:
    """The resamples of one task, summed up where nothing more is needed."""

    overall: Floats
    crossings: Integers
    sums: Floats
    squares: Floats
    means: Floats
    tails: Floats


class Gathering:
    """Resamples of one column as their parts come in."""

    def __init__(
        self,
        orders: tuple[int, ...],
        thresholds: tuple[float, ...],
        scale: CommonScale,
        tail_level: float,
        *,
        all_pairs: bool,
    ) -> None:
        self._orders, self._thresholds = orders, thresholds
        self._scale, self._tail_level = scale, tail_level
        self._all_pairs = all_pairs
        self._kept: list[Part] = []
        self._crossings: Any = 0
        self._sums: Any = 0.0
        self._squares: Any = 0.0
        self.count = 0

    def add(self, part: Part) -> None:
        """Take in the next part."""
        self._crossings = self._crossings + part.crossings
        self._sums = self._sums + part.sums
        self._squares = self._squares + part.squares
        empty = np.empty(0)
        self._kept.append(replace(part, crossings=np.empty(0, dtype=np.int64), sums=empty, squares=empty))
        self.count += len(part.means)

    def replicates(self) -> Replicates:
        """All resamples so far."""
        kept, scale = self._kept, self._scale
        spread = self._squares - self._sums**2 / self.count
        overall = np.concatenate([part.overall for part in kept])
        return Replicates(
            self._orders,
            self._thresholds,
            overall if self._all_pairs else None,
            self._crossings,
            np.sqrt(np.maximum(spread, 0) / max(self.count - 1, 1)),
            scale.undo(np.concatenate([part.means for part in kept])),
            scale.undo(np.concatenate([part.tails for part in kept])),
            self._tail_level,
        )
