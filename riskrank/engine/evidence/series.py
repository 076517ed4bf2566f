"""Means of rows in order, whose neighbours may be alike, by equal-weighted cosines (method §14).

References
----------
E. Lazarus, D. J. Lewis, J. H. Stock and M. W. Watson (2018). HAR inference: recommendations for practice.
Journal of Business & Economic Statistics 36(4), 541-559. doi:10.1080/07350015.2018.1506926
"""

from math import ceil

import numpy as np

from riskrank.engine.evidence.student import Student
from riskrank.engine.types import Floats, Integers

# Of fewer blocks of consecutive rows nobody knows well how alike neighbours are: they carry no test, and of
# means what two blocks would show, unless they are fewer still.
FEWEST_BLOCKS, FEWEST_FOR_MEANS = 10, 5


def cosines_of(differences: Floats) -> Integers:
    """Cosines that the long-run variance of differences is read from, ν.

    Parameters
    ----------
    differences : ndarray, shape (..., n)
        In order.

    Returns
    -------
    ndarray of int, shape (...)
        By the length and the correlation of neighbours; the fewer, the stronger it is.
    """
    n = differences.shape[-1]
    away = differences - differences.mean(axis=-1, keepdims=True)
    total = (away**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        alike = np.where(total > 0, (away[..., 1:] * away[..., :-1]).sum(axis=-1) / total, 0.0)
    rho = np.clip(alike + (1 + 3 * alike) / n, 0.001, 0.99)
    most = np.floor(0.4 * n ** (2 / 3) + 1e-9)
    return np.minimum(most, np.floor(n * (1 - rho) / np.pi * np.sqrt(0.3 / rho))).astype(np.int64)


def mean_in_order(differences: Floats) -> Student:
    """Mean of differences in order, shape (n,), with a degree of freedom a cosine, or one in all of few."""
    n, count = differences.size, int(cosines_of(differences))
    steps = np.pi * (np.arange(n) + 0.5) / n
    parts = np.array([np.sqrt(2 / n) * (differences * np.cos(j * steps)).sum() for j in range(1, count + 1)])
    variance = float((parts**2).mean()) if count else np.inf
    df = float(count if count >= FEWEST_BLOCKS - 1 else 1)
    return Student(np.array(differences.mean()), np.array(np.sqrt(variance / n)), np.array(df))


def worth_in_order(differences: Floats) -> float:
    """Independent rows that would tell as much of the mean; n at most."""
    n, error = differences.size, float(mean_in_order(differences).error)
    return n if error == 0 else min(float(n), float(differences.var(ddof=1)) / error**2)


def blocks_in_order(units: int, cosines: int) -> Integers:
    """Number of the block of each of `units` rows in order: as long as ν cosines say neighbours are alike."""
    return np.arange(units) // ceil(units / (cosines + 1))
