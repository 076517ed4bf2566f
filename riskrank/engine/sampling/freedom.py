"""How much independent samples tell of a spread: degrees of freedom, and the share of it a bootstrap sees.

Of n samples those are n − 1 and (n − 1)/n. Of samples drawn within tasks (method §8) they are
Satterthwaite's: each task has a variance of its own, known as well as its number of samples allows.

References
----------
F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components. Biometrics
Bulletin 2(6), 110-114. doi:10.2307/3002019
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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

    @property
    def narrow(self) -> Floats:
        """Standard error that resamples show, in standard errors."""
        return np.sqrt(self.seen)

    @property
    def widen(self) -> Floats:
        """Standard errors in one that resamples show."""
        return 1 / np.sqrt(self.seen)


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
            return cls(behind.df, behind.narrow, behind.widen)
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
