"""Tests of independence (clusters, order, repeats that differ on all samples), and blocks of time series.

References
----------
M. S. Bartlett (1950). Periodogram analysis and continuous spectra. Biometrika 37, 1-16. doi:10.2307/2332141
W. G. Cochran (1950). The comparison of percentages in matched samples. Biometrika 37, 256-266.
doi:10.2307/2332378
E. Lazarus, D. J. Lewis, J. H. Stock and M. W. Watson (2018). HAR inference: recommendations for practice.
Journal of Business & Economic Statistics 36(4), 541-559. doi:10.1080/07350015.2018.1506926
W. J. Conover, R. L. Iman (1981). Rank transformations as a bridge between parametric and nonparametric
statistics. The American Statistician 35(3), 124-129. doi:10.2307/2683975
"""

import numpy as np

from riskrank.engine import special
from riskrank.engine.numeric import doubled_mid_ranks
from riskrank.engine.types import Floats, Integers

# With fewer blocks of a time series, the autocorrelation is not estimated well enough for a test.
MIN_BLOCKS = 10

# Smaller p-values are confirmed by permutations, and lead to a warning about undeclared clusters.
SUSPECTED = 0.01

# Number of permutations that must all give smaller differences.
_N_PERM = 999
# Level of the test for autocorrelation, and the smallest number of samples with which it has power.
_LEVEL, _MIN_SAMPLES = 1e-3, 32
# If fewer scores differ from the most common one, the F test alone is not reliable.
_MIN_UNCOMMON = 30
# Number of scores that are tested, and the largest share of one cluster.
_MAX_SCORES, _MAX_SHARE = 100_000, 1 / 9


