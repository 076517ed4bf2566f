"""One model's scores in a comparison, and the units they are resampled by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.gates.side_tasks import SideTasks
from riskrank.engine.products import weighted_sums
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class SideScores:
    """Scores of one model in a comparison.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Larger is better.
    clusters : ndarray of int, shape (n,)
        Unit of resampling of each score, 0, 1, ... without gaps.
    tasks : SideTasks or None
        Of the units of a suite.
    """

    values: Floats
    clusters: Integers
    tasks: SideTasks | None = None

    @property
    def sizes(self) -> NDArray[np.int_]:
        """Scores of each unit."""
        return np.bincount(self.clusters)

    @property
    def sums(self) -> Floats:
        """Sum of the scores of each unit."""
        return np.asarray(np.bincount(self.clusters, self.values), dtype=np.float64)

    @property
    def seen(self) -> Floats:
        """Scores that tell how bad a score can be."""
        return self.values

    @property
    def mean(self) -> float:
        """Mean score, of a suite weighted over its tasks."""
        if self.tasks is None:
            return float(self.values.mean())
        weights = self.weigh(np.ones((1, len(self.sizes))))
        return float(weighted_sums(weights, self.sums)[0])

    def weigh(self, drawn: Floats) -> Floats:
        """Weight of each score of the units in resamples, shape (B, C), for counts of the units."""
        return drawn if self.tasks is None else self.tasks.weigh(drawn, self.sizes.astype(np.float64))

    def worst_share(self, share: float) -> float:
        """Quantile of the scores, of a suite of its weighted tasks."""
        if self.tasks is None:
            return float(np.quantile(self.values, share, method="inverted_cdf"))
        weights = self.weigh(np.ones((1, len(self.sizes))))[0][self.clusters]
        return float(np.quantile(self.values, share, method="inverted_cdf", weights=weights))

    def where_it_weighs(self) -> SideScores:
        """The scores of the task to which one unit more is added."""
        if self.tasks is None:
            return self
        kept = np.flatnonzero(self.tasks.of_unit[self.clusters] == self.tasks.heaviest)
        return SideScores(self.values[kept], np.unique(self.clusters[kept], return_inverse=True)[1])

    def with_unit(self, score: float) -> SideScores:
        """Add a unit of usual size whose scores are all the same."""
        count = max(round(float(self.where_it_weighs().sizes.mean())), 1)
        return SideScores(
            np.concatenate([self.values, np.full(count, score)]),
            np.concatenate([self.clusters, np.full(count, self.clusters[-1] + 1)]),
            None if self.tasks is None else self.tasks.with_unit(),
        )
