"""Scores of k models on m metrics, and their portfolio: one score that combines all metrics.

A portfolio combines the metrics by a copula of their pooled CDFs. Source: [RAB] section 4, eq. 15 and 17 of
the final version; method §2. In a suite, scores are combined and ranked within each task, so that no task's
scale dominates (method §8). All metrics are kept together, so that any column of scores can be computed,
including those of random subsamples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.numeric import Pool, merge_nearly_equal, normalised_weights, relative_mid_ranks
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Floats, Integers

# Points compared at once, so that a block of results stays in the second-level cache.
_BLOCK_ROWS = 64
_BLOCK_COLUMNS = 4096


def pooled_cdf(scores: Floats) -> Floats:
    """Return the pooled right-continuous CDF of each metric, evaluated at each score.

    Parameters
    ----------
    scores : array_like, shape (N, m)
        Scores of all models and samples, one column per metric. Integers below 4N are taken as dense ranks,
        which start at 0.

    Returns
    -------
    ndarray, shape (N, m)
        ``#{pooled scores <= x} / N``, in (0, 1].
    """
    cdf = np.empty(scores.shape)
    for metric, column in enumerate(scores.T):
        is_ranked = column.dtype.kind == "i" and column.max() < 4 * len(column)
        ranks = column if is_ranked else np.unique(column, return_inverse=True)[1]
        cdf[:, metric] = (np.cumsum(np.bincount(ranks)) / len(ranks))[ranks]
    return cdf


def _split_rows(pooled: Floats, tables: Sequence[Floats]) -> list[Floats]:
    """Split an array of pooled rows into one array per original table, with the lengths of `tables`."""
    return np.split(pooled, np.cumsum([len(table) for table in tables])[:-1])


def independent_copula(scores: Floats, weights: Floats | None = None) -> Floats:
    """Return independent-copula portfolio scores, P(IC) ([RAB] eq. 15).

    The score of a row x is ``exp Σ_m λ_m log F_m(x_m)``. Here λ_m is the weight of metric m, and F_m its CDF,
    pooled over all models.

    Parameters
    ----------
    scores : array_like, shape (N, m)
        Scores of all models and samples, larger is better, one column per metric.
    weights : array_like, shape (m,), optional
        Non-negative weights, which are normalised to sum to 1. Uniform by default.

    Returns
    -------
    ndarray, shape (N,)
        Portfolio scores in (0, 1].

    Raises
    ------
    UsageError
        If all weights are 0.
    """
    return independent_copulas(scores, [weights])[0]


def independent_copulas(scores: Floats, weights: Sequence[Floats | None]) -> list[Floats]:
    """Return independent-copula portfolio scores for several sets of metric weights.

    The result has one array of shape (N,) per set. See :func:`independent_copula`. Each metric is sorted only
    once.
    """
    # Contiguous columns: older NumPy has two routines for logarithms of strided columns, which round
    # differently, and memory addresses decide between them.
    logarithms = [np.log(np.ascontiguousarray(share)) for share in pooled_cdf(scores).T]
    names = [f"metric {number + 1}" for number in range(len(logarithms))]
    folded = []
    for weight_set in weights:
        lambdas = normalised_weights(weight_set, names)
        # Column by column instead of a matrix product, so that equal rows give exactly equal results.
        logarithm = np.zeros_like(logarithms[0])
        for column, weight in zip(logarithms, lambdas, strict=True):
            logarithm += weight * column
        # Equal products of different shares differ by rounding, which would break ties between models.
        folded.append(merge_nearly_equal(np.exp(logarithm)))
    return folded


def empirical_copula(scores: Floats) -> Floats:
    """Return empirical-copula portfolio scores, P(EC): the proportion of points worse on every metric.

    [RAB, final version] eq. 17: ``Ĉ(u) = (1/n) Σ_j Π_m 1[F_m(x_jm) < u_m]`` at ``u = F(x)``.

    Parameters
    ----------
    scores : array_like, shape (N, m)
        Scores of all models and samples, larger is better, one column per metric.

    Returns
    -------
    ndarray, shape (N,)
        Portfolio scores in [0, 1).
    """
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in scores.T])
    points, inverse, counts = np.unique(ranks, axis=0, return_inverse=True, return_counts=True)
    # The points are sorted by their first column. Only points with a smaller first rank can be strictly
    # below, so about half of all comparisons are skipped. Small integers in blocks fit into the cache.
    small = np.uint16 if points.max(initial=0) < 2**16 else np.uint32
    columns = np.ascontiguousarray(points.T.astype(small))
    multiple = bool(np.any(counts > 1))
    below = np.zeros(len(points), dtype=np.int64)
    first = columns[0]
    for top in range(0, len(points), _BLOCK_ROWS):
        rows = slice(top, min(top + _BLOCK_ROWS, len(points)))
        limit = int(np.searchsorted(first, first[rows.stop - 1]))
        for left in range(0, limit, _BLOCK_COLUMNS):
            block = slice(left, min(left + _BLOCK_COLUMNS, limit))
            smaller = columns[0, None, block] < columns[0, rows, None]
            for column in columns[1:]:
                smaller &= column[None, block] < column[rows, None]
            if multiple:
                below[rows] += smaller @ counts[block]
            else:
                below[rows] += np.count_nonzero(smaller, axis=1)
    return below[inverse.ravel()] / len(scores)


# Function of the rows of all models that returns one or several numbers per row.
Combine = Callable[[Sequence[Floats]], Sequence[Floats]]


def combine_within_tasks(
    scores: Sequence[Floats], tasks: TaskDesign | None, combine: Combine
) -> tuple[Floats, ...]:
    """Apply a function that combines metrics, such as a copula, to the rows of each task separately.

    Parameters
    ----------
    scores : sequence of k ndarrays, shapes (n_i, m)
        Scores of each model, one column per metric.
    tasks : TaskDesign or None
        Tasks of a suite; None combines all rows at once.
    combine : callable
        Maps the rows of all models, one array per model, to one or several numbers per row.

    Returns
    -------
    tuple of k ndarrays, shapes (n_i,) or (n_i, count)
    """
    if tasks is None:
        return tuple(combine(scores))
    result: tuple[Floats, ...] = ()
    for task in range(len(tasks.names)):
        rows = [np.flatnonzero(of_row == task) for of_row in tasks.row_tasks]
        if not any(array.size for array in rows):
            continue
        part = combine([array[index] for array, index in zip(scores, rows, strict=True)])
        result = result or tuple(np.empty((len(array), *part[0].shape[1:])) for array in scores)
        for column, index, combined in zip(result, rows, part, strict=True):
            column[index] = combined
    return result


def portfolio(
    scores: Sequence[Floats],
    tasks: TaskDesign | None = None,
    *,
    copula: str = "independent",
    weights: Floats | None = None,
) -> tuple[Floats, ...]:
    """Combine the metrics of all models to one portfolio score per row.

    The CDFs of the metrics are pooled over models.

    Parameters
    ----------
    scores : sequence of k array_like, shapes (n_i, m)
        Scores of each model, larger is better, one column per metric.
    tasks : TaskDesign, optional
        Tasks of a suite; rows are combined within each task.
    copula : {"independent", "empirical"}
        P(IC) or P(EC).
    weights : array_like, shape (m,), optional
        Weights of the metrics, for P(IC).

    Returns
    -------
    tuple of k ndarrays, shapes (n_i,)

    Raises
    ------
    UsageError
        If all weights are 0.
    """

    def combine(rows: Sequence[Floats]) -> list[Floats]:
        """Return the portfolio scores of each model's rows on one task, one array per model."""
        pooled = np.concatenate(rows)
        independent = copula == "independent"
        folded = independent_copula(pooled, weights) if independent else empirical_copula(pooled)
        return _split_rows(folded, rows)

    return combine_within_tasks(scores, tasks, combine)