def is_autocorrelated(scores: Floats, tasks: Integers | None = None) -> bool:
    """Return True if neighbouring samples are significantly more similar than under random order.

    The test is based on ranks. With two models, their difference is ranked; with more models, the residuals
    from the mean over all models.

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
    ranks = np.empty_like(residual)
    groups = [slice(n)] if tasks is None else [tasks == task for task in np.unique(tasks)]
    for members in groups if len(residual) else ():
        group_ranks = np.array([doubled_mid_ranks(row) for row in residual[:, members]], dtype=np.float64)
        ranks[:, members] = (group_ranks - group_ranks.mean(axis=1, keepdims=True)) / group_ranks.shape[1]
    # The length has small factors, and room for the largest lag.
    step = 2 ** max((n + n // 8).bit_length() - 4, 1)
    spectrum = np.abs(np.fft.rfft(ranks, ((n + n // 8) // step + 1) * step)) ** 2
    products = np.fft.irfft(spectrum)[:, : n // 8 + 1]
    correlations = products[:, 1:] / products[:, :1]
    p_values = [_lag_p_values(correlations[:, : 2**power], n) for power in range(int(np.log2(n / 8)) + 1)]
    return bool(len(residual)) and len(p_values) * len(residual) * float(np.min(p_values)) < _LEVEL


def _lag_p_values(correlations: Floats, n: int) -> Floats:
    """Return the p-value of a weighted sum of autocorrelations for each of k series, shape (k,).

    `correlations` has shape (k, m) and holds the autocorrelations r_h at lags h = 1, …, m. The series have
    length n.

    The sum is Σ_h (1 − h/(m + 1)) r_h. Under random order, r_h has the mean −(n − h)/(n(n − 1)) and nearly
    the variance (n − h)/n². The sum is a quadratic form, whose eigenvalues are nearly the Fourier transform
    of the weights. Its tail is that of a gamma distribution with the same mean, variance and skewness.
    """
    size = correlations.shape[1] + 1
    lags = np.arange(1.0, size)
    weights = 1 - lags / size
    z = correlations @ weights + (weights * (n - lags)).sum() / (n * (n - 1))
    z /= np.sqrt((weights**2 * (n - lags)).sum()) / n
    # Sums of powers of the eigenvalues without the first. Products of two and of three transforms sum to
    # those of the weights whose lags, of either sign, sum to 0.
    triples = (size - lags) * ((lags - 1) * size * (size - lags) + (lags**3 - lags) / 6)
    total = weights.sum()
    squares = n * (weights**2).sum() / 2 - total**2
    cubes = 0.75 * n * triples.sum() / size**3 - total**3
    mean = -total / (n - 1)
    shape = (squares + mean * total) ** 3 / (2 * (cubes - 3 * mean * squares + 2 * (n - 1) * mean**3) ** 2)
    return np.asarray(special.gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0)))


def cluster_p_value(differences: Floats, clusters: Integers) -> float:
    """Test whether differences between models have equal means in all clusters; return the p-value.

    It is an F test on mid-ranks, confirmed by permutations.

    Parameters
    ----------
    differences : ndarray, shape (samples, differences)
        Differences between models on each sample.
    clusters : ndarray of int, shape (samples,)
        Cluster number of each sample, from 0.

    Returns
    -------
    float
        P-value, corrected for the number of differences.
    """
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    position = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    limit = max(_MAX_SCORES // differences.shape[1], 1)
    used = order[position < max(limit * _MAX_SHARE, 2)][:limit]
    starts = np.flatnonzero(np.diff(clusters[used], prepend=-1))
    sizes = np.diff(starts, append=len(used))[:, None]
    ranks = np.array([doubled_mid_ranks(column) for column in differences[used].T], dtype=np.float64).T
    ranks = ranks[:, np.ptp(ranks, axis=0) > 0]
    ranks = (ranks - ranks.mean(axis=0)) / np.maximum(ranks.std(axis=0) * len(used) ** 0.5, 1e-300)
    within = (len(used) - len(starts)) / 2
    if not ranks.size or len(starts) < 2 or not within:
        return 1.0

    def between(rows: Floats) -> float:
        """Return the largest proportion of any column's variance that lies between clusters.

        `rows` holds centred ranks with variance 1/n, sorted by cluster.
        """
        return float((np.add.reduceat(rows, starts) ** 2 / sizes).sum(axis=0).max())

    observed, rng = between(ranks), np.random.default_rng(0)
    p_value = ranks.shape[1] * float(special.betainc(within, (len(starts) - 1) / 2, max(1 - observed, 0)))
    if p_value >= SUSPECTED:
        return min(p_value, 1.0)
    exceeding = sum(between(rng.permutation(ranks)) >= observed * (1 - 1e-9) for _ in range(_N_PERM))
    # The tail of the F distribution is wrong if few scores differ from the others.
    common = max(np.unique(column, return_counts=True)[1].max() for column in ranks.T)
    rare = len(used) - common < _MIN_UNCOMMON
    return max(p_value, (1 + exceeding) / (1 + _N_PERM)) if exceeding or rare else p_value


def interval_widening(differences: Floats, clusters: Integers) -> float:
    """Return the factor by which clustering widens the confidence intervals of mean differences.

    It is the median over all differences.

    Parameters
    ----------
    differences : ndarray, shape (samples, differences)
        Differences between models on each sample.
    clusters : ndarray of int, shape (samples,)
        Cluster number of each sample, from 0.
    """
    centred = differences - differences.mean(axis=0)
    sums = np.array([np.bincount(clusters, column) for column in centred.T])
    squares = (centred**2).sum(axis=0)
    ratios = (sums**2).sum(axis=1)[squares > 0] / squares[squares > 0]
    return float(np.sqrt(np.median(ratios) / (1 - 1 / sums.shape[1]))) if ratios.size else 1.0


def cochran_q(values: Floats, sample: Integers, run: Integers) -> Floats:
    """Return Cochran's Q statistic and its degrees of freedom, shape (2,).

    Only samples that were scored in every run are used. Both numbers are 0 if fewer than two runs can be
    compared, or if no sample varies between runs.

    Parameters
    ----------
    values : ndarray, shape (rows,)
        Binary score of each row.
    sample, run : ndarray of int, shape (rows,)
        Codes of each row's sample and run.
    """
    (distinct, sample), (_, run) = (np.unique(codes, return_inverse=True) for codes in (sample, run))
    count = int(run.max()) + 1
    grid = np.full((distinct.size, count), np.nan)
    grid[sample, run] = values
    deviations = grid[np.isfinite(grid).all(axis=1)]
    deviations = deviations - deviations.mean(axis=1, keepdims=True)
    spread = float((deviations**2).sum())
    if count < 2 or spread == 0:
        return np.zeros(2)
    return np.array([(count - 1) * float((deviations.sum(axis=0) ** 2).sum()) / spread, count - 1.0])


def cosine_count(differences: Floats) -> Integers:
    """Return the number ν of cosine terms from which the long-run variance is estimated.

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
    return np.minimum(max_cosines(n), np.floor(n * (1 - rho) / np.pi * np.sqrt(0.3 / rho)).astype(np.int64))


def max_cosines(n: int) -> int:
    """Return the largest number of cosine terms for estimating the long-run variance of n differences."""
    return int(0.4 * n ** (2 / 3) + 1e-9)


def series_sample_size(differences: Floats) -> float:
    """Return the effective number of independent samples among n autocorrelated differences.

    `differences` has shape (n,) and is in file order.
    """
    n, count = differences.size, int(cosine_count(differences))
    steps = np.pi * (np.arange(n) + 0.5) / n
    terms = np.array([np.sqrt(2 / n) * (differences * np.cos(j * steps)).sum() for j in range(1, count + 1)])
    long_run = float((terms**2).mean()) if count else np.inf
    return n if long_run == 0 else min(float(n), n * float(differences.var(ddof=1)) / long_run)


def series_blocks(units: int, cosines: int) -> Integers:
    """Split `units` rows into `cosines` + 1 consecutive blocks; return the block of each row."""
    return np.arange(units) // -(-units // (cosines + 1))
