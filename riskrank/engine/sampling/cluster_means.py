"""Means of score columns with standard errors for clustered rows (method §8).

Confidence intervals for means use Student's t. Those for proportions use Wilson's interval, which stays
within [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine import special
from riskrank.engine.types import Floats


@dataclass(frozen=True)
class ColumnMeans:
    """Means of m columns with standard errors.

    Attributes
    ----------
    mean : ndarray, shape (m,)
        Mean of each column.
    error : ndarray, shape (m,)
        Standard errors; NaN if there is only one cluster.
    """

    mean: Floats
    error: Floats


# Means below this share of the largest score are rounding errors.
_ROUNDING = 1e-15


def cluster_means(values: Floats, clusters: NDArray) -> ColumnMeans:
    """Return the mean of each column, with a cluster-robust standard error.

    Let S_c be the sum and n_c the number of rows of cluster c, and mean = ΣS_c / Σn_c. The standard error is
    that of a ratio of means: √(C/(C − 1) · Σ(S_c − mean·n_c)²) / Σn_c. For clusters of one row it equals
    s/√n.

    Parameters
    ----------
    values : ndarray, shape (n, m)
        Scores, one row per observation.
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
    mean[np.abs(mean) < _ROUNDING] = 0.0
    count = int(clusters.max()) + 1
    sums = np.column_stack([np.bincount(clusters, column) for column in (scaled - mean).T])
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((sums**2).sum(axis=0) * (count / (count - 1) if count > 1 else np.nan)) / len(values)
    return ColumnMeans(np.ldexp(mean, exponent), np.ldexp(error, exponent))


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
        Limits of the 95 % intervals.
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
        Limits of the 95 % intervals.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.where(error > 0, proportion * (1 - proportion) / error**2, df + 1)
    t_squared = _t_quantile(df) ** 2
    scale = 1 + t_squared / n
    centre = (proportion + t_squared / (2 * n)) / scale
    half = np.sqrt(t_squared * (proportion * (1 - proportion) / n + t_squared / (4 * n**2))) / scale
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _t_quantile(df: Floats) -> Floats:
    """Return the 97.5 % quantile of Student's t distribution with `df` degrees of freedom."""
    return special.stdtrit(df, (1 + LEVEL) / 2)
