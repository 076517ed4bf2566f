"""Repeated runs that pass or fail: pass^k (all of k runs pass) and pass@k (one does), method §10.

Of r runs of a sample c passed. Drawn without replacement, k of them all pass with probability C(c, k)/C(r,
k), and all fail with C(r − c, k)/C(r, k): unbiased for any r ≥ k, where the minimum and the maximum of the
runs at hand depend on their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # loads its functions when they are first used

from riskrank.engine.types import Booleans, Floats, Integers


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
