"""Test for autocorrelation of the scores in file order, used to trigger a warning (method §14).

With two models the test uses mid-ranks of their differences. With more models it uses mid-ranks of each
model's residuals from the mean over models. The statistic S_m = Σ_h (1 − h/(m + 1)) r_h sums autocorrelations
up to lag m = 1, 2, 4, … ≤ n/8. Its moments under permutation are those of Moran's I.

References
----------
P. A. P. Moran (1950). Notes on continuous stochastic phenomena. Biometrika 37, 17-23. doi:10.2307/2332142
"""

import numpy as np
import scipy  # loads its functions when they are first used

from riskrank.engine.ties import doubled_mid_ranks
from riskrank.engine.types import Floats, Integers

# Level of the test, and level below which p-values of several models are confirmed by permutation.
_LEVEL = 0.005
_SCREENING_LEVEL = 0.05
# Smaller p-values need no permutations.
_CERTAIN = 1e-6

# Limits on the number of permutations, and on the total number of permuted values.
_MAX_PERMUTATIONS = 1999
_MIN_PERMUTATIONS = 399
_MAX_WORK = 100_000_000
# Values permuted in one batch.
_BATCH = 15_000

# With fewer samples the test has no power.
_MIN_SAMPLES = 32


def is_autocorrelated(scores: Floats, tasks: Integers | None = None) -> bool:
    """Return True if neighbouring samples are significantly more similar than under random order.

    Parameters
    ----------
    scores : ndarray, shape (k, n)
        Scores of every model on the samples, in file order.
    tasks : ndarray of int, shape (n,), optional
        Task of each sample; tasks must be contiguous. Samples are ranked within tasks.
    """
    k, n = scores.shape
    if n < _MIN_SAMPLES:
        return False
    residual = scores[:1] - scores[1:] if k == 2 else scores - scores.mean(axis=0)
    residual = residual[np.ptp(residual, axis=1) > 0]
    if not len(residual):
        return False
    ranks = np.empty_like(residual)
    groups = [slice(n)] if tasks is None else [tasks == task for task in np.unique(tasks)]
    for members in groups:
        centred = np.array([doubled_mid_ranks(row) / 2 for row in residual[:, members]])
        ranks[:, members] = (centred - centred.mean(axis=1, keepdims=True)) / centred.shape[1]
    lags = [2**power for power in range(int(np.log2(n / 8)) + 1)]
    moments = [_moments(ranks, lag) for lag in lags]
    observed = float(_max_statistic(ranks, lags, moments))
    p_value = len(ranks) * len(lags) * float(scipy.special.ndtr(-observed))
    if k == 2:
        return p_value < _LEVEL
    if not _CERTAIN < p_value < _SCREENING_LEVEL:
        return p_value <= _CERTAIN
    count = int(np.clip(_MAX_WORK // (ranks.size * len(lags)), _MIN_PERMUTATIONS, _MAX_PERMUTATIONS))
    rng, exceedances = np.random.default_rng(0), 0
    batch = max(_BATCH // ranks.size, 1)
    for start in range(0, count, batch):
        orders = np.array([rng.permutation(n) for _ in range(min(batch, count - start))])
        permuted = np.moveaxis(ranks[:, orders], 1, 0)
        exceedances += int(np.count_nonzero(_max_statistic(permuted, lags, moments) >= observed))
        if (1 + exceedances) / (count + 1) > _LEVEL:
            return False
    return True


def _max_statistic(ranks: Floats, lags: list[int], moments: list[tuple[Floats, Floats]]) -> Floats:
    """Return the largest standardised S_m over all models and lags, for each ordering of the samples."""
    means, deviations = np.moveaxis(np.array(moments), 1, 0)
    standardised = (np.moveaxis(_lag_sums(ranks, lags), 0, -2) - means) / deviations
    return np.asarray(standardised.max(axis=(-2, -1)))


def _lag_sums(ranks: Floats, lags: list[int]) -> Floats:
    """Return S_m for each lag m, ordering and model.

    It is computed from the squared sums of m + 1 consecutive ranks.

    Parameters
    ----------
    ranks : ndarray, shape (..., k, n)
    lags : list of int

    Returns
    -------
    ndarray, shape (lags, ..., k)
    """
    n, max_lag = ranks.shape[-1], max(lags)
    sums = np.zeros((*ranks.shape[:-1], n + 2 * max_lag + 1))
    np.cumsum(ranks, axis=-1, out=sums[..., max_lag + 1 : max_lag + 1 + n])
    sums[..., max_lag + 1 + n :] = sums[..., [max_lag + n]]
    squares = np.empty((len(lags), *ranks.shape[:-1]))
    for i, lag in enumerate(lags):
        windows = sums[..., max_lag + 1 : max_lag + 1 + n + lag] - sums[..., max_lag - lag : max_lag + n]
        squares[i] = np.vecdot(windows, windows) / (lag + 1)
    return (squares / np.vecdot(ranks, ranks) - 1) / 2


def _moments(ranks: Floats, lag: int) -> tuple[Floats, Floats]:
    """Return the mean and standard deviation of S_m under permutation, shapes (k,).

    They follow from the moments of Moran's I (Cliff and Ord).
    """
    n = ranks.shape[1]
    distance = np.arange(1, lag + 1)
    weight = 1 - distance / (lag + 1)
    sums = np.zeros(n)  # sums of the weights of each row
    sums[:lag] = -np.cumsum(weight[::-1])[::-1]
    sums = 2 * weight.sum() + sums + sums[::-1]
    s0, s1 = sums.sum(), 4 * (weight**2 * (n - distance)).sum()
    s2 = (4 * sums**2).sum()
    squares = ranks * ranks
    second = squares.mean(axis=1)
    kurtosis = np.vecdot(squares, squares) / n / second**2
    part = n * ((n * n - 3 * n + 3) * s1 - n * s2 + 3 * s0**2)
    part = part - kurtosis * ((n * n - n) * s1 - 2 * n * s2 + 6 * s0**2)
    variance = part / ((n - 1) * (n - 2) * (n - 3) * s0**2) - 1 / (n - 1) ** 2
    # Moran's I is 2·S_m·n/s0.
    scale = s0 / (2 * n)
    return np.full(len(ranks), -scale / (n - 1)), scale * np.sqrt(variance)
