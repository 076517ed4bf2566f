"""Whether neighbouring samples are alike: a note that changes no figure (method §14).

Of two models mid-ranks of their differences are looked at, of more each model's residual from the mean over
models. S_m = Σ_h (1 − h/(m + 1)) r_h sums autocorrelations up to lag m = 1, 2, 4, … ≤ n/8; its moments under
permutation are those of Moran's I.

References
----------
P. A. P. Moran (1950). Notes on continuous stochastic phenomena. Biometrika 37, 17-23. doi:10.2307/2332142
"""

import numpy as np
import scipy  # loads its functions when they are first used

from riskrank.engine.ties import doubled_mid_ranks
from riskrank.engine.types import Floats, Integers

# Two models are suspected below the first; more are looked at again below the second.
_SUSPECTED = 0.005
_DOUBTED = 0.05
# Nobody needs permutations to confirm less.
_SURE = 1e-6

# Permutations that confirm a suspicion, and how many values of all models they may look at.
_PERMUTATIONS = 1999
_FEWEST_PERMUTATIONS = 399
_WORK = 100_000_000
# Values of permutations that are looked at together.
_TOGETHER = 15_000

# Fewer samples have no neighbours to speak of.
_FEWEST = 32


def neighbours_alike(scores: Floats, of_task: Integers | None = None, seed: int = 0) -> bool:
    """Whether neighbours are more alike than chance makes them.

    Parameters
    ----------
    scores : ndarray, shape (k, n)
        Scores of every model on the samples in their order.
    of_task : ndarray of int, shape (n,), optional
        Tasks, which stand one after the other: samples are ranked within theirs.
    seed : int
        Of the permutations.
    """
    k, n = scores.shape
    if n < _FEWEST:
        return False
    residual = scores[:1] - scores[1:] if k == 2 else scores - scores.mean(axis=0)
    residual = residual[np.ptp(residual, axis=1) > 0]
    if not len(residual):
        return False
    ranks = np.empty_like(residual)
    parts = [slice(n)] if of_task is None else [of_task == one for one in np.unique(of_task)]
    for own in parts:
        part = np.array([doubled_mid_ranks(row) / 2 for row in residual[:, own]])
        ranks[:, own] = (part - part.mean(axis=1, keepdims=True)) / part.shape[1]
    lags = [2**power for power in range(int(np.log2(n / 8)) + 1)]
    moments = [_moments(ranks, lag) for lag in lags]
    highest = float(_highest(ranks, lags, moments))
    p = len(ranks) * len(lags) * float(scipy.special.ndtr(-highest))
    if k == 2:
        return p < _SUSPECTED
    if not _SURE < p < _DOUBTED:
        return p <= _SURE
    count = int(np.clip(_WORK // (ranks.size * len(lags)), _FEWEST_PERMUTATIONS, _PERMUTATIONS))
    rng, beyond = np.random.default_rng(seed), 0
    together = max(_TOGETHER // ranks.size, 1)
    for done in range(0, count, together):
        orders = np.array([rng.permutation(n) for _ in range(min(together, count - done))])
        drawn = np.moveaxis(ranks[:, orders], 1, 0)
        beyond += int(np.count_nonzero(_highest(drawn, lags, moments) >= highest))
        if (1 + beyond) / (count + 1) > _SUSPECTED:
            return False
    return True


def _highest(ranks: Floats, lags: list[int], moments: list[tuple[Floats, Floats]]) -> Floats:
    """The largest standardised S_m of all models and lags, of every order."""
    means, spreads = np.moveaxis(np.array(moments), 1, 0)
    standardised = (np.moveaxis(_alike(ranks, lags), 0, -2) - means) / spreads
    return np.asarray(standardised.max(axis=(-2, -1)))


def _alike(ranks: Floats, lags: list[int]) -> Floats:
    """S_m of every lag, order and model: squares of sums of m + 1 neighbours hold every product.

    Parameters
    ----------
    ranks : ndarray, shape (..., k, n)
    lags : list of int

    Returns
    -------
    ndarray, shape (lags, ..., k)
    """
    n, most = ranks.shape[-1], max(lags)
    ends = np.zeros((*ranks.shape[:-1], n + 2 * most + 1))
    np.cumsum(ranks, axis=-1, out=ends[..., most + 1 : most + 1 + n])
    ends[..., most + 1 + n :] = ends[..., [most + n]]
    found = np.empty((len(lags), *ranks.shape[:-1]))
    for at, lag in enumerate(lags):
        moving = ends[..., most + 1 : most + 1 + n + lag] - ends[..., most - lag : most + n]
        found[at] = np.vecdot(moving, moving) / (lag + 1)
    return (found / np.vecdot(ranks, ranks) - 1) / 2


def _moments(ranks: Floats, lag: int) -> tuple[Floats, Floats]:
    """Mean and standard deviation of S_m under permutation, Cliff and Ord's for Moran's I, shapes (k,)."""
    n = ranks.shape[1]
    distance = np.arange(1, lag + 1)
    weight = 1 - distance / (lag + 1)
    sums = np.zeros(n)  # of the weights of a row, both sides
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
