"""How much independent samples tell of a spread: degrees of freedom, and the share of it a bootstrap sees.

Of n samples those are n − 1 and (n − 1)/n. Of samples drawn within tasks (method §8) they are
Satterthwaite's: each task has a variance of its own, known as well as its number of samples allows.

Percentile p-values and intervals, widened for few samples (Hesterberg 2015; method §4, rule 1).

A bootstrap distribution is too narrow by √((n − 1)/n) and has the tails of a normal, not of Student's t.
The expanded percentile keeps its shape and moves only the level at which it is read.

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
import scipy  # loads its functions when they are first used
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class Freedom:
    """Degrees of freedom of one or more statistics.

    Attributes
    ----------
    df : ndarray
        At least 1.
    seen : ndarray
        Share of the variance that resamples of the same numbers show, (n − 1)/n of a single sample.
    """

    df: Floats
    seen: Floats

    def __getitem__(self, at: Any) -> Freedom:
        return Freedom(self.df[at], self.seen[at])


Behind = float | Floats | Integers | Freedom
"""What stands behind a statistic: independent samples n, at least 2 (Kish's number of unequal clusters), or
the degrees of freedom themselves."""


@dataclass(frozen=True)
class Widening:
    """What rule 1 needs of either: degrees of freedom, and by how much the bootstrap is too narrow."""

    df: Any
    narrow: Any
    widen: Any

    @classmethod
    def of(cls, behind: Behind) -> Widening:
        """Find the numbers of some samples, or take those that are known."""
        if isinstance(behind, Freedom):
            root = np.sqrt(behind.seen)
            return cls(behind.df, root, 1 / root)
        n = behind
        return cls(n - 1, np.sqrt((n - 1) / n), np.sqrt(n / (n - 1)))


def satterthwaite(variances: Floats, counts: Floats) -> Freedom:
    """Degrees of freedom of a sum of independent means.

    Parameters
    ----------
    variances : ndarray, shape (..., T)
        Of each part of the sum, w_t² s_t²/n_t. Where all are 0 they count as if they were equal but for n_t.
    counts : ndarray, shape (T,)
        Samples n_t of each part, at least 2 where the variance is not 0.

    Returns
    -------
    Freedom
        Of shape (...).
    """
    n = np.maximum(counts, 2.0)
    largest = variances.max(axis=-1, keepdims=True)
    # In units of the largest, whose square may be beyond any number.
    parts = np.where(largest > 0, variances / np.where(largest > 0, largest, 1.0), 1 / n)
    total = parts.sum(axis=-1)
    df = total**2 / (parts**2 / (n - 1)).sum(axis=-1)
    return Freedom(df, (parts * (n - 1) / n).sum(axis=-1) / total)


def smallest(first: Freedom, second: Freedom) -> Freedom:
    """Of two, place by place, that of fewer degrees of freedom."""
    fewer = first.df <= second.df
    return Freedom(np.where(fewer, first.df, second.df), np.where(fewer, first.seen, second.seen))


def kish(clusters: Integers) -> float:
    """Clusters of equal size that tell as much of a mean: (Σm)²/Σm² of the sizes m of numbered clusters."""
    sizes = np.bincount(clusters).astype(np.int64)
    return int(sizes.sum()) ** 2 / int((sizes**2).sum())


def expanded_p_value(share: ArrayLike, samples: Behind) -> Floats:
    """P-value of a counted share of replicates: F_t(√((n − 1)/n)·Φ⁻¹(p₀)) with n − 1 degrees of freedom.

    Parameters
    ----------
    share : array_like
        Shares p₀ in (0, 1], such as (1 + crossings)/(B + 1).
    samples : float, ndarray or Freedom
        Independent samples n, at least 2; of unequal clusters Kish's number. Or degrees of freedom.

    Returns
    -------
    ndarray
        Same shape; 1 where the share is 1.
    """
    of = Widening.of(samples)
    return scipy.special.stdtr(of.df, of.narrow * scipy.special.ndtri(np.asarray(share, dtype=np.float64)))


def expanded_share(p_value: ArrayLike, samples: Behind) -> Floats:
    """Share p₀ of replicates that `expanded_p_value` turns into a p-value; its inverse.

    Parameters
    ----------
    p_value : array_like
        P-values in (0, 1].
    samples : float, ndarray or Freedom
        Independent samples n, at least 2; of unequal clusters Kish's number. Or degrees of freedom.

    Returns
    -------
    ndarray
        Same shape. With B resamples of which none crosses, p-values below that of 1/(B + 1) cannot be shown.
    """
    of = Widening.of(samples)
    return scipy.special.ndtr(of.widen * scipy.special.stdtrit(of.df, np.asarray(p_value, dtype=np.float64)))


def expanded_interval(replicates: Floats, samples: Behind, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Expanded percentile interval of each column of replicates.

    Parameters
    ----------
    replicates : ndarray, shape (B, ...)
        Bootstrap replicates of one or more statistics.
    samples : float, ndarray of shape (...), or Freedom
        Independent samples n behind the statistics, or behind each of them; at least 2.
    level : float
        Coverage wanted.

    Returns
    -------
    low, high : ndarray, shape (...)
    """
    tails = expanded_share((1 - level) / 2, samples)
    if tails.ndim == 0:
        low, high = np.quantile(replicates, [tails, 1 - tails], axis=0)
        return low, high
    low, high = np.empty(tails.shape), np.empty(tails.shape)
    for tail in np.unique(tails):
        chosen = tails == tail
        low[chosen], high[chosen] = np.quantile(replicates[:, chosen], [tail, 1 - tail], axis=0)
    return low, high
