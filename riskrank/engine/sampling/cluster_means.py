"""Means of columns of scores with their standard errors, where rows of one cluster belong together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.types import Floats


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
    away = scaled - mean
    sums = np.column_stack([np.bincount(clusters, column, minlength=count) for column in away.T])
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((sums**2).sum(axis=0) * (count / (count - 1) if count > 1 else np.nan)) / len(values)
    return ColumnMeans(np.ldexp(mean, exponent), np.ldexp(error, exponent))