def portfolios(scores: Sequence[Floats], weights: Sequence[Floats]) -> list[Floats]:
    """Return independent-copula portfolio scores, P(IC), for several sets of metric weights.

    Parameters
    ----------
    scores : sequence of k ndarrays, shapes (n_i, m)
        Scores of each model, one column per metric.
    weights : sequence of ndarrays, shapes (m,)
        Sets of metric weights.

    Returns
    -------
    list of k ndarrays, shapes (n_i, sets)
        One column of portfolio scores per set of weights.
    """
    return _split_rows(np.column_stack(independent_copulas(np.concatenate(scores), weights)), scores)


def ranks_within_tasks(scores: Sequence[Floats], tasks: TaskDesign) -> tuple[Floats, ...]:
    """Rank every score among all models' scores on the same task.

    Ranks are mid-ranks, divided by the number of scores. They have the shapes of the input.

    Parameters
    ----------
    scores : sequence of k ndarrays, shapes (n_i, m)
        Scores of each model; every column is ranked separately.
    tasks : TaskDesign
        Task of each score.
    """

    def relative_ranks(rows: Sequence[Floats]) -> list[Floats]:
        """Return the mid-ranks of a column's scores on one task, divided by their number, by model."""
        pooled = np.concatenate(rows)
        return _split_rows(relative_mid_ranks(pooled, [Pool(np.sort(pooled))]), rows)

    columns = [
        combine_within_tasks([array[:, column] for array in scores], tasks, relative_ranks)
        for column in range(scores[0].shape[1])
    ]
    return tuple(np.column_stack(array) for array in zip(*columns, strict=True))


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
