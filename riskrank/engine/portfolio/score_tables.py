"""Scores of k models on m metrics, and the single score columns that ranking methods use.

A portfolio folds the metrics into one column; a single metric is a column itself (method §2). All metrics are
kept together, so that any column can be computed, including those of random subsamples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.portfolio.folding import combine_within_tasks, portfolio, portfolios
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Floats, Integers

INDEPENDENT = "P(IC)"
EMPIRICAL = "P(EC)"


@dataclass(frozen=True)
class ScoreTables:
    """Scores of every model, with one column per metric and the sample of each row.

    Attributes
    ----------
    values : tuple of k ndarrays, shapes (n_i, m)
        Scores; larger is better.
    clusters : tuple of k ndarrays of int, shapes (n_i,)
        Unit of resampling of each row: its sample, or a cluster of samples.
    metrics : tuple of m str
        Names of the columns.
    weights : ndarray, shape (m,)
        Weights of the metrics, a probability vector.
    paired : bool
        True if models share their samples.
    row_samples : tuple of k ndarrays of int, shapes (n_i,), or None
        Sample of each row, for clusters of several samples; None if the clusters are the samples.
    tasks : TaskDesign or None
        Tasks of the rows of a suite.
    """

    values: tuple[Floats, ...]
    clusters: tuple[Integers, ...]
    metrics: tuple[str, ...]
    weights: Floats
    paired: bool = True
    row_samples: tuple[Integers, ...] | None = None
    tasks: TaskDesign | None = None

    @classmethod
    def from_arrays(
        cls,
        values: Sequence[ArrayLike],
        clusters: Sequence[ArrayLike],
        metrics: Sequence[str],
        *,
        samples: Sequence[ArrayLike] | None = None,
        weights: ArrayLike | None = None,
        paired: bool = True,
        tasks: TaskDesign | None = None,
    ) -> ScoreTables:
        """Create tables from array-likes. By default, weights are uniform and every cluster is one sample.

        The parameters are those of the class, with `samples` for the sample of each row.
        """
        share = np.full(len(metrics), 1 / len(metrics)) if weights is None else np.asarray(weights, float)
        return cls(
            tuple(np.asarray(value, dtype=np.float64) for value in values),
            tuple(np.asarray(cluster) for cluster in clusters),
            tuple(metrics),
            share,
            paired,
            None if samples is None else tuple(np.asarray(sample) for sample in samples),
            tasks,
        )

    def column_scores(self, name: str) -> tuple[Floats, ...]:
        """Return the scores of each model in the column `name`, in row order.

        The column is a metric, ``P(IC)`` (independent-copula portfolio) or ``P(EC)`` (empirical-copula
        portfolio). A metric with the name of a portfolio takes precedence.
        """
        if name in self.metrics:
            metric = self.metrics.index(name)
            return tuple(value[:, metric] for value in self.values)
        return self._independent if name == INDEPENDENT else self._empirical

    @cached_property
    def _independent(self) -> tuple[Floats, ...]:
        """Independent-copula portfolio scores, P(IC), of all rows; one array per model."""
        return portfolio(self.values, self.tasks, weights=self.weights)

    @cached_property
    def _empirical(self) -> tuple[Floats, ...]:
        """Empirical-copula portfolio scores, P(EC), of all rows; one array per model."""
        return portfolio(self.values, self.tasks, copula="empirical")

    def clustered_column(self, name: str) -> ClusteredScores:
        """Return the column `name` as a sampling design with its clusters and tasks.

        The column is a metric or a portfolio, ``P(IC)`` or ``P(EC)``.
        """
        return ClusteredScores.build(
            self.column_scores(name),
            self.clusters,
            samples=self.row_samples,
            paired=self.paired,
            tasks=self.tasks,
        )

    def single_column(self, name: str) -> ScoreTables:
        """Return tables in which the column `name` is the only metric.

        The column is a metric or a portfolio, ``P(IC)`` or ``P(EC)``.
        """
        values = tuple(column[:, None] for column in self.column_scores(name))
        return replace(self, values=values, metrics=(name,), weights=np.ones(1))

    def with_weights(self, weights: Floats) -> ScoreTables:
        """Return tables with an independent-copula portfolio score for each set of metric weights.

        `weights` has shape (sets, m). The columns are named by the numbers of the sets.
        """
        folded = combine_within_tasks(self.values, self.tasks, lambda rows: portfolios(rows, list(weights)))
        return replace(self, values=folded, metrics=tuple(map(str, range(len(weights)))), weights=weights[0])

    def as_ranks(self) -> ScoreTables:
        """Return tables in which each score is replaced by its rank among all models' scores on the metric.

        Ranks are dense and start at 0.
        """
        ranks = [np.unique(column, return_inverse=True)[1] for column in np.concatenate(self.values).T]
        bounds = np.cumsum([len(value) for value in self.values])[:-1]
        return replace(self, values=tuple(np.split(np.stack(ranks, axis=1), bounds)))

    def select_models(self, models: Sequence[int]) -> ScoreTables:
        """Return the tables of the models with the given indices, in that order."""
        return self._select(lambda arrays: tuple(arrays[model] for model in models))

    def _select(self, pick: Callable[[Sequence[NDArray]], tuple[NDArray, ...]]) -> ScoreTables:
        """Return tables with some of the models or rows; `pick` selects them from one array per model."""
        return replace(
            self,
            values=pick(self.values),
            clusters=pick(self.clusters),
            row_samples=None if self.row_samples is None else pick(self.row_samples),
            tasks=None if self.tasks is None else self.tasks.select_rows(pick),
        )

    @property
    def samples(self) -> int:
        """Number of independent samples, clusters or random tasks of the model with the fewest."""
        return min(len(np.unique(cluster)) for cluster in self._units())

    @property
    def fewest_samples(self) -> int:
        """Smallest possible size of a subsample.

        It is two per task, or 1 if tasks are sampled or there are no tasks.
        """
        return 1 if self.tasks is None or self.tasks.random else 2 * len(self.tasks.names)

    def _units(self) -> Sequence[NDArray]:
        """Return the resampling unit of each row, one array per model.

        A unit is a cluster, a cluster within a task, or a whole task if tasks are sampled.
        """
        return self.clusters if self.tasks is None else self.tasks.unit_labels(self.clusters)

    def subsample(self, size: int, rng: np.random.Generator) -> ScoreTables:
        """Draw ``size`` clusters of every model without replacement; paired models get the same clusters.

        In a suite, the clusters are drawn from each task in proportion to its size, and at least two per
        task.
        """
        together = self.paired or (self.tasks is not None and self.tasks.random)
        chosen = None
        masks = []
        for model, units in enumerate(self._units()):
            if chosen is None or not together:
                chosen = (
                    rng.choice(np.unique(units), size, replace=False)
                    if self.tasks is None or self.tasks.random
                    else _draw_within_tasks(units, self.tasks.row_tasks[model], size, rng)
                )
            masks.append(np.isin(units, chosen))

        return self._select(lambda rows: tuple(row[mask] for row, mask in zip(rows, masks, strict=True)))


def _draw_within_tasks(units: NDArray, tasks: Integers, size: int, rng: np.random.Generator) -> NDArray:
    """Draw `size` units without replacement, in proportion to the size of each task.

    At least two units per task are drawn. `units` holds the unit of each row, `tasks` its task. The result
    contains the labels of the drawn units.
    """
    names, first = np.unique(units, return_index=True)
    unit_tasks = tasks[first]
    counts = np.bincount(unit_tasks)
    least = np.minimum(counts, 2)
    targets = np.maximum(counts * size / len(names), least)
    quotas = np.maximum(np.floor(targets).astype(np.int64), least)
    while quotas.sum() != size:
        step = 1 if quotas.sum() < size else -1
        free = quotas < counts if step > 0 else quotas > least
        quotas[np.argmax(np.where(free, step * (targets - quotas), -np.inf))] += step
    draws = [rng.choice(names[unit_tasks == task], count, replace=False) for task, count in enumerate(quotas)]
    return np.concatenate(draws)
