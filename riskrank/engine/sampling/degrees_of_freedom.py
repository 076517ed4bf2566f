"""Degrees of freedom, and expanded percentile p-values and intervals for small samples.

For n samples the degrees of freedom are n − 1, and a bootstrap variance is (n − 1)/n of the unbiased one. For
samples stratified by task (method §8) both follow from Satterthwaite's approximation: each task has its own
variance, estimated from its own number of samples.

Expanded percentiles correct for small samples (Hesterberg 2015; method §4, rule 1). A bootstrap distribution
is too narrow by a factor of √((n − 1)/n), and its tails are normal rather than those of Student's t. The
expanded percentile keeps the bootstrap distribution and adjusts only the level of the quantile.

References
----------
F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components. Biometrics
Bulletin 2(6), 110-114. doi:10.2307/3002019

T. C. Hesterberg (2015). What teachers should know about the bootstrap. The American Statistician 69(4),
371-386. doi:10.1080/00031305.2015.1089789
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine import special
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class Dof:
    """Degrees of freedom of one or more statistics.

    Attributes
    ----------
    df : ndarray
        Degrees of freedom, at least 1.
    variance_ratio : ndarray
        Ratio of the bootstrap variance to the unbiased variance; (n − 1)/n for an unstratified sample.
    """

    df: Floats
    variance_ratio: Floats

    def __getitem__(self, index: Any) -> Dof:
        """Index both arrays in the same way, and return the selection."""
        return Dof(self.df[index], self.variance_ratio[index])


# Number of independent samples n, at least 2 (Kish's number for unequal clusters), or degrees of freedom.
SampleSize = float | Floats | Integers | Dof


@dataclass(frozen=True)
class Expansion:
    """Degrees of freedom and scale factors for expanded percentiles (method §4, rule 1).

    Attributes
    ----------
    df : float or ndarray
        Degrees of freedom.
    narrow : float or ndarray
        Ratio of the bootstrap standard error to the unbiased one; √((n − 1)/n) for an unstratified sample.
    widen : float or ndarray
        Reciprocal of `narrow`.
    """

    df: Any
    narrow: Any
    widen: Any

    @classmethod
    def from_size(cls, size: SampleSize) -> Expansion:
        """Compute the scale factors for a sample size n, or for given degrees of freedom."""
        if isinstance(size, Dof):
            narrow = np.sqrt(size.variance_ratio)
            return cls(size.df, narrow, 1 / narrow)
        n = size
        return cls(n - 1, np.sqrt((n - 1) / n), np.sqrt(n / (n - 1)))


def satterthwaite(variances: Floats, counts: Floats) -> Dof:
    """Return Satterthwaite's degrees of freedom for a sum of independent means.

    Parameters
    ----------
    variances : ndarray, shape (..., T)
        Variance of each term of the sum: w_t² s_t²/n_t, with weight w_t and sample variance s_t². If all are
        0, equal s_t² are assumed.
    counts : ndarray, shape (T,)
        Number of samples n_t of each term; at least 2 unless its variance is 0.

    Returns
    -------
    Dof
        Shape (...).
    """
    n = np.maximum(counts, 2.0)
    largest = variances.max(axis=-1, keepdims=True)
    # Division by the largest variance avoids overflow of squares.
    parts = np.where(largest > 0, variances / np.where(largest > 0, largest, 1.0), 1 / n)
    total = parts.sum(axis=-1)
    df = total**2 / (parts**2 / (n - 1)).sum(axis=-1)
    return Dof(df, (parts * (n - 1) / n).sum(axis=-1) / total)


def minimum_df(first: Dof, second: Dof) -> Dof:
    """Compare degrees of freedom elementwise; return the smaller ones with their variance ratios."""
    is_first = first.df <= second.df
    ratio = np.where(is_first, first.variance_ratio, second.variance_ratio)
    return Dof(np.where(is_first, first.df, second.df), ratio)


def kish_size(clusters: Integers) -> float:
    """Return Kish's effective number of clusters: (Σm)²/Σm² for cluster sizes m.

    Parameters
    ----------
    clusters : ndarray of int, shape (n,)
        Cluster of each row, numbered 0, 1, ... without gaps.
    """
    sizes = np.bincount(clusters).astype(np.int64)
    return int(sizes.sum()) ** 2 / int((sizes**2).sum())


def expanded_p_value(bootstrap_p_value: ArrayLike, size: SampleSize) -> Floats:
    """Correct bootstrap p-values for small samples: F_t(√((n − 1)/n)·Φ⁻¹(p₀)), n − 1 degrees of freedom.

    Parameters
    ----------
    bootstrap_p_value : array_like
        Bootstrap p-values p₀ in (0, 1], such as (1 + crossings)/(B + 1).
    size : float, ndarray or Dof
        Number of independent samples n, at least 2 (Kish's effective number for unequal clusters), or degrees
        of freedom.

    Returns
    -------
    ndarray
        Same shape; 1 where p₀ is 1.
    """
    scale = Expansion.from_size(size)
    return special.stdtr(scale.df, scale.narrow * special.ndtri(np.asarray(bootstrap_p_value, dtype=float)))


def unexpanded_p_value(p_value: ArrayLike, size: SampleSize) -> Floats:
    """Invert `expanded_p_value`: return the bootstrap p-values p₀ for given expanded p-values.

    Parameters
    ----------
    p_value : array_like
        Expanded p-values in (0, 1].
    size : float, ndarray or Dof
        See `expanded_p_value`.

    Returns
    -------
    ndarray
        Same shape. With B resamples, only values of at least 1/(B + 1) can be observed.
    """
    scale = Expansion.from_size(size)
    return special.ndtr(scale.widen * special.stdtrit(scale.df, np.asarray(p_value, dtype=float)))


def expanded_interval(replicates: Floats, size: SampleSize, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return the expanded percentile interval for each column of replicates.

    Parameters
    ----------
    replicates : ndarray, shape (B, ...)
        Bootstrap replicates of one or more statistics.
    size : float, ndarray of shape (...), or Dof
        Number of independent samples n, at least 2, for all statistics or for each one.
    level : float
        Nominal coverage 1 − α.

    Returns
    -------
    low, high : ndarray, shape (...)
        Limits of the interval for each statistic.
    """
    tails = unexpanded_p_value((1 - level) / 2, size)
    if tails.ndim == 0:
        low, high = np.quantile(replicates, [tails, 1 - tails], axis=0)
        return low, high
    low, high = np.empty(tails.shape), np.empty(tails.shape)
    for tail in np.unique(tails):
        columns = tails == tail
        low[columns], high[columns] = np.quantile(replicates[:, columns], [tail, 1 - tail], axis=0)
    return low, high
