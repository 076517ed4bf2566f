"""Where the variance of a model's mean comes from: other samples, or other runs on the same samples.

One-way random model: run r of a model on sample s scores μ + b_s + w_sr, with variance σ_b² between samples
and σ_w² within a sample. With n_s runs on sample s and N in all, the mean over all rows has the variance
σ_b² Σ n_s²/N² + σ_w²/N. The components are estimated by the analysis of variance (Henderson's method I),
which is unbiased for unequal n_s: σ_w² = MSW and σ_b² = (MSB − MSW)/n₀ with n₀ = (N − Σ n_s²/N)/(a − 1) for a
samples.

References
----------
S. R. Searle, G. Casella, C. E. McCulloch (1992). Variance Components. Wiley, chapter 3.6.
doi:10.1002/9780470316856
W. G. Cochran (1977). Sampling Techniques, 3rd edition. Wiley, chapter 10.6 (the number of runs a sample).

Repeated runs that pass or fail: pass^k (all of k runs pass) and pass@k (one does), method §10.

Of r runs of a sample c passed. Drawn without replacement, k of them all pass with probability C(c, k)/C(r,
k), and all fail with C(r − c, k)/C(r, k): unbiased for any r ≥ k, where the minimum and the maximum of the
runs at hand depend on their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # loads its functions when they are first used

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True)
class VarianceComponents:
    """Variance of each of k models' means and what would reduce it, in squared units of the scores.

    A model with one run on every sample has NaN for everything but ``runs`` and ``variance``: its components
    cannot be told apart.

    Attributes
    ----------
    runs : ndarray, shape (k,)
        Runs a sample, N/a.
    between, within : ndarray, shape (k,)
        σ_b² and σ_w². Unbiased, and therefore σ_b² may come out negative, which says that samples do not
        differ beyond what their runs do.
    variance : ndarray, shape (k,)
        Of the model's mean, a negative σ_b² taken for 0.
    within_share : ndarray, shape (k,)
        Share of that variance that comes from the runs, in [0, 1]: the most that repeats could take away.
    more_samples, more_runs : ndarray, shape (k,)
        Variance of the mean with twice the samples, and with twice the runs on each. Both need twice as many
        runs, and the first is never the larger one: repeats pay where a sample itself costs something.
    """

    runs: Floats
    between: Floats
    within: Floats
    variance: Floats
    within_share: Floats
    more_samples: Floats
    more_runs: Floats


def variance_components(scores: ClusteredScores) -> VarianceComponents | None:
    """Split the variance of every model's mean into that between and that within samples.

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores, several runs for some samples; samples are independent.

    Returns
    -------
    VarianceComponents or None
        None where no model has two runs on a sample, a model has one sample only, samples belong together in
        clusters, which would be a third component, or a variance is too large for a number.
    """
    if scores.nested or min(scores.cluster_counts) < 2 or scores.sizes == scores.cluster_counts:
        return None
    parts = [_of_model(*model) for model in zip(scores.values, scores.clusters, strict=True)]
    columns = np.array(parts).T
    return None if np.isinf(columns).any() else VarianceComponents(*columns)


def _of_model(value: Floats, sample: Integers) -> tuple[float, ...]:
    """Fields of `VarianceComponents` for one model."""
    runs = np.bincount(sample)
    total, count = value.size, runs.size
    largest = np.abs(value).max()
    # A power of two changes no digit; squares of large scores would overflow.
    exponent = int(np.frexp(largest)[1]) if largest > 0 else 0
    scaled = np.ldexp(value, -exponent)
    centred = scaled - scaled.mean()
    means = np.bincount(sample, centred) / runs
    concentration = float((runs.astype(float) ** 2).sum()) / total

    def squared(variance: float) -> float:
        with np.errstate(over="ignore"):
            return float(np.ldexp(variance, 2 * exponent))

    if total == count:
        variance = centred.var(ddof=1) / total
        return 1.0, np.nan, np.nan, squared(variance), np.nan, np.nan, np.nan
    within = float(((centred - means[sample]) ** 2).sum()) / (total - count)
    mean_square = float((runs * (means - centred.mean()) ** 2).sum()) / (count - 1)
    between = (mean_square - within) * (count - 1) / (total - concentration)
    from_samples = max(between, 0.0) * concentration / total
    from_runs = within / total
    variance = from_samples + from_runs
    return (
        total / count,
        squared(between),
        squared(within),
        squared(variance),
        from_runs / variance if variance > 0 else 0.0,
        squared(variance / 2),
        squared(from_samples + from_runs / 2),
    )


@dataclass(frozen=True, eq=False)
class Passes:
    """Runs of one model that passed, sample by sample.

    Attributes
    ----------
    passed : ndarray of int, shape (n,)
        c of each sample.
    runs : ndarray of int, shape (n,)
        r of each sample.
    """

    passed: Integers
    runs: Integers

    @classmethod
    def of(cls, passed: Booleans, samples: Integers) -> Passes:
        """Count the runs of each sample.

        Parameters
        ----------
        passed : ndarray of bool, shape (rows,)
        samples : ndarray of int, shape (rows,)
            Sample of each run, 0, 1, … without gaps.
        """
        counts = np.bincount(samples, minlength=int(samples.max(initial=-1)) + 1)
        return cls(np.bincount(samples[passed], minlength=counts.size), counts)

    @property
    def flaky(self) -> int:
        """Samples that neither always pass nor always fail."""
        return int(np.count_nonzero((self.passed > 0) & (self.passed < self.runs)))

    def all_of(self, k: int) -> Floats:
        """pass^k of each sample, shape (n,); every sample needs k runs or more."""
        return _share(self.passed, self.runs, k)

    def one_of(self, k: int) -> Floats:
        """pass@k of each sample, shape (n,)."""
        return 1 - _share(self.runs - self.passed, self.runs, k)


def _share(counted: Integers, runs: Integers, k: int) -> Floats:
    """C(c, k)/C(r, k), as a product of k shares."""
    if np.any(runs < k):
        raise ValueError(f"a sample of {int(runs.min())} runs has no {k} of them")
    share = np.ones(counted.shape)
    for taken in range(k):
        share *= np.maximum(counted - taken, 0) / (runs - taken)
    return share


def mean_interval(shares: Floats, level: float = 0.95) -> tuple[float, float, float]:
    """Mean of shares between 0 and 1 with an interval: Student's, at least Wilson's of as many samples.

    Student's interval has no width where all shares are equal, which says nothing of the next sample.
    """
    n, mean = shares.size, float(shares.mean())
    z = float(scipy.special.ndtri((1 + level) / 2))
    centre, width = mean + z * z / (2 * n), z * np.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    wilson = (centre - width) / (1 + z * z / n), (centre + width) / (1 + z * z / n)
    if n < 2 or np.ptp(shares) == 0:
        return mean, max(float(wilson[0]), 0.0), min(float(wilson[1]), 1.0)
    half = float(scipy.special.stdtrit(n - 1, (1 + level) / 2)) * float(shares.std(ddof=1)) / np.sqrt(n)
    return mean, max(mean - half, 0.0), min(mean + half, 1.0)
