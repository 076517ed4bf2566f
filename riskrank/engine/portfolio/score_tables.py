"""k models' scores under m metrics, and the single columns that methods work on.

Method §2: a portfolio folds the metrics into one column; a metric alone is itself. Keeping all metrics
together lets a study make every column it needs, also from a random part of the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.portfolio.folding import portfolio
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Floats, Integers

INDEPENDENT = "P(IC)"
EMPIRICAL = "P(EC)"


@dataclass(frozen=True)
class ScoreTables:
    """Scores of every model, a column a metric, with the samples they belong to.

    Attributes
    ----------
    values : tuple of k ndarrays, shapes (n_i, m)
        Scores, larger is better.
    clusters : tuple of k ndarrays of int, shapes (n_i,)
        Unit of resampling of each row: its sample, or a cluster of samples.
    metrics : tuple of m str
        Names of the columns.
    weights : ndarray, shape (m,)
        Weights of the metrics, a probability vector.
    paired : bool
        Whether models share their samples.
    per_model : bool
        Whether the empirical copula compares a row with its own model's rows only.
    row_samples : tuple of k ndarrays of int, shapes (n_i,), or None
        Sample of each row, where clusters hold several; None where the clusters are the samples.
    tasks : TaskDesign or None
        Tasks of the rows of a suite.
    """

    values: tuple[Floats, ...]
    clusters: tuple[Integers, ...]
    metrics: tuple[str, ...]
    weights: Floats
    paired: bool = True
    per_model: bool = False
    row_samples: tuple[Integers, ...] | None = None
    tasks: TaskDesign | None = None

    @classmethod
    def build(
        cls,
        values: Sequence[ArrayLike],
        clusters: Sequence[ArrayLike],
        metrics: Sequence[str],
        *,
        samples: Sequence[ArrayLike] | None = None,
        weights: ArrayLike | None = None,
        paired: bool = True,
        per_model: bool = False,
        tasks: TaskDesign | None = None,
    ) -> ScoreTables:
        """Collect arrays; weights are uniform by default, and clusters are the samples."""
        share = np.full(len(metrics), 1 / len(metrics)) if weights is None else np.asarray(weights, float)
        return cls(
            tuple(np.asarray(value, dtype=np.float64) for value in values),
            tuple(np.asarray(cluster) for cluster in clusters),
            tuple(metrics),
            share,
            paired,
            per_model,
            None if samples is None else tuple(np.asarray(sample) for sample in samples),
            tasks,
        )

    def column(self, name: str) -> ClusteredScores:
        """One column of scores: ``P(IC)``, ``P(EC)`` or a metric.

        A metric may be called like a portfolio; asked for by its name it goes before.
        """
        if name in self.metrics:
            at = self.metrics.index(name)
            columns = tuple(value[:, at] for value in self.values)
        elif name == INDEPENDENT:
            columns = portfolio(self.values, weights=self.weights)
        else:
            columns = portfolio(self.values, copula="empirical", per_model=self.per_model)
        return ClusteredScores.build(
            columns, self.clusters, samples=self.row_samples, paired=self.paired, tasks=self.tasks
        )

    def of_models(self, models: Sequence[int]) -> ScoreTables:
        """The tables of some models alone."""

        def chosen(arrays: Sequence[NDArray]) -> tuple[NDArray, ...]:
            return tuple(arrays[model] for model in models)

        return replace(
            self,
            values=chosen(self.values),
            clusters=chosen(self.clusters),
            row_samples=None if self.row_samples is None else chosen(self.row_samples),
            tasks=None if self.tasks is None else replace(self.tasks, of_row=chosen(self.tasks.of_row)),
        )

    @property
    def samples(self) -> int:
        """Number of independent samples, or clusters of them, of the least-sampled model."""
        return min(len(np.unique(cluster)) for cluster in self.clusters)

    def subsample(self, size: int, rng: np.random.Generator) -> ScoreTables:
        """Draw ``size`` clusters of every model without replacement, the same ones if paired."""
        chosen = None
        kept = []
        for cluster in self.clusters:
            if chosen is None or not self.paired:
                chosen = rng.choice(np.unique(cluster), size, replace=False)
            kept.append(np.isin(cluster, chosen))

        def part(rows: Sequence[NDArray]) -> tuple[NDArray, ...]:
            return tuple(row[keep] for row, keep in zip(rows, kept, strict=True))

        return replace(
            self,
            values=part(self.values),
            clusters=part(self.clusters),
            row_samples=None if self.row_samples is None else part(self.row_samples),
        )
