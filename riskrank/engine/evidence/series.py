"""Means of autocorrelated rows, with an equal-weighted cosine estimate of the long-run variance (method §14).

References
----------
E. Lazarus, D. J. Lewis, J. H. Stock and M. W. Watson (2018). HAR inference: recommendations for practice.
Journal of Business & Economic Statistics 36(4), 541-559. doi:10.1080/07350015.2018.1506926
"""

from math import ceil

import numpy as np

from riskrank.engine.evidence.student import Student
from riskrank.engine.types import Floats, Integers

# With fewer blocks of consecutive rows the autocorrelation is not estimated well enough for a dominance test.
# A test of means then has one degree of freedom, and below the second number there is none.
MIN_BLOCKS, MIN_BLOCKS_FOR_MEANS = 10, 5


def cosine_count(differences: Floats) -> Integers:
    """Return the number ν of cosines for estimating the long-run variance of differences.

    Parameters
    ----------
    differences : ndarray, shape (..., n)
        Differences in file order.

    Returns
    -------
    ndarray of int, shape (...)
        The number increases with n and decreases with the lag-1 autocorrelation.
    """
    n = differences.shape[-1]
    centred = differences - differences.mean(axis=-1, keepdims=True)
    total = (centred**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.where(total > 0, (centred[..., 1:] * centred[..., :-1]).sum(axis=-1) / total, 0.0)
    rho = np.clip(correlation + (1 + 3 * correlation) / n, 0.001, 0.99)
    largest = np.floor(0.4 * n ** (2 / 3) + 1e-9)
    return np.minimum(largest, np.floor(n * (1 - rho) / np.pi * np.sqrt(0.3 / rho))).astype(np.int64)


def series_mean(differences: Floats) -> Student:
    """Return the mean of autocorrelated differences, shape (n,), with one degree of freedom per cosine.

    With fewer than :data:`MIN_BLOCKS` − 1 cosines, there is only one degree of freedom.
    """
    n, count = differences.size, int(cosine_count(differences))
    steps = np.pi * (np.arange(n) + 0.5) / n
    terms = np.array([np.sqrt(2 / n) * (differences * np.cos(j * steps)).sum() for j in range(1, count + 1)])
    variance = float((terms**2).mean()) if count else np.inf
    df = float(count if count >= MIN_BLOCKS - 1 else 1)
    return Student(np.array(differences.mean()), np.array(np.sqrt(variance / n)), np.array(df))


def series_sample_size(differences: Floats) -> float:
    """Return the effective number of independent rows behind the mean; at most n."""
    n, error = differences.size, float(series_mean(differences).error)
    return n if error == 0 else min(float(n), float(differences.var(ddof=1)) / error**2)


def series_blocks(units: int, cosines: int) -> Integers:
    """Assign `units` rows in file order to `cosines` + 1 consecutive blocks; return the block of each row."""
    return np.arange(units) // ceil(units / (cosines + 1))
