"""Shares of runs that pass, against a least share: exact binomial evidence (method §10).

Of r runs of a sample c passed. Were each to pass with probability p, so many or more would with P(X ≥ c) of
the binomial distribution; the interval is Clopper and Pearson's. Runs of one sample are taken as independent.

References
----------
C. J. Clopper and E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in the case of
the binomial. Biometrika 26(4), 404-413. doi:10.1093/biomet/26.4.404
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from scipy.special import betainc, betaincc, betaincinv

# Runs nobody will ever make.
_MOST = 10_000_000


@dataclass(frozen=True)
class ShareEvidence:
    """What the runs of a sample say of the claim that it passes more often than a share.

    Attributes
    ----------
    passed, runs : int
        c of r.
    boundary : float
        The claim is that a run passes with a probability above it.
    """

    passed: int
    runs: int
    boundary: float

    @property
    def estimate(self) -> float:
        """Share of the runs that passed."""
        return self.passed / self.runs

    @property
    def standard_error(self) -> float:
        """Of the share."""
        return math.sqrt(self.estimate * (1 - self.estimate) / self.runs)

    @property
    def samples(self) -> int:
        """Independent runs."""
        return self.runs

    @property
    def p_above(self) -> float:
        """P(X ≥ c) at the boundary."""
        return _at_least(self.passed, self.runs, self.boundary)

    @property
    def p_below(self) -> float:
        """P(X ≤ c) at the boundary."""
        return _at_most(self.passed, self.runs, self.boundary)

    def interval(self, level: float) -> tuple[float, float]:
        """Clopper and Pearson's."""
        return _interval(self.passed, self.runs, level)

    def samples_needed(self, level: float) -> float:
        """Runs that decide the claim if as many of them pass as did; infinite where no number does."""
        runs = runs_needed(self.estimate, self.boundary, level, self.runs)
        return math.inf if runs is None else runs


def runs_needed(share: float, boundary: float, level: float, runs: int = 0) -> int | None:
    """Fewest runs beyond some that decide whether a share lies above a boundary, if so many pass.

    Parameters
    ----------
    share : float
        Of the runs that pass.
    boundary : float
    level : float
        Two-sided.
    runs : int
        Those there are.
    """
    return _needed(share, boundary, level, runs)


def _at_least(passed: float, runs: float, p: float) -> float:
    return 1.0 if passed <= 0 else float(betainc(passed, runs - passed + 1, p))


def _at_most(passed: float, runs: float, p: float) -> float:
    return 1.0 if passed >= runs else float(betaincc(passed + 1, runs - passed, p))


@lru_cache(maxsize=4096)
def _interval(passed: int, runs: int, level: float) -> tuple[float, float]:
    low = 0.0 if passed == 0 else float(betaincinv(passed, runs - passed + 1, level / 2))
    high = 1.0 if passed == runs else float(betaincinv(passed + 1, runs - passed, 1 - level / 2))
    return low, high


@lru_cache(maxsize=4096)
def _needed(share: float, boundary: float, level: float, runs: int) -> int | None:
    tail = _at_least if share > boundary else _at_most

    def decided(count: int) -> bool:
        return 2 * tail(share * count, count, boundary) <= level

    if share == boundary or not decided(_MOST):
        return None
    low, high = runs, _MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high
