"""k models' scores under m metrics, and the single columns that methods work on.

Method §2: a portfolio folds the metrics into one column; a metric alone is itself. Keeping all metrics
together lets a study make every column it needs, also from a random part of the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.portfolio.folding import portfolio, portfolios, within_tasks
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
            None if samples is None else tuple(np.asarray(sample) for sample in samples),
            tasks,
        )

    def rows(self, name: str) -> tuple[Floats, ...]:
        """One column of scores, ``P(IC)``, ``P(EC)`` or a metric, in the order of the rows.

        A metric may be called like a portfolio; asked for by its name it goes before.
        """
        if name in self.metrics:
            at = self.metrics.index(name)
            return tuple(value[:, at] for value in self.values)
        return self._independent if name == INDEPENDENT else self._empirical

    @cached_property
    def _independent(self) -> tuple[Floats, ...]:
        return portfolio(self.values, self.tasks, weights=self.weights)

    @cached_property
    def _empirical(self) -> tuple[Floats, ...]:
        return portfolio(self.values, self.tasks, copula="empirical")

    def column(self, name: str) -> ClusteredScores:
        """The same column as methods take it, with the samples it belongs to."""
        return ClusteredScores.build(
            self.rows(name), self.clusters, samples=self.row_samples, paired=self.paired, tasks=self.tasks
        )

    def alone(self, name: str) -> ScoreTables:
        """The tables of one column of scores as their only metric."""
        values = tuple(column[:, None] for column in self.rows(name))
        return replace(self, values=values, metrics=(name,), weights=np.ones(1))

    def weighed(self, weights: Floats) -> ScoreTables:
        """A column a set of weights, shape (sets, m): P(IC) with these, by their numbers."""
        folded = within_tasks(self.values, self.tasks, lambda rows: portfolios(rows, list(weights)))
        return replace(self, values=folded, metrics=tuple(map(str, range(len(weights)))), weights=weights[0])

    def of_models(self, models: Sequence[int]) -> ScoreTables:
        """The tables of some models alone."""

        def chosen(arrays: Sequence[NDArray]) -> tuple[NDArray, ...]:
            return tuple(arrays[model] for model in models)

        return self._picked(chosen)

    def _picked(self, part: Callable[[Sequence[NDArray]], tuple[NDArray, ...]]) -> ScoreTables:
        """The tables of a part of what each model has."""
        return replace(
            self,
            values=part(self.values),
            clusters=part(self.clusters),
            row_samples=None if self.row_samples is None else part(self.row_samples),
            tasks=None if self.tasks is None else self.tasks.picked(part),
        )

    @property
    def samples(self) -> int:
        """Number of independent samples, or clusters of them, of the least-sampled model."""
        return min(len(np.unique(cluster)) for cluster in self._units())

    @property
    def fewest_samples(self) -> int:
        """Samples a part needs, so that each task has two; 1 where tasks are drawn, or there are none."""
        return 1 if self.tasks is None or self.tasks.random else 2 * len(self.tasks.names)

    def _units(self) -> Sequence[NDArray]:
        """Unit of resampling of each row: of a suite clusters within tasks, or the tasks that are drawn."""
        return self.clusters if self.tasks is None else self.tasks.labels(self.clusters)

    def subsample(self, size: int, rng: np.random.Generator) -> ScoreTables:
        """Draw ``size`` clusters of every model without replacement, the same ones if paired.

        Of a suite every task gives its share of them, two at least.
        """
        together = self.paired or (self.tasks is not None and self.tasks.random)
        chosen = None
        kept = []
        for model, units in enumerate(self._units()):
            if chosen is None or not together:
                chosen = (
                    rng.choice(np.unique(units), size, replace=False)
                    if self.tasks is None or self.tasks.random
                    else _of_tasks(units, self.tasks.of_row[model], size, rng)
                )
            kept.append(np.isin(units, chosen))

        def part(rows: Sequence[NDArray]) -> tuple[NDArray, ...]:
            return tuple(row[keep] for row, keep in zip(rows, kept, strict=True))

        return self._picked(part)


def _of_tasks(units: NDArray, tasks: Integers, size: int, rng: np.random.Generator) -> NDArray:
    """Draw units without replacement, of every task its share rounded up or down, and two at least."""
    names, first = np.unique(units, return_index=True)
    of_unit = tasks[first]
    counts = np.bincount(of_unit)
    least = np.minimum(counts, 2)
    wanted = np.maximum(counts * size / len(names), least)
    taken = np.maximum(np.floor(wanted).astype(np.int64), least)
    while taken.sum() != size:
        step = 1 if taken.sum() < size else -1
        free = taken < counts if step > 0 else taken > least
        taken[np.argmax(np.where(free, step * (wanted - taken), -np.inf))] += step
    drawn = [rng.choice(names[of_unit == task], count, replace=False) for task, count in enumerate(taken)]
    return np.concatenate(drawn)
