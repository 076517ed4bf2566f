"""Means of columns of scores with their standard errors, where rows of one cluster belong together.

Weighted means over tasks, and what each unit of resampling adds to them (method §8).

The parts of a mean are what every unit moves it by; they sum to 0, within each task where units are drawn
within tasks, and their squares make up the variance of the mean.

Intervals of single means: Student's t, and Wilson's for shares, which stays within 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # loads its functions when they are first used
from numpy.typing import NDArray

from riskrank.engine.sampling.degrees_of_freedom import satterthwaite
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class ColumnMeans:
    """Means of m columns.

    Attributes
    ----------
    mean : ndarray, shape (m,)
    error : ndarray, shape (m,)
        Standard errors; NaN where there is one cluster only.
    """

    mean: Floats
    error: Floats


def cluster_means(values: Floats, clusters: NDArray) -> ColumnMeans:
    """Mean of every column over its rows, with the standard error that whole clusters give.

    With S_c the sum and n_c the number of rows of cluster c, and mean = ΣS_c / Σn_c, the error is that of a
    ratio of means: √(C/(C − 1) · Σ(S_c − mean·n_c)²) / Σn_c. For clusters of one row it is s/√n.

    Parameters
    ----------
    values : ndarray, shape (n, m)
    clusters : ndarray of int, shape (n,)
        Numbers 0, 1, ... of the units of resampling.

    Returns
    -------
    ColumnMeans
    """
    # In units of a power of two at the largest score, squares and sums stay within any number.
    exponent = np.frexp(np.abs(values).max(axis=0))[1]
    scaled = np.ldexp(values, -exponent)
    mean = scaled.mean(axis=0)
    count = int(clusters.max()) + 1
    sums = sums_by(clusters, scaled - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((sums**2).sum(axis=0) * (count / (count - 1) if count > 1 else np.nan)) / len(values)
    return ColumnMeans(np.ldexp(mean, exponent), np.ldexp(error, exponent))


@dataclass(frozen=True)
class TaskParts:
    """Means of m columns of one model's scores, and their parts.

    Attributes
    ----------
    mean : ndarray, shape (m,)
        Weighted over tasks.
    parts : ndarray, shape (C, m)
        What each unit moves the means by.
    shares : ndarray, shape (C, m)
        What each unit adds to the means; their sums are the means.
    tasks : ndarray of int, shape (C,)
        Stratum of each unit: its task, or 0 where tasks are drawn.
    counts : ndarray, shape (S,)
        Independent units of each stratum: Kish's number of their sizes, or of the weights of drawn tasks.
    """

    mean: Floats
    parts: Floats
    shares: Floats
    tasks: Integers
    counts: Floats

    @classmethod
    def of(cls, values: Floats, clusters: NDArray, design: TaskDesign, model: int) -> TaskParts:
        """Find the parts of one model's means.

        Parameters
        ----------
        values : ndarray, shape (n, m)
        clusters : ndarray, shape (n,)
            Unit of each row; tasks that are drawn are the units themselves.
        design : TaskDesign
            Of all models.
        model : int
        """
        rows = design.of_row[model]
        sizes = np.bincount(rows, minlength=len(design.names))
        share = design.share_of(model)[:, None]
        numbers = rows if design.random else _units(clusters, rows)
        shares = sums_by(numbers, values * share)
        mean = shares.sum(axis=0)
        of_task = sums_by(rows, values / sizes[rows][:, None])
        if design.random:
            parts = design.weights[:, None] * (of_task - mean)
            number = design.weights.sum() ** 2 / (design.weights**2).sum()
            return cls(mean, parts, shares, np.zeros(len(parts), dtype=np.int64), np.array([number]))
        parts = sums_by(numbers, (values - of_task[rows]) * share)
        tasks = np.zeros(len(parts), dtype=np.int64)
        tasks[numbers] = rows
        if design.signed:
            parts = shares - (sums_by(tasks, shares) / np.bincount(tasks)[:, None])[tasks]
            return cls(mean, parts, shares, tasks, np.bincount(tasks).astype(np.float64))
        of_size = np.bincount(numbers).astype(np.float64)
        counts = np.bincount(tasks, of_size) ** 2 / np.bincount(tasks, of_size**2)
        return cls(mean, parts, shares, tasks, counts)

    def variances(self, parts: Floats) -> Floats:
        """Variance of the sum of some parts by stratum, shape (m, S)."""
        number = np.bincount(self.tasks, minlength=len(self.counts)).astype(np.float64)
        scale = number / np.maximum(number - 1, 1)
        return (sums_by(self.tasks, parts**2, len(self.counts)) * scale[:, None]).T

    def df(self, parts: Floats) -> Floats:
        """Degrees of freedom of a sum of some parts, shape (m,)."""
        return satterthwaite(self.variances(parts), self.counts).df


def task_column_means(
    values: Floats, clusters: NDArray, design: TaskDesign | None, model: int
) -> ColumnMeans:
    """Means with their standard errors, NaN where a task has one unit only; arguments of `TaskParts.of`.

    Without a design those of `cluster_means`.
    """
    if design is None:
        return cluster_means(values, clusters)
    # In units of a power of two at the largest score, squares stay within any number.
    exponent = np.frexp(np.abs(values).max(axis=0))[1]
    found = TaskParts.of(np.ldexp(values, -exponent), clusters, design, model)
    error = np.sqrt(found.variances(found.parts).sum(axis=1))
    if np.bincount(found.tasks).min() < 2:
        error = np.full_like(error, np.nan)
    return ColumnMeans(np.ldexp(found.mean, exponent), np.ldexp(error, exponent))


def _units(clusters: NDArray, rows: Integers) -> Integers:
    """Number the clusters of each task, tasks one after the other: the same for models that share them."""
    _, own = np.unique(clusters, return_inverse=True)
    return np.unique(rows * (int(own.max()) + 1) + own, return_inverse=True)[1].astype(np.int64)


def sums_by(numbers: NDArray, values: Floats, count: int = 0) -> Floats:
    """Sums of the rows of each number, shape (C, m)."""
    sums = [np.bincount(numbers, column, minlength=count) for column in values.T]
    return np.column_stack(sums).astype(np.float64)


LEVEL = 0.95


def mean_intervals(mean: Floats, error: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Ends of the intervals of means, mean ± t·error.

    Parameters
    ----------
    mean, error, freedom : ndarray, shape (k,)
        Means, their standard errors and the degrees of freedom of these; NaN where nothing is known.

    Returns
    -------
    low, high : ndarray, shape (k,)
    """
    wide = _quantile(freedom) * error
    return mean - wide, mean + wide


def share_intervals(share: Floats, error: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Ends of the intervals of shares of zeros and ones, (Wilson 1927) with t in the place of the normal.

    The number of independent scores is what the standard error says of whole clusters, p(1 − p)/error²; of a
    share of 0 or 1, which has no error, the degrees of freedom and one.

    Parameters
    ----------
    share, error, freedom : ndarray, shape (k,)
        As for :func:`mean_intervals`.

    Returns
    -------
    low, high : ndarray, shape (k,)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        number = np.where(error > 0, share * (1 - share) / error**2, freedom + 1)
    squared = _quantile(freedom) ** 2
    whole = 1 + squared / number
    middle = (share + squared / (2 * number)) / whole
    wide = np.sqrt(squared * (share * (1 - share) / number + squared / (4 * number**2))) / whole
    return np.maximum(middle - wide, 0.0), np.minimum(middle + wide, 1.0)


def _quantile(freedom: Floats) -> Floats:
    return scipy.special.stdtrit(freedom, (1 + LEVEL) / 2)
