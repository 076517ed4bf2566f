"""Means of score columns with standard errors for clustered rows, optionally weighted by task (method §8).

The parts of a mean are the contributions of the resampling units to its deviation. They sum to 0, within each
task if units are resampled within tasks. The sum of their squares estimates the variance of the mean.

Confidence intervals for means use Student's t. Those for proportions use Wilson's interval, which stays
within [0, 1].
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
    """Means of m columns with standard errors.

    Attributes
    ----------
    mean : ndarray, shape (m,)
    error : ndarray, shape (m,)
        Standard errors; NaN if there is only one cluster.
    """

    mean: Floats
    error: Floats


def cluster_means(values: Floats, clusters: NDArray) -> ColumnMeans:
    """Return the mean of each column, with a cluster-robust standard error.

    Let S_c be the sum and n_c the number of rows of cluster c, and mean = ΣS_c / Σn_c. The standard error is
    that of a ratio of means: √(C/(C − 1) · Σ(S_c − mean·n_c)²) / Σn_c. For clusters of one row it equals
    s/√n.

    Parameters
    ----------
    values : ndarray, shape (n, m)
    clusters : ndarray of int, shape (n,)
        Resampling unit of each row, numbered 0, 1, ... without gaps.

    Returns
    -------
    ColumnMeans
    """
    # Scaling by a power of two avoids overflow of squares and sums.
    exponent = np.frexp(np.abs(values).max(axis=0))[1]
    scaled = np.ldexp(values, -exponent)
    mean = scaled.mean(axis=0)
    count = int(clusters.max()) + 1
    sums = group_sums(clusters, scaled - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((sums**2).sum(axis=0) * (count / (count - 1) if count > 1 else np.nan)) / len(values)
    return ColumnMeans(np.ldexp(mean, exponent), np.ldexp(error, exponent))


@dataclass(frozen=True)
class TaskParts:
    """Means of m columns of one model's scores, with the contribution of each resampling unit.

    Attributes
    ----------
    mean : ndarray, shape (m,)
        Means, weighted by task.
    parts : ndarray, shape (C, m)
        Contribution of each unit to the deviation of the means; see the module docstring.
    shares : ndarray, shape (C, m)
        Contribution of each unit to the means; each column sums to its mean.
    tasks : ndarray of int, shape (C,)
        Stratum of each unit: its task, or 0 if tasks are resampled.
    counts : ndarray, shape (S,)
        Effective number of independent units per stratum (Kish), based on the unit sizes, or on the weights
        of resampled tasks.
    """

    mean: Floats
    parts: Floats
    shares: Floats
    tasks: Integers
    counts: Floats

    @classmethod
    def from_scores(cls, values: Floats, clusters: NDArray, design: TaskDesign, model: int) -> TaskParts:
        """Compute the means of one model, and each unit's contribution to them.

        Parameters
        ----------
        values : ndarray, shape (n, m)
        clusters : ndarray, shape (n,)
            Resampling unit of each row; ignored if tasks are resampled.
        design : TaskDesign
            Task design of all models.
        model : int
        """
        rows = design.row_tasks[model]
        sizes = np.bincount(rows, minlength=len(design.names))
        weights = design.row_weights(model)[:, None]
        units = rows if design.random else _units_within_tasks(clusters, rows)
        shares = group_sums(units, values * weights)
        mean = shares.sum(axis=0)
        task_means = group_sums(rows, values / sizes[rows][:, None])
        if design.random:
            parts = design.weights[:, None] * (task_means - mean)
            effective = design.weights.sum() ** 2 / (design.weights**2).sum()
            return cls(mean, parts, shares, np.zeros(len(parts), dtype=np.int64), np.array([effective]))
        parts = group_sums(units, (values - task_means[rows]) * weights)
        tasks = np.zeros(len(parts), dtype=np.int64)
        tasks[units] = rows
        if design.signed:
            parts = shares - (group_sums(tasks, shares) / np.bincount(tasks)[:, None])[tasks]
            return cls(mean, parts, shares, tasks, np.bincount(tasks).astype(np.float64))
        unit_sizes = np.bincount(units).astype(np.float64)
        counts = np.bincount(tasks, unit_sizes) ** 2 / np.bincount(tasks, unit_sizes**2)
        return cls(mean, parts, shares, tasks, counts)

    def variances(self, parts: Floats) -> Floats:
        """Return the variance of the sum of the given parts in each stratum, shape (m, S)."""
        n_units = np.bincount(self.tasks, minlength=len(self.counts)).astype(np.float64)
        scale = n_units / np.maximum(n_units - 1, 1)
        return (group_sums(self.tasks, parts**2, len(self.counts)) * scale[:, None]).T

    def df(self, parts: Floats) -> Floats:
        """Return Satterthwaite's degrees of freedom for the sum of the given parts, shape (m,)."""
        return satterthwaite(self.variances(parts), self.counts).df


def task_column_means(
    values: Floats, clusters: NDArray, design: TaskDesign | None, model: int
) -> ColumnMeans:
    """Return task-weighted means with standard errors; NaN if a task has only one unit.

    The parameters are those of `TaskParts.from_scores`. Without a design, the result equals that of
    `cluster_means`.
    """
    if design is None:
        return cluster_means(values, clusters)
    # Scaling by a power of two avoids overflow of squares.
    exponent = np.frexp(np.abs(values).max(axis=0))[1]
    means = TaskParts.from_scores(np.ldexp(values, -exponent), clusters, design, model)
    error = np.sqrt(means.variances(means.parts).sum(axis=1))
    if np.bincount(means.tasks).min() < 2:
        error = np.full_like(error, np.nan)
    return ColumnMeans(np.ldexp(means.mean, exponent), np.ldexp(error, exponent))


def _units_within_tasks(clusters: NDArray, rows: Integers) -> Integers:
    """Number the clusters task by task; models with the same clusters get the same numbers."""
    _, codes = np.unique(clusters, return_inverse=True)
    return np.unique(rows * (int(codes.max()) + 1) + codes, return_inverse=True)[1].astype(np.int64)


def group_sums(groups: NDArray, values: Floats, count: int = 0) -> Floats:
    """Return the sum of the rows in each group, shape (C, m).

    Parameters
    ----------
    groups : ndarray of int, shape (n,)
        Group of each row.
    values : ndarray, shape (n, m)
    count : int
        Minimum number of groups C in the result.
    """
    sums = [np.bincount(groups, column, minlength=count) for column in values.T]
    return np.column_stack(sums).astype(np.float64)


LEVEL = 0.95


def mean_intervals(mean: Floats, error: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Return Student's confidence intervals for means, mean ± t·error.

    Parameters
    ----------
    mean, error, df : ndarray, shape (k,)
        Means, their standard errors and degrees of freedom; NaN if unknown.

    Returns
    -------
    lower, upper : ndarray, shape (k,)
    """
    half = _t_quantile(df) * error
    return mean - half, mean + half


def proportion_intervals(proportion: Floats, error: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Return confidence intervals for proportions: Wilson (1927) with t quantiles instead of normal ones.

    The effective number of scores follows from the clustered standard error, p(1 − p)/error². For a
    proportion of 0 or 1 the standard error is 0, and the number is the degrees of freedom plus one.

    Parameters
    ----------
    proportion, error, df : ndarray, shape (k,)
        Proportions, their standard errors and degrees of freedom; NaN if unknown.

    Returns
    -------
    lower, upper : ndarray, shape (k,)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.where(error > 0, proportion * (1 - proportion) / error**2, df + 1)
    t_squared = _t_quantile(df) ** 2
    scale = 1 + t_squared / n
    centre = (proportion + t_squared / (2 * n)) / scale
    half = np.sqrt(t_squared * (proportion * (1 - proportion) / n + t_squared / (4 * n**2))) / scale
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _t_quantile(df: Floats) -> Floats:
    """Return the 97.5 % quantile of Student's t."""
    return scipy.special.stdtrit(df, (1 + LEVEL) / 2)
